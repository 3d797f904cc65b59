#!/bin/bash
# setup.sh [system] [venv] [spark VERSION | wheel VERSION]...   makes what is missing, says what it does, is silent where all is there.
#   system         JDK 17, Gradle, Python's venv (apt)
#   venv           .venv: Spark 4.3, test tools, linters, the package itself (editable)
#   spark VERSION  build/venvs/VERSION: pyspark of that version and what the tests need; 3.5 4.0 4.1 4.2 4.3
#   wheel VERSION  the built wheel into build/venvs/VERSION
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

apt_updated=
apt_install() {
  local root=()
  command -v apt-get >/dev/null || die "no apt-get here: install by hand what Debian calls: $*"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "neither root nor sudo: install $* and run this again"
    root=(sudo)
  fi
  say "setup: apt-get install $*"
  mkdir -p build
  [ -n "$apt_updated" ] || "${root[@]}" apt-get -qq update
  apt_updated=1
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" \
    >build/apt.log 2>&1 || { tail -5 build/apt.log >&2; return 1; }
}

# Prints a Python that can make virtual environments: PYTHON, or one of at least 3.11 (Spark 4.3 wants it), or 3.10.
find_python() {
  local p least
  [ -z "${PYTHON:-}" ] || { command -v "$PYTHON"; return; }
  for least in 11 10; do
    for p in python3 python3.13 python3.12 python3.11 python3.10; do
      "$p" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, $least))" 2>/dev/null || continue
      command -v "$p"
      return 0
    done
  done
  return 1
}

system() {
  if ! find_jdk >/dev/null; then
    # Debian 13 has no 17 any more; 21 compiles for 17 and runs Spark 4 as well.
    apt_install openjdk-17-jdk-headless || apt_install openjdk-21-jdk-headless
    JAVA_HOME=$(find_jdk) || die "no JDK of at least 17 was found after the installation: set JAVA_HOME"
    export JAVA_HOME PATH="$JAVA_HOME/bin:$PATH"
  fi
  command -v gradle >/dev/null || apt_install gradle
  find_python >/dev/null || apt_install python3 python3-venv
  find_python >/dev/null || die "no Python of at least 3.10 with venv was found: set PYTHON to one"
}

# fresh DIR WHAT... : whether DIR was made from exactly these inputs, by this Python, in this place.
stamp_of() { printf '%s\n' "$REPO" "$("$(find_python)" -V)" "$@" | sha256sum | cut -c1-64; }
fresh() { [ -x "$1/bin/python" ] && [ "$(cat "$1/.made-from" 2>/dev/null)" = "$2" ]; }

make_venv() { # DIR STAMP PIP-ARGUMENTS...
  local dir=$1 stamp=$2
  shift 2
  "$dir/bin/python" -c '' 2>/dev/null || { rm -rf "$dir"; "$(find_python)" -m venv "$dir"; }
  rm -f "$dir/.made-from"
  "$dir/bin/python" -m pip install -q --use-pep517 "$@"
}

main_venv() {
  local stamp
  stamp=$(stamp_of "$(cat tools/requirements.txt python/pyproject.toml gradle.properties)")
  fresh .venv "$stamp" && return 0
  say "setup: .venv (Spark 4.3, test tools, linters, questdb-sf)"
  make_venv .venv "$stamp" -r tools/requirements.txt
  .venv/bin/python -m pip install -q --no-deps --no-build-isolation -e python
  echo "$stamp" >.venv/.made-from
}

spark_venv() {
  local version pin stamp dir
  case $1 in
    3.5) pin=3.5.9 ;;
    4.0) pin=4.0.5 ;;
    4.1) pin=4.1.4 ;;
    4.2) pin=4.2.0 ;;
    4.3) pin=4.3.0 ;;
    *) die "Spark $1 is not one of the tested versions: 3.5 4.0 4.1 4.2 4.3" ;;
  esac
  dir=build/venvs/$1
  stamp=$(stamp_of "$pin" "$(cat tools/requirements-spark.txt)")
  fresh "$dir" "$stamp" && return 0
  say "setup: $dir (pyspark $pin)"
  make_venv "$dir" "$stamp" "pyspark==$pin" -r tools/requirements-spark.txt
  echo "$stamp" >"$dir/.made-from"
}

# The wheel as it is now; of the same version as the last one, so pip has to be told to look.
install_wheel() {
  "build/venvs/$1/bin/python" -m pip install -q --no-deps --no-index --force-reinstall build/dist/*.whl
}

[ $# -gt 0 ] || set -- system venv
while [ $# -gt 0 ]; do
  case $1 in
    system) system ;;
    venv) main_venv ;;
    spark) shift; spark_venv "${1:?spark needs a version}" ;;
    wheel) shift; install_wheel "${1:?wheel needs a version}" ;;
    *) die "unknown part $1: see the head of $0" ;;
  esac
  shift
done
