#!/bin/bash
# docker.sh up|image|down   a Docker engine and the image of the test server, from what the registries serve; safe to repeat.
#   up     installs an engine where there is none (apt) and starts it where none runs
#   image  builds $QUESTDB_SF_IMAGE: a JRE made by jlink, busybox, the test server's jar; no base image is pulled
#   down   ends the containers and volumes of the tests of this checkout, and the engine if its `up` started it
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$REPO"

IMAGE=${QUESTDB_SF_IMAGE:-questdb-sf/testserver:0.1.0}
STATE=build/docker
JAR=jvm/testserver/build/libs/questdb-sf-testserver-0.1.0-all.jar
mkdir -p "$STATE"

packages() {
  local need=() package
  command -v dockerd >/dev/null || need+=(docker.io)
  command -v iptables >/dev/null || need+=(iptables)
  [ -x /bin/busybox ] || need+=(busybox-static)
  [ ${#need[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "not root: install ${need[*]} and run this again"
  say "docker: apt-get install ${need[*]}"
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${need[@]}" \
    >"$STATE/apt.log" 2>&1 || { tail -5 "$STATE/apt.log" >&2; die "apt-get failed: see $STATE/apt.log"; }
}

up() {
  packages
  docker info >/dev/null 2>&1 && return 0
  [ "$(id -u)" = 0 ] || die "no Docker engine answers and this is not root: start one"
  say "docker: starting dockerd (log in $STATE/dockerd.log)"
  # A session of its own: an interrupt at the keyboard is not meant for it.
  setsid nohup dockerd >"$STATE/dockerd.log" 2>&1 </dev/null &
  echo $! >"$STATE/dockerd.pid"
  for _ in $(seq 300); do
    docker info >/dev/null 2>&1 && return 0
    kill -0 "$(cat "$STATE/dockerd.pid")" 2>/dev/null || break
    sleep 0.1
  done
  tail -5 "$STATE/dockerd.log" >&2
  die "dockerd does not answer"
}

# The shared libraries that the JRE and the database's native code need, as the loader finds them.
copy_libraries() { # ROOT
  local root=$1 native file
  native=$(mktemp -d)
  (cd "$native" && jar xf "$REPO/$JAR" io/questdb/bin/linux-x86-64)
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
  rm -rf "$native"
}

image() {
  local stamp root applet
  [ -f "$JAR" ] || die "no $JAR: run \`make build\` first"
  stamp=$(cat "$JAR" "$0" | sha256sum | cut -c1-64)
  if [ "$(docker image inspect -f '{{index .Config.Labels "made-from"}}' "$IMAGE" 2>/dev/null)" = "$stamp" ]; then
    return 0
  fi
  say "docker: building $IMAGE (about a minute)"
  root=$(mktemp -d)
  trap 'rm -rf "$root"' RETURN
  mkdir -p "$root"/{bin,etc,tmp,proc,sys,dev,opt,lib64,var/lib/questdb}
  chmod 1777 "$root/tmp"
  "$JAVA_HOME/bin/jlink" --strip-debug --no-header-files --no-man-pages --output "$root/opt/jre" \
    --add-modules java.base,java.desktop,java.logging,java.management,java.naming,java.sql,jdk.crypto.ec,jdk.management,jdk.unsupported,jdk.zipfs
  cp "$JAR" "$root/opt/testserver.jar"
  copy_libraries "$root"
  cp /bin/busybox "$root/bin/busybox"
  for applet in sh cat dd df ls rm; do ln -s busybox "$root/bin/$applet"; done
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  tar -C "$root" -c . | docker import \
    -c "LABEL made-from=$stamp" \
    -c 'ENV PATH=/bin:/opt/jre/bin' -c 'EXPOSE 9000' -c 'VOLUME /var/lib/questdb' \
    -c 'ENTRYPOINT ["/opt/jre/bin/java","-Xmx1g","-jar","/opt/testserver.jar","--host","0.0.0.0","--port","9000","--root","/var/lib/questdb"]' \
    - "$IMAGE" >/dev/null
}

down() {
  if docker info >/dev/null 2>&1; then
    docker ps -aq --filter "label=questdb-sf-tests=$REPO" | xargs -r docker rm -fv >/dev/null
    docker volume ls -q --filter "label=questdb-sf-tests=$REPO" | xargs -r docker volume rm >/dev/null
    docker network ls -q --filter "label=questdb-sf-tests=$REPO" | xargs -r docker network rm >/dev/null
  fi
  [ -f "$STATE/dockerd.pid" ] || return 0
  local pid
  pid=$(cat "$STATE/dockerd.pid")
  if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]; then
    say "docker: stopping the engine that was started here"
    kill -TERM "$pid"
    for _ in $(seq 200); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  fi
  rm -f "$STATE/dockerd.pid"
}

case ${1:-} in
  up) up ;;
  image) up; image ;;
  down) down ;;
  *) die "docker.sh up|image|down" ;;
esac
