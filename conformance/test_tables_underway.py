"""Tables change while senders or a stream write to them at full rate: what was written afterwards is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.events import DDL, EVENTS, contents, happen, wrong
from conformance.ways import table_name
from conformance.writers import Stream, lanes
from harness.server import ServerProcess

BEFORE_WRITES, AFTER_WRITES = 5, 10
UNDER_A_STREAM = (
    *("drop", "drop and create", "rename", "truncate", "add column", "drop column"),
    *("rename column", "type of a number", "enable dedup", "suspend", "drop partition", "ttl"),
)


@pytest.mark.parametrize("mode", ["memory", "store"])
@pytest.mark.parametrize("name", [name for name in EVENTS if name != "rename and back"])
def test_table_changes_under_lanes(
    server: ServerProcess, tmp_path: Path, name: str, mode: str
) -> None:
    event, table = EVENTS[name], table_name("lanes", mode, name)
    happen(server, [DDL], table)
    with lanes(server, table, tmp_path if mode == "store" else None) as running:
        running.await_writes(BEFORE_WRITES)
        happen(server, event.statements, table)
        running.event_is_over()
        running.await_writes(AFTER_WRITES)
        happen(server, event.later, table)
        running.finish()
    found = contents(server, event, table)
    assert (
        wrong(found, event, running.before, running.after, running.first_frames, under_way=True)
        == []
    )


@pytest.mark.spark
@pytest.mark.parametrize("commit_on", ["ack", "store"])
@pytest.mark.parametrize("name", UNDER_A_STREAM)
def test_table_changes_under_a_stream(
    spark: Any, server: ServerProcess, tmp_path: Path, name: str, commit_on: str
) -> None:
    event, table = EVENTS[name], table_name("under_stream", commit_on, name)
    happen(server, [DDL], table)
    stream = Stream(spark, server.addr, table, tmp_path, commit_on)
    stream.await_batch(1)
    happen(server, event.statements, table)
    # The micro-batch of the moment may have sent rows before the event was over.
    after = stream.done + 2
    stream.await_batch(after + 2)
    happen(server, event.later, table)
    stream.finish()
    before, later = stream.rows(0, after - 1), stream.rows(after, stream.done)
    found = contents(server, event, table)
    assert wrong(found, event, before, later, stream.rows(after, after), under_way=True) == []
