#!/bin/bash
# bench.sh [--long] [JMH ARGUMENTS]   smoke length by default (about a minute); --long for numbers to be believed.
# Writes build/bench/jmh.json; prints a table of ratios and one JSON line last.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

length="-f 1 -wi 2 -i 3 -w 500ms -r 500ms"
if [ "${1:-}" = --long ]; then
  length="-f 3 -wi 3 -i 5 -w 2 -r 2"
  shift
fi
mkdir -p build/bench
say "bench: $length $*"
run_gradle -q :questdb-sf-bench:jmh \
  "-PjmhArgs=$length -foe true -prof gc -rf json -rff $REPO/build/bench/jmh.json $*" >build/bench/jmh.log ||
  { tail -40 build/bench/jmh.log >&2; die "JMH failed: build/bench/jmh.log has all it said"; }
exec .venv/bin/python tools/bench_report.py build/bench/jmh.json
