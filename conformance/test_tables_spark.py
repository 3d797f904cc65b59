"""Tables change between micro-batches of a stream and between batch writes of one session, whose connections stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.events import (
    COLUMNS,
    DDL,
    EVENTS,
    await_applied,
    contents,
    happen,
    row,
    wrong,
)
from conformance.ways import save, table_name
from harness.server import ServerProcess
from harness.spark import Feed, batches_done, eventually, metric, write_stream

pytestmark = pytest.mark.spark

BEFORE, AFTER = range(0, 10), range(10, 20)
FIRST_BATCH = range(10, 14)
OPTIONS = {
    "timestamp": "ts",
    "timestamp_unit": "us",
    "symbols": "s",
    "create_table": "true",
    "on_missing_table": "create",
}


@pytest.mark.parametrize("commit_on", ["ack", "store"])
@pytest.mark.parametrize("name", EVENTS)
def test_table_changes_between_micro_batches(
    spark: Any, server: ServerProcess, tmp_path: Path, name: str, commit_on: str
) -> None:
    event, table = EVENTS[name], table_name("stream", commit_on, name)
    happen(server, [DDL], table)
    source = Feed(tmp_path / "source", COLUMNS)
    options = {**OPTIONS, "addr": server.addr, "table": table, "commit_on": commit_on}
    if commit_on == "store":
        options |= {"sf_dir": str(tmp_path / "slots"), "sf_min_free_bytes": "64m"}
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", options)

    def batch(number: int, rows: range) -> None:
        source.add(row(n) for n in rows)
        eventually("the micro-batch", lambda: batches_done(query) == number)
        eventually("it is delivered", lambda: metric(query, "undelivered_rows") == 0)

    batch(1, BEFORE)
    await_applied(server, table)
    happen(server, event.statements, table)
    batch(2, FIRST_BATCH)
    batch(3, range(FIRST_BATCH.stop, AFTER.stop))
    happen(server, event.later, table)
    query.stop()
    assert wrong(contents(server, event, table), event, BEFORE, AFTER, FIRST_BATCH) == []


@pytest.mark.parametrize("name", EVENTS)
def test_table_changes_between_batch_writes(spark: Any, server: ServerProcess, name: str) -> None:
    event, table = EVENTS[name], table_name("batch", name)
    happen(server, [DDL], table)

    def write(rows: range) -> None:
        frame = spark.createDataFrame([tuple(row(n).values()) for n in rows], COLUMNS).coalesce(1)
        save(frame, server, table, **OPTIONS)

    write(BEFORE)
    await_applied(server, table)
    happen(server, event.statements, table)
    write(FIRST_BATCH)
    write(range(FIRST_BATCH.stop, AFTER.stop))
    happen(server, event.later, table)
    assert wrong(contents(server, event, table), event, BEFORE, AFTER, FIRST_BATCH) == []
