"""The engine in this process: rows and Arrow tables to a server, by SQL what went in; outages, ends, errors."""

from __future__ import annotations

import datetime
import ipaddress
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess, free_port
from questdb_sf.errors import (
    ConfigError,
    DataError,
    DeliveryError,
    ErrorCode,
    QuestDBSfError,
    SetupError,
    StorageError,
    UseError,
    error_of,
)
from questdb_sf.sender import (
    SERVER_TIMESTAMP,
    Counters,
    ErrorEvent,
    Micros,
    Nanos,
    Sender,
    StateKind,
)

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")


REPO = Path(__file__).resolve().parents[1]
UTC = datetime.timezone.utc
START = 1_704_067_200_000_000
DRAIN_SECONDS = 240


def open_sender(server: ServerProcess, store: Path | None = None, **keys: Any) -> Sender:
    if store is not None:
        keys = {"sf_dir": store, **keys}
    return Sender(f"ws::addr={server.addr};" + "".join(f"{k}={v};" for k, v in keys.items()))


def times(rows: int) -> Any:
    return pa.array(np.arange(rows) + START, pa.timestamp("us"))


def write(server: ServerProcess, name: str, columns: dict[str, Any], **options: Any) -> None:
    """One table, acknowledged and visible."""
    table = pa.table(columns)
    options.setdefault("timestamp", "ts")
    if "ts" not in columns:
        table = table.append_column("ts", times(table.num_rows))
    with open_sender(server) as sender:
        assert sender.write(table, table=name, **options) == table.num_rows
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count(name, table.num_rows, 240) == table.num_rows


def read(server: ServerProcess, name: str, what: str = "x") -> list[Any]:
    return [row[0] for row in server.sql(f"SELECT {what} FROM '{name}' ORDER BY timestamp")]


def column_type(server: ServerProcess, name: str, column: str = "x") -> str:
    query = f"SELECT type FROM table_columns('{name}') WHERE \"column\" = '{column}'"
    return str(server.sql(query)[0][0])


# Rows.


def test_rows_of_every_type(server: ServerProcess) -> None:
    noon = datetime.datetime(2024, 1, 1, 12, 0, 0, 123_456)
    key = uuid.UUID("f1e2d3c4-b5a6-9788-8899-aabbccddeeff")
    values: dict[str, tuple[Any, str, Any]] = {
        "t": ("ü€😀", "VARCHAR", "ü€😀"),
        "b": (True, "BOOLEAN", True),
        "i": (2**63 - 1, "LONG", 2**63 - 1),
        "d": (-2.5, "DOUBLE", -2.5),
        "naive": (noon, "TIMESTAMP", "2024-01-01T12:00:00.123456Z"),
        "zone": (
            noon.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
            "TIMESTAMP",
            "2024-01-01T10:00:00.123456Z",
        ),
        "day": (
            datetime.date(1969, 12, 31),
            "TIMESTAMP",
            "1969-12-31T00:00:00.000000Z",
        ),
        "us": (Micros(START), "TIMESTAMP", "2024-01-01T00:00:00.000000Z"),
        "ns": (
            Nanos(START * 1000 + 1),
            "TIMESTAMP_NS",
            "2024-01-01T00:00:00.000000001Z",
        ),
        "pandas": (
            pd.Timestamp(START * 1000 + 1),
            "TIMESTAMP_NS",
            "2024-01-01T00:00:00.000000001Z",
        ),
        "dec": (Decimal("-12.345"), "DECIMAL(76,3)", "-12.345"),
        "uuid": (key, "UUID", str(key)),
        "ip": (ipaddress.IPv4Address("192.168.1.9"), "IPv4", "192.168.1.9"),
        "np_int": (np.int32(7), "LONG", 7),
        "np_float": (np.float64(0.5), "DOUBLE", 0.5),
        "array": (
            np.array([[1.0, 2.0], [3.0, 4.0]]),
            "DOUBLE[][]",
            [[1.0, 2.0], [3.0, 4.0]],
        ),
    }
    columns: dict[str, Any] = {name: value for name, (value, _, _) in values.items()}
    columns["bin"] = b"\x00\xff"
    with open_sender(server) as sender:
        sender.row("rows", symbols={"s": "sym"}, columns=columns, at=Micros(START))
        nulls = {name: None for name in columns if name != "b"}
        sender.row(
            "rows",
            symbols={"s": None},
            columns={**nulls, "b": False},
            at=Micros(START + 1),
        )
        sender.row(
            "rows",
            columns={"us": pd.NaT},
            at=datetime.datetime(2024, 1, 1, 1, tzinfo=UTC),
        )
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("rows", 3) == 3
    for name, (_, kind, expected) in values.items():
        assert column_type(server, "rows", name) == kind, name
        missing = False if name == "b" else None
        assert read(server, "rows", f'"{name}"') == [expected, missing, missing], name
    assert read(server, "rows", "s") == ["sym", None, None]
    assert read(server, "rows", "base64(bin, 100)") == ["AP8=", None, None]


