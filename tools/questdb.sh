#!/bin/bash
# questdb.sh SOURCE   builds a QuestDB server that speaks QWP, and its image, from a git repository of its source (bare or not).
# Needs JDK 25, Maven and a nightly Rust; about ten minutes on two idle cores. Leaves in build/questdb:
#   questdb ROOT PORT   starts it: HTTP, SQL and QWP on 127.0.0.1:PORT, everything else off; SIGTERM ends it
#   questdb.jar, jre    the server with its native libraries, and the Java that it runs on
#   commit, version     what it was built from
# Does nothing where the same commit is built already. What was interrupted is in build/questdb.new and counts for nothing.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

OUT=$REPO/build/questdb
NEW=$OUT.new
NATIVE=io/questdb/bin/linux-x86-64

need() { # WHAT-FOR COMMAND...
  local what=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$what")
}

check_tools() {
  local missing=()
  [ "$(uname -sm)" = "Linux x86_64" ] || die "the server is built for Linux on x86_64 only: this is $(uname -sm)"
  need "JDK 25 (temurin-25-jdk or openjdk-25-jdk, or set JAVA_HOME)" find_jdk 25
  need "Maven (apt-get install maven)" command -v mvn
  need "a nightly Rust (rustup toolchain install nightly)" cargo +nightly --version
  need "a C compiler and strip (apt-get install gcc binutils)" sh -c 'command -v cc && command -v strip'
  [ ${#missing[@]} = 0 ] || die "missing: $(printf '%s; ' "${missing[@]}")install and run this again"
}

logged() { # LOG COMMAND...
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { tail -20 "$log" >&2; die "$1 failed: see $log"; }
}

build() { # COMMIT
  local jdk source=$NEW/source
  jdk=$(find_jdk 25)
  rm -rf "$NEW"
  mkdir -p "$source"
  .venv/bin/python tools/questdb_source.py "$SOURCE" "$1" "$source"
  say "questdb: the server (Java), a few minutes; log in $NEW/maven.log"
  cd "$source"
  # Modules that the server needs nothing of, so that they are not in the source either.
  sed -i '/<module>benchmarks<\/module>/d; /<module>compat<\/module>/d' pom.xml
  JAVA_HOME=$jdk logged "$NEW/maven.log" mvn -q -B -Dmaven.test.skip=true -pl core -am package
  say "questdb: its native library (Rust), a few minutes; log in $NEW/cargo.log"
  cd core/rust/qdbr
  logged "$NEW/cargo.log" cargo +nightly build --lib --config 'profile.dev.opt-level=1'
  mkdir -p "$NEW/native/$NATIVE"
  strip -g -o "$NEW/native/$NATIVE/libquestdbr.so" target/debug/libquestdbr.so
  cd "$NEW"
  cp "$(find source/core/target -maxdepth 1 -name 'questdb-*.jar' ! -name '*-sources.jar' ! -name '*-javadoc.jar' ! -name '*-tests.jar')" questdb.jar
  "$jdk/bin/jar" uf questdb.jar -C native io
  make_jre "$jdk" jre
  write_launcher
  "$jdk/bin/jar" xf questdb.jar META-INF/MANIFEST.MF
  tr -d '\r' <META-INF/MANIFEST.MF | sed -n 's/^Implementation-Version: //p' >version
  echo "$1" >commit
  rm -rf source native META-INF
  cd "$REPO"
  rm -rf "$OUT"
  mv "$NEW" "$OUT"
}

write_launcher() {
  cat >questdb <<'RUN'
#!/bin/sh
# questdb ROOT PORT [JVM options]
here=$(dirname "$(readlink -f "$0")") root=$1 port=$2
shift 2
mkdir -p "$root"
export QDB_TELEMETRY_ENABLED=false QDB_HTTP_MIN_ENABLED=false QDB_LINE_TCP_ENABLED=false
export QDB_PG_ENABLED="${QDB_PG_ENABLED:-false}" QDB_HTTP_BIND_TO="${QDB_HTTP_BIND_TO:-127.0.0.1:$port}"
exec "$here/jre/bin/java" -Xmx1g --enable-native-access=ALL-UNNAMED --add-exports=java.base/jdk.internal.vm=ALL-UNNAMED \
  "$@" -cp "$here/questdb.jar" io.questdb.ServerMain -d "$root"
RUN
  chmod +x questdb
}

[ -n "${1:-}" ] || die "which source? make questdb SRC=<git repository of QuestDB's source>"
SOURCE=$(cd "$1" 2>/dev/null && pwd) || die "there is no directory $1"
commit=$(git -C "$SOURCE" rev-parse HEAD 2>/dev/null) || die "$SOURCE is not a git repository"
if [ "$(cat "$OUT/commit" 2>/dev/null)" != "$commit" ]; then
  check_tools
  build "$commit"
fi
tools/docker.sh source
printf '{"commit": "%s", "version": "%s", "server": "%s", "image": "%s"}\n' \
  "$commit" "$(cat "$OUT/version")" "build/questdb/questdb" "$(SERVER=source QUESTDB_IMAGE='' tools/docker.sh name)"
