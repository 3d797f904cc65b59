"""Which columns a frame makes, and which it takes for the designated timestamp."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.connection import Connection, Status
from conformance.wire import Column, Wire, column, designated, message, table
from harness.server import QuestDb

NAME = "columns"


@pytest.fixture(autouse=True)
def no_table(server: QuestDb) -> Iterator[None]:
    """Each test begins without the table."""
    server.sql(f"DROP TABLE IF EXISTS {NAME}")
    yield
    server.sql(f"DROP TABLE IF EXISTS {NAME}")


@pytest.fixture
def connection(server: QuestDb) -> Iterator[Connection]:
    with Connection(server.port) as opened:
        yield opened


def create(server: QuestDb, timestamp: str = "TIMESTAMP") -> None:
    server.sql(f"CREATE TABLE {NAME} (v LONG, ts {timestamp}) TIMESTAMP(ts) PARTITION BY DAY WAL")


def frame(*columns: Column, rows: int | None = None) -> bytes:
    return message(table(NAME, *columns, rows=rows))


def columns(server: QuestDb) -> list[tuple[str, str]]:
    server.sql(f"SELECT wait_wal_table('{NAME}')")
    rows = server.sql(f"SELECT \"column\", type FROM table_columns('{NAME}')")
    return [(name, sql_type) for name, sql_type in rows]


NEW = [
    (Wire.BOOLEAN, True, {}, "BOOLEAN"),
    (Wire.BYTE, 1, {}, "BYTE"),
    (Wire.SHORT, 1, {}, "SHORT"),
    (Wire.INT, 1, {}, "INT"),
    (Wire.LONG, 1, {}, "LONG"),
    (Wire.FLOAT, 1.0, {}, "FLOAT"),
    (Wire.DOUBLE, 1.0, {}, "DOUBLE"),
    (Wire.SYMBOL, None, {}, "SYMBOL"),
    (Wire.TIMESTAMP, 1, {}, "TIMESTAMP"),
    (Wire.TIMESTAMP_NANOS, 1, {}, "TIMESTAMP_NS"),
    (Wire.DATE, 1, {}, "DATE"),
    (Wire.UUID, None, {}, "UUID"),
    (Wire.LONG256, 1, {}, "LONG256"),
    (Wire.GEOHASH, 1, {"precision": 7}, "GEOHASH(7b)"),
    (Wire.GEOHASH, 1, {"precision": 60}, "GEOHASH(12c)"),
    (Wire.VARCHAR, "a", {}, "VARCHAR"),
    (Wire.DOUBLE_ARRAY, [1.0], {}, "DOUBLE[]"),
    (Wire.DOUBLE_ARRAY, [[[1.0]]], {}, "DOUBLE[][][]"),
    (Wire.DECIMAL64, 1, {"scale": 18}, "DECIMAL(18,18)"),
    (Wire.DECIMAL128, 1, {"scale": 0}, "DECIMAL(38,0)"),
    (Wire.DECIMAL256, 1, {"scale": 76}, "DECIMAL(76,76)"),
    (Wire.CHAR, "a", {}, "CHAR"),
    (Wire.BINARY, b"a", {}, "BINARY"),
    (Wire.IPV4, "1.2.3.4", {}, "IPv4"),
]


@pytest.mark.parametrize(("wire", "value", "detail", "sql_type"), NEW)
@pytest.mark.parametrize("exists", [False, True])
def test_a_frame_makes_the_column(server, connection, wire, value, detail, sql_type, exists):
    if exists:
        create(server)
    reply = connection.ask(frame(column("x", wire, [value], **detail), designated(1)))
    assert reply.ok, reply
    assert ("x", sql_type) in columns(server)


def test_every_wire_type_makes_a_column_but_two():
    assert set(Wire) - {wire for wire, *_ in NEW} == {Wire.STRING, Wire.LONG_ARRAY}


@pytest.mark.parametrize("exists", [False, True])
def test_long_arrays_make_no_column(server, connection, exists):
    if exists:
        create(server)
    reply = connection.ask(frame(column("x", Wire.LONG_ARRAY, [[1]])))
    assert reply.status == Status.SCHEMA_MISMATCH
    assert reply.text == "long arrays are not supported, only double arrays"


def test_arrays_of_mixed_dimensions_are_refused(server, connection):
    create(server)
    reply = connection.ask(frame(column("x", Wire.DOUBLE_ARRAY, [[1.0], None, [[1.0]]])))
    assert reply.status == Status.SCHEMA_MISMATCH
    assert (
        reply.text
        == "array dimensionality mismatch in QWP batch [column=x, expectedDims=1, actualDims=2]"
    )


def test_null_arrays_wait_for_one_that_is_not(server, connection):
    create(server)
    assert connection.ask(frame(column("x", Wire.DOUBLE_ARRAY, [None]))).ok
    assert [name for name, _ in columns(server)] == ["v", "ts"]
    assert connection.ask(frame(column("x", Wire.DOUBLE_ARRAY, [[[1.0]]]))).ok
    assert ("x", "DOUBLE[][]") in columns(server)


@pytest.mark.parametrize(
    "name", ["a.b", "a?", "a*", "a-b", "+a", "a\0", "a~", "\ufeffa", "a%", "a/b"]
)
def test_names_that_no_column_can_have(server, connection, name):
    create(server)
    reply = connection.ask(frame(column(name, Wire.LONG, [1])))
    assert reply.status == Status.SCHEMA_MISMATCH
    assert reply.text == f"invalid column name [table={NAME}, column={name}]"


def test_a_block_without_rows_makes_no_column(server, connection):
    create(server)
    reply = connection.ask(frame(column("x", Wire.LONG, [])))
    assert reply.ok, reply
    assert [name for name, _ in columns(server)] == ["v", "ts"]


@pytest.mark.parametrize("wire", [Wire.DATE, Wire.LONG])
def test_a_count_under_its_own_name_is_taken_as_it_is(server, connection, wire):
    create(server)
    reply = connection.ask(frame(column("TS", wire, [1_500])))
    assert reply.ok, reply
    server.await_count(NAME, 1)
    assert server.sql(f"SELECT ts FROM {NAME}") == [["1970-01-01T00:00:00.001500Z"]]


@pytest.mark.parametrize(
    ("wire", "column_type", "sent", "shown"),
    [
        (Wire.TIMESTAMP, "TIMESTAMP", 1_999, "1970-01-01T00:00:00.001999Z"),
        (Wire.TIMESTAMP_NANOS, "TIMESTAMP", 1_999, "1970-01-01T00:00:00.000001Z"),
        (Wire.TIMESTAMP, "TIMESTAMP_NS", 1_999, "1970-01-01T00:00:00.001999000Z"),
        (Wire.TIMESTAMP_NANOS, "TIMESTAMP_NS", 1_999, "1970-01-01T00:00:00.000001999Z"),
    ],
)
@pytest.mark.parametrize("name", ["", "ts"])
def test_the_designated_timestamp_is_converted(
    server, connection, wire, column_type, sent, shown, name
):
    create(server, column_type)
    reply = connection.ask(frame(column(name, wire, [sent])))
    assert reply.ok, reply
    server.await_count(NAME, 1)
    assert server.sql(f"SELECT ts FROM {NAME}") == [[shown]]


def test_text_is_no_designated_timestamp(server, connection):
    create(server)
    reply = connection.ask(frame(column("ts", Wire.VARCHAR, ["1"])))
    assert reply.status == Status.INTERNAL_ERROR
    assert reply.text.startswith("unexpected error: ")


def test_the_lowest_number_is_no_null(server, connection):
    create(server)
    reply = connection.ask(frame(column("v", Wire.LONG, [1]), designated(-(2**63))))
    assert reply.status == Status.WRITE_ERROR
    assert reply.text == "designated timestamp column cannot be NULL"


def test_where_it_is_null_the_server_takes_its_own_time(server, connection):
    create(server)
    assert connection.ask(frame(column("v", Wire.LONG, [1, 2]), designated(None, 1))).ok
    server.await_count(NAME, 2)
    assert server.sql(f"SELECT v FROM {NAME} WHERE ts > '2020'") == [[1]]


@pytest.mark.parametrize("seconds", [-1, 253_402_300_800], ids=["1969", "10000"])
def test_times_that_no_table_has(server, connection, seconds):
    create(server)
    reply = connection.ask(frame(designated(seconds * 1_000_000)))
    assert reply.status == Status.WRITE_ERROR
