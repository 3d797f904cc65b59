"""Every Spark type to QuestDB and back by SQL: nulls, ends of ranges, zones, and types that only options name."""

from __future__ import annotations

import base64
import datetime
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from harness.points import Point
from harness.server import ServerProcess
from questdb_sf.errors import ErrorCode
from questdb_sf.spark import failure

UTC = datetime.timezone.utc


@dataclass
class Case:
    """Values of column ``x``, the type that the created column has, and how SQL shows them."""

    spark_type: str
    values: list[Any]
    column: str
    shown: list[Any]
    options: dict[str, str] = field(default_factory=dict)
    select: str = "x"
    read: Callable[[Any], Any] = lambda value: value
    made_by: str = "x"
    """Makes of a value what is written; for types that pyspark makes no values of."""
    since: tuple[int, int] = (3, 5)
    """The Spark that has the type."""


def named(target: str, **more: str) -> dict[str, str]:
    return {"column_types": f"x {target}", **more}


def hexed(value: str | None) -> int | None:
    return int(value, 16) if value else None


def unbased(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)


MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 59, 123456, UTC)
OLD = datetime.datetime(1901, 1, 1, 0, 0, 0, 1, UTC)
DEVICE = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
BIG = Decimal("1234567890123456789012345678.0123456789")
SMALL = Decimal("-0.0000000001")
CASES = {
    "boolean": Case("BOOLEAN", [True, False], "BOOLEAN", [True, False]),
    "boolean, null as zero": Case(
        "BOOLEAN", [True, None], "BOOLEAN", [True, False], {"nulls_boolean": "zero"}
    ),
    "byte": Case("BYTE", [-128, 127, None], "INT", [-128, 127, None]),
    "byte as BYTE": Case("BYTE", [-128, 127], "BYTE", [-128, 127], named("BYTE")),
    "short": Case("SHORT", [-32768, None, 32767], "INT", [-32768, None, 32767]),
    "short as SHORT, null as zero": Case(
        "SHORT", [-32768, None], "SHORT", [-32768, 0], named("SHORT", nulls_short="zero")
    ),
    "int": Case("INT", [-(2**31) + 1, 2**31 - 1, None], "INT", [-(2**31) + 1, 2**31 - 1, None]),
    "int, smallest as null": Case(
        "INT", [-(2**31), 5], "INT", [None, 5], {"sentinel_values": "null"}
    ),
    "long": Case("LONG", [-(2**63) + 1, 2**63 - 1, None], "LONG", [-(2**63) + 1, 2**63 - 1, None]),
    "long as INT": Case("LONG", [1, None], "INT", [1, None], named("INT")),
    "float": Case("FLOAT", [1.5, -0.25, None], "FLOAT", [1.5, -0.25, None]),
    "double": Case("DOUBLE", [0.1, -1e300, 5e-324, None], "DOUBLE", [0.1, -1e300, 5e-324, None]),
    "double, ends": Case(
        "DOUBLE",
        [-0.0, 2.2250738585072014e-308, -1.7976931348623157e308],
        "DOUBLE",
        [-0.0, 2.2250738585072014e-308, -1.7976931348623157e308],
    ),
    "double, infinity as null": Case(
        "DOUBLE", [float("inf"), 1.5], "DOUBLE", [None, 1.5], {"sentinel_values": "null"}
    ),
    "double that is no number": Case("DOUBLE", [float("nan")], "DOUBLE", [None]),
    "decimal of 18 digits": Case(
        "DECIMAL(18,3)",
        [Decimal("-123456789012345.678"), None],
        "DECIMAL(18,3)",
        ["-123456789012345.678", None],
    ),
    "decimal of 38 digits": Case(
        "DECIMAL(38,10)", [BIG, SMALL, None], "DECIMAL(38,10)", [str(BIG), f"{SMALL:f}", None]
    ),
    "decimal as DOUBLE": Case(
        "DECIMAL(10,2)",
        [Decimal("1.25")],
        "DOUBLE",
        [1.25],
        named("DOUBLE", decimals_double="x"),
    ),
    "string": Case(
        "STRING", ["", "ab", None, "ü€😀" * 30], "VARCHAR", ["", "ab", None, "ü€😀" * 30]
    ),
    "symbol": Case(
        "STRING", ["a", None, "a", ""], "SYMBOL", ["a", None, "a", ""], {"symbols": "x"}
    ),
    "char": Case("STRING", ["€", "A"], "CHAR", ["€", "A"], named("CHAR")),
    "binary": Case(
        "BINARY",
        [b"\x00\xff", None, b"", bytes(range(256))],
        "BINARY",
        [b"\x00\xff", None, b"", bytes(range(256))],
        select="base64(x, 2000)",
        read=unbased,
    ),
    "timestamp": Case(
        "TIMESTAMP",
        [MOMENT, OLD, None],
        "TIMESTAMP",
        ["2024-02-29T23:59:59.123456Z", "1901-01-01T00:00:00.000001Z", None],
    ),
    "timestamp as TIMESTAMP_NS": Case(
        "TIMESTAMP",
        [MOMENT],
        "TIMESTAMP_NS",
        ["2024-02-29T23:59:59.123456000Z"],
        named("TIMESTAMP_NS"),
    ),
    "timestamp as DATE": Case(
        "TIMESTAMP",
        [MOMENT.replace(microsecond=123000)],
        "DATE",
        ["2024-02-29T23:59:59.123Z"],
        named("DATE"),
    ),
    "timestamp_ntz": Case(
        "TIMESTAMP_NTZ",
        [MOMENT.replace(tzinfo=None), None],
        "TIMESTAMP",
        ["2024-02-29T23:59:59.123456Z", None],
    ),
    "timestamp_ntz in a zone": Case(
        "TIMESTAMP_NTZ",
        # The second is in the hour that comes twice: the earlier instant is taken.
        [datetime.datetime(2024, 7, 1, 12), datetime.datetime(2024, 10, 27, 2, 30)],
        "TIMESTAMP",
        ["2024-07-01T10:00:00.000000Z", "2024-10-27T00:30:00.000000Z"],
        {"ntz_zone": "Europe/Paris"},
    ),
    "date": Case(
        "DATE",
        [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None],
        "TIMESTAMP",
        ["2024-02-29T00:00:00.000000Z", "1969-12-31T00:00:00.000000Z", None],
    ),
    "date as DATE": Case(
        "DATE", [datetime.date(2024, 2, 29)], "DATE", ["2024-02-29T00:00:00.000Z"], named("DATE")
    ),
    "long as TIMESTAMP": Case(
        "LONG",
        [1_704_067_200_123, None],
        "TIMESTAMP",
        ["2024-01-01T00:00:00.123000Z", None],
        named("TIMESTAMP", timestamp_unit="ms"),
    ),
    "array": Case("ARRAY<DOUBLE>", [[1.5, -2.0], None, []], "DOUBLE[]", [[1.5, -2.0], None, []]),
    "array of floats": Case("ARRAY<FLOAT>", [[0.5]], "DOUBLE[]", [[0.5]]),
    "array of arrays": Case(
        "ARRAY<ARRAY<DOUBLE>>",
        [[[1.0, 2.0], [3.0, 4.0]], None],
        "DOUBLE[][]",
        [[[1.0, 2.0], [3.0, 4.0]], None],
    ),
    "array of ints as DOUBLE[]": Case(
        "ARRAY<INT>", [[1, -2]], "DOUBLE[]", [[1.0, -2.0]], named("DOUBLE[]")
    ),
    "uuid": Case("STRING", [str(DEVICE), None], "UUID", [str(DEVICE), None], named("UUID")),
    "uuid from bytes": Case("BINARY", [DEVICE.bytes], "UUID", [str(DEVICE)], named("UUID")),
    "ipv4": Case("STRING", ["192.168.1.10", None], "IPv4", ["192.168.1.10", None], named("IPV4")),
    "long256": Case(
        "STRING",
        ["0x1", hex(2**256 - 1), None],
        "LONG256",
        [1, 2**256 - 1, None],
        named("LONG256"),
        read=hexed,
    ),
    "long256 from bytes": Case(
        "BINARY",
        [(7 << 200).to_bytes(32, "big")],
        "LONG256",
        [7 << 200],
        named("LONG256"),
        read=hexed,
    ),
    "geohash": Case(
        "STRING", ["u33dc1", None], "GEOHASH(6c)", ["u33dc1", None], named("GEOHASH(6c)")
    ),
    "geohash in bits": Case(
        "STRING", ["1010101"], "GEOHASH(7b)", ["1010101"], named("GEOHASH(7b)")
    ),
    "interval as LONG": Case(
        "INTERVAL DAY TO SECOND",
        [datetime.timedelta(seconds=1, microseconds=5), None],
        "LONG",
        [1_000_005, None],
        named("LONG"),
    ),
    "struct as JSON": Case(
        "STRUCT<a: INT, b: STRING>",
        [(1, "ü"), None],
        "VARCHAR",
        ['{"a":1,"b":"ü"}', None],
        {"unsupported": "json"},
    ),
    "map as JSON": Case(
        "MAP<STRING, DOUBLE>", [{"k": 1.5}], "VARCHAR", ['{"k":1.5}'], {"unsupported": "json"}
    ),
    "array of strings as JSON": Case(
        "ARRAY<STRING>", [["a", None]], "VARCHAR", ['["a",null]'], {"unsupported": "json"}
    ),
    "intervals as JSON": Case(
        "INT",
        [14, None],
        "VARCHAR",
        ['{"m":14,"d":14000000}', '{"m":null,"d":null}'],
        {"unsupported": "json"},
        made_by="named_struct('m', make_ym_interval(0, x), 'd', make_dt_interval(0, 0, 0, x))",
    ),
    "char(n) and varchar(n)": Case(
        "STRING",
        ["ab", None],
        "VARCHAR",
        ["ab   ", None],
        made_by="CAST(x AS CHAR(5))",
        since=(4, 3),
    ),
    "collated string": Case(
        "STRING",
        ["Ab", None],
        "VARCHAR",
        ["Ab", None],
        made_by="x COLLATE UNICODE_CI",
        since=(4, 0),
    ),
    "variant as JSON": Case(
        "STRING",
        ['{"a":[1,2.5,null,"ü"]}', "null", None],
        "VARCHAR",
        ['{"a":[1,2.5,null,"ü"]}', "null", None],
        {"unsupported": "json"},
        made_by="parse_json(x)",
        since=(4, 0),
    ),
    "variants in an array as JSON": Case(
        "STRING",
        ['{"a":1}', None],
        "VARCHAR",
        ['[{"a":1}]', "[null]"],
        {"unsupported": "json"},
        made_by="array(parse_json(x))",
        since=(4, 0),
    ),
    "time as LONG": Case(
        "STRING",
        ["00:00:00", "23:59:59.123456", None],
        "LONG",
        [0, 86_399_123_456, None],
        named("LONG"),
        made_by="CAST(x AS TIME(6))",
        since=(4, 3),
    ),
    "time in a struct as JSON": Case(
        "STRING",
        ["00:00:01", None],
        "VARCHAR",
        ['{"t":1000000000}', '{"t":null}'],
        {"unsupported": "json"},
        made_by="named_struct('t', CAST(x AS TIME(6)))",
        since=(4, 3),
    ),
}

