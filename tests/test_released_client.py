"""The released QuestDB client (PyPI ``questdb``) against the test server: two readings of the protocol meet here.

Every row type that the client offers is written over WebSocket, and what arrived is read back by SQL.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from harness.server import ServerProcess

questdb = pytest.importorskip("questdb", reason="the released client is not installed")
pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

ACK_MILLIS = 20_000
START = 1_704_067_200_000_000_000


@contextmanager
def client(server: ServerProcess, **settings: Any) -> Iterator[Any]:
    conf = f"ws::addr={server.addr};" + "".join(f"{k}={v};" for k, v in settings.items())
    with questdb.Sender.from_conf(conf) as sender:
        yield sender


def flush(sender: Any) -> None:
    """Returns when the server acknowledged all rows; fails with the server's words."""
    sender.flush()
    assert sender.await_acked_fsn(sender.published_fsn(), ACK_MILLIS), sender.poll_error()


def write(server: ServerProcess, table: str, values: list[Any], kind: str = "columns") -> None:
    """One row a value, in column ``x``; a column ``n`` counts them."""
    with client(server) as sender:
        for n, value in enumerate(values):
            cells: dict[str, Any] = {"columns": {"n": n}}
            cells[kind] = {**cells.get(kind, {}), "x": value}
            sender.row(table, **cells, at=questdb.TimestampNanos(START + n))
        flush(sender)
    assert server.await_count(table, len(values)) == len(values)


def column_type(server: ServerProcess, table: str, column: str = "x") -> str:
    return str(
        server.sql(f"SELECT type FROM table_columns('{table}') WHERE \"column\" = '{column}'")[0][0]
    )


def read(server: ServerProcess, table: str, what: str = "x") -> list[Any]:
    return [row[0] for row in server.sql(f"SELECT {what} FROM {table} ORDER BY n")]


UTC = datetime.timezone.utc
VALUES: dict[str, tuple[list[Any], str, list[Any]]] = {
    "bool": ([True, False, None], "BOOLEAN", [True, False, False]),
    "int": ([-5, None, 2**63 - 1, -(2**63) + 1], "LONG", [-5, None, 2**63 - 1, -(2**63) + 1]),
    "float": ([0.1, None, -1e300, 5e-324], "DOUBLE", [0.1, None, -1e300, 5e-324]),
    "str": (["ab", None, "", "ü€😀" * 20], "VARCHAR", ["ab", None, "", "ü€😀" * 20]),
    "micros": (
        [questdb.TimestampMicros(1_704_067_200_123_456), None],
        "TIMESTAMP",
        ["2024-01-01T00:00:00.123456Z", None],
    ),
    "nanos": (
        [questdb.TimestampNanos(1_704_067_200_123_456_789), None],
        "TIMESTAMP_NS",
        ["2024-01-01T00:00:00.123456789Z", None],
    ),
    "datetime": (
        [datetime.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC)],
        "TIMESTAMP",
        ["2024-01-02T03:04:05.000006Z"],
    ),
    "array1": ([np.array([1.5, -2.0]), None, np.array([])], "DOUBLE[]", [[1.5, -2.0], None, []]),
    "array3": (
        [np.arange(8.0).reshape(2, 2, 2)],
        "DOUBLE[][][]",
        [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]],
    ),
    "decimal": (
        [Decimal("-12.340"), None, Decimal("1e20")],
        "DECIMAL(76,3)",
        ["-12.340", None, "100000000000000000000.000"],
    ),
    "uuid": (
        [uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), None],
        "UUID",
        ["00112233-4455-6677-8899-aabbccddeeff", None],
    ),
    "ipv4": ([ipaddress.IPv4Address("192.168.1.10"), None], "IPv4", ["192.168.1.10", None]),
    "char": ([questdb.Char("€"), questdb.Char("A")], "CHAR", ["€", "A"]),
    "date": ([questdb.DateMillis(-1), None], "DATE", ["1969-12-31T23:59:59.999Z", None]),
    "geohash": ([questdb.Geohash(0b1010101, 7), None], "GEOHASH(7b)", ["1010101", None]),
}


@pytest.mark.parametrize("kind", VALUES)
def test_every_row_type_arrives(server: ServerProcess, kind: str) -> None:
    values, expected_type, expected = VALUES[kind]
    write(server, f"released_{kind}", values)
    assert column_type(server, f"released_{kind}") == expected_type
    assert read(server, f"released_{kind}") == expected


def test_symbols_arrive(server: ServerProcess) -> None:
    values = ["EU", None, "", "US", "EU", "ü€😀"]
    write(server, "released_symbol", values, kind="symbols")
    assert column_type(server, "released_symbol") == "SYMBOL"
    assert read(server, "released_symbol") == values