def test_server_gives_the_time_where_that_is_asked_for(server: ServerProcess) -> None:
    with open_sender(server) as sender:
        sender.row("server_time", columns={"x": 1}, at=SERVER_TIMESTAMP)
        sender.write(pa.table({"x": [2, 3]}), table="server_time", timestamp=None)
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("server_time", 3) == 3


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (2**63, ErrorCode.VALUE_INVALID),
        (-(2**63), ErrorCode.VALUE_INVALID),
        (Decimal("NaN"), ErrorCode.VALUE_INVALID),
        ("\ud800", ErrorCode.VALUE_INVALID),
        ({"a": 1}, ErrorCode.TYPE_UNSUPPORTED),
        (np.array([1, 2]), ErrorCode.TYPE_UNSUPPORTED),
        (math.inf, ErrorCode.VALUE_INVALID),
        (np.float32("-inf"), ErrorCode.VALUE_INVALID),
        (np.array([1.0, math.inf]), ErrorCode.VALUE_INVALID),
        (np.ma.masked, ErrorCode.TYPE_UNSUPPORTED),
        (np.ma.array([1.0, 2.0], mask=[True, False]), ErrorCode.TYPE_UNSUPPORTED),
        (np.longdouble("1.1"), ErrorCode.TYPE_UNSUPPORTED),
        (np.array([1], np.longdouble), ErrorCode.TYPE_UNSUPPORTED),
        (np.uint64(2**63), ErrorCode.VALUE_INVALID),
        (Micros(2**63), ErrorCode.VALUE_INVALID),
        (Micros(-(2**63)), ErrorCode.VALUE_INVALID),
        (ipaddress.IPv4Address("0.0.0.0"), ErrorCode.VALUE_INVALID),
        (uuid.UUID("80000000-0000-0000-8000-000000000000"), ErrorCode.VALUE_INVALID),
        (3j, ErrorCode.TYPE_UNSUPPORTED),
    ],
    ids=repr,
)
def test_a_refused_row_leaves_nothing_behind(
    server: ServerProcess, value: Any, code: ErrorCode
) -> None:
    table = f"refused_row_{abs(hash(repr(value)))}"
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.row(table, symbols={"s": "gone"}, columns={"x": value}, at=Micros(START))
        assert refused.value.code is code
        sender.row(table, columns={"y": 1}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count(table, 1) == 1
    assert server.sql(f"SELECT count() FROM table_columns('{table}')") == [[2]]


@pytest.mark.parametrize(
    "at",
    [
        Micros(-1),
        Micros(253_402_300_800_000_000),
        Micros(2**63),
        Nanos(-1),
        Nanos(9_214_646_400_000_000_000),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
        datetime.date(1969, 12, 31),
        pd.Timestamp("1969-12-31"),
        pd.NaT,
    ],
    ids=str,
)
def test_a_designated_time_that_questdb_does_not_take_takes_no_other_row_with_it(
    server: ServerProcess, at: Any
) -> None:
    table = f"refused_time_{abs(hash(str(at)))}"
    with open_sender(server) as sender:
        nanos = isinstance(at, (Nanos, pd.Timestamp)) or at is pd.NaT
        good = Nanos(START * 1000) if nanos else Micros(START)
        sender.row(table, columns={"x": 1}, at=good)
        with pytest.raises(DataError) as refused:
            sender.row(table, columns={"x": 2}, at=at)
        assert refused.value.code is ErrorCode.VALUE_INVALID
        sender.row(table, columns={"x": 3}, at=good)
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0
    assert server.await_count(table, 2) == 2
    assert sorted(read(server, table)) == [1, 3]


@pytest.mark.parametrize(
    ("symbols", "columns"),
    [
        ({}, {"id": 1, "ID": 2}),
        ({"a": "x", "A": "y"}, {}),
        ({"a": "x"}, {"a": "y"}),
        ({}, {"id": 1, "\u0130D": 2}),
        ({}, {"a": None, "A": 1}),
    ],
)
def test_a_column_given_twice_in_a_row_is_refused(
    server: ServerProcess, symbols: Any, columns: Any
) -> None:
    with open_sender(server) as sender:
        with pytest.raises(DataError, match="twice") as refused:
            sender.row("twice", symbols=symbols, columns=columns, at=Micros(START))
        assert refused.value.code is ErrorCode.NAME_INVALID
        assert sender.counters().rows_written == 0


def test_texts_arrive_as_they_are(server: ServerProcess) -> None:
    """NUL, what needs four bytes, what looks like null: by row and by table, as text and as symbol."""
    texts = [
        "",
        "\0",
        "a\0b",
        "😀\U0010ffff",
        "null",
        "NaN",
        " ",
        "x" * 70_000,
        "\ufffd\uffff",
    ]
    with open_sender(server) as sender:
        for i, text in enumerate(texts):
            sender.row("texts", symbols={"s": text}, columns={"x": text}, at=Micros(START + i))
        table = pa.table({"x": texts, "s": pa.array(texts), "ts": times(len(texts))})
        sender.write(table, table="texts_arrow", timestamp="ts", symbols=["s"])
        assert sender.drain(DRAIN_SECONDS)
    for name in ("texts", "texts_arrow"):
        assert server.await_count(name, len(texts)) == len(texts)
        assert read(server, name, "s") == texts
        assert read(server, name, "length(x)") == [len(text) for text in texts]
        # QuestDB's JSON shows a NUL in a VARCHAR as it is, which no reader of JSON takes.
        plain = server.sql(f"SELECT x FROM {name} WHERE length(x) NOT IN (1, 3) ORDER BY timestamp")
        assert [row[0] for row in plain] == [text for text in texts if len(text) not in (1, 3)]


def test_rows_and_tables_stay_in_order(server: ServerProcess) -> None:
    with open_sender(server) as sender:
        sender.row("order", columns={"x": 0}, at=Micros(START))
        sender.write(pa.table({"x": [1, 2], "ts": times(2)}), table="order", timestamp="ts")
        sender.row("order", columns={"x": 3}, at=Micros(START))
        newest = sender.flush()
        assert newest == 2
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().acked_fsn == 2
        assert sender.counters().unacked_frames == 0


# Tables.


def two_million(rows: int) -> Any:
    random = np.random.default_rng(20260101)
    index = np.arange(rows)

    def nulls(every: int) -> Any:
        return index % every == every - 1

    names = pa.array([f"sensor-{i}" for i in range(500)])
    texts = pa.array(
        ["", "ascii text", "grün", "漢字 text", "😀"] + [f"text {i}" for i in range(995)]
    )
    plain = pa.array([f"{i:016}" if i % 2 else "ü" * (i % 40) + str(i) for i in range(300)])
    parts = []
    for part in np.array_split(index, 7):
        low, high = part[0], part[-1] + 1
        parts.append(
            pa.table(
                {
                    "n": pa.array(part),
                    "s": names.take(
                        pa.array(random.integers(0, 500, len(part)), mask=nulls(11)[low:high])
                    ).dictionary_encode(),
                    # Symbols as plain texts, half of them of as many bytes as two longs have.
                    "p": plain.take(
                        pa.array(random.integers(0, 300, len(part)), mask=nulls(7)[low:high])
                    ),
                    "l": pa.array(
                        random.integers(-(2**40), 2**40, len(part)),
                        mask=nulls(13)[low:high],
                    ),
                    "d": pa.array(
                        random.integers(-(2**30), 2**30, len(part)) / 4,
                        mask=nulls(17)[low:high],
                    ),
                    "t": texts.take(
                        pa.array(
                            random.integers(0, 1000, len(part)),
                            mask=nulls(19)[low:high],
                        )
                    ),
                    "u": pa.array(
                        random.integers(0, 2**50, len(part)),
                        pa.timestamp("us"),
                        mask=nulls(23)[low:high],
                    ),
                    "ts": pa.array(part + START, pa.timestamp("us")),
                }
            )
        )
    return pa.concat_tables(parts)


def test_two_million_rows_equal_by_sql(server: ServerProcess, tmp_path: Path) -> None:
    rows = 2_000_000
    table = two_million(rows)
    before = pa.total_allocated_bytes()
    with open_sender(server, tmp_path) as sender:
        assert sender.write(table, table="millions", timestamp="ts", symbols=["s", "p"]) == rows
        assert sender.drain(DRAIN_SECONDS)
        counters = sender.counters()
    assert counters.rows_written == rows
    assert counters.bytes_written / counters.frames_written < 1.05 * (1 << 20)
    assert pa.total_allocated_bytes() <= before
    assert server.await_count("millions", rows, 240) == rows

    def total(column: str) -> int:
        return int(pc.sum(table[column].cast(pa.int64())).as_py())

    expected = [
        [
            rows,
            *(rows - table[c].null_count for c in ("s", "l", "d", "t", "u")),
            total("n"),
            total("l"),
            pc.sum(table["d"]).as_py(),
            total("u"),
            # QuestDB says -1 of null.
            int(pc.sum(pc.utf8_length(table["t"])).as_py()) - table["t"].null_count,
            pc.count_distinct(table["s"].cast(pa.string())).as_py(),
            pc.count_distinct(table["t"]).as_py(),
        ]
    ]
    assert (
        server.sql(
            "SELECT count(), count(s), count(l), count(d), count(t), count(u), sum(n), sum(l), sum(d),"
            " sum(u::long), sum(length(t)), count_distinct(s), count_distinct(t) FROM millions"
        )
        == expected
    )
    # Each value has its rows: how many, and the sums of their numbers and of what else is in them.
    for column in ("s", "p", "t"):
        sums = (
            f"SELECT {column}, count(), sum(n), sum(l), sum(d), sum(timestamp::long) FROM millions"
        )
        assert column_type(server, "millions", column) == ("VARCHAR" if column == "t" else "SYMBOL")
        groups = (
            table.append_column("time", table["ts"].cast(pa.int64()))
            .set_column(table.schema.get_field_index("s"), "s", table["s"].cast(pa.string()))
            .group_by(column)
            .aggregate([([], "count_all"), *((c, "sum") for c in ("n", "l", "d", "time"))])
        )
        assert {tuple(row) for row in server.sql(sums)} == set(
            zip(
                *(
                    c.to_pylist()
                    for c in groups.select(
                        [column, "count_all", "n_sum", "l_sum", "d_sum", "time_sum"]
                    )
                ),
                strict=True,
            )
        ), column
    sampled = server.sql(
        "SELECT n, s, p, l, d, t, u::long, timestamp::long FROM millions WHERE n % 997 = 0 ORDER BY n"
    )
    names = ["n", "s", "p", "l", "d", "t", "u", "ts"]
    mine = table.filter(
        pc.equal(pc.subtract(table["n"], pc.multiply(pc.divide(table["n"], 997), 997)), 0)
    )
    for time_column in ("u", "ts"):
        index = mine.schema.get_field_index(time_column)
        mine = mine.set_column(index, time_column, mine[time_column].cast(pa.int64()))
    pd.testing.assert_frame_equal(
        pd.DataFrame(sampled, columns=names, dtype=object),
        pd.DataFrame(mine.to_pylist(), columns=names, dtype=object),
    )


def test_slices_and_chunks_keep_their_rows(server: ServerProcess) -> None:
    rows = 500
    long = pa.table(
        {
            "n": pa.array(range(rows)),
            "b": pa.array([i % 3 == 0 for i in range(rows)]),
            "s": pa.array([None if i % 7 == 3 else f"s{i % 9}" for i in range(rows)]),
            "c": pa.array(
                [None if i % 5 == 3 else f"c{i % 4}" for i in range(rows)]
            ).dictionary_encode(),
            "t": pa.array(
                [None if i % 6 == 2 else "ä" * (i % 5) for i in range(rows)],
                pa.large_string(),
            ),
            "l": pa.array([None if i % 4 == 1 else i * 3 for i in range(rows)]),
            "f": pa.array(
                [None if i % 8 == 1 else [float(k) for k in range(i % 4)] for i in range(rows)]
            ),
            "bin": pa.array(
                [None if i % 9 == 4 else bytes([i % 256]) * (i % 3) for i in range(rows)]
            ),
            "ts": times(rows),
        }
    )
    pieces = [
        long.slice(0, 1),
        long.slice(13, 100),
        long.slice(113, 0),
        long.slice(7, 6),
        long.slice(401),
    ]
    sent = pa.concat_tables(pieces)
    assert sent["n"].num_chunks >= 4
    # Columns that are cut in other places than their neighbours.
    sent = sent.set_column(0, "n", pa.chunked_array([sent["n"].combine_chunks()]))
    write(
        server,
        "slices",
        {name: sent[name] for name in sent.schema.names},
        symbols=["s", "c"],
    )
    what = "n, b, s, c, t, l, f, base64(bin, 100), timestamp::long"
    got = server.sql(f"SELECT {what} FROM slices ORDER BY n")
    expected = sorted(sent.to_pylist(), key=lambda row: row["n"])
    import base64

    for row, mine in zip(got, expected, strict=True):
        binary = None if mine["bin"] is None else base64.b64encode(mine["bin"]).decode()
        micros = round(mine["ts"].replace(tzinfo=UTC).timestamp() * 1e6)
        assert row == [
            *(mine[c] for c in ("n", "b", "s", "c", "t", "l", "f")),
            binary,
            micros,
        ], mine["n"]
    assert column_type(server, "slices", "s") == "SYMBOL"
    assert column_type(server, "slices", "t") == "VARCHAR"


MIDNIGHT = "2024-01-01T00:00:00"
DAY = datetime.date(2024, 1, 1)
KEY = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
EVERY_TYPE: dict[str, tuple[Any, dict[str, Any], str, list[Any]]] = {
    "bool": (pa.array([True, False]), {}, "BOOLEAN", [True, False]),
    "int8": (pa.array([-128, None], pa.int8()), {}, "INT", [-128, None]),
    "uint8": (pa.array([255, None], pa.uint8()), {}, "INT", [255, None]),
    "int16": (pa.array([-32768, None], pa.int16()), {}, "INT", [-32768, None]),
    "uint16": (pa.array([65535, None], pa.uint16()), {}, "INT", [65535, None]),
    "int32": (pa.array([2**31 - 1, None], pa.int32()), {}, "INT", [2**31 - 1, None]),
    "uint32": (pa.array([2**32 - 1, None], pa.uint32()), {}, "LONG", [2**32 - 1, None]),
    "int64": (pa.array([-(2**63) + 1, None]), {}, "LONG", [-(2**63) + 1, None]),
    "uint64": (pa.array([2**63 - 1, None], pa.uint64()), {}, "LONG", [2**63 - 1, None]),
    "int8 as BYTE": (
        pa.array([-128, 127], pa.int8()),
        {"types": {"x": "BYTE"}},
        "BYTE",
        [-128, 127],
    ),
    "int64 as SHORT": (
        pa.array([-32768, 7]),
        {"types": {"x": "SHORT"}},
        "SHORT",
        [-32768, 7],
    ),
    "int32 as LONG": (
        pa.array([5, None], pa.int32()),
        {"types": {"x": "long"}},
        "LONG",
        [5, None],
    ),
    "uint32 as IPV4": (
        pa.array([0xC0A80109, None], pa.uint32()),
        {"types": {"x": "IPV4"}},
        "IPv4",
        ["192.168.1.9", None],
    ),
    "uint16 as CHAR": (
        pa.array([65, 0x20AC], pa.uint16()),
        {"types": {"x": "CHAR"}},
        "CHAR",
        ["A", "€"],
    ),
    "uint16 as CHAR with null": (
        pa.array([65, None], pa.uint16()),
        {"types": {"x": "CHAR"}, "zero_for_null": ["x"]},
        "CHAR",
        ["A", ""],
    ),
    "zero for null": (
        pa.array([True, None]),
        {"zero_for_null": ["x"]},
        "BOOLEAN",
        [True, False],
    ),
    "zero for null in SHORT": (
        pa.array([3, None], pa.int16()),
        {"zero_for_null": ["x"], "types": {"x": "SHORT"}},
        "SHORT",
        [3, 0],
    ),
    "float16": (pa.array(np.array([1.5, 2], np.float16)), {}, "FLOAT", [1.5, 2.0]),
    "float32": (pa.array([1.5, None], pa.float32()), {}, "FLOAT", [1.5, None]),
    "float32 as DOUBLE": (
        pa.array([1.5, None], pa.float32()),
        {"types": {"x": "DOUBLE"}},
        "DOUBLE",
        [1.5, None],
    ),
    "float64": (pa.array([5e-324, None]), {}, "DOUBLE", [5e-324, None]),
    "float64 ends": (
        pa.array([-0.0, math.nan, 1.7976931348623157e308, 2.2250738585072014e-308]),
        {},
        "DOUBLE",
        [-0.0, None, 1.7976931348623157e308, 2.2250738585072014e-308],
    ),
    "json": (pa.array(['{"a":1}', None], pa.json_()), {}, "VARCHAR", ['{"a":1}', None]),
    "string": (pa.array(["", None, "ü"]), {}, "VARCHAR", ["", None, "ü"]),
    "large_string": (
        pa.array(["a", None], pa.large_string()),
        {},
        "VARCHAR",
        ["a", None],
    ),
    "string_view": (
        pa.array(["a", None, "x" * 40], pa.string_view()),
        {},
        "VARCHAR",
        ["a", None, "x" * 40],
    ),
    "string as SYMBOL": (
        pa.array(["a", None, "a"]),
        {"symbols": ["x"]},
        "SYMBOL",
        ["a", None, "a"],
    ),
    "large_string as SYMBOL": (
        pa.array(["a", None], pa.large_string()),
        {"types": {"x": "SYMBOL"}},
        "SYMBOL",
        ["a", None],
    ),
    "dictionary": (
        pa.array(["b", None, "b"]).dictionary_encode(),
        {},
        "SYMBOL",
        ["b", None, "b"],
    ),
    "dictionary int8 large": (
        pa.DictionaryArray.from_arrays(
            pa.array([1, 0, None], pa.int8()), pa.array(["a", "b"], pa.large_string())
        ),
        {},
        "SYMBOL",
        ["b", "a", None],
    ),
    "dictionary with null entry": (
        pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int64()), pa.array(["a", None])),
        {},
        "SYMBOL",
        [None, "a"],
    ),
    "dictionary as VARCHAR": (
        pa.array(["b", None]).dictionary_encode(),
        {"symbols": []},
        "VARCHAR",
        ["b", None],
    ),
    "dictionary of numbers": (
        pa.array([7, None]).dictionary_encode(),
        {},
        "LONG",
        [7, None],
    ),
    "run_end_encoded": (
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8])),
        {},
        "LONG",
        [7, 7, 8],
    ),
    "timestamp[s]": (
        pa.array([1_704_067_200, None], pa.timestamp("s")),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.000000Z", None],
    ),
    "timestamp[ms]": (
        pa.array([1_704_067_200_001, None], pa.timestamp("ms", "Europe/Paris")),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.001000Z", None],
    ),
    "timestamp[us]": (
        pa.array([START, -1], pa.timestamp("us")),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.000000Z", "1969-12-31T23:59:59.999999Z"],
    ),
    "timestamp[ns]": (
        pa.array([START * 1000 + 1, None], pa.timestamp("ns")),
        {},
        "TIMESTAMP_NS",
        [f"{MIDNIGHT}.000000001Z", None],
    ),
    "timestamp[ms] as DATE": (
        pa.array([1_704_067_200_001, None], pa.timestamp("ms")),
        {"types": {"x": "DATE"}},
        "DATE",
        [f"{MIDNIGHT}.001Z", None],
    ),
    "date32": (pa.array([DAY, None]), {}, "TIMESTAMP", [f"{MIDNIGHT}.000000Z", None]),
    "date32 as DATE": (
        pa.array([DAY, None]),
        {"types": {"x": "DATE"}},
        "DATE",
        [f"{MIDNIGHT}.000Z", None],
    ),
    "date64": (
        pa.array([DAY, None], pa.date64()),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.000000Z", None],
    ),
    "decimal32": (
        pa.array([Decimal("1.25"), None], pa.decimal32(5, 2)),
        {},
        "DECIMAL(18,2)",
        ["1.25", None],
    ),
    "decimal64": (
        pa.array([Decimal("-1.25"), None], pa.decimal64(18, 2)),
        {},
        "DECIMAL(18,2)",
        ["-1.25", None],
    ),
    "decimal128 small": (
        pa.array([Decimal("-1.25"), None], pa.decimal128(10, 2)),
        {},
        "DECIMAL(18,2)",
        ["-1.25", None],
    ),
    "decimal128": (
        pa.array([Decimal("-" + "9" * 36 + ".99"), None], pa.decimal128(38, 2)),
        {},
        "DECIMAL(38,2)",
        ["-" + "9" * 36 + ".99", None],
    ),
    "decimal256": (
        pa.array([Decimal("9" * 70 + ".99"), None], pa.decimal256(76, 2)),
        {},
        "DECIMAL(76,2)",
        ["9" * 70 + ".99", None],
    ),
    "fixed_size_binary as UUID": (
        pa.array([KEY.bytes, None], pa.binary(16)),
        {"types": {"x": "UUID"}},
        "UUID",
        [str(KEY), None],
    ),
    "uuid": (pa.array([KEY.bytes, None], pa.uuid()), {}, "UUID", [str(KEY), None]),
    "fixed_size_binary as LONG256": (
        pa.array([bytes([1, *[0] * 30, 2]), None], pa.binary(32)),
        {"types": {"x": "LONG256"}},
        "LONG256",
        ["0x02" + "00" * 30 + "01", ""],
    ),
    "list<double>": (
        pa.array([[1.0, 2.5], None, []]),
        {},
        "DOUBLE[]",
        [[1.0, 2.5], None, []],
    ),
    "large_list<float>": (
        pa.array([[1.5], None], pa.large_list(pa.float32())),
        {},
        "DOUBLE[]",
        [[1.5], None],
    ),
    "fixed_size_list<double>": (
        pa.array([[1.0, 2.0], None], pa.list_(pa.float64(), 2)),
        {},
        "DOUBLE[]",
        [[1.0, 2.0], None],
    ),
}


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_arrow_types(server: ServerProcess, name: str) -> None:
    values, options, kind, expected = EVERY_TYPE[name]
    table = "arrow_" + re.sub(r"\W+", "_", name)
    write(server, table, {"x": values}, **options)
    assert column_type(server, table) == kind
    assert read(server, table) == expected


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("binary", pa.array([b"\x00\xff", None, b""])),
        ("large_binary", pa.array([b"\x00\xff", None, b""], pa.large_binary())),
        ("binary_view", pa.array([b"\x00\xff", None, b""], pa.binary_view())),
    ],
)
def test_binary(server: ServerProcess, kind: str, data: Any) -> None:
    write(server, kind, {"x": data})
    assert column_type(server, kind) == "BINARY"
    assert read(server, kind, "base64(x, 100)") == ["AP8=", None, ""]
    fixed = pa.array([b"ab", None], pa.binary(2))
    write(server, f"{kind}_fixed", {"x": fixed})
    assert read(server, f"{kind}_fixed", "base64(x, 100)") == ["YWI=", None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_designated_timestamps(server: ServerProcess, unit: str) -> None:
    factor = {"s": 10**6, "ms": 1000, "us": 1, "ns": 1}[unit]
    micros = np.array([START, START + 86_400_000_000])
    raw = micros * 1000 if unit == "ns" else micros // factor
    write(server, f"at_{unit}", {"x": [1, 2], "ts": pa.array(raw, pa.timestamp(unit))})
    kind = "TIMESTAMP_NS" if unit == "ns" else "TIMESTAMP"
    assert server.sql(
        f"SELECT type, designated FROM table_columns('at_{unit}') WHERE designated"
    ) == [[kind, True]]
    # The column is called as the server calls it, not as it is called here.
    assert server.sql(f"SELECT count() FROM table_columns('at_{unit}')") == [[2]]


def test_pandas_frames_and_what_else_speaks_arrow(server: ServerProcess) -> None:
    frame = pd.DataFrame(
        {
            "x": [1.5, np.nan],
            "name": ["a", None],
            "kind": pd.Categorical(["k", None]),
            "ts": pd.to_datetime([START, START + 1], unit="us"),
        },
        index=pd.Index([7, 8], name="id"),
    )

    class Stream:
        def __arrow_c_stream__(self, requested: Any = None) -> Any:
            return pa.table({"x": [2.5], "ts": times(1)}).__arrow_c_stream__(requested)

    with open_sender(server) as sender:
        assert sender.write(frame, table="frames", timestamp="ts") == 2
        assert (
            sender.write(
                pa.record_batch({"x": [9.0], "ts": times(1)}),
                table="batches",
                timestamp="ts",
            )
            == 1
        )
        assert sender.write(Stream(), table="streams", timestamp="ts") == 1
        assert sender.write(frame.iloc[:0], table="frames", timestamp="ts") == 0
        with pytest.raises(TypeError, match="not list"):
            sender.write([1], table="t", timestamp=None)
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("frames", 2) == 2
    assert server.sql("SELECT id, x, name, kind FROM frames ORDER BY id") == [
        [7, 1.5, "a", "k"],
        [8, None, None, None],
    ]
    assert column_type(server, "frames", "kind") == "SYMBOL"
    assert server.await_count("batches", 1) == server.await_count("streams", 1) == 1


# Refusals.


@pytest.mark.parametrize(
    "data",
    [
        pa.array([1], pa.time64("us")),
        pa.array([1], pa.duration("us")),
        pa.array([{"a": 1}]),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([[1]]),
        pa.array([[[1.0]]]),
        pa.array([Decimal("100")], pa.decimal128(5, -2)),
        # Extension types whose storage is another value: 12 months, one row of four numbers, 1.
        pa.array(pd.arrays.PeriodArray._from_sequence([pd.Period("1971-01")], dtype="period[M]")),
        pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((1, 2, 2))),
        pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())),
    ],
    ids=lambda a: str(a.type),
)
def test_unsupported_types_are_refused_by_name_before_anything_is_written(
    server: ServerProcess, data: Any
) -> None:
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.write(
                pa.table({"good": [1], "bad one": data, "ts": times(1)}),
                table="unsupported",
                timestamp="ts",
            )
        assert refused.value.code is ErrorCode.TYPE_UNSUPPORTED
        for part in ("'unsupported'", "'bad one'", str(data.type)):
            assert part in str(refused.value)
        assert sender.counters().rows_written == 0


