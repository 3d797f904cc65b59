"""The server is stopped, killed and frozen while rows are on their way, and comes back: nothing is lost or altered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.events import DDL, Event, contents, happen, wrong
from conformance.ways import table_name
from conformance.writers import Stream, arrow, drained, lanes
from harness.sending import DRAIN_SECONDS
from harness.server import ServerProcess
from harness.servers import new_server
from harness.spark import eventually, live_metrics
from questdb_sf import slot_commands
from questdb_sf.sender import Sender, StateKind

pytestmark = pytest.mark.on_server

NOTHING = Event(())
IMPATIENT = {
    "ack_timeout_millis": "1000",
    "auth_timeout_ms": "1000",
    "reconnect_max_backoff_millis": "200",
}
"""A frozen server is noticed soon."""


@dataclass(frozen=True)
class Fault:
    """How the server goes, and how it comes back."""

    goes: Callable[[ServerProcess], None]
    returns: Callable[[ServerProcess], Any]

    @contextmanager
    def on(self, server: ServerProcess) -> Iterator[None]:
        """The server is away in the block."""
        self.goes(server)
        try:
            yield
        finally:
            self.returns(server)


FAULTS = {
    "stopped": Fault(ServerProcess.stop, ServerProcess.start),
    "killed": Fault(ServerProcess.kill, ServerProcess.start),
    "frozen": Fault(ServerProcess.pause, ServerProcess.resume),
}


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server for these tests alone."""
    with new_server(tmp_path_factory.mktemp("mortal") / "root") as running:
        yield running


@pytest.mark.parametrize("mode", ["memory", "store"])
@pytest.mark.parametrize("name", FAULTS)
def test_server_goes_and_returns_under_lanes(
    mortal: ServerProcess, tmp_path: Path, name: str, mode: str
) -> None:
    fault, table = FAULTS[name], table_name("outage", mode, name)
    happen(mortal, [DDL], table)
    with lanes(mortal, table, tmp_path if mode == "store" else None, **IMPATIENT) as running:
        running.await_writes(5)
        senders = [lane.sender for lane in running.each]
        with fault.on(mortal):
            eventually(
                "the outage is noticed",
                lambda: all(sender.state.kind is StateKind.RECONNECTING for sender in senders),
            )
        running.event_is_over()
        running.await_writes(5)
        running.finish()
        assert all(sender.counters().reconnects_succeeded > 0 for sender in senders)
    assert drained(tmp_path)
    found = contents(mortal, NOTHING, table)
    assert wrong(found, NOTHING, running.before, running.after, (), under_way=True) == []


@pytest.mark.spark
@pytest.mark.parametrize("commit_on", ["ack", "store"])
@pytest.mark.parametrize("name", FAULTS)
def test_server_goes_and_returns_under_a_stream(
    spark: Any, mortal: ServerProcess, tmp_path: Path, name: str, commit_on: str
) -> None:
    fault, table = FAULTS[name], table_name("stream_outage", commit_on, name)
    happen(mortal, [DDL], table)
    stream = Stream(spark, mortal.addr, table, tmp_path, commit_on, **IMPATIENT)
    stream.await_batch(1)
    (attempts,) = live_metrics(spark, "reconnect_attempts")
    with fault.on(mortal):
        eventually(
            "the outage is noticed",
            lambda: live_metrics(spark, "reconnect_attempts") > [attempts],
            pause=0.2,
        )
    after = stream.done + 2
    stream.await_batch(after + 1)
    stream.finish()
    found = contents(mortal, NOTHING, table)
    before, later = stream.rows(0, after - 1), stream.rows(after, stream.done)
    assert wrong(found, NOTHING, before, later, (), under_way=True) == []


@pytest.mark.parametrize("by", ["the next sender", "another sender", "the command"])
def test_slots_are_drained_when_the_server_is_back(
    mortal: ServerProcess, tmp_path: Path, by: str
) -> None:
    """What a sender could not send before it was closed is in its slot, and is sent from there."""
    table, rows = table_name("slots", by), range(1_000)
    happen(mortal, [DDL], table)
    keys = f"ws::addr={mortal.addr};sf_dir={tmp_path};sf_min_free_bytes=64m;close_flush_timeout_millis=0;"
    with Sender(f"{keys}sender_id=first;") as sender:
        sender.write(arrow(rows[:10]), table=table, timestamp="ts", symbols=["s"])
        assert sender.drain(DRAIN_SECONDS)
        mortal.stop()
        try:
            sender.write(arrow(rows[10:]), table=table, timestamp="ts", symbols=["s"])
            sender.close()
            assert not drained(tmp_path)
        finally:
            mortal.start()
    if by == "the command":
        assert slot_commands.drain(tmp_path / "first", f"ws::addr={mortal.addr};") == 0
    else:
        name = "first" if by == "the next sender" else "second"
        with Sender(f"{keys}sender_id={name};drain_orphans=all;"):
            eventually("the slot is drained", lambda: drained(tmp_path))
    assert drained(tmp_path)
    assert wrong(contents(mortal, NOTHING, table), NOTHING, rows, (), (), under_way=True) == []
