"""A QuestDB in a container on a fixed port of 127.0.0.1, started from an image that is there already.

By default the image of the project's test server (``make docker``), with ``SERVER=source`` that of the server that
``make questdb`` built. ``QUESTDB_IMAGE`` names another one, pulled before. Nothing here scripts the server, so every
scenario runs on all of them.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import docker
import requests
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from harness import servers
from harness.server import QuestDb, free_port
from harness.spark import eventually

IMAGES = {"testserver": "questdb-sf/testserver:0.1.0", "source": "questdb-sf/questdb:source"}
IMAGE = os.environ.get("QUESTDB_IMAGE") or IMAGES[servers.kind()]
ROOT = "/var/lib/questdb"
LABELS = {"questdb-sf-tests": str(Path(__file__).resolve().parents[1])}
"""By them `make docker-stop` of this checkout knows what is its own."""
READY_SECONDS = 120

# The reaper is an image that would have to be pulled; everything here carries a label instead.
testcontainers_config.ryuk_disabled = True


class Container(QuestDb):
    """One container, and the volume that its successor may get. Use as a context manager.

    :param tmpfs_megabytes: size of a disk in memory for the data, in place of a volume
    :param environment: the server's settings, as ``QDB_...``
    """

    def __init__(
        self,
        *,
        volume: str | None = None,
        tmpfs_megabytes: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.port = free_port()
        self._client = docker.from_env()
        self._own_volume = volume is None and tmpfs_megabytes is None
        self.volume = volume or f"questdb-sf-{uuid.uuid4().hex[:12]}"
        self._tmpfs = tmpfs_megabytes
        self._environment = dict(environment or {})
        self._container: Any = None

    def start(self) -> Container:
        """Starts the container, or starts it again; returns when it answers SQL, or leaves none there."""
        try:
            if self._container is None:
                self._container = self._run()
            else:
                self._container.start()
            self.await_ready()
        except BaseException:
            self.remove()
            raise
        return self

    def _run(self) -> Any:
        self._client.images.get(IMAGE)  # a missing image is an error here, never a pull
        container = DockerContainer(IMAGE)
        container.ports["9000/tcp"] = ("127.0.0.1", self.port)  # with_bind_ports knows no address
        container.with_kwargs(labels=LABELS)
        container.with_envs(**self._environment)
        if self._tmpfs:
            container.tmpfs[ROOT] = f"size={self._tmpfs}m"
        else:
            self._client.volumes.create(self.volume, labels=LABELS)
            container.with_volume_mapping(self.volume, ROOT, "rw")
        return container.start().get_wrapped_container()

    def await_ready(self) -> None:
        """Until SQL is answered; fails with what the server printed."""
        try:
            eventually("the container answers SQL", self._answers, READY_SECONDS, 0.2)
        except AssertionError as error:
            raise AssertionError(f"{error}; it printed: {self.logs()}") from None

    def _answers(self) -> bool:
        self._container.reload()
        if self._container.status == "exited":
            raise AssertionError("the server in the container ended")
        try:
            return bool(
                requests.get(f"{self.http}/exec", params={"query": "SELECT 1"}, timeout=5).ok
            )
        except requests.RequestException:
            return False

    def stop(self) -> None:
        """SIGTERM."""
        self._container.stop(timeout=30)

    def kill(self) -> None:
        """SIGKILL."""
        self._container.kill()
        self._container.wait()

    def restart(self) -> None:
        """Stop and start in one."""
        self._container.restart(timeout=30)
        self.await_ready()

    def pause(self) -> None:
        """Freezes all its processes; connections stay."""
        self._container.pause()

    def unpause(self) -> None:
        """Goes on."""
        self._container.unpause()

    def disconnect(self) -> None:
        """Takes the container off its network."""
        self._client.networks.get("bridge").disconnect(self._container)

    def connect(self) -> None:
        """Puts it back."""
        self._client.networks.get("bridge").connect(self._container)

    def remove(self) -> None:
        """Removes the container, keeps the volume."""
        if self._container is not None:
            self._container.remove(force=True)
            self._container = None

    def successor(self) -> Container:
        """A new container on the same volume and port, after this one was removed."""
        heir = Container(volume=self.volume)
        heir.port = self.port
        return heir

    def shell(self, command: str) -> str:
        """Runs a command in the container and returns what it printed."""
        code, output = self._container.exec_run(["/bin/sh", "-c", command])
        text = str(output, "utf-8", "replace")
        if code:
            raise RuntimeError(f"{command}: exit status {code}: {text}")
        return text

    def logs(self) -> str:
        """The end of what the server printed."""
        return str(self._container.logs(tail=40), "utf-8", "replace")

    def __enter__(self) -> Container:
        try:
            return self.start()
        except BaseException:
            self._remove_volume()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._container is not None:
            print(f"the container printed: {self.logs()}")  # pytest shows it beside the failure
        self.remove()
        self._remove_volume()
        self._client.close()

    def _remove_volume(self) -> None:
        with contextlib.suppress(docker.errors.NotFound):  # it did not come to be
            if self._own_volume:
                self._client.volumes.get(self.volume).remove(force=True)
