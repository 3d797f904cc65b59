#!/bin/bash
# format.sh   google-java-format and ruff, in place.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

run_gradle -q formatJava
.venv/bin/python tools/python_lint.py --fix