NEWER_TYPES = {
    "spark.sql.timeType.enabled": "true",
    # Else CHAR(n) is a STRING before the sink sees it.
    "spark.sql.preserveCharVarcharTypeInfo": "true",
}


@pytest.fixture
def newer_types(spark: Any) -> Iterator[None]:
    """Types that Spark has, but not by itself."""
    for key, value in NEWER_TYPES.items():
        spark.conf.set(key, value)
    yield
    for key in NEWER_TYPES:
        spark.conf.unset(key)


def needs_spark(since: tuple[int, int]) -> None:
    """Skips where the type is not there."""
    import pyspark

    if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < since:
        pytest.skip(f"Spark has it from {since[0]}.{since[1]} on")


@pytest.mark.spark
@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("newer_types")
def test_every_type_arrives(spark: Any, server: ServerProcess, name: str) -> None:
    """The type of the column that is created, and every value."""
    case = CASES[name]
    needs_spark(case.since)
    table = "type_" + re.sub(r"\W+", "_", name)
    frame = spark.createDataFrame(list(enumerate(case.values)), f"n INT, x {case.spark_type}")
    ts = "timestamp_micros(1704067200000000 + n) AS ts"
    frame = frame.selectExpr("n", f"{case.made_by} AS x", ts)
    options = {"addr": server.addr, "table": table, "timestamp": "ts", "create_table": "true"}
    writer = frame.coalesce(1).write.format("questdb-sf").mode("append")
    writer.options(**options, **case.options).save()
    assert server.await_count(table, len(case.values)) == len(case.values)
    kind = server.sql(f"SELECT type FROM table_columns('{table}') WHERE \"column\" = 'x'")[0][0]
    rows = server.sql(f"SELECT {case.select} FROM {table} ORDER BY n")
    assert (kind, [case.read(row[0]) for row in rows]) == (case.column, case.shown)