@pytest.mark.parametrize(
    ("data", "options", "row"),
    [
        (pa.array([*[1] * 199_999, -(2**63)]), {}, 199_999),
        (pa.array([*[True] * 150_000, None, *[True] * 49_999]), {}, 150_000),
        (pa.array([*[1] * 100_000, 2**63, *[1] * 99_999], pa.uint64()), {}, 100_000),
        (
            pa.array([*[1] * 100_000, 40_000, *[1] * 99_999]),
            {"types": {"x": "SHORT"}},
            100_000,
        ),
        (pa.array([*[[1.0]] * 100_000, [None], *[[1.0]] * 99_999]), {}, 100_000),
        (pa.array([*[1.0] * 100_000, math.inf, *[1.0] * 99_999]), {}, 100_000),
        (pa.array([*[1.0] * 100_000, -math.inf, *[1.0] * 99_999], pa.float32()), {}, 100_000),
        (pa.array([*[[1.0]] * 100_000, [1, math.inf], *[[1.0]] * 99_999]), {}, 100_000),
        (
            pa.array([*[65] * 100_000, 0xDC00, *[65] * 99_999], pa.uint16()),
            {"types": {"x": "CHAR"}},
            100_000,
        ),
        (
            pa.Array.from_buffers(
                pa.string(),
                200_000,
                [
                    None,
                    pa.py_buffer(np.arange(200_001, dtype=np.int32)),
                    pa.py_buffer(b"a" * 120_000 + b"\xff" + b"a" * 79_999),
                ],
            ),
            {},
            120_000,
        ),
    ],
    ids=[
        *["lowest", "null", "uint64", "short", "element", "infinity", "infinity32", "infinities"],
        *["half", "utf8"],
    ],
)
def test_a_refused_value_is_named_by_row_and_the_rest_can_be_written(
    server: ServerProcess,
    request: pytest.FixtureRequest,
    data: Any,
    options: Any,
    row: int,
) -> None:
    name = f"value_{request.node.callspec.id}"
    table = pa.table({"n": np.arange(len(data)), "x": data, "ts": times(len(data))})
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.write(table, table=name, timestamp="ts", **options)
        assert refused.value.code is ErrorCode.VALUE_INVALID
        assert f"row {row}:" in str(refused.value)
        assert "'x'" in str(refused.value)
        written = refused.value.rows_written
        assert written is not None
        assert row - 65_536 <= written <= row
        assert sender.counters().rows_written == written
        rest = pa.concat_tables([table.slice(written, row - written), table.slice(row + 1)])
        assert sender.write(rest, table=name, timestamp="ts", **options) == rest.num_rows
        assert sender.drain(DRAIN_SECONDS)
    rows = table.num_rows - 1
    assert server.await_count(name, rows, 240) == rows
    assert server.sql(f"SELECT count_distinct(n), sum(n) FROM {name}") == [
        [rows, sum(range(table.num_rows)) - row]
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.timestamp("us"), -1),
        (pa.timestamp("us"), 253_402_300_800_000_000),
        (pa.timestamp("ns"), 9_214_646_400_000_000_000),
        (pa.timestamp("s"), -1),
        (pa.timestamp("ms"), 253_402_300_800_000),
        (pa.date32(), -1),
    ],
    ids=str,
)
def test_a_designated_time_that_questdb_does_not_take_is_named_by_row(
    server: ServerProcess, kind: Any, value: int
) -> None:
    table = pa.table({"x": [1, 2, 3], "ts": pa.array([1, value, 2], kind)})
    with open_sender(server) as sender:
        with pytest.raises(DataError, match=r"designated timestamp .* row 1: ") as refused:
            sender.write(table, table="refused_times", timestamp="ts")
        assert refused.value.code is ErrorCode.VALUE_INVALID
        assert str(value) in str(refused.value)
        assert sender.counters().rows_written == 0


