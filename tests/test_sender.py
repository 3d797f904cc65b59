"""The engine in this process, row by row: what arrives, by SQL; what is refused, and what its codes are."""

from __future__ import annotations

import datetime
import ipaddress
import math
import re
import uuid
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from harness.sending import (
    DRAIN_SECONDS,
    START,
    UTC,
    column_type,
    open_sender,
    read,
    times,
)
from harness.server import ServerProcess
from questdb_sf.errors import (
    DataError,
    ErrorCode,
    QuestDBSfError,
    error_of,
)
from questdb_sf.sender import (
    SERVER_TIMESTAMP,
    Counters,
    Micros,
    Nanos,
)

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

REPO = Path(__file__).resolve().parents[1]


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
