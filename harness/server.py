"""A QuestDB as a process of its own, to be started, frozen, killed and started again on the same root and port.

Which QuestDB it is, :mod:`harness.servers` says.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import signal
import socket
import subprocess
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import requests

REPOSITORY = Path(__file__).resolve().parents[1]
_READY_SECONDS = 90


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

    def version(self) -> str:
        """What it says that it is."""
        said = str(self.sql("SELECT build()")[0][0])
        found = re.search(r"QuestDB ([^\s,]+)", said)
        return found.group(1) if found else said

    def count(self, table: str) -> int:
        """Rows visible in a table; 0 while it does not exist."""
        try:
            return int(self.sql(f"SELECT count() FROM '{table}'")[0][0])
        except RuntimeError as error:
            if "does not exist" in str(error):
                return 0
            raise

    def untouched(self, table: str) -> bool:
        """Whether nothing was sent for a table, as far as the server knows: here, whether no row is in it."""
        return self.count(table) == 0

    def await_count(self, table: str, rows: int, seconds: float = 300) -> int:
        """Polls until at least ``rows`` are visible (they are applied a moment after they are acknowledged).

        :param seconds: far above what that takes, also beside other tests on two cores
        """
        deadline = time.monotonic() + seconds
        while (seen := self.count(table)) < rows and time.monotonic() < deadline:
            time.sleep(0.1)
        return seen

    def await_applied(self, table: str, seconds: float = 60) -> None:
        """Until all that was acknowledged of a table is visible; :class:`RuntimeError` when that does not come."""
        deadline = time.monotonic() + seconds
        query = (
            f"SELECT suspended, writerTxn, sequencerTxn FROM wal_tables() WHERE name = '{table}'"
        )
        while True:
            ((suspended, applied, committed),) = self.sql(query)
            if applied == committed:
                return
            if suspended or time.monotonic() > deadline:
                raise RuntimeError(
                    f"table '{table}' shows {applied} of {committed} transactions, suspended: {suspended}"
                )
            time.sleep(0.01)


SMALL_FILES = {
    # A file is laid out a page ahead: by default 16 MiB for each column of each partition.
    "QDB_CAIRO_WRITER_DATA_APPEND_PAGE_SIZE": "65536",
    "QDB_CAIRO_WRITER_DATA_INDEX_VALUE_APPEND_PAGE_SIZE": "65536",
    "QDB_CAIRO_WAL_WRITER_DATA_APPEND_PAGE_SIZE": "65536",
    "QDB_CAIRO_SYSTEM_WAL_WRITER_DATA_APPEND_PAGE_SIZE": "65536",
}
"""Settings of a server that many tests share: 30 GB of column files fill a small disk."""


class NotApplicable(RuntimeError):
    """What was asked of a server only another kind of server can do."""


class ServerProcess(QuestDb, ABC):
    """One server on one root directory and one fixed port. Use as a context manager, or call :meth:`start` and
    :meth:`stop`.

    :param arguments: options of the test server, e.g. ``"--ack-delay-millis", "200"``; another server takes those that
        it has a setting for
    :param environment: settings of QuestDB, as ``QDB_...``
    """

    def __init__(
        self,
        root: Path,
        *arguments: str,
        port: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.root = root
        self.port = port or free_port()
        self._arguments = arguments
        self._settings = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def http(self) -> str:
        """Base address of the HTTP side."""
        return f"{'https' if self._argument('--tls-') else 'http'}://{self.addr}"

    def change_arguments(self, *arguments: str) -> None:
        """What the program gets at its next start."""
        self._arguments = arguments

    def _argument(self, name: str) -> str | None:
        """The value of the first argument whose name begins so."""
        for given, value in self._options():
            if given.startswith(name):
                return value
        return None

    def _options(self) -> Iterator[tuple[str, str]]:
        """The arguments as pairs of name and value."""
        return zip(self._arguments[::2], self._arguments[1::2], strict=True)

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

    @abstractmethod
    def _command(self) -> list[str]:
        """What runs the program."""

    def _environment(self) -> dict[str, str]:
        """Its environment."""
        return {**os.environ, **SMALL_FILES, **self._settings}

    def start(self) -> ServerProcess:
        """Starts the program and returns when it answers SQL."""
        command, environment = self._command(), self._environment()
        self.root.mkdir(parents=True, exist_ok=True)
        path = self.root.parent / f"{self.root.name}-server.log"
        with path.open("ab") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        deadline = time.monotonic() + _READY_SECONDS
        while not self._answers():
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with {self._process.returncode}; see {path}")
            if time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"no answer from the server in {_READY_SECONDS} s; see {path}")
            time.sleep(0.05)
        return self

    def _answers(self) -> bool:
        """Whether it answers SQL."""
        try:
            return bool(self._request("GET", "/exec", 5, params={"query": "SELECT 1"}).ok)
        except requests.RequestException:
            return False

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
        """What the test server counted; what concerns rows is kept on disk and survives a kill."""
        raise NotApplicable("counters() needs a scriptable server: SERVER=testserver")

    def script(self, **changes: Any) -> None:
        """Changes how the test server behaves from now on."""
        raise NotApplicable(
            f"script({', '.join(changes)}) needs a scriptable server: SERVER=testserver"
        )

    def __enter__(self) -> ServerProcess:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the server is not running")
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
