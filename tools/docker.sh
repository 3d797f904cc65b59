#!/bin/bash
# docker.sh up|image|source|ready|name|down   a Docker engine and images of servers, made from what is on the machine; safe to repeat.
#   up      starts an engine where none answers, and installs one where there is none (apt)
#   image   builds the image of the test server: a JRE made by jlink, busybox, the jar; no base image is pulled
#   source  builds the image of the server that `make questdb` built, in the same way
#   ready   what `make integration` runs on: the image that QUESTDB_IMAGE names, which has to be there already, or that of SERVER
#   name    prints the name of that image
#   down    ends the containers and volumes of the tests of this checkout, and the engine if its `up` started it
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

TEST_IMAGE=questdb-sf/testserver:0.1.0
SOURCE_IMAGE=questdb-sf/questdb:source
LABEL=questdb-sf-made-from
STATE=build/docker
TEST_JAR=jvm/testserver/build/libs/questdb-sf-testserver-0.1.0-all.jar
QUESTDB=${QUESTDB_SOURCE_BUILD:-build/questdb}
mkdir -p "$STATE"

install() { # PACKAGE...
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "no apt-get here: install by hand what Debian calls: $*"
  [ "$(id -u)" = 0 ] || die "not root: install $* and run this again"
  say "docker: apt-get install $*"
  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; } \
    >"$STATE/apt.log" 2>&1 || { tail -5 "$STATE/apt.log" >&2; die "apt-get failed: see $STATE/apt.log"; }
}

answers() { docker info >/dev/null 2>&1; }

# When a process began, in ticks since the machine did; nothing for one that has ended.
began() { awk '$3 != "Z" {print $22}' "/proc/$1/stat" 2>/dev/null || true; }

# Prints the pid of the engine that `up` started while it runs. A number alone may be another process by now.
engine() {
  local pid since
  read -r pid since 2>/dev/null <"$STATE/dockerd.pid" || return 1
  [ -n "${since:-}" ] && [ "$(began "$pid")" = "$since" ] && echo "$pid"
}

up() {
  local need=()
  answers && return 0
  [ -z "${DOCKER_HOST:-}" ] || die "no Docker engine answers at DOCKER_HOST=$DOCKER_HOST: start it, or unset DOCKER_HOST"
  command -v dockerd >/dev/null || need+=(docker.io)
  command -v iptables >/dev/null || need+=(iptables)
  install "${need[@]}"
  answers && return 0
  [ "$(id -u)" = 0 ] || die "no Docker engine answers this user, who is not root: start one, or open its socket (group docker)"
  if ! engine >/dev/null; then
    say "docker: starting dockerd (log in $STATE/dockerd.log)"
    # A session of its own: an interrupt at the keyboard is not meant for it.
    setsid nohup dockerd >"$STATE/dockerd.log" 2>&1 </dev/null &
    echo "$! $(began $!)" >"$STATE/dockerd.pid"
  fi
  for _ in $(seq 300); do
    answers && return 0
    engine >/dev/null || break
    sleep 0.1
  done
  tail -5 "$STATE/dockerd.log" >&2
  die "dockerd does not answer: see $STATE/dockerd.log"
}

