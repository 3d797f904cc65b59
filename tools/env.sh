# Sourced by the Makefile's scripts: where the JDK is, and quiet, repeatable clients.
REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
export REPO

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# Prints the home of a JDK of at least VERSION: JAVA_HOME, the one on the path, or the lowest one installed.
find_jdk() { # [VERSION, 17 by default]
  local home version least=${1:-17}
  for home in "${JAVA_HOME:-}" "$(readlink -f "$(command -v javac || true)" | sed 's,/bin/javac$,,')" \
    $(ls -d /usr/lib/jvm/*17* /usr/lib/jvm/*2[0-9]* 2>/dev/null); do
    [ -n "$home" ] && [ -x "$home/bin/javac" ] || continue
    version=$("$home/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    [ "${version:-0}" -ge "$least" ] && { printf '%s' "$home"; return 0; }
  done
  return 1
}

# What of a JDK a QuestDB server runs on.
make_jre() { # JDK DIRECTORY
  "$1/bin/jlink" --strip-debug --no-header-files --no-man-pages --output "$2" \
    --add-modules java.base,java.desktop,java.logging,java.management,java.naming,java.sql,jdk.crypto.ec,jdk.management,jdk.unsupported,jdk.zipfs
}

if jdk=$(find_jdk); then
  export JAVA_HOME=$jdk PATH="$jdk/bin:$PATH"
fi
unset jdk

# Without JVM arguments of its own in gradle.properties Gradle needs no second JVM.
export GRADLE_OPTS=${GRADLE_OPTS:--Xmx1g}
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
export PYTHONDONTWRITEBYTECODE=1

# Debian's start script tells the Java version at each call. (With pipefail the status is Gradle's.)
run_gradle() {
  {
    gradle --console=plain "$@" 2>&1 >&3 3>&- |
      { grep -v -e '^openjdk version' -e '^OpenJDK ' -e '^Picked up ' || true; } >&2
  } 3>&1
}
