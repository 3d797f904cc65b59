"""Connections that cannot be: wrong credentials, TLS where there is none, and peers that are no QuestDB."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.connection import Connection, UpgradeRefused
from conformance.ways import save
from harness.sending import DRAIN_SECONDS, START
from harness.server import ServerProcess, free_port
from harness.servers import new_server
from questdb_sf.errors import ErrorCode, QuestDBSfError
from questdb_sf.sender import Micros, Sender
from questdb_sf.spark import failure

pytestmark = pytest.mark.on_server

USER, PASSWORD = "writer", "geheim"
SOON_SECONDS = 60
"""Far above what it takes, far below what a wait for an outage is."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that wants a user and a password."""
    work = tmp_path_factory.mktemp("guarded")
    with new_server(work / "root", "--user", USER, "--password", PASSWORD) as running:
        yield running


def told_by_sender(addr: str, keys: str = "", scheme: str = "ws") -> QuestDBSfError:
    """What a sender says that cannot connect."""
    began = time.monotonic()
    with pytest.raises(QuestDBSfError) as told:
        Sender(f"{scheme}::addr={addr};auth_timeout_ms=3000;{keys}")
    assert time.monotonic() - began < SOON_SECONDS
    assert addr in str(told.value)
    return told.value


def told_by_spark(session: Any, addr: str, **options: str) -> QuestDBSfError:
    """What a batch write says that cannot connect."""
    frame = session.sql(f"SELECT 1L AS x, timestamp_micros({START}) AS ts")
    writer = frame.write.format("questdb-sf").mode("append").option("timestamp", "ts")
    writer = writer.options(addr=addr, table="t", auth_timeout_ms="3000", **options)
    writer = writer.option("reconnect_max_duration_millis", "3000")
    began = time.monotonic()
    with pytest.raises(Exception) as told:
        writer.save()
    assert time.monotonic() - began < SOON_SECONDS
    error = failure(told.value)
    assert error is not None, told.value
    assert addr in str(error)
    return error


CREDENTIALS = {
    "another password": {"username": USER, "password": "wrong"},
    "another user": {"username": "nobody", "password": PASSWORD},
    "a token": {"token": PASSWORD},
    "none": {},
}


@pytest.mark.parametrize("name", CREDENTIALS)
def test_wrong_credentials(spark: Any, guarded: ServerProcess, name: str) -> None:
    wrong = CREDENTIALS[name]
    keys = "".join(f"{key}={value};" for key, value in wrong.items())
    for error in (told_by_sender(guarded.addr, keys), told_by_spark(spark, guarded.addr, **wrong)):
        assert error.code == ErrorCode.AUTH_FAILED, error
        assert PASSWORD not in str(error)
    assert guarded.count("t") == 0


def test_right_credentials(spark: Any, guarded: ServerProcess) -> None:
    with Sender(f"ws::addr={guarded.addr};username={USER};password={PASSWORD};") as sender:
        sender.row("right", columns={"x": 1}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
    frame = spark.sql(f"SELECT 2L AS x, timestamp_micros({START}) AS ts")
    save(frame, guarded, "right", username=USER, password=PASSWORD)
    assert guarded.await_count("right", 2) == 2


@pytest.mark.parametrize("path", ["/", "/write", "/write/v5", "/exec", "/api/v5/write"])
def test_paths_that_take_no_rows(server: ServerProcess, path: str) -> None:
    with pytest.raises(UpgradeRefused):
        Connection(server.port, path=path)


@pytest.mark.parametrize("path", ["/write/v4", "/api/v4/write"])
def test_paths_that_take_rows(server: ServerProcess, path: str) -> None:
    with Connection(server.port, path=path) as connection:
        assert connection.cap > 64 * 1024


def no_answer(peer: socket.socket) -> None:
    """Takes the request and says nothing, until the client goes."""
    with contextlib.suppress(OSError):
        while peer.recv(4096):
            pass


def answer(*lines: str) -> Callable[[socket.socket], None]:
    """Answers the first bytes of the request with these lines."""

    def say(peer: socket.socket) -> None:
        with contextlib.suppress(OSError):
            peer.recv(4096)
            peer.sendall("\r\n".join(lines).encode())

    return say


PEERS: dict[str, Callable[[socket.socket], None]] = {
    "ends at once": lambda peer: None,
    "never answers": no_answer,
    "answers something else": answer("220 mail.example ESMTP", ""),
    "web server without such a page": answer(
        "HTTP/1.1 404 Not Found", "Content-Length: 9", "", "Not Found"
    ),
    "web server with a page for all": answer(
        "HTTP/1.1 200 OK", "Content-Type: text/html", "Content-Length: 13", "", "<html></html>"
    ),
    "proxy that sends elsewhere": answer(
        "HTTP/1.1 302 Found", "Location: http://login.example/", "Content-Length: 0", "", ""
    ),
    "WebSocket of something else": answer(
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Accept: x",
        "",
        "",
    ),
}


@pytest.fixture
def peer(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a peer that treats every connection in one way."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):  # closed
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=treat, args=(connection,), daemon=True).start()

        def treat(connection: socket.socket) -> None:
            with connection:
                PEERS[request.param](connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_peers_that_are_no_questdb(spark: Any, peer: str) -> None:
    codes = (
        ErrorCode.CONNECT_FAILED,
        ErrorCode.PROTOCOL_VIOLATION,
        ErrorCode.OUTAGE_BUDGET_EXHAUSTED,
    )
    assert told_by_sender(peer).code in codes
    assert told_by_spark(spark, peer).code in codes


def test_nobody_is_there(spark: Any) -> None:
    addr = f"127.0.0.1:{free_port()}"
    assert told_by_sender(addr).code == ErrorCode.CONNECT_FAILED
    assert told_by_spark(spark, addr).code == ErrorCode.OUTAGE_BUDGET_EXHAUSTED


def test_tls_where_there_is_none(spark: Any, server: ServerProcess) -> None:
    by_sender = told_by_sender(server.addr, scheme="wss")
    by_spark = told_by_spark(spark, server.addr, tls="on")
    assert by_sender.code == ErrorCode.CONNECT_FAILED
    assert by_spark.code == ErrorCode.OUTAGE_BUDGET_EXHAUSTED
    assert "TLS" in str(by_sender) and "TLS" in str(by_spark)
