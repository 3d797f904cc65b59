"""Every column type of QuestDB with its edge values, and in which form each way in takes them."""

from __future__ import annotations

import base64
import ipaddress
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from questdb_sf.sender import Micros, Nanos

LONG_MAX = 2**63 - 1


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Spark:
    """How a DataFrame has the values: its type, the form of a value, an expression over it, options that it needs."""

    type: str
    form: Callable[[Any], Any] = _as_it_is
    expression: str = "x"
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Arrow:
    """How an Arrow table has them. ``makes`` is the column that the server makes where it is another one."""

    type: Any
    form: Callable[[Any], Any] = _as_it_is
    named: str | None = None
    makes: str | None = None


@dataclass(frozen=True)
class Row:
    """How ``Sender.row`` takes them. ``makes`` is the column that the server makes; None: it must be there."""

    makes: str | None
    form: Callable[[Any], Any] = _as_it_is


@dataclass(frozen=True)
class Kind:
    """A column type and its values, which are read back through ``select`` and ``read``."""

    column: str
    values: Sequence[Any]
    spark: Spark | None = None
    arrow: Arrow | None = None
    row: Row | None = None
    select: str = "x"
    read: Callable[[Any], Any] = _as_it_is
    made: bool = True
    """Whether a client can have such a column made, or only SQL."""

    @property
    def has_null(self) -> bool:
        """Whether the column type has a null."""
        return self.column not in ("BOOLEAN", "BYTE", "SHORT", "CHAR")


def _float32(value: float | None) -> float | None:
    """/exec shows the shortest text of a FLOAT; this is the number that it stands for."""
    return None if value is None else float(np.float32(value))


def _unbased(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)


def _number(value: str | None) -> int | None:
    return int(value, 16) if value else None


