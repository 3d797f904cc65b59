"""The test server as a process of its own, to be started, scripted, killed and started again.

It is QuestDB 9.3.4 with a QWP endpoint of this project in front: real storage and SQL, not QuestDB 10. The jar is found
in the build tree, or named by ``QUESTDB_SF_TESTSERVER_JAR``.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import socket
import subprocess
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

import requests

REPOSITORY = Path(__file__).resolve().parents[1]
_READY_SECONDS = 90


def jar() -> Path:
    """The runnable jar of the test server."""
    named = os.environ.get("QUESTDB_SF_TESTSERVER_JAR")
    if named:
        return Path(named)
    found = sorted((REPOSITORY / "jvm/testserver/build/libs").glob("*-all.jar"))
    if not found:
        raise FileNotFoundError("no test server jar in jvm/testserver/build/libs: run `make build`")
    return found[-1]


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on, below those that outgoing connections get.

    So it is free again for a server that was away, and who tries to connect meanwhile is not connected with himself.
    """
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no free port between 20000 and 32000")


class QuestDb:
    """SQL over the HTTP port of a QuestDB on 127.0.0.1, however it runs."""

    port: int

    @property
    def addr(self) -> str:
        """host:port for the ``addr`` option."""
        return f"127.0.0.1:{self.port}"

    @property
    def http(self) -> str:
        """Base address of the HTTP side."""
        return f"http://{self.addr}"

    def _request(self, method: str, path: str, seconds: float, **what: Any) -> requests.Response:
        """A request to the HTTP side."""
        return requests.request(method, self.http + path, timeout=seconds, **what)

    def sql(self, query: str) -> list[list[Any]]:
        """The rows of a statement, or an empty list for one that returns none."""
        answer = self._request("GET", "/exec", 60, params={"query": query})
        body = answer.json()
        if "error" in body:
            raise RuntimeError(f"{body['error']} in: {query}")
        return list(body.get("dataset", []))

    def count(self, table: str) -> int:
        """Rows visible in a table; 0 while it does not exist."""
        try:
            return int(self.sql(f"SELECT count() FROM '{table}'")[0][0])
        except RuntimeError as error:
            if "does not exist" in str(error):
                return 0
            raise

    def await_count(self, table: str, rows: int, seconds: float = 120) -> int:
        """Polls until at least ``rows`` are visible (they are applied a moment after they are acknowledged)."""
        deadline = time.monotonic() + seconds
        while (seen := self.count(table)) < rows and time.monotonic() < deadline:
            time.sleep(0.1)
        return seen


class ServerProcess(QuestDb):
    """One test server on one root directory and one fixed port.

    ``arguments`` are passed to the program, e.g. ``"--ack-delay-millis", "200"``. Use as a context manager, or call
    :meth:`start` and :meth:`stop`.
    """

    def __init__(self, root: Path, *arguments: str, port: int | None = None) -> None:
        self.root = root
        self.port = port or free_port()
        self._arguments = arguments
        self._process: subprocess.Popen[str] | None = None

    @property
    def http(self) -> str:
        """Base address of the HTTP side."""
        return f"{'https' if self._argument('--tls-') else 'http'}://{self.addr}"

    def change_arguments(self, *arguments: str) -> None:
        """What the program gets at its next start."""
        self._arguments = arguments

    def _argument(self, name: str) -> str | None:
        """The value of the first argument whose name begins so."""
        for given, value in zip(self._arguments[::2], self._arguments[1::2], strict=True):
            if given.startswith(name):
                return value
        return None

    def _request(self, method: str, path: str, seconds: float, **what: Any) -> requests.Response:
        """With the credentials that the program asks for; its own certificate is not checked here."""
        if token := self._argument("--token"):
            what["headers"] = {"Authorization": f"Bearer {token}"}
        user, password = self._argument("--user"), self._argument("--password")
        if user and password:
            what["auth"] = (user, password)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super()._request(method, path, seconds, verify=False, **what)

    def start(self) -> ServerProcess:
        """Starts the program and returns when it says that it is ready."""
        self.root.mkdir(parents=True, exist_ok=True)
        log = (self.root.parent / f"{self.root.name}-server.log").open("a")
        command = [
            "java",
            "-Xmx1g",
            "-jar",
            str(jar()),
            "--root",
            str(self.root),
            "--port",
            str(self.port),
        ]
        self._process = subprocess.Popen(
            [*command, *self._arguments], stdout=subprocess.PIPE, stderr=log, text=True
        )
        log.close()
        assert self._process.stdout is not None
        deadline = time.monotonic() + _READY_SECONDS
        for line in self._process.stdout:
            if line.startswith("{") and json.loads(line).get("ready"):
                return self
            if time.monotonic() > deadline:
                break
        self.kill()
        raise RuntimeError(f"the test server did not become ready; see {log.name}")

    def kill(self) -> None:
        """SIGKILL, and waits until it is gone."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, and waits until it is gone."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """SIGSTOP: connections stay open, nothing answers."""
        self._running().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self._running().send_signal(signal.SIGCONT)

    def fill_disk(self) -> None:
        """From now on none of its files takes a write, as on a full disk; pages that it has in memory go on."""
        self._limit_files(0)

    def free_disk(self) -> None:
        """Files take writes again."""
        self._limit_files(resource.RLIM_INFINITY)

    def _limit_files(self, size: int) -> None:
        _, hard = resource.prlimit(self._running().pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._running().pid, resource.RLIMIT_FSIZE, (size, hard))

    def counters(self) -> dict[str, Any]:
        """What the server counted; what concerns rows is kept on disk and survives a kill."""
        answer = self._request("GET", "/qwp/counters", 10)
        answer.raise_for_status()
        return dict(answer.json())

    def script(self, **changes: Any) -> None:
        """Changes how the server behaves from now on."""
        answer = self._request("POST", "/qwp/script", 10, json=changes)
        answer.raise_for_status()

    def __enter__(self) -> ServerProcess:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise RuntimeError("the test server is not running")
        return self._process

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()
