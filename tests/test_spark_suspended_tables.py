"""A table is suspended while a query writes to it, and resumed: seen in progress, counters, events and the log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess
from harness.spark import batches_done, eventually, feed, keyed, metric, rows, write_stream
from questdb_sf.spark import SinkEvent, counters, on_event

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("commit_on", ["ack", "store"])
def test_suspended_table_shows_and_goes_when_it_is_resumed(
    spark: Any,
    server: ServerProcess,
    spark_log: Callable[[], str],
    tmp_path: Path,
    commit_on: str,
) -> None:
    table = f"suspended_{commit_on}"
    waits = f"SELECT 1 FROM wal_tables() WHERE name = '{table}' AND writerTxn < sequencerTxn"
    source = feed(tmp_path / "source", 1)
    options = keyed(server.addr, tmp_path / "slots", commit_on, table=table)
    events: list[SinkEvent] = []

    def more(batch: int, suspended: int) -> None:
        """One micro-batch, and what is said of the table then; the connections are those of the batch before."""
        source.add(rows(50 * batch, 50 * batch + 50))
        eventually("the micro-batch", lambda: batches_done(query) == batch + 1)
        if commit_on == "ack":  # with store a batch ends before its rows are sent
            assert metric(query, "suspended_tables") == suspended
        eventually("counters", lambda: counters(query).suspended_tables == suspended)
        assert [one.suspended_tables for one in counters(query).executors.values()] == [suspended]

    with on_event(spark, events.append):
        query = write_stream(source.stream(spark), tmp_path / "checkpoint", options)
        eventually("the first micro-batch", lambda: batches_done(query) == 1)
        assert server.await_count(table, 50) == 50
        # Rows that are being applied would make the server forget that the table is suspended.
        eventually("all is applied", lambda: not server.sql(waits))
        server.sql(f"ALTER TABLE {table} SUSPEND WAL")
        more(1, 1)
        more(2, 1)
        assert server.count(table) == 50
        server.sql(f"ALTER TABLE {table} RESUME WAL")
        more(3, 0)
        assert server.await_count(table, 200) == 200
        assert metric(query, "reconnect_attempts") == 0
        eventually("both events", lambda: sum(one.kind == "table" for one in events) == 2)
        query.stop()
    told = [event for event in events if event.kind == "table"]
    for event, words in zip(told, ("is suspended", "is no longer suspended"), strict=True):
        assert f"'{table}'" in event.message and words in event.message, event
        assert (event.query_id, event.executor, event.error) == (query.id, "driver", None)
        assert spark_log().count(event.message) == 1