def test_a_row_that_fits_no_frame_is_refused_alone(server: ServerProcess) -> None:
    texts = ["a"] * 5_000
    texts[4_321] = "x" * (20 * 1024 * 1024)
    table = pa.table({"x": texts, "ts": times(5_000)})
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.write(table, table="too_large", timestamp="ts")
        assert refused.value.code is ErrorCode.FRAME_TOO_LARGE
        assert "row 4321 " in str(refused.value)
        assert sender.counters().rows_written == refused.value.rows_written
        assert refused.value.rows_written is not None
        assert refused.value.rows_written <= 4_321
        assert sender.write(table.slice(4_322), table="too_large", timestamp="ts") == 678


def test_columns_that_are_not_there_or_there_twice_are_named(
    server: ServerProcess,
) -> None:
    table = pa.table({"a": [1], "ts": times(1)})
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2]), times(1)], names=["a", "A", "ts"])
    with open_sender(server) as sender:
        for options in (
            {"timestamp": "time"},
            {"timestamp": "ts", "symbols": ["nope"]},
            {"timestamp": "ts", "types": {"nope": "LONG"}},
            {"timestamp": "ts", "zero_for_null": ["nope"]},
        ):
            with pytest.raises(DataError, match="columns are a, ts") as refused:
                sender.write(table, table="names", **options)
            assert refused.value.code is ErrorCode.NAME_INVALID
        with pytest.raises(DataError, match="twice"):
            sender.write(twice, table="names", timestamp="ts")
        with pytest.raises(DataError, match="designated") as no_time:
            sender.write(table, table="names", timestamp="a")
        assert no_time.value.code is ErrorCode.TYPE_UNSUPPORTED
        with pytest.raises(DataError, match="row 1") as null_time:
            sender.write(
                pa.table({"a": [1, 2], "ts": pa.array([1, None], pa.timestamp("us"))}),
                table="names",
                timestamp="ts",
            )
        assert null_time.value.code is ErrorCode.VALUE_INVALID
        with pytest.raises(DataError, match="no column"):
            sender.write(pa.table({"a": pa.array([None])}), table="names", timestamp=None)
        with pytest.raises(DataError) as name:
            sender.write(table, table="bad\nname", timestamp="ts")
        assert name.value.code is ErrorCode.NAME_INVALID
        assert sender.counters().rows_written == 0


