"""Bad input to the sink: each is an error that says what is wrong, where, and what to do; and no row is sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess
from harness.spark import Feed, row, write_stream

SCHEMA = "id LONG, name STRING, value DOUBLE, flag BOOLEAN, part STRUCT<a: INT>, ts TIMESTAMP"
PLAIN = ["id", "name", "value", "flag", "ts"]


def error_of(
    spark: Any,
    options: dict[str, str],
    tmp_path: Path,
    rows: list[dict[str, Any]] | None = None,
    columns: list[str] | None = None,
    schema: str = SCHEMA,
    mode: str = "append",
    **trigger: Any,
) -> str:
    """What a user reads when a stream with these options fails."""
    source = Feed(tmp_path / "source", schema)
    source.add(rows or [row(n, flag=True, part={"a": n}) for n in range(5)])
    frame = source.stream(spark).selectExpr(*(columns or PLAIN))
    with pytest.raises(Exception) as caught:  # noqa: PT011: any, the words are what is tested
        write_stream(
            frame, tmp_path / "checkpoint", options, mode, **(trigger or {"availableNow": True})
        ).awaitTermination()
    return str(caught.value)


# What is set besides addr, table and timestamp (None: left out), and what the error must say.
WRONG_OPTIONS: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "unknown option": ({"tabel": "x"}, ["tabel", "did you mean table"]),
    "an option with a value it does not take": (
        {"commit_on": "disk"},
        ["commit_on", "disk", "ack"],
    ),
    "an option against connect_string": (
        {"connect_string": "ws::addr={addr};table=other;"},
        ["table", "contradicts connect_string", "table=other", "keep one"],
    ),
    "an unknown key in connect_string": (
        {"connect_string": "ws::addr={addr};symbol=name;"},
        ["symbol", "did you mean symbols"],
    ),
    "scheme http": ({"connect_string": "http::addr={addr};"}, ["http", "ws", "wss"]),
    "scheme tcp": ({"connect_string": "tcp::addr={addr};"}, ["tcp", "ws", "wss"]),
    "no address": ({"addr": None}, ["addr is not set", "addr=host:9000"]),
    "no table": ({"table": None}, ["table is not set", "table_column"]),
    "table and table_column": ({"table_column": "name"}, ["table and table_column", "keep one"]),
    "no designated timestamp": (
        {"timestamp": None},
        ["timestamp is not set", "name the column", "server_timestamp=on"],
    ),
    "a column that is not there": (
        {"symbols": "nam"},
        ["symbols", "column 'nam'", "did you mean 'name'", "They have: id, name"],
    ),
    "a timestamp that is not there": ({"timestamp": "time"}, ["timestamp", "column 'time'"]),
    "a timestamp of another type": ({"timestamp": "name"}, ["'name'", "STRING", "Timestamp"]),
    "a table name over 127 bytes": ({"table": "t" * 128}, ["128", "127", "name"]),
    "sender_id with a path": (
        {"commit_on": "store", "sf_dir": "{dir}", "sender_id": "../elsewhere"},
        ["sender_id", "../elsewhere", "letters"],
    ),
    "sf_dir without commit_on": (
        {"sf_dir": "{dir}"},
        ["sf_dir", "commit_on=ack", "commit_on=store", "acknowledged"],
    ),
    "store without sf_dir": ({"commit_on": "store"}, ["commit_on=store", "sf_dir", "local disk"]),
    "an option that would do nothing": (
        {"sf_durability": "flush"},
        ["sf_durability", "no effect", "commit_on=store"],
    ),
    "dead letters without a place": (
        {"on_row_error": "dead_letter"},
        ["on_row_error", "dead_letter_dir"],
    ),
    "drop without a place": ({"on_schema_error": "drop"}, ["on_schema_error", "dead_letter_dir"]),
    "a table that is not there": (
        {"create_table": None},
        ["is not there", "create_table=on"],
    ),
    "user without password": ({"username": "me"}, ["username", "password"]),
    "token and password": (
        {"username": "me", "password": "p", "token": "t"},
        ["token", "username", "keep the token"],
    ),
    "a type that does not exist": (
        {"column_types": "name UUIDD"},
        ["column 'name'", "UUIDD", "UUID"],
    ),
    "segments that do not fit the budget": (
        {"sf_max_total_bytes": "8m", "sf_max_segment_bytes": "4m", "max_lanes": "4"},
        ["sf_max_total_bytes", "sf_max_segment_bytes"],
    ),
}


@pytest.mark.spark
@pytest.mark.parametrize("case", WRONG_OPTIONS)
def test_wrong_options(spark: Any, server: ServerProcess, tmp_path: Path, case: str) -> None:
    """Refused when the query starts."""
    changes, words = WRONG_OPTIONS[case]
    table = "wrong_" + re.sub(r"\W+", "_", case)
    options: dict[str, str | None] = {
        "addr": server.addr,
        "table": table,
        "timestamp": "ts",
        "create_table": "true",
        **changes,
    }
    given = {
        name: value.format(addr=server.addr, dir=tmp_path / "slots")
        for name, value in options.items()
        if value is not None
    }
    said = error_of(spark, given, tmp_path)
    assert [word for word in words if word not in said] == [], said
    assert server.untouched(given.get("table", table))


def base(server: ServerProcess, table: str, **more: str) -> dict[str, str]:
    return {
        "addr": server.addr,
        "table": table,
        "timestamp": "ts",
        "create_table": "true",
        **more,
    }


@pytest.mark.spark
def test_unsupported_type(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """A struct: the column, its type, and three ways out."""
    said = error_of(spark, base(server, "bad_type"), tmp_path, columns=[*PLAIN, "part"])
    for word in ("column 'part'", "STRUCT", "unsupported=json", "unsupported=skip", "cast"):
        assert word in said, said
    assert server.untouched("bad_type")


def test_column_name_over_127_bytes(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """Bytes of UTF-8 count, not characters."""
    long = "ü" * 64
    said = error_of(
        spark,
        base(server, "bad_name"),
        tmp_path,
        columns=["id", f"value AS `{long}`", "ts"],
        schema=SCHEMA,
    )
    for word in (long, "128", "127"):
        assert word in said, said
    assert server.untouched("bad_name")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("mode", "options", "words"),
    [
        ("complete", {}, ["only appends", 'outputMode("append")', "update_keys"]),
        ("update", {}, ["update_keys", "DEDUP UPSERT KEYS", 'outputMode("append")']),
        (
            "update",
            {"update_keys": "ts,name", "commit_on": "store", "sf_dir": "DIR"},
            ["commit_on=store", "older value", "commit_on=ack"],
        ),
    ],
)
def test_output_modes(
    spark: Any,
    server: ServerProcess,
    tmp_path: Path,
    mode: str,
    options: dict[str, str],
    words: list[str],
) -> None:
    """Complete mode, and update mode without what makes it an upsert."""
    source = Feed(tmp_path / "source", SCHEMA)
    source.add([row(n) for n in range(5)])
    frame = source.stream(spark).groupBy("name", "ts").count()
    given = base(server, "bad_mode", **options)
    if "sf_dir" in given:
        given["sf_dir"] = str(tmp_path / "slots")
    with pytest.raises(Exception) as caught:
        write_stream(
            frame, tmp_path / "checkpoint", given, mode, availableNow=True
        ).awaitTermination()
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)
    assert server.untouched("bad_mode")


def test_overwrite(spark: Any, server: ServerProcess) -> None:
    """A batch write with mode("overwrite") is refused, and says what to use."""
    frame = spark.range(3).selectExpr("id", "timestamp_micros(id) AS ts")
    with pytest.raises(Exception, match="only appends") as caught:
        frame.write.format("questdb-sf").mode("overwrite").options(
            **base(server, "bad_over")
        ).save()
    assert 'mode("append")' in str(caught.value)
    assert server.untouched("bad_over")


def test_continuous_trigger(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """Refused with the triggers that work."""
    frame = spark.readStream.format("rate").load().selectExpr("value AS id", "timestamp AS ts")
    with pytest.raises(Exception, match="continuous trigger") as caught:
        write_stream(
            frame, tmp_path / "checkpoint", base(server, "bad_trigger"), continuous="1 second"
        ).awaitTermination(60)
    assert "availableNow" in str(caught.value)
    assert server.untouched("bad_trigger")


def test_batch_store_without_sender_id(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """A batch write has no query id of its own that a later run would have as well."""
    options = base(server, "bad_batch", commit_on="store", sf_dir=str(tmp_path / "slots"))
    frame = spark.range(3).selectExpr("id", "timestamp_micros(id) AS ts")
    with pytest.raises(Exception, match="sender_id is not set"):
        frame.write.format("questdb-sf").mode("append").options(**options).save()
    assert server.untouched("bad_batch")


def test_the_live_table_has_another_type(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """Both types are named, and nothing is sent."""
    server.sql(
        "CREATE TABLE bad_live (id LONG, name LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
    )
    said = error_of(spark, base(server, "bad_live"), tmp_path, columns=["id", "name", "ts"])
    for word in ("column 'name'", "LONG", "STRING", "cast"):
        assert word in said, said
    assert server.untouched("bad_live")


def test_require_dedup_on_a_table_without_keys(
    spark: Any, server: ServerProcess, tmp_path: Path
) -> None:
    """Says how to give the table keys."""
    server.sql("CREATE TABLE bad_keys (id LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL")
    options = base(server, "bad_keys", require_dedup="true")
    said = error_of(spark, options, tmp_path, columns=["id", "ts"])
    for word in ("bad_keys", "DEDUP", "require_dedup"):
        assert word in said, said
    assert server.untouched("bad_keys")


# The one column that is wrong in row 4, its Spark type, options, and what the error must say.
WRONG_VALUES: dict[str, tuple[Any, str, dict[str, str], list[str]]] = {
    "smallest long": (-(2**63), "LONG", {}, [str(-(2**63)), "null LONG", "sentinel_values=null"]),
    "smallest int": (-(2**31), "INT", {}, [str(-(2**31)), "null INT", "sentinel_values=null"]),
    "null boolean": (None, "BOOLEAN", {}, ["null", "BOOLEAN", "nulls_boolean=zero"]),
    "null byte": (None, "BYTE", {"column_types": "x BYTE"}, ["null", "BYTE", "nulls_byte=zero"]),
    "int for byte": (300, "INT", {"column_types": "x BYTE"}, ["300", "BYTE"]),
    "no uuid": ("12-34", "STRING", {"column_types": "x UUID"}, ["12-34", "UUID"]),
    "no address": ("1.2.3", "STRING", {"column_types": "x IPV4"}, ["1.2.3", "IPv4"]),
    "address 0.0.0.0": ("0.0.0.0", "STRING", {"column_types": "x IPV4"}, ["0.0.0.0", "null"]),
    "no geohash": ("u3a", "STRING", {"column_types": "x GEOHASH(3c)"}, ["u3a", "3 characters"]),
    "two letters": ("ab", "STRING", {"column_types": "x CHAR"}, ["ab", "CHAR"]),
    "jagged array": ([[1.0], [1.0, 2.0]], "ARRAY<ARRAY<DOUBLE>>", {}, ["rectangular", "1 and 2"]),
    "null in an array": ([1.0, None], "ARRAY<DOUBLE>", {}, ["null at index 1"]),
    "long for double": (2**53 + 1, "LONG", {"column_types": "x DOUBLE"}, ["9007199254740993"]),
    "micros for date": (
        "2024-01-01T00:00:00.000001Z",
        "TIMESTAMP",
        {"column_types": "x DATE"},
        ["DATE", "milliseconds"],
    ),
}


@pytest.mark.parametrize("case", WRONG_VALUES)
def test_values_that_questdb_cannot_hold(
    spark: Any, server: ServerProcess, tmp_path: Path, case: str
) -> None:
    """The error names table, column, row, batch and value; rows before it in the task are not sent either."""
    value, spark_type, options, words = WRONG_VALUES[case]
    table = "value_" + case.replace(" ", "_").replace(".", "_")
    good = "a" if case == "two letters" else {"BOOLEAN": True, "BYTE": 1, "INT": 1}.get(spark_type)
    rows = [{**row(n), "x": value if n == 3 else good} for n in range(5)]
    said = error_of(
        spark,
        base(server, table, **options),
        tmp_path,
        rows,
        ["id", "x", "ts"],
        f"id LONG, x {spark_type}, ts TIMESTAMP",
    )
    for word in (f"table '{table}'", "column 'x'", "row 4 of partition 0", "batch 0", *words):
        assert word in said, said
    assert server.untouched(table)


@pytest.mark.parametrize(
    ("ts", "words"),
    [
        (None, ["designated timestamp is null"]),
        ("1969-12-31T23:59:59Z", ["1969-12-31T23:59:59Z", "before 1970"]),
    ],
)
def test_designated_timestamps_that_questdb_refuses(
    spark: Any, server: ServerProcess, tmp_path: Path, ts: str | None, words: list[str]
) -> None:
    """Null, and before 1970."""
    rows = [row(n, ts=ts) if n == 3 else row(n) for n in range(5)]
    said = error_of(spark, base(server, "bad_times"), tmp_path, rows, ["id", "ts"])
    for word in ("table 'bad_times'", "column 'ts'", "row 4 of partition 0", *words):
        assert word in said, said
    assert server.untouched("bad_times")