def _decimal(value: str | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _maybe(form: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else form(value)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _array(value: Any) -> Any:
    return None if value is None else np.array(value, np.float64)


TEXTS = [
    "",
    None,
    "plain",
    "ü",
    "漢字",
    "😀\U0010ffff",
    "e\u0301",  # two code points that look as one
    "\u200b\u202e",
    "null",
    "NaN",
    " ",
    'it\'s "quoted" `so` \\ /',
    "line\r\n\tbreak",
    "'); DROP TABLE x; --",
    "ab" * 20_000,
]
MICROS = [
    -62_135_596_800_000_000,  # year 1
    -1,
    0,
    1,
    1_709_251_199_123_456,
    253_402_300_799_999_999,  # the last of year 9999
    None,
    -LONG_MAX,
    LONG_MAX,
]
SUBNORMAL = 5e-324
FLOATS = [np.float32(x).item() for x in (1.5, -0.25, 0.1, 1e-45, 3.4028235e38, -3.4028235e38)]


def _decimals(digits: int, scale: int) -> list[Decimal | None]:
    """The ends, what is next to zero, zero and null."""
    most = Decimal((0, (9,) * digits, -scale))
    least = Decimal((0, (1,), -scale))
    return [
        most,
        most.copy_negate(),
        least,
        least.copy_negate(),
        Decimal((0, (0,), -scale)),
        None,
    ]


def _geohash(column: str, *values: str | None) -> Kind:
    return Kind(column, values, spark=Spark("STRING"))


KINDS = {
    "boolean": Kind("BOOLEAN", [True, False], Spark("BOOLEAN"), Arrow(pa.bool_()), Row("BOOLEAN")),
    "byte": Kind(
        "BYTE",
        [-128, -1, 0, 127],
        Spark("BYTE"),
        Arrow(pa.int8(), named="BYTE"),
        Row(None),
    ),
    "short": Kind(
        "SHORT",
        [-32768, -1, 0, 32767],
        Spark("SHORT"),
        Arrow(pa.int16(), named="SHORT"),
        Row(None),
    ),
    "char": Kind(
        "CHAR",
        ["A", "é", "€", "漢", '"', "\\", "\uffff"],
        Spark("STRING"),
        Arrow(pa.uint16(), ord, named="CHAR"),
        select="x::string",  # /exec escapes no quote of a CHAR
    ),
    "int": Kind(
        "INT",
        [-(2**31) + 1, -1, None, 0, 2**31 - 1],
        Spark("INT"),
        Arrow(pa.int32()),
    ),
    "long": Kind(
        "LONG",
        [-LONG_MAX, -1, None, 0, 2**53 + 1, LONG_MAX],
        Spark("LONG"),
        Arrow(pa.int64()),
        Row("LONG"),
    ),
    "float": Kind(
        "FLOAT",
        [*FLOATS, -0.0, None],
        Spark("FLOAT"),
        Arrow(pa.float32()),
        read=_float32,
    ),
    "double": Kind(
        "DOUBLE",
        [
            0.1,
            -0.0,
            SUBNORMAL,
            -2.2250738585072014e-308,
            1.7976931348623157e308,
            None,
            2.0**53,
        ],
        Spark("DOUBLE"),
        Arrow(pa.float64()),
        Row("DOUBLE"),
    ),
    "varchar": Kind("VARCHAR", TEXTS, Spark("STRING"), Arrow(pa.string()), Row("VARCHAR")),
    "string": Kind(
        "STRING",
        TEXTS,
        Spark("STRING"),
        Arrow(pa.large_string()),
        Row(None),
        made=False,
    ),
    "symbol": Kind("SYMBOL", TEXTS, Spark("STRING"), Arrow(pa.string()), Row("SYMBOL")),
    "symbol of a dictionary": Kind(
        "SYMBOL", [*TEXTS, *TEXTS], arrow=Arrow(pa.dictionary(pa.int16(), pa.string()))
    ),
    "date": Kind(
        "DATE",
        [-62_135_596_800_000, -1, 0, 1, 1_709_251_199_123, 253_402_300_799_999, None],
        Spark("LONG", expression="timestamp_millis(x)"),
        Arrow(pa.timestamp("ms"), named="DATE"),
        select="x::long",
    ),
    "timestamp": Kind(
        "TIMESTAMP",
        MICROS,
        Spark("LONG", expression="timestamp_micros(x)"),
        Arrow(pa.timestamp("us")),
        Row("TIMESTAMP", _maybe(Micros)),
        select="x::long",
    ),
    "timestamp_ns": Kind(
        "TIMESTAMP_NS",
        [-LONG_MAX, -1, 0, 1, 1_709_251_199_123_456_789, None, LONG_MAX],
        Spark("LONG", options={"timestamp_unit": "ns"}),
        Arrow(pa.timestamp("ns")),
        Row("TIMESTAMP_NS", _maybe(Nanos)),
        select="x::long",
    ),
    "decimal of one digit": Kind(
        "DECIMAL(1,0)",
        _decimals(1, 0),
        Spark("DECIMAL(1,0)"),
        Arrow(pa.decimal128(1, 0), makes="DECIMAL(18,0)"),
        Row("DECIMAL(76,0)"),
        read=_decimal,
    ),
    "decimal of 18 digits": Kind(
        "DECIMAL(18,3)",
        _decimals(18, 3),
        Spark("DECIMAL(18,3)"),
        Arrow(pa.decimal128(18, 3)),
        Row("DECIMAL(76,3)"),
        read=_decimal,
    ),
    "decimal of 38 digits": Kind(
        "DECIMAL(38,10)",
        _decimals(38, 10),
        Spark("DECIMAL(38,10)"),
        Arrow(pa.decimal128(38, 10)),
        Row("DECIMAL(76,10)"),
        read=_decimal,
    ),
    "decimal of 38 digits, all behind the point": Kind(
        "DECIMAL(38,38)",
        _decimals(38, 38),
        Spark("DECIMAL(38,38)"),
        Arrow(pa.decimal128(38, 38)),
        Row("DECIMAL(76,38)"),
        read=_decimal,
    ),
    "decimal of 76 digits": Kind(
        "DECIMAL(76,0)",
        _decimals(76, 0),
        arrow=Arrow(pa.decimal256(76, 0)),
        row=Row("DECIMAL(76,0)"),
        read=_decimal,
    ),
    "decimal of 76 digits, all behind the point": Kind(
        "DECIMAL(76,76)",
        _decimals(76, 76),
        arrow=Arrow(pa.decimal256(76, 76)),
        row=Row("DECIMAL(76,76)"),
        read=_decimal,
    ),
    "uuid": Kind(
        "UUID",
        [
            uuid.UUID(int=0),
            uuid.UUID(int=1),
            None,
            uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"),
            uuid.UUID(int=2**128 - 1),
        ],
        Spark("STRING", _text),
        Arrow(pa.binary(16), _maybe(lambda value: value.bytes), named="UUID"),
        Row("UUID"),
        read=_maybe(uuid.UUID),
    ),
    "ipv4": Kind(
        "IPv4",
        [ipaddress.IPv4Address(x) for x in ("0.0.0.1", "10.1.2.3", "255.255.255.255")] + [None],
        Spark("STRING", _text),
        Arrow(pa.uint32(), _maybe(int), named="IPV4"),
        Row("IPv4"),
        read=_maybe(ipaddress.IPv4Address),
    ),
    "long256": Kind(
        "LONG256",
        [0, 1, 2**255, 2**256 - 1, None],
        Spark("STRING", _maybe(hex)),
        Arrow(
            pa.binary(32),
            _maybe(lambda value: value.to_bytes(32, "little")),
            named="LONG256",
        ),
        read=_number,
    ),
    "geohash of 1 bit": _geohash("GEOHASH(1b)", "0", "1", None),
    "geohash of 7 bits": _geohash("GEOHASH(7b)", "0000000", "1010101", "1111111", None),
    "geohash of 8 bits": _geohash("GEOHASH(8b)", "00000000", None, "11111111"),
    "geohash of 59 bits": _geohash("GEOHASH(59b)", "0" * 59, "1" * 59, None),
    "geohash of 1 character": _geohash("GEOHASH(1c)", "0", "z", None),
    "geohash of 6 characters": _geohash("GEOHASH(6c)", "000000", "u33dc1", "zzzzzz", None),
    "geohash of 12 characters": _geohash("GEOHASH(12c)", "0" * 12, "z" * 12, None),
    "binary": Kind(
        "BINARY",
        [b"", None, b"\x00", b"\xff\xfe", bytes(range(256)), b"b" * 30_000],
        Spark("BINARY"),
        Arrow(pa.binary()),
        Row("BINARY"),
        select="base64(x, 40000)",
        read=_unbased,
    ),
    "array": Kind(
        "DOUBLE[]",
        [[1.5, -0.0, SUBNORMAL], None, [], [0.0], [i / 8 for i in range(5_000)]],
        Spark("ARRAY<DOUBLE>"),
        Arrow(pa.list_(pa.float64())),
        Row("DOUBLE[]", _array),
    ),
    "array of arrays": Kind(
        "DOUBLE[][]",
        [[[1.0, 2.0], [3.0, 4.0]], None, [[5.0]], [[1.0], [2.0], [3.0]]],
        Spark("ARRAY<ARRAY<DOUBLE>>"),
        row=Row("DOUBLE[][]", _array),
    ),
    "array of three dimensions": Kind(
        "DOUBLE[][][]",
        [[[[1.0], [2.0]], [[3.0], [4.0]]], None, [[[5.0, 6.0, 7.0]]]],
        Spark("ARRAY<ARRAY<ARRAY<DOUBLE>>>"),
        row=Row("DOUBLE[][][]", _array),
    ),
}