POINT = "harness.points.PointType (user-defined, stored as ARRAY<DOUBLE>)"
REFUSED: dict[str, tuple[str, tuple[int, int], str, str]] = {
    "struct": ("named_struct('a', 1)", (3, 5), "STRUCT<a: INT", "set unsupported=json"),
    "map": ("map('k', 1)", (3, 5), "MAP<STRING, INT>", "set unsupported=json"),
    "array of ints": ("array(1)", (3, 5), "ARRAY<INT>", "[DOUBLE[]]"),
    "array of strings": ("array('a')", (3, 5), "ARRAY<STRING>", "set unsupported=json"),
    "interval of months": ("make_ym_interval(1, 2)", (3, 5), "INTERVAL YEAR TO MONTH", "json"),
    "interval of seconds": ("make_dt_interval(1)", (3, 5), "INTERVAL DAY TO SECOND", "[LONG]"),
    "interval of both": ("make_interval(1)", (3, 5), "INTERVAL", "cast it, or drop it"),
    "variant": ("parse_json('1')", (4, 0), "VARIANT", "set unsupported=json"),
    "time": ("CAST('01:02:03' AS TIME(6))", (4, 3), "TIME(6)", "one of [LONG]"),
    "user-defined type": ("point", (3, 5), POINT, "make columns of its parts, by a UDF"),
    "user-defined type in an array": ("array(point)", (3, 5), "ARRAY<", f"it holds {POINT}"),
}