# The shared libraries that the JRE and the database's native code need, as the loader finds them.
copy_libraries() { # ROOT JAR DIRECTORY-FOR-FILES-OF-THE-MOMENT
  local root=$1 jar=$2 native=$3 file
  mkdir "$native"
  (cd "$native" && jar xf "$jar" io/questdb/bin/linux-x86-64)
  {
    LD_LIBRARY_PATH="$root/opt/jre/lib:$root/opt/jre/lib/server" ldd "$root/opt/jre/bin/java" \
      "$root"/opt/jre/lib/server/libjvm.so "$root"/opt/jre/lib/lib*.so \
      "$native"/io/questdb/bin/linux-x86-64/*.so 2>/dev/null || true
  } | awk '/=> \//{print $3} /^\t\/lib64/{print $1}' | grep -vF "$root" | sort -u |
    while read -r file; do
      mkdir -p "$root$(dirname "$file")"
      cp -L "$file" "$root$file"
    done
  for file in /lib/*-linux-gnu/libnss_files.so.2 /lib/*-linux-gnu/libresolv.so.2; do
    [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -L "$file" "$root$file"; }
  done
}

# An image with a JRE, a jar and busybox, of which nothing else was there before; it starts Java with the rest of the arguments.
build_image() { # NAME JAR COMMAND-THAT-MAKES-A-JRE-IN-A-DIRECTORY JAVA-ARGUMENTS-AS-JSON
  local name=$1 jar=$2 jre=$3 arguments=$4 stamp root applet id
  [ "$(uname -m)" = x86_64 ] || die "the image is made for x86_64 only: name another one by QUESTDB_IMAGE"
  stamp=$(cat "$jar" "$0" | sha256sum | cut -c1-64)
  if [ "$(docker image inspect -f "{{index .Config.Labels \"$LABEL\"}}" "$name" 2>/dev/null)" = "$stamp" ]; then
    return 0
  fi
  [ -x /bin/busybox ] || install busybox-static
  say "docker: building $name (about a minute)"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  root=$work/root
  mkdir -p "$root"/{bin,etc,tmp,proc,sys,dev,opt,lib64,var/lib/questdb}
  chmod 1777 "$root/tmp"
  $jre "$root/opt/jre"
  cp "$jar" "$root/opt/server.jar"
  copy_libraries "$root" "$(readlink -f "$jar")" "$work/native"
  cp /bin/busybox "$root/bin/busybox"
  for applet in sh cat dd df ls rm; do ln -s busybox "$root/bin/$applet"; done
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  # The name comes last: what was cut off on the way has none.
  id=$(tar -C "$root" -c . | docker import \
    -c "LABEL $LABEL=$stamp" \
    -c 'ENV PATH=/bin:/opt/jre/bin QDB_TELEMETRY_ENABLED=false' -c 'EXPOSE 9000' -c 'VOLUME /var/lib/questdb' \
    -c "ENTRYPOINT [\"/opt/jre/bin/java\",\"-Xmx1g\",$arguments]" \
    -)
  docker tag "$id" "$name"
  docker image prune -f --filter "label=$LABEL" >/dev/null # its predecessors
}

test_image() {
  [ -f "$TEST_JAR" ] || die "no $TEST_JAR: run \`make build\` first"
  build_image "$TEST_IMAGE" "$TEST_JAR" "make_jre $JAVA_HOME" \
    '"-jar","/opt/server.jar","--host","0.0.0.0","--port","9000","--root","/var/lib/questdb"'
}

source_image() {
  [ -f "$QUESTDB/questdb.jar" ] || die "no $QUESTDB/questdb.jar: run \`make questdb SRC=<git repository>\` first"
  build_image "$SOURCE_IMAGE" "$QUESTDB/questdb.jar" "cp -r $QUESTDB/jre" \
    '"--enable-native-access=ALL-UNNAMED","--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED","-cp","/opt/server.jar","io.questdb.ServerMain","-d","/var/lib/questdb"'
}

name() {
  [ -z "${QUESTDB_IMAGE:-}" ] || { echo "$QUESTDB_IMAGE"; return; }
  case ${SERVER:-testserver} in
    testserver) echo "$TEST_IMAGE" ;;
    source) echo "$SOURCE_IMAGE" ;;
    *) die "SERVER=$SERVER: it is one of testserver, source" ;;
  esac
}

ready() {
  local image
  image=$(name)
  case $image in
    "$TEST_IMAGE") test_image ;;
    "$SOURCE_IMAGE") source_image ;;
    *) docker image inspect "$image" >/dev/null 2>&1 ||
      die "there is no image $image, and nothing is pulled from here: docker pull $image" ;;
  esac
}

down() {
  local pid
  if answers; then
    docker ps -aq --filter "label=questdb-sf-tests=$REPO" | xargs -r docker rm -fv >/dev/null
    docker volume ls -q --filter "label=questdb-sf-tests=$REPO" | xargs -r docker volume rm >/dev/null
  fi
  if pid=$(engine); then
    [ -z "$(docker ps -q 2>/dev/null)" ] || die "the engine that was started here goes on: others have containers on it, see \`docker ps\`"
    say "docker: stopping the engine that was started here"
    kill -TERM "$pid"
    for _ in $(seq 200); do engine >/dev/null || break; sleep 0.1; done
    ! engine >/dev/null || die "dockerd ($pid) does not end: see $STATE/dockerd.log"
  fi
  rm -f "$STATE/dockerd.pid"
}

case ${1:-} in
  up) up ;;
  image) up; test_image ;;
  source) up; source_image ;;
  ready) up; ready ;;
  name) name ;;
  down) down ;;
  *) die "docker.sh up|image|source|ready|name|down" ;;
esac
