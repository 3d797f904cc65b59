"""Every type that Spark has, side by side in one stream: what one column is does not touch its neighbours."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kinds import KINDS, Kind
from conformance.ways import frame_of, read, table_name
from harness.sending import START, column_type
from harness.server import ServerProcess
from harness.spark import finish, keyed, write_stream

pytestmark = pytest.mark.spark

COLUMNS = {
    table_name(name): kind for name, kind in KINDS.items() if kind.spark is not None and kind.made
}
ROWS = 40
"""More than any column has values: they begin anew, each column at another row."""


def values(kind: Kind) -> list[Any]:
    return [kind.values[row % len(kind.values)] for row in range(ROWS)]


@pytest.fixture(scope="module", params=["ack", "store"])
def written(
    request: pytest.FixtureRequest,
    spark: Any,
    server: ServerProcess,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The table that a stream wrote, two micro-batches with all columns."""
    table, work = f"stream_{request.param}", tmp_path_factory.mktemp("stream")
    columns = {name: (kind, values(kind)) for name, kind in COLUMNS.items()}
    for half in (f"n < {ROWS // 2}", f"n >= {ROWS // 2}"):
        frame_of(spark, columns).where(half).write.mode("append").parquet(str(work / "source"))
    source = spark.read.parquet(str(work / "source"))
    stream = (
        spark.readStream.schema(source.schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(work / "source"))
    )
    expressions = [
        f"{kind.spark.expression.replace('x', name)} AS {name}"
        for name, kind in COLUMNS.items()
        if kind.spark is not None
    ]
    query = write_stream(
        stream.selectExpr("n", *expressions, f"timestamp_micros({START} + n) AS ts"),
        work / "checkpoint",
        keyed(
            server.addr,
            work / "slots",
            request.param,
            table=table,
            dedup_keys="ts,n",
            timestamp_unit="ns",
            column_types=", ".join(f"{name} {kind.column}" for name, kind in COLUMNS.items()),
        ),
        availableNow=True,
    )
    finish(query)
    assert server.await_count(table, ROWS) == ROWS
    return table


@pytest.mark.parametrize("name", COLUMNS)
def test_values_arrive_by_stream(server: ServerProcess, written: str, name: str) -> None:
    kind = COLUMNS[name]
    assert column_type(server, written, name) == kind.column
    assert list(map(repr, read(server, written, kind, name))) == list(map(repr, values(kind)))