@pytest.mark.spark
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("newer_types")
def test_types_that_are_refused(spark: Any, server: ServerProcess, name: str) -> None:
    """By the column's name, its type and what to do, before a table is made."""
    expression, since, kind, advice = REFUSED[name]
    needs_spark(since)
    table = "refused_" + re.sub(r"\W+", "_", name)
    frame = spark.createDataFrame([(Point(1.0, 2.0),)], ["point"])
    frame = frame.selectExpr(f"{expression} AS x", "timestamp_micros(1704067200000000) AS ts")
    writer = (
        frame.write.format("questdb-sf")
        .mode("append")
        .options(addr=server.addr, table=table, timestamp="ts", create_table="true")
    )
    with pytest.raises(Exception, match="TYPE_UNSUPPORTED") as caught:
        writer.save()
    error = failure(caught.value)
    assert error is not None
    assert error.code == ErrorCode.TYPE_UNSUPPORTED
    assert error.message.startswith(f"column 'x' of type {kind}")
    assert advice in error.message
    assert server.sql(f"SELECT count() FROM tables() WHERE table_name = '{table}'") == [[0]]


def test_a_time_finer_than_microseconds_is_refused_by_row(
    spark: Any, server: ServerProcess
) -> None:
    frame = spark.sql(
        "SELECT TIME'01:02:03.123456789' AS x, timestamp_micros(1704067200000000) AS ts"
    )
    writer = (
        frame.write.format("questdb-sf")
        .mode("append")
        .options(
            addr=server.addr,
            table="fine_time",
            timestamp="ts",
            create_table="true",
            **named("LONG"),
        )
    )
    with pytest.raises(Exception, match="VALUE_INVALID") as caught:
        writer.save()
    assert "column 'x'" in str(failure(caught.value))
