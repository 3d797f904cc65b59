"""What servers refuse for real causes: it is told by code and table, nothing is written, and nobody waits for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.events import exists
from conformance.ways import save, table_name
from harness.fixtures import NewServer
from harness.sending import DRAIN_SECONDS, START, open_sender, times
from harness.server import ServerProcess
from questdb_sf.errors import ErrorCode, QuestDBSfError
from questdb_sf.sender import Micros
from questdb_sf.spark import failure

Way = Callable[[Callable[[], Any], ServerProcess, str, dict[str, Any]], QuestDBSfError]
"""Writes a row to a table that does not take it, and returns what is told."""


def by_row(_: Any, server: ServerProcess, table: str, columns: dict[str, Any]) -> QuestDBSfError:
    cells = {n: np.array(v) if isinstance(v, list) else v for n, v in columns.items()}
    with pytest.raises(QuestDBSfError) as told, open_sender(server) as sender:
        sender.row(table, columns=cells, at=Micros(START))
        sender.drain(DRAIN_SECONDS)
    return told.value


def by_spark(
    session: Callable[[], Any],
    server: ServerProcess,
    table: str,
    columns: dict[str, Any],
) -> QuestDBSfError:
    frame = session().createDataFrame([(*columns.values(), START)], [*columns, "micros"])
    frame = frame.selectExpr(*columns, "timestamp_micros(micros) AS ts")
    with pytest.raises(Exception) as told:
        save(frame, server, table)
    error = failure(told.value)
    assert error is not None, told.value
    return error


WAYS: list[Way] = [by_row, by_spark]
BOTH_WAYS = pytest.mark.parametrize("way", WAYS)
BASE = "CREATE TABLE '{t}_base' (x LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
NOT_TABLES = {
    "view": [BASE, "CREATE VIEW '{t}' AS (SELECT * FROM '{t}_base')"],
    "materialized view": [
        BASE,
        "CREATE MATERIALIZED VIEW '{t}' AS (SELECT ts, sum(x) x FROM '{t}_base' SAMPLE BY 1h)"
        " PARTITION BY DAY",
    ],
    "table without WAL": [
        "CREATE TABLE '{t}' (x LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY BYPASS WAL"
    ],
    "table without partitions": ["CREATE TABLE '{t}' (x LONG, ts TIMESTAMP) TIMESTAMP(ts)"],
    "table without a designated timestamp": ["CREATE TABLE '{t}' (x LONG)"],
}


@BOTH_WAYS
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.real] if name == "materialized view" else [])
        for name in NOT_TABLES
    ],
)
def test_what_takes_no_rows(session: Any, server: ServerProcess, name: str, way: Way) -> None:
    table = table_name("no_rows", way.__name__, name)
    for statement in NOT_TABLES[name]:
        server.sql(statement.format(t=table))
    error = way(session, server, table, {"x": 1})
    assert error.code in (ErrorCode.TABLE_MISMATCH, ErrorCode.SERVER_REJECTED), error
    assert f"'{table}'" in str(error)
    assert server.count(table) == 0


OTHER_TYPES = {
    "text for a number": ("LONG", "five"),
    "text for a time": ("TIMESTAMP", "now"),
    "text for a BOOLEAN": ("BOOLEAN", "true"),
    "text for a BINARY": ("BINARY", "abc"),
    "number for a text": ("VARCHAR", 5),
    "number for a SYMBOL": ("SYMBOL", 5),
    "number for a UUID": ("UUID", 5),
    "number for a BOOLEAN": ("BOOLEAN", 1),
    "floating number for a LONG": ("LONG", 1.5),
    "BOOLEAN for a number": ("INT", True),
    "bytes for a text": ("VARCHAR", b"abc"),
    "array for a number": ("DOUBLE", [1.5]),
    "array of another depth": ("DOUBLE[][]", [1.5]),
}


@BOTH_WAYS
@pytest.mark.parametrize("name", OTHER_TYPES)
def test_a_column_of_another_type(session: Any, server: ServerProcess, name: str, way: Way) -> None:
    kind, value = OTHER_TYPES[name]
    table = table_name("other_type", way.__name__, name)
    server.sql(f"CREATE TABLE {table} (x {kind}, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")
    error = way(session, server, table, {"x": value})
    assert error.code in (ErrorCode.TABLE_MISMATCH, ErrorCode.SERVER_REJECTED), error
    assert f"'{table}'" in str(error) and kind in str(error), error
    assert "'x'" in str(error) or "[column=x" in str(error), error  # the server's words, or ours
    assert server.count(table) == 0


BAD_VALUES = {
    "BYTE": 128,
    "SHORT": -32_769,
    "INT": 2**31,
    "FLOAT": 0.1,
    "DOUBLE": 2**53 + 1,
    "CHAR": "xy",
    "UUID": "00112233",
    "IPv4": "1.2.3",
    "LONG256": "5",
    "GEOHASH(4c)": "u33dc1",
    "GEOHASH(5b)": "z9",
    "DECIMAL(4,2)": 100,
}


@pytest.mark.spark
@pytest.mark.parametrize("kind", BAD_VALUES)
def test_a_value_that_the_column_does_not_have(
    session: Any, server: ServerProcess, kind: str
) -> None:
    """Spark carries a wider type than the column: the row is told, with its value."""
    table = table_name("bad_value", kind)
    server.sql(f"CREATE TABLE {table} (x {kind}, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")
    error = by_spark(session, server, table, {"x": BAD_VALUES[kind]})
    assert error.code == ErrorCode.VALUE_INVALID, error
    assert f"'{table}'" in str(error) and "'x'" in str(error), error
    assert server.count(table) == 0


@pytest.mark.parametrize("kind", ["BYTE", "SHORT", "INT", "FLOAT", "DOUBLE"])
def test_arrow_numbers_of_a_wider_type(server: ServerProcess, kind: str) -> None:
    """Arrow says what its columns hold: the type decides, though these values would fit."""
    table = table_name("wider", kind)
    server.sql(f"CREATE TABLE {table} (x {kind}, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")
    data = pa.table({"x": pa.array([1], pa.int64()), "ts": times(1)})
    with pytest.raises(QuestDBSfError) as told, open_sender(server) as sender:
        sender.write(data, table=table, timestamp="ts")
        sender.drain(DRAIN_SECONDS)
    assert told.value.code == ErrorCode.TABLE_MISMATCH, told.value
    assert f"'{table}'" in str(told.value) and "LONG" in str(told.value), told.value
    assert server.count(table) == 0


@BOTH_WAYS
@pytest.mark.parametrize("name", ["timestamp", "Timestamp", "TIMESTAMP"])
def test_a_second_timestamp_in_a_new_table(
    session: Any, server: ServerProcess, name: str, way: Way
) -> None:
    """The server would take the rows, and nobody could read them. The sink leaves no table to the server."""
    table = table_name("second", way.__name__, name)
    error = way(session, server, table, {"x": 1, name: 2})
    if way is by_row:
        assert error.code == ErrorCode.TABLE_MISMATCH, error
        assert f"'{name}'" in str(error), error
    else:
        assert error.code == ErrorCode.TABLE_MISSING, error
    assert not exists(server, table)


@pytest.mark.parametrize("name", ["time", "TIME"])
def test_the_designated_timestamp_twice(server: ServerProcess, name: str) -> None:
    """It would shift the times of all later rows, also of other senders."""
    table = f"twice_{'small' if name.islower() else 'capital'}"
    server.sql(
        f"CREATE TABLE {table} (x LONG, time TIMESTAMP) TIMESTAMP(time) PARTITION BY DAY WAL"
    )
    with pytest.raises(QuestDBSfError) as told, open_sender(server) as sender:
        sender.row(table, columns={"x": 1, name: Micros(START + 1)}, at=Micros(START))
        sender.drain(DRAIN_SECONDS)
    assert told.value.code == ErrorCode.TABLE_MISMATCH
    with open_sender(server) as sender:
        for n in range(3):
            sender.row(table, columns={"x": n}, at=Micros(START + n))
            assert sender.drain(DRAIN_SECONDS)
    assert server.await_count(table, 3) == 3
    assert server.sql(f"SELECT x, time::long FROM {table} ORDER BY x") == [
        [n, START + n] for n in range(3)
    ]


@BOTH_WAYS
@pytest.mark.real
def test_a_server_that_is_read_only(session: Any, new_server: NewServer, way: Way) -> None:
    server = new_server().start()
    server.sql("CREATE TABLE t (x LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")
    server.stop()
    server = new_server(environment={"QDB_READONLY": "true"}).start()
    error = way(session, server, "t", {"x": 1})
    assert error.code == ErrorCode.SERVER_REJECTED, error
    assert "read-only" in str(error)
    assert server.count("t") == 0


@BOTH_WAYS
@pytest.mark.real
def test_a_server_that_makes_no_tables(session: Any, new_server: NewServer, way: Way) -> None:
    setting = {"QDB_LINE_AUTO_CREATE_NEW_TABLES": "false"}
    server = new_server(environment=setting).start()
    error = way(session, server, "t", {"x": 1})
    # The sink asks for the table first.
    code = ErrorCode.SERVER_REJECTED if way is by_row else ErrorCode.TABLE_MISSING
    assert error.code == code, error
    assert "'t'" in str(error)
    assert not exists(server, "t")


@BOTH_WAYS
@pytest.mark.real
def test_a_server_that_makes_no_columns(session: Any, new_server: NewServer, way: Way) -> None:
    setting = {"QDB_LINE_AUTO_CREATE_NEW_COLUMNS": "false"}
    server = new_server(environment=setting).start()
    server.sql("CREATE TABLE t (x LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")
    error = way(session, server, "t", {"x": 1, "y": 2})
    assert error.code == ErrorCode.SERVER_REJECTED, error
    assert "new columns not allowed" in str(error)
    assert server.count("t") == 0
