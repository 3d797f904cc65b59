"""Rows and Arrow tables that a table would change or lose are not sent: the engine looks at the table by SQL first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.sending import DRAIN_SECONDS, START, open_sender, times
from harness.server import ServerProcess
from questdb_sf.errors import ErrorCode, QuestDBSfError
from questdb_sf.sender import Micros, Nanos, Sender

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")

Write = Callable[[Sender, str], None]


def row(**columns: Any) -> Write:
    return lambda sender, table: sender.row(table, columns=columns, at=Micros(START))


def arrow(**columns: Any) -> Write:
    def write(sender: Sender, table: str) -> None:
        sender.write(pa.table({**columns, "at": times(1)}), table=table, timestamp="at")

    return write


def refused(server: ServerProcess, write: Write, table: str) -> str:
    """What the sender says; nothing must have been sent."""
    sender = open_sender(server, close_flush_timeout_millis=0)
    try:
        with pytest.raises(QuestDBSfError) as error:
            write(sender, table)
            sender.drain(DRAIN_SECONDS)
        assert error.value.code is ErrorCode.TABLE_MISMATCH
        assert sender.counters().frames_sent == 0
        assert f"'{table}'" in str(error.value)
        return str(error.value)
    finally:
        sender.close()


WAYS = pytest.mark.parametrize(
    ("way", "make"),
    [("row", row), ("arrow", lambda **c: arrow(**{n: [v] for n, v in c.items()}))],
)


@WAYS
def test_a_column_called_timestamp_needs_a_table(
    server: ServerProcess, way: str, make: Callable[..., Write]
) -> None:
    table = f"live_timestamp_{way}"
    said = refused(server, make(Timestamp=1), table)
    assert "is not there" in said
    assert "'Timestamp'" in said
    server.sql(
        f'CREATE TABLE {table} ("timestamp" LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL'
    )
    with open_sender(server) as sender:
        make(Timestamp=1)(sender, table)
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count(table, 1, 240) == 1


@pytest.mark.scripted
@WAYS
def test_without_sql_it_is_refused_too(
    start_server: Any, way: str, make: Callable[..., Write]
) -> None:
    server = start_server()
    server.script(http_status=404)
    said = refused(server, make(timestamp=1), "live_no_sql")
    assert "HTTP 404" in said
    with open_sender(server) as sender:
        make(x=1)(sender, "live_no_sql")
        assert sender.drain(DRAIN_SECONDS)


@WAYS
def test_a_column_with_the_name_of_the_tables_time_is_not_sent(
    server: ServerProcess, way: str, make: Callable[..., Write]
) -> None:
    table = f"live_ts_{way}"
    server.sql(f"CREATE TABLE {table} (x LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")
    said = refused(server, make(x=1, TS=5), table)
    assert "'TS' is its designated timestamp" in said


@pytest.mark.parametrize(
    ("column", "value", "carried"),
    [
        ("DOUBLE", 2**53 + 1, "LONG"),
        ("INT", -(2**31), "LONG"),
        ("CHAR", "yes", "VARCHAR"),
        ("FLOAT", 0.5, "DOUBLE"),
    ],
)
@WAYS
def test_what_the_server_would_change_is_not_sent(
    server: ServerProcess,
    way: str,
    make: Callable[..., Write],
    column: str,
    value: Any,
    carried: str,
) -> None:
    table = f"live_{column}_{way}"
    server.sql(
        f"CREATE TABLE {table} (x {column}, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
    )
    said = refused(server, make(x=value), table)
    assert f"column 'x' is {column} and the rows carry {carried}" in said


@pytest.mark.parametrize("column", ["BYTE", "SHORT", "INT", "LONG", "DOUBLE"])
def test_whole_numbers_fit_every_number_that_holds_them(server: ServerProcess, column: str) -> None:
    table = f"live_whole_{column}"
    server.sql(
        f"CREATE TABLE {table} (x {column}, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
    )
    with open_sender(server) as sender:
        for value in (5, -128, 127):
            row(x=value)(sender, table)
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count(table, 3) == 3
    assert [int(x) for (x,) in server.sql(f"SELECT x FROM {table} ORDER BY x")] == [-128, 5, 127]


@pytest.mark.parametrize(("column", "value"), [("BYTE", 128), ("SHORT", -32769), ("INT", 2**31)])
def test_whole_numbers_beyond_the_column_are_refused_aloud(
    server: ServerProcess, column: str, value: int
) -> None:
    table = f"live_beyond_{column}"
    server.sql(
        f"CREATE TABLE {table} (x {column}, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
    )
    sender = open_sender(server, close_flush_timeout_millis=0)
    try:
        row(x=value)(sender, table)
        with pytest.raises(QuestDBSfError) as error:
            sender.drain(DRAIN_SECONDS)
        assert str(value) in str(error.value)
        assert f"'{table}'" in str(error.value)
    finally:
        sender.close()


def test_nanoseconds_are_not_cut(server: ServerProcess) -> None:
    table = "live_nanos"
    server.sql(f"CREATE TABLE {table} (x LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")

    def write(sender: Sender, name: str) -> None:
        sender.row(name, columns={"x": 1}, at=Nanos(START * 1000))

    said = refused(server, write, table)
    assert "TIMESTAMP_NS" in said