def test_binary_arrives(server: ServerProcess) -> None:
    values = [b"\x00\xff", None, b"", bytes(range(256)) * 4]
    write(server, "released_binary", values)
    assert column_type(server, "released_binary") == "BINARY"
    shown = read(server, "released_binary", "base64(x, 2000)")
    assert [None if text is None else base64.b64decode(text) for text in shown] == values
    assert read(server, "released_binary", "length(x)") == [2, -1, 0, 1024]


def test_long256_arrives(server: ServerProcess) -> None:
    numbers = [1, 2**64, 2**256 - 1, 0x0123_4567_89AB_CDEF << 128]
    write(server, "released_long256", [questdb.Long256(n) for n in numbers])
    assert column_type(server, "released_long256") == "LONG256"
    assert [int(text, 16) for text in read(server, "released_long256")] == numbers


def test_a_row_without_a_time_gets_the_servers(server: ServerProcess) -> None:
    before = datetime.datetime.now(UTC)
    with client(server) as sender:
        sender.row("released_now", columns={"n": 0}, at=questdb.ServerTimestamp)
        flush(sender)
    server.await_count("released_now", 1)
    text = server.sql("SELECT timestamp FROM released_now")[0][0]
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    assert abs(at - before) < datetime.timedelta(minutes=1)


def test_types_that_only_data_frames_have(server: ServerProcess) -> None:
    columns = {
        # The client widens integers by one step.
        "i8": (pyarrow.int8(), [-128, 127], "INT"),
        "i16": (pyarrow.int16(), [-32768, 32767], "INT"),
        "i32": (pyarrow.int32(), [-2147483648, None], "LONG"),
        "f32": (pyarrow.float32(), [1.5, None], "FLOAT"),
        "dec64": (pyarrow.decimal128(18, 2), [Decimal("-0.05"), None], None),
        "dec256": (pyarrow.decimal256(60, 20), [Decimal("7." + "0" * 19 + "1"), None], None),
    }
    table = pyarrow.table(
        {
            **{name: pyarrow.array(values, kind) for name, (kind, values, _) in columns.items()},
            "at": pyarrow.array([START, START + 1], pyarrow.timestamp("ns")),
        }
    )
    frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
    with client(server) as sender:
        sender.dataframe(frame, table_name="released_frame", at="at")
    assert server.await_count("released_frame", 2) == 2
    for name, (_, values, expected_type) in columns.items():
        shown = [
            row[0] for row in server.sql(f"SELECT {name} FROM released_frame ORDER BY timestamp")
        ]
        kind = column_type(server, "released_frame", name)
        if expected_type is None:
            assert kind.startswith("DECIMAL(")
            assert [None if text is None else Decimal(text) for text in shown] == values
        else:
            assert kind == expected_type
            assert shown == values


def test_many_rows_arrive_once_each(server: ServerProcess) -> None:
    rows = 100_000
    with client(server) as sender:
        for n in range(rows):
            sender.row(
                "released_many",
                symbols={"s": f"s{n % 5000}"},
                columns={"n": n, "d": n / 8},
                at=questdb.TimestampNanos(START + n),
            )
        flush(sender)
    assert server.await_count("released_many", rows) == rows
    assert server.sql(
        "SELECT count_distinct(n), sum(n), sum(d), count_distinct(s) FROM released_many"
    ) == [[rows, rows * (rows - 1) // 2, rows * (rows - 1) / 16, 5000]]


@pytest.mark.scripted
def test_a_cut_connection_is_replayed_with_its_dictionary(start_server: Any) -> None:
    server = start_server()
    server.script(hold_acks=True, drop_after_messages=3, drop_times=2)
    with client(server) as sender:
        for n in range(10):
            sender.row(
                "replayed",
                symbols={"s": f"s{n}"},
                columns={"n": n},
                at=questdb.TimestampNanos(START + n),
            )
            sender.flush()
        while server.counters()["connections_total"] < 3:
            time.sleep(0.02)
        server.script(hold_acks=False)
        flush(sender)
    counters = server.counters()
    assert counters["connections_total"] == 3
    # The second connection's first message was the dictionary of the first one.
    assert counters["rows_received"] == 3 + 2 + 10
    server.await_count("replayed", 15)
    shown = server.sql("SELECT DISTINCT n, s FROM replayed ORDER BY n")
    assert shown == [[n, f"s{n}"] for n in range(10)]


def test_the_servers_words_reach_the_client(server: ServerProcess) -> None:
    write(server, "released_words", [1])
    with pytest.raises(questdb.QuestDBError) as caught, client(server) as sender:
        sender.row("released_words", columns={"x": "text"}, at=questdb.TimestampNanos(START))
        flush(sender)
    assert "LONG" in str(caught.value)
    assert re.search(r"column\W+x\b", str(caught.value))
