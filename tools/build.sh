#!/bin/bash
# build.sh   jars, local Maven repository and wheel; prints one JSON line last that says where they are.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

say "build: jars and build/m2"
run_gradle -q "-Dmaven.repo.local=$REPO/build/m2" assemble publishToMavenLocal >&2
say "build: wheel"
exec .venv/bin/python tools/package.py
