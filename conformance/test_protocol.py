"""Frames, acknowledgements and the WebSocket under them, byte by byte: what the engine relies on."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

import pytest

from conformance.connection import (
    Closed,
    Connection,
    Disconnected,
    Opcode,
    Status,
    UpgradeRefused,
    web_socket_frame,
)
from conformance.events import await_applied
from conformance.wire import Flag, Wire, column, designated, message, table
from harness.sending import START
from harness.server import ServerProcess

COUNTER = itertools.count()


@pytest.fixture
def name(server: ServerProcess) -> str:
    """A table with a LONG ``v``."""
    made = f"protocol_{next(COUNTER)}"
    server.sql(
        f"CREATE TABLE {made} (v LONG, s SYMBOL, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
    )
    return made


@pytest.fixture
def connection(server: ServerProcess) -> Iterator[Connection]:
    with Connection(server.port) as opened:
        yield opened


def frame(name: str, *values: int, flags: int = Flag.DELTA_SYMBOLS) -> bytes:
    """A frame of rows with these values."""
    times = designated(*(START + value for value in values))
    return message(table(name, column("v", Wire.LONG, values), times), flags=flags)


def bad(name: str) -> bytes:
    """A frame whose values no LONG takes."""
    return message(table(name, column("v", Wire.BINARY, [b"abc"]), designated(START)))


def values(server: ServerProcess, name: str) -> list[int]:
    """What SQL shows, when all is applied."""
    await_applied(server, name)
    return [value for (value,) in server.sql(f"SELECT v FROM {name} ORDER BY v")]


def replies(connection: Connection, last: int) -> list[int]:
    """The sequence numbers of OKs up to the last one."""
    seen = [connection.reply().sequence]
    while seen[-1] < last:
        seen.append(connection.reply().sequence)
    return seen


def test_an_ok_names_the_table_and_counts_its_transactions(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    first, second = connection.ask(frame(name, 1)), connection.ask(frame(name, 2))
    assert (first.sequence, second.sequence) == (0, 1)
    assert (first.tables, second.tables) == ({name: 1}, {name: 2})
    assert values(server, name) == [1, 2]


def test_an_ok_spells_the_table_as_it_was_made(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    assert connection.ask(frame(name.upper(), 1)).tables == {name: 1}
    assert values(server, name) == [1]


def test_a_frame_for_many_tables_names_them_all(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    names = [f"{name}_{n}" for n in range(5)]
    blocks = [table(t, column("v", Wire.LONG, [1]), designated(START)) for t in names]
    assert set(connection.ask(message(*blocks)).tables) == set(names)
    for each in names:
        assert values(server, each) == [1]


@pytest.mark.parametrize("frames", [2, 8, 9, 20, 100])
def test_frames_in_one_write_are_all_acknowledged(
    server: ServerProcess, name: str, connection: Connection, frames: int
) -> None:
    connection.send(*(frame(name, n) for n in range(frames)))
    acknowledged = replies(connection, frames - 1)
    assert acknowledged == sorted(set(acknowledged)), "OKs are cumulative and only rise"
    assert values(server, name) == list(range(frames))


def test_a_frame_without_rows_is_acknowledged_without_a_table(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    empty = message(table(name, column("v", Wire.LONG, []), designated()))
    reply = connection.ask(empty)
    assert (reply.ok, reply.tables) == (True, {})
    assert connection.ask(frame(name, 1)).sequence == 1
    assert values(server, name) == [1]


def test_after_a_refusal_nothing_is_taken(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    """What was good before it is acknowledged, then comes the refusal, then nothing, but PONGs."""
    connection.send(*(frame(name, n) for n in range(5)), bad(name), frame(name, 6), frame(name, 7))
    assert replies(connection, 4)[-1] == 4
    refusal = connection.reply()
    assert (refusal.status, refusal.sequence) == (Status.SCHEMA_MISMATCH, 5)
    connection.send(frame(name, 8))
    connection.send_raw(web_socket_frame(Opcode.PING, b"there?"))
    answer = connection.receive()
    assert (answer.opcode, answer.payload) == (Opcode.PONG, b"there?")
    assert values(server, name) == list(range(5))


def test_a_refused_frame_leaves_nothing_of_itself(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    """Not even of a good table in the same frame."""
    good = table(f"{name}_good", column("v", Wire.LONG, [1]), designated(START))
    rest = table(name, column("v", Wire.BINARY, [b"abc"]), designated(START))
    assert not connection.ask(message(good, rest)).ok
    with Connection(server.port) as other:
        assert other.ask(frame(f"{name}_good", 2)).ok
    assert values(server, f"{name}_good") == [2]


def test_deferred_frames_wait_for_the_one_that_commits(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    deferred = Flag.DELTA_SYMBOLS | Flag.DEFER_COMMIT
    connection.send(frame(name, 1, flags=deferred), frame(name, 2, flags=deferred))
    connection.send_raw(web_socket_frame(Opcode.PING))
    assert connection.receive().opcode == Opcode.PONG  # and no OK before it
    assert server.count(name) == 0
    reply = connection.ask(frame(name, 3))
    assert (reply.sequence, reply.tables) == (2, {name: 1})
    assert values(server, name) == [1, 2, 3]


def test_deferred_frames_go_with_their_connection(server: ServerProcess, name: str) -> None:
    deferred = Flag.DELTA_SYMBOLS | Flag.DEFER_COMMIT
    with Connection(server.port) as first:
        first.send(frame(name, 1, flags=deferred))
        first.send_raw(web_socket_frame(Opcode.PING))
        assert first.receive().opcode == Opcode.PONG
    with Connection(server.port) as second:
        assert second.ask(frame(name, 2)).ok
    assert values(server, name) == [2]


def test_symbols_belong_to_the_connection(server: ServerProcess, name: str) -> None:
    """Ids go on from frame to frame, and begin anew with a connection."""

    def symbols(ids: list[int | None], new: list[str], start: int, first: int) -> bytes:
        cells = [
            column("v", Wire.LONG, list(range(first, first + len(ids)))),
            column("s", Wire.SYMBOL, ids),
            designated(*(START + first + n for n in range(len(ids)))),
        ]
        return message(table(name, *cells), symbols=new, delta_start=start)

    with Connection(server.port) as one:
        assert one.ask(symbols([0, 1, None], ["a", "b"], 0, 0)).ok
        assert one.ask(symbols([2, 0, 1], ["ü"], 2, 3)).ok
    with Connection(server.port) as other:
        assert other.ask(symbols([0, 1], ["b", ""], 0, 6)).ok
    await_applied(server, name)
    found = server.sql(f"SELECT s FROM {name} ORDER BY v")
    assert [symbol for (symbol,) in found] == ["a", "b", None, "ü", "a", "b", "b", ""]


def test_a_frame_in_pieces_of_one_byte(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    for byte in web_socket_frame(Opcode.BINARY, frame(name, 1)):
        connection.send_raw(bytes([byte]))
    assert connection.reply().ok
    assert values(server, name) == [1]


def test_half_a_frame_holds_no_acknowledgement_back(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    whole = web_socket_frame(Opcode.BINARY, frame(name, 2))
    connection.send_raw(web_socket_frame(Opcode.BINARY, frame(name, 1)) + whole[:20])
    assert connection.reply().sequence == 0
    connection.send_raw(whole[20:])
    assert connection.reply().sequence == 1
    assert values(server, name) == [1, 2]


@pytest.mark.parametrize("missing", [1, 5, 20])
def test_a_frame_that_is_cut_is_refused(
    server: ServerProcess, name: str, connection: Connection, missing: int
) -> None:
    reply = connection.ask(frame(name, 1)[:-missing])
    assert (reply.status, reply.sequence) == (Status.PARSE_ERROR, 0)
    assert values(server, name) == []


@pytest.mark.parametrize("at", [0, 1, 2, 3, 4])
def test_a_frame_of_something_else_is_refused(name: str, connection: Connection, at: int) -> None:
    """Another word at its beginning, or another version."""
    raw = bytearray(frame(name, 1))
    raw[at] ^= 0x55
    assert connection.ask(bytes(raw)).status == Status.PARSE_ERROR


def test_a_frame_as_large_as_the_cap(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    """One more byte ends the connection with 1009, and what came before is acknowledged."""

    def of(size: int) -> bytes:
        small = len(message(table(name, column("w", Wire.VARCHAR, [""]), designated(START))))
        # The length of the text is an offset of fixed width, so that each byte of text is one of the frame.
        text = "x" * (size - small)
        made = message(table(name, column("w", Wire.VARCHAR, [text]), designated(START)))
        assert len(made) == size
        return made

    assert connection.ask(of(connection.cap)).ok
    connection.send(frame(name, 2), of(connection.cap + 1))
    assert connection.reply().sequence == 1
    with pytest.raises(Closed) as closed:
        connection.reply()
    assert closed.value.code == 1009
    await_applied(server, name)
    assert server.count(name) == 2


@pytest.mark.parametrize("opcode", [Opcode.TEXT, Opcode.CONTINUATION])
def test_messages_that_are_not_binary(
    server: ServerProcess, name: str, connection: Connection, opcode: Opcode
) -> None:
    assert connection.ask(frame(name, 1)).ok
    connection.send_raw(web_socket_frame(opcode, b"hello"))
    with pytest.raises((Closed, Disconnected)):
        connection.reply()
    assert values(server, name) == [1]


def test_a_close_is_answered_after_what_came_before(
    server: ServerProcess, name: str, connection: Connection
) -> None:
    connection.send(frame(name, 1))
    connection.send_raw(web_socket_frame(Opcode.CLOSE, struct.pack(">H", 1000)))
    assert connection.reply().sequence == 0
    with pytest.raises(Closed) as closed:
        connection.reply()
    assert closed.value.code == 1000
    assert values(server, name) == [1]


def test_an_end_without_a_word_keeps_what_was_sent(server: ServerProcess, name: str) -> None:
    with Connection(server.port) as connection:
        connection.send(frame(name, 1))
    assert server.await_count(name, 1) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-WebSocket-Version": "12"},
        {"Sec-WebSocket-Version": None},
        {"Sec-WebSocket-Key": None},
        {"Origin": "http://elsewhere.example"},
        {"Upgrade": None},
    ],
    ids=lambda headers: "-".join(f"{k}={v}" for k, v in headers.items()),
)
def test_upgrades_that_are_refused(server: ServerProcess, headers: dict[str, str | None]) -> None:
    with pytest.raises((UpgradeRefused, Disconnected)):
        Connection(server.port, headers=headers)


@pytest.mark.parametrize("version", ["1", "2", "99", None])
def test_the_version_is_one(server: ServerProcess, version: str | None) -> None:
    with Connection(server.port, headers={"X-QWP-Max-Version": version}) as connection:
        assert connection.response["x-qwp-version"] == "1"
        assert connection.cap >= 64 * 1024


def test_fifty_connections_at_once(server: ServerProcess, name: str) -> None:
    connections = [Connection(server.port) for _ in range(50)]
    try:
        for n, connection in enumerate(connections):
            connection.send(frame(name, n))
        assert all(connection.reply().ok for connection in connections)
    finally:
        for connection in connections:
            connection.close()
    assert values(server, name) == list(range(50))
