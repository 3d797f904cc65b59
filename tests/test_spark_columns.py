"""Which type a column goes as: by the live table, by its metadata, by options; and which is left out."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from harness.server import ServerProcess

DEVICE = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_the_session_zone_changes_nothing(spark: Any, server: ServerProcess, zone: str) -> None:
    """Spark's Timestamp is an instant: spark.sql.session.timeZone has no say in what arrives."""
    table = "zone_" + zone.split("/")[1].lower()
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = spark.range(1).selectExpr(
            "id",
            "timestamp_micros(1704067200123456) AS ts",
            "DATE'2024-07-01' AS day",
            "TIMESTAMP_NTZ'2024-07-01 12:00:00' AS wall",
        )
        frame.write.format("questdb-sf").mode("append").options(
            addr=server.addr, table=table, timestamp="ts", create_table="true"
        ).save()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    server.await_count(table, 1)
    assert server.sql(f"SELECT ts, day, wall FROM {table}") == [
        [
            "2024-01-01T00:00:00.123456Z",
            "2024-07-01T00:00:00.000000Z",
            "2024-07-01T12:00:00.000000Z",
        ]
    ]


@pytest.mark.parametrize(
    ("name", "expression", "unit", "shown"),
    [
        ("date", "DATE'2024-07-01'", None, "2024-07-01T00:00:00.000000Z"),
        ("wall", "TIMESTAMP_NTZ'2024-07-01 12:00:00'", None, "2024-07-01T12:00:00.000000Z"),
        ("seconds", "1704067200L", "s", "2024-01-01T00:00:00.000000Z"),
        ("nanos", "1704067200123456789L", "ns", "2024-01-01T00:00:00.123456789Z"),
    ],
)
def test_designated_timestamps(
    spark: Any, server: ServerProcess, name: str, expression: str, unit: str | None, shown: str
) -> None:
    """The designated timestamp from Date, TimestampNTZ, and Long with timestamp_unit."""
    table = f"designated_{name}"
    options = {"timestamp_unit": unit} if unit else {}
    spark.range(1).selectExpr("id", f"{expression} AS ts").write.format("questdb-sf").mode(
        "append"
    ).options(addr=server.addr, table=table, timestamp="ts", create_table="true", **options).save()
    server.await_count(table, 1)
    assert server.sql(f"SELECT ts FROM {table}") == [[shown]]
    assert server.sql(f"SELECT designatedTimestamp FROM tables() WHERE table_name = '{table}'") == [
        ["ts"]
    ]


def test_the_live_table_decides_the_type(spark: Any, server: ServerProcess) -> None:
    """Without an option, a column goes as the type that the table has already; new columns are added."""
    server.sql(
        "CREATE TABLE live (small SHORT, kind SYMBOL, at DATE, dev UUID, ts TIMESTAMP)"
        " TIMESTAMP(ts) PARTITION BY DAY WAL"
    )
    spark.range(1).selectExpr(
        "cast(7 AS SHORT) AS small",
        "'k' AS kind",
        "timestamp_millis(1704067200123) AS at",
        f"'{DEVICE}' AS dev",
        "id AS added",
        "timestamp_micros(1704067200000000) AS ts",
    ).write.format("questdb-sf").mode("append").options(
        addr=server.addr, table="live", timestamp="ts"
    ).save()
    server.await_count("live", 1)
    assert server.sql("SELECT small, kind, at, dev, added FROM live") == [
        [7, "k", "2024-01-01T00:00:00.123Z", str(DEVICE), 0]
    ]
    types = dict(server.sql("SELECT \"column\", type FROM table_columns('live')"))
    assert (types["small"], types["added"]) == ("SHORT", "LONG")


def test_types_by_column_metadata(spark: Any, server: ServerProcess) -> None:
    """questdb.type in a column's metadata; column_types comes before it."""
    from pyspark.sql.functions import col, lit

    frame = spark.range(1).select(
        lit("a").alias("kind", metadata={"questdb.type": "SYMBOL"}),
        lit("b").alias("other", metadata={"questdb.type": "SYMBOL"}),
        col("id").cast("timestamp").alias("ts"),
    )
    frame.write.format("questdb-sf").mode("append").options(
        addr=server.addr,
        table="metadata_types",
        timestamp="ts",
        create_table="true",
        column_types="other VARCHAR",
    ).save()
    server.await_count("metadata_types", 1)
    types = dict(server.sql("SELECT \"column\", type FROM table_columns('metadata_types')"))
    assert (types["kind"], types["other"]) == ("SYMBOL", "VARCHAR")


def test_types_that_are_left_out(
    spark: Any, server: ServerProcess, spark_log: Callable[[], str]
) -> None:
    """unsupported=skip leaves columns out, and says which."""
    spark.range(1).selectExpr(
        "id", "map('k', 1) AS m", "null AS nothing", "timestamp_micros(id) AS ts"
    ).write.format("questdb-sf").mode("append").options(
        addr=server.addr, table="skipped", timestamp="ts", create_table="true", unsupported="skip"
    ).save()
    server.await_count("skipped", 1)
    names = [row[0] for row in server.sql("SELECT \"column\" FROM table_columns('skipped')")]
    assert sorted(names) == ["id", "ts"]
    assert "not written" in spark_log()
    assert "m MAP<STRING, INT>" in spark_log()
