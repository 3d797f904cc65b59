"""Tables change between frames of a sender that stays connected: later rows are there as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.events import DDL, EVENTS, await_applied, contents, happen, wrong
from conformance.ways import table_name
from conformance.writers import arrow
from harness.sending import DRAIN_SECONDS, open_sender
from harness.server import ServerProcess
from questdb_sf.sender import Sender

BEFORE, AFTER = range(0, 10), range(10, 16)
FIRST_FRAME = range(10, 12)


def write(sender: Sender, table: str, numbers: range, frame: int = 2) -> None:
    """Rows in small frames, each acknowledged before the next is written."""
    for first in numbers[::frame]:
        rows = arrow(range(first, first + frame))
        sender.write(rows, table=table, timestamp="ts", symbols=["s"])
        assert sender.drain(DRAIN_SECONDS), sender.state


@pytest.mark.parametrize("mode", ["memory", "store"])
@pytest.mark.parametrize("made_by", ["sql", "server"])
@pytest.mark.parametrize("name", EVENTS)
def test_table_changes_between_frames(
    server: ServerProcess, tmp_path: Path, name: str, made_by: str, mode: str
) -> None:
    event, table = EVENTS[name], table_name("between", made_by, mode, name)
    if made_by == "sql":
        happen(server, [DDL], table)
    with open_sender(server, tmp_path if mode == "store" else None) as sender:
        write(sender, table, BEFORE)
        await_applied(server, table)
        happen(server, event.statements, table)
        write(sender, table, AFTER)
        happen(server, event.later, table)
        assert sender.counters().frames_dropped == 0
    assert wrong(contents(server, event, table), event, BEFORE, AFTER, FIRST_FRAME) == []
