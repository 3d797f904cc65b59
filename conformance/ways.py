"""The ways in: each writes the values of a :class:`~conformance.kinds.Kind` as column ``x`` beside a number ``n``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from conformance.kinds import Kind
from harness.sending import DRAIN_SECONDS, START, open_sender, times
from harness.server import ServerProcess
from questdb_sf.sender import Micros


def table_name(*parts: str) -> str:
    """A name made of whatever a test is called."""
    return re.sub(r"\W+", "_", "_".join(parts))


def create(server: ServerProcess, table: str, columns: str, more: str = "") -> None:
    """A table with a number ``n`` and the designated timestamp ``ts``."""
    server.sql(
        f"CREATE TABLE '{table}' (n LONG, {columns}, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL {more}"
    )


def by_rows(server: ServerProcess, table: str, kind: Kind, values: Sequence[Any]) -> None:
    """``Sender.row``."""
    assert kind.row is not None
    symbol = kind.column == "SYMBOL"
    with open_sender(server) as sender:
        for number, value in enumerate(values):
            cell = {"x": kind.row.form(value)}
            sender.row(
                table,
                symbols=cell if symbol else {},
                columns={"n": number, **({} if symbol else cell)},
                at=Micros(START + number),
            )
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0


def by_arrow(server: ServerProcess, table: str, kind: Kind, values: Sequence[Any]) -> None:
    """``Sender.write`` of an Arrow table."""
    arrow = kind.arrow
    assert arrow is not None
    data = pa.table(
        {
            "n": range(len(values)),
            "x": pa.array([arrow.form(value) for value in values], arrow.type),
            "ts": times(len(values)),
        }
    )
    symbols: Any = ["x"] if kind.column == "SYMBOL" else "auto"
    types = {"x": arrow.named} if arrow.named else {}
    with open_sender(server) as sender:
        sender.write(data, table=table, timestamp="ts", symbols=symbols, types=types)
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0


def frame_of(spark: Any, columns: Mapping[str, tuple[Kind, Sequence[Any]]]) -> Any:
    """A DataFrame of one partition: a number ``n``, and columns in the types that Spark has their values in."""
    data, schema = [], ["n LONG"]
    for name, (kind, values) in columns.items():
        assert kind.spark is not None
        data.append([kind.spark.form(value) for value in values])
        schema.append(f"{name} {kind.spark.type}")
    rows = [(number, *cells) for number, cells in enumerate(zip(*data, strict=True))]
    return spark.createDataFrame(rows, ", ".join(schema)).coalesce(1)


def by_spark(
    spark: Any,
    server: ServerProcess,
    table: str,
    kind: Kind,
    values: Sequence[Any],
    **options: str,
) -> None:
    """A batch write of a DataFrame."""
    assert kind.spark is not None
    frame = frame_of(spark, {"x": (kind, values)}).selectExpr(
        "n", f"{kind.spark.expression} AS x", f"timestamp_micros({START} + n) AS ts"
    )
    save(frame, server, table, **kind.spark.options, **options)


def save(frame: Any, server: ServerProcess, table: str, **options: str) -> None:
    """A batch write."""
    options = {"addr": server.addr, "table": table, "timestamp": "ts", **options}
    frame.write.format("questdb-sf").mode("append").options(**options).save()


def read(server: ServerProcess, table: str, kind: Kind, column: str = "x") -> list[Any]:
    """Values by SQL, in the order of their numbers."""
    select = re.sub(r"\bx\b", f'"{column}"', kind.select)
    return [kind.read(row[0]) for row in server.sql(f"SELECT {select} FROM {table} ORDER BY n")]
