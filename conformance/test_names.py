"""Names of tables and columns: those that go through each way in, and those that client and server refuse alike."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from conformance.connection import Connection
from conformance.ways import save
from conformance.wire import Wire, column, designated, message, table
from harness.sending import DRAIN_SECONDS, START, column_type, open_sender, times
from harness.server import ServerProcess
from questdb_sf.errors import DataError, ErrorCode
from questdb_sf.sender import Micros

LONGEST = 127
EITHER = {
    "space": "with space",
    "accents": "ünïcödé",
    "chinese": "漢字",
    "emoji": "😀",
    "combining": "e\u0301",
    "keyword": "select",
    "capital keyword": "TABLE",
    "capitals": "Mixed Case",
    "digit first": "1st",
    "underscore": "_",
    "punctuation": "#$&!;<>=@[]^`{|}",
    "127 bytes": "x" * LONGEST,
    "127 bytes in 64 characters": "ü" * (LONGEST // 2) + "x",
    "127 bytes in 34 characters": "\U0001f600" * (LONGEST // 4) + "xyz",
}
"""Names that a table and a column may have."""
TABLES = {**EITHER, "dash": "a-b", "dot": "a.b", "ellipsis": "…"}
COUNTER = itertools.count()

Way = Callable[[Callable[[], Any], ServerProcess, str, str], None]
"""Writes one row, 7 in the column of that name."""


def by_row(_: Any, server: ServerProcess, table: str, column: str) -> None:
    with open_sender(server) as sender:
        sender.row(table, columns={column: 7}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0


def by_arrow(_: Any, server: ServerProcess, table: str, column: str) -> None:
    with open_sender(server) as sender:
        sender.write(pa.table({column: [7], "ts": times(1)}), table=table, timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0


def by_spark(session: Callable[[], Any], server: ServerProcess, table: str, column: str) -> None:
    frame = session().createDataFrame([(7, START)], ["x", "n"])
    frame = frame.selectExpr("timestamp_micros(n) AS ts", "x").withColumnRenamed("x", column)
    save(frame, server, table, create_table="true")


WAYS: list[Way] = [by_row, by_arrow, by_spark]


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name + '"'


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TABLES)
def test_table_names(session: Any, server: ServerProcess, name: str, way: Way) -> None:
    own = TABLES[name]
    server.sql(f"DROP TABLE IF EXISTS {quoted(own)}")  # of the way before
    way(session, server, own, "v")
    assert server.await_count(own, 1) == 1
    assert server.sql(f"SELECT v FROM {quoted(own)}") == [[7]]
    assert server.sql(f"SELECT count() FROM tables() WHERE table_name = '{own}'") == [[1]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", EITHER)
def test_column_names(session: Any, server: ServerProcess, name: str, way: Way) -> None:
    own = f"columns {next(COUNTER)}"
    way(session, server, own, EITHER[name])
    assert server.await_count(own, 1) == 1
    assert server.sql(f"SELECT {quoted(EITHER[name])} FROM {quoted(own)}") == [[7]]
    assert column_type(server, own, EITHER[name]) == "LONG"


@pytest.mark.parametrize("way", WAYS)
def test_names_that_differ_in_case_are_one(session: Any, server: ServerProcess, way: Way) -> None:
    """The spelling that was first stays; a capital with an accent has its small letter as well."""
    own = f"Écase {WAYS.index(way)}"
    for spelled, value in ((own, "Ü v"), (own.upper(), "ü V"), (own.lower(), "ü v")):
        way(session, server, spelled, value)
    assert server.await_count(own, 3) == 3
    names = f"SELECT \"column\" FROM table_columns('{own}') WHERE NOT designated"
    assert server.sql(names) == [["Ü v"]]
    assert server.sql(f"SELECT {quoted('Ü v')} FROM '{own}'") == [[7]] * 3
    found = server.sql("SELECT table_name FROM tables()")
    assert [name for (name,) in found if name.lower() == own.lower()] == [own]


REFUSED_EITHER = {
    **{f"U+{ord(c):04X}": f"a{c}b" for c in "?,'\"\\/:)(+*%~\0\t\n\r\x01\x0f\x7f\ufeff"},
    "128 bytes": "x" * (LONGEST + 1),
    "128 bytes in 64 characters": "ü" * 64,
}
REFUSED_TABLES = {
    **REFUSED_EITHER,
    "space before": " a",
    "space behind": "a ",
    "dot before": ".a",
    "dot behind": "a.",
    "two dots": "a..b",
    "dot": ".",
}
REFUSED_COLUMNS = {**REFUSED_EITHER, "dash": "a-b", "dot": "a.b"}


def client_refuses(server: ServerProcess, table: str, column: str) -> None:
    """The engine does, before anything is sent, by row and by table; it can be used on."""
    with open_sender(server) as sender:
        with pytest.raises(DataError) as by_row:
            sender.row(table, columns={column: 7}, at=Micros(START))
        with pytest.raises(DataError) as by_table:
            sender.write(pa.table({column: [7], "ts": times(1)}), table=table, timestamp="ts")
        assert {by_row.value.code, by_table.value.code} == {ErrorCode.NAME_INVALID}
        sender.row("after refused names", columns={"v": 7}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0


def server_refuses(server: ServerProcess, name: str, of_column: str) -> None:
    """The server does, in a frame that no client of ours would send; nothing is made."""
    before = server.sql("SELECT count() FROM tables()")
    with Connection(server.port) as connection:
        frame = message(table(name, column(of_column, Wire.LONG, [7]), designated(START)))
        reply = connection.ask(frame)
        assert not reply.ok, reply
    assert server.sql("SELECT count() FROM tables()") == before


@pytest.mark.parametrize("name", REFUSED_TABLES)
def test_table_names_that_are_refused(server: ServerProcess, name: str) -> None:
    client_refuses(server, REFUSED_TABLES[name], "v")
    server_refuses(server, REFUSED_TABLES[name], "v")


@pytest.mark.parametrize("name", REFUSED_COLUMNS)
def test_column_names_that_are_refused(server: ServerProcess, name: str) -> None:
    client_refuses(server, "refused columns", REFUSED_COLUMNS[name])
    server_refuses(server, f"refused column {next(COUNTER)}", REFUSED_COLUMNS[name])
