#!/bin/bash
# bench.sh [--long] [JMH ARGUMENTS]   smoke length by default (about two minutes); --long for numbers to be believed.
# JMH of the engine, then questdb_sf.sender against the released client's rows, then the queries that lanes make about
# their tables. Writes build/bench/jmh.json, arrow.json and looks.json; prints tables of ratios and one JSON line last.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

length="-f 1 -wi 2 -i 3 -w 500ms -r 500ms"
rounds=7
if [ "${1:-}" = --long ]; then
  length="-f 3 -wi 3 -i 5 -w 2 -r 2"
  rounds=25
  shift
fi
mkdir -p build/bench
say "bench: $length $*"
run_gradle -q :questdb-sf-standalone:jar :questdb-sf-testserver:assemble :questdb-sf-bench:jmh \
  "-PjmhArgs=$length -foe true -prof gc -rf json -rff $REPO/build/bench/jmh.json $*" >build/bench/jmh.log ||
  { tail -40 build/bench/jmh.log >&2; die "JMH failed: build/bench/jmh.log has all it said"; }
say "bench: $rounds rounds of Arrow tables and the released client's rows"
QUESTDB_SF_STANDALONE_JAR=$(ls jvm/standalone/build/libs/questdb-sf-standalone-*.jar | grep -v -e sources -e javadoc | tail -1) \
  PYTHONPATH="$REPO" .venv/bin/python tools/arrow_bench.py --rounds "$rounds" --out build/bench/arrow.json >/dev/null
say "bench: what lanes ask a server about its tables, 64 against one"
run_gradle -q :questdb-sf-bench:looks | grep '^{' >build/bench/looks.json
exec .venv/bin/python tools/bench_report.py build/bench/jmh.json build/bench/arrow.json build/bench/looks.json
