"""Every type of Arrow to QuestDB and back by SQL, through the engine in this process."""

from __future__ import annotations

import datetime
import math
import re
import uuid
from decimal import Decimal
from typing import Any

import pytest

from harness.sending import (
    START,
    column_type,
    read,
    write,
)
from harness.server import ServerProcess

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")


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
