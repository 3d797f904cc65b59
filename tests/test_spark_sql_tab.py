"""The SQL tab accounts for every row and frame of a write that has ended, also for what its commits have counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess
from harness.spark import feed, last_execution, sql_tab, sql_tab_total, write_stream

pytestmark = pytest.mark.spark
BATCHES, SIZE = 3, 250


def options(server: ServerProcess, table: str) -> dict[str, str]:
    return {"addr": server.addr, "table": table, "timestamp": "ts", "create_table": "true"}


def totals(spark: Any, after: int) -> dict[str, int]:
    executions = sql_tab(spark, after=after)
    names = ("rows_written", "frames_written", "frames_sent", "frames_acked")
    return {name: sql_tab_total(executions, f"questdb-sf {name}") for name in names}


def test_of_a_stream_that_waits_for_acknowledgements(
    spark: Any, server: ServerProcess, tmp_path: Path
) -> None:
    before = last_execution(spark)
    source = feed(tmp_path / "source", BATCHES, SIZE)
    query = write_stream(source.stream(spark), tmp_path / "cp", options(server, "tab_stream"))
    query.processAllAvailable()
    query.stop()
    shown = totals(spark, before)
    assert shown["rows_written"] == BATCHES * SIZE
    assert shown["frames_written"] >= BATCHES
    assert shown["frames_acked"] == shown["frames_sent"] == shown["frames_written"], shown


def test_of_a_batch_write(spark: Any, server: ServerProcess) -> None:
    before = last_execution(spark)
    frame = spark.range(SIZE).selectExpr("id", "timestamp_millis(1704067200000 + id) ts")
    frame.write.format("questdb-sf").mode("append").options(**options(server, "tab_batch")).save()
    shown = totals(spark, before)
    assert shown["rows_written"] == SIZE
    assert shown["frames_acked"] == shown["frames_sent"] == shown["frames_written"] > 0, shown