# The server.


def wait_until(holds: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_outage_while_writing_loses_nothing(start_server: Any, tmp_path: Path) -> None:
    running = start_server()
    batches, rows = 40, 20_000
    with open_sender(running, tmp_path / "store", sender_id="outage") as sender:
        for i in range(batches):
            if i == 1:
                # A server killed while it makes a table leaves one that takes no rows.
                assert sender.drain(DRAIN_SECONDS)
            if i == 10:
                running.kill()
            if i == 30:
                wait_until(lambda: sender.state.kind is StateKind.RECONNECTING)
                assert sender.state.cause
                assert sender.counters().unacked_frames > 0
                running.start()
            first = i * rows
            table = pa.table(
                {
                    "n": np.arange(first, first + rows),
                    "s": pa.array([f"s{k % 50}" for k in range(rows)]),
                    "ts": pa.array(np.arange(first, first + rows) + START, pa.timestamp("us")),
                }
            )
            assert sender.write(table, table="outage", timestamp="ts", symbols=["s"]) == rows
        assert sender.drain(DRAIN_SECONDS)
        assert sender.state.kind is StateKind.OK
        assert sender.counters().reconnects_succeeded >= 1
    total = batches * rows
    assert running.await_count("outage", total, 240) >= total
    assert running.sql("SELECT count_distinct(n), count_distinct(s) FROM outage") == [[total, 50]]


def script(source: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Runs Python of its own; what it prints can be read."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def ran(source: str, *arguments: str, seconds: float = 120, **options: Any) -> str:
    """What Python of its own printed; it must end by itself, well and in time."""
    process = script(source, *arguments, **options)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"it did not end within {seconds} s: {out}{err}")
    assert process.returncode == 0, out + err
    return out


def test_what_a_killed_process_left_is_sent_by_the_next(
    server: ServerProcess, tmp_path: Path
) -> None:
    port = free_port()
    process = script(
        """
        import sys, time
        import numpy as np, pyarrow as pa
        from questdb_sf.sender import Sender
        sender = Sender(sys.argv[1])
        n = np.arange(100_000)
        table = pa.table({"n": n, "s": [f"s{i % 7}" for i in n], "ts": pa.array(n + 10**15, pa.timestamp("us"))})
        sender.write(table, table="killed", timestamp="ts", symbols=["s"])
        print(sender.flush(), flush=True)
        time.sleep(600)
        """,
        f"ws::addr=127.0.0.1:{port};sf_dir={tmp_path};sender_id=app;initial_connect_retry=async;sf_durability=flush;",
    )
    try:
        assert process.stdout is not None
        newest = int(process.stdout.readline())
        assert newest > 0
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    with open_sender(server, tmp_path, sender_id="app") as sender:
        assert sender.flush() == newest
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().acked_fsn == newest
        assert sender.name == "app"
    assert server.await_count("killed", 100_000, 240) == 100_000
    assert server.sql("SELECT count_distinct(n), count_distinct(s) FROM killed") == [[100_000, 7]]


def test_a_refusal_reaches_the_handler_with_table_and_rows(
    start_server: Any, tmp_path: Path
) -> None:
    running = start_server()
    events: list[ErrorEvent] = []
    conf = f"ws::addr={running.addr};sf_dir={tmp_path / 'store'};"
    with Sender(conf, on_error=events.append) as sender:
        sender.write(pa.table({"x": [0], "ts": times(1)}), table="fine", timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        running.script(
            nack={
                "status": 3,
                "message": "no such shape",
                "table": "refused",
                "times": 1,
            }
        )
        sender.write(pa.table({"x": [1, 2, 3], "ts": times(3)}), table="refused", timestamp="ts")
        sender.write(pa.table({"x": [4], "ts": times(1)}), table="fine", timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        wait_until(lambda: len(events) == 1)
        counters = sender.counters()
    event = events[0]
    assert (event.category, event.policy, event.status) == (
        "SCHEMA_MISMATCH",
        "DROP",
        3,
    )
    assert (event.table, event.rows, event.from_fsn, event.to_fsn) == (
        "refused",
        3,
        1,
        1,
    )
    assert "no such shape" in event.message
    assert event.endpoint == running.addr
    assert abs(event.at - datetime.datetime.now(UTC)) < datetime.timedelta(minutes=5)
    assert event.dead_letter
    assert (counters.server_errors, counters.rows_dropped, counters.frames_dropped) == (
        1,
        3,
        1,
    )
    assert counters.error_notifications_delivered == 1
    assert running.await_count("fine", 2) == 2


def test_a_handler_that_raises_is_counted_and_harms_nothing(
    start_server: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    running = start_server()

    def handler(event: ErrorEvent) -> None:
        raise ValueError(f"handler of {event.table}")

    with Sender(
        f"ws::addr={running.addr};sf_dir={tmp_path / 'store'};", on_error=handler
    ) as sender:
        running.script(nack={"status": 3, "message": "no", "table": "refused", "times": 2})
        for _ in range(2):
            sender.write(pa.table({"x": [1], "ts": times(1)}), table="refused", timestamp="ts")
        sender.write(pa.table({"x": [4], "ts": times(1)}), table="fine", timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        wait_until(lambda: sender.counters().handler_failures == 2)
    assert "handler of refused" in caplog.text
    assert running.await_count("fine", 1) == 1


def test_a_halt_is_raised_by_whoever_uses_the_sender_next(start_server: Any) -> None:
    running = start_server()
    running.script(nack={"status": 3, "message": "never"})
    sender = open_sender(running, on_schema_error="halt")
    sender.write(pa.table({"x": [1], "ts": times(1)}), table="halted", timestamp="ts")
    with pytest.raises(DeliveryError, match="never") as halted:
        sender.drain(DRAIN_SECONDS)
    assert halted.value.code is ErrorCode.SERVER_REJECTED
    assert sender.state.kind is StateKind.FAILED
    with pytest.raises(DeliveryError):
        sender.write(pa.table({"x": [1], "ts": times(1)}), table="halted", timestamp="ts")
    sender.close()


def test_nobody_there() -> None:
    with pytest.raises(DeliveryError) as nobody:
        Sender(f"ws::addr=127.0.0.1:{free_port()};")
    assert nobody.value.code is ErrorCode.CONNECT_FAILED


def test_settings_are_refused_in_words(tmp_path: Path) -> None:
    for conf, code in (
        ("ws::addr=h;adr=x;", ErrorCode.CONFIG_UNKNOWN_KEY),
        ("ws::addr=h;frame_rows=none;", ErrorCode.CONFIG_INVALID_VALUE),
        ("ws::", ErrorCode.CONFIG_MISSING),
    ):
        with pytest.raises(ConfigError) as refused:
            Sender(conf)
        assert refused.value.code is code


def test_a_held_slot_is_refused(server: ServerProcess, tmp_path: Path) -> None:
    with (
        open_sender(server, tmp_path, sender_id="one"),
        pytest.raises(StorageError) as held,
    ):
        open_sender(server, tmp_path, sender_id="one")
    assert held.value.code is ErrorCode.SLOT_LOCKED
    assert str(os.getpid()) in str(held.value)


def test_a_full_store_raises_after_its_deadline(tmp_path: Path) -> None:
    conf = (
        f"ws::addr=127.0.0.1:{free_port()};sf_dir={tmp_path};initial_connect_retry=async;sf_max_segment_bytes=256k;"
        "sf_max_total_bytes=1m;sf_append_deadline_millis=500;close_flush_timeout_millis=0;"
    )
    table = pa.table({"x": np.arange(1_000_000), "ts": times(1_000_000)})
    with Sender(conf) as sender, pytest.raises(StorageError) as full:
        sender.write(table, table="full", timestamp="ts")
    assert full.value.code is ErrorCode.BACKPRESSURE_TIMEOUT
    assert full.value.rows_written is not None
    assert 0 < full.value.rows_written < 1_000_000


def test_a_closed_sender_says_so(server: ServerProcess) -> None:
    sender = open_sender(server)
    sender.close()
    sender.close()
    for use in (
        lambda: sender.row("t", at=Micros(1)),
        lambda: sender.write(pa.table({"x": [1]}), table="t", timestamp=None),
        sender.flush,
        lambda: sender.drain(1),
    ):
        with pytest.raises(UseError) as closed:
            use()
        assert closed.value.code is ErrorCode.SENDER_CLOSED


# Codes.


def test_codes_are_those_of_the_jvm() -> None:
    source = (REPO / "jvm/engine/src/main/java/org/questdbsf/error/ErrorCode.java").read_text(
        "utf-8"
    )
    java = re.findall(r"^  ([A-Z_]+)\(", source, re.MULTILINE)
    assert len(java) > 25
    only_here = ["JAR_MISSING", "JAVA_MISSING", "PACKAGE_MISSING"]
    assert [code.value for code in ErrorCode] == java + only_here


def test_each_code_belongs_to_one_family() -> None:
    families = QuestDBSfError.__subclasses__()
    for code in ErrorCode:
        assert len([f for f in families if code in f.codes]) == 1, code
        assert code in type(error_of(code, "x")).codes
    error = error_of("VALUE_INVALID", "VALUE_INVALID: too much", 7)
    assert (str(error), error.rows_written) == (
        "VALUE_INVALID: too much [7 rows were written]",
        7,
    )
    assert error_of("NEWER", "x").code is ErrorCode.INTERNAL_FAULT
    import pickle

    assert pickle.loads(pickle.dumps(error)).code is ErrorCode.VALUE_INVALID


def test_counters_are_those_of_the_jvm(server: ServerProcess) -> None:
    with open_sender(server) as sender:
        java = {str(key) for key in sender._sender.counters().snapshot().keySet()}
        assert java < {field.name for field in fields(Counters)}
        assert sender.counters().published_fsn == -1


# The process.


def test_imports_bring_nothing_with_them() -> None:
    out = ran(
        """
        import sys
        import questdb_sf, questdb_sf.spark, questdb_sf.errors, questdb_sf.sender
        print([m for m in sys.modules if m.split(".")[0] in ("jpype", "_jpype", "pyarrow", "numpy", "pandas", "py4j")])
        """
    )
    assert out.strip() == "[]"


@pytest.mark.parametrize(
    ("prepare", "code", "words"),
    [
        (
            "os.environ['QUESTDB_SF_STANDALONE_JAR'] = '/no/such.jar'",
            "JAR_MISSING",
            "make build",
        ),
        (
            "sys.modules['jpype'] = None",
            "PACKAGE_MISSING",
            "pip install 'questdb-sf[jpype]'",
        ),
        (
            "import jpype; jpype.startJVM = lambda *a, **k: (_ for _ in ()).throw(jpype.JVMNotFoundException('none'))",
            "JAVA_MISSING",
            "JAVA_HOME",
        ),
        (
            "from questdb_sf import _jvm; _jvm._LEAST_JAVA = 99",
            "JAVA_MISSING",
            "99 or newer",
        ),
    ],
    ids=["jar", "jpype", "java", "old java"],
)
def test_what_is_missing_is_said(prepare: str, code: str, words: str) -> None:
    out = ran(
        f"""
        import os, sys
        {prepare}
        from questdb_sf.sender import Sender
        from questdb_sf.errors import SetupError
        try:
            Sender("ws::addr=localhost:1;")
        except SetupError as error:
            print(error.code, error)
        """
    )
    assert out.startswith(code)
    assert words in out


def test_rows_need_no_pyarrow(server: ServerProcess) -> None:
    out = ran(
        """
        import sys
        sys.modules["pyarrow"] = None
        from questdb_sf.errors import SetupError
        from questdb_sf.sender import Sender, Micros
        with Sender(sys.argv[1]) as sender:
            sender.row("no_arrow", columns={"x": 1}, at=Micros(1))
            print(sender.drain(100))
            try:
                sender.write(None, table="t", timestamp=None)
            except SetupError as error:
                print(error)
        """,
        f"ws::addr={server.addr};",
    )
    assert out.startswith("True\nPACKAGE_MISSING: the Python package pyarrow is needed")
    assert "questdb-sf[arrow]" in out


def test_the_interpreter_ends_with_a_sender_open(server: ServerProcess) -> None:
    out = ran(
        """
        import sys
        from questdb_sf.sender import Sender, Micros
        sender = Sender(sys.argv[1])
        sender.row("left_open", columns={"x": 1}, at=Micros(1))
        print("end")
        """,
        f"ws::addr={server.addr};close_flush_timeout_millis=60000;",
    )
    assert out == "end\n"
    assert server.await_count("left_open", 1) == 1


def test_the_interpreter_ends_while_nobody_answers(tmp_path: Path) -> None:
    started = time.monotonic()
    out = ran(
        """
        import sys
        from questdb_sf.sender import Sender, Micros
        sender = Sender(sys.argv[1], on_error=print)
        sender.row("unsent", columns={"x": 1}, at=Micros(1))
        print(sender.flush())
        """,
        f"ws::addr=127.0.0.1:{free_port()};sf_dir={tmp_path};initial_connect_retry=async;"
        "close_flush_timeout_millis=500;",
    )
    assert out == "0\n"
    assert time.monotonic() - started < 60
    assert list((tmp_path / "default").glob("*.sfa"))


def test_ctrl_c_ends_a_wait(tmp_path: Path) -> None:
    process = script(
        """
        import sys
        from questdb_sf.sender import Sender, Micros
        with Sender(sys.argv[1]) as sender:
            sender.row("unsent", columns={"x": 1}, at=Micros(1))
            sender.flush()
            print("waiting", flush=True)
            try:
                sender.drain(600)
            except KeyboardInterrupt:
                print("interrupted", sender.flush(), flush=True)
        """,
        f"ws::addr=127.0.0.1:{free_port()};sf_dir={tmp_path};initial_connect_retry=async;"
        "close_flush_timeout_millis=0;",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted 0\n", err
    assert process.returncode == 0, err


def test_signals_stay_pythons(server: ServerProcess) -> None:
    out = ran(
        """
        import os, signal, sys, time
        from questdb_sf.sender import Sender
        signal.signal(signal.SIGTERM, lambda *_: print("mine"))
        with Sender(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
        """,
        f"ws::addr={server.addr};",
    )
    assert out == "mine\n"


def test_a_fork_says_that_it_cannot(server: ServerProcess) -> None:
    out = ran(
        """
        import os, sys
        from questdb_sf.errors import UseError
        from questdb_sf.sender import Sender
        with Sender(sys.argv[1]) as sender:
            if os.fork() == 0:
                try:
                    sender.flush()
                except UseError as error:
                    print(error, flush=True)
                os._exit(0)
            os.wait()
            print(sender.flush())
        """,
        f"ws::addr={server.addr};",
    )
    assert "spawn" in out
    assert out.endswith("-1\n")


def test_a_machine_that_is_running_already_is_used(server: ServerProcess) -> None:
    out = ran(
        """
        import sys
        import jpype
        jpype.startJVM()
        from questdb_sf.sender import Sender, Micros
        with Sender(sys.argv[1]) as sender:
            sender.row("guest", columns={"x": 1}, at=Micros(1))
            print(sender.drain(100))
        """,
        f"ws::addr={server.addr};",
    )
    assert out.endswith("True\n")


def test_beside_pyspark_in_one_process(server: ServerProcess, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    out = ran(
        """
        import sys
        from pyspark.sql import SparkSession
        import pyarrow as pa
        from questdb_sf.sender import Sender
        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        assert spark.range(100).count() == 100
        with Sender(sys.argv[1]) as sender:
            table = pa.Table.from_pandas(spark.range(1000).toPandas())
            sender.write(table, table="beside", timestamp=None)
            assert spark.range(100).count() == 100
            assert sender.drain(200)
            spark.stop()
            sender.write(table, table="beside", timestamp=None)
            assert sender.drain(200)
        print("end")
        """,
        f"ws::addr={server.addr};",
        seconds=240,
        cwd=tmp_path,
    )
    assert out.endswith("end\n")
    assert server.await_count("beside", 2000) == 2000


def test_setup_errors_are_errors_of_this_package() -> None:
    assert issubclass(SetupError, QuestDBSfError)
