"""Executors in processes of their own, that freeze, come back, or are ended by Spark while they hold rows."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.driver import Driver
from harness.server import free_port
from harness.spark import ROW, Feed, differences, eventually, keyed, rows
from questdb_sf.slots import list_slots

SIZE = 400
TWO_EXECUTORS = {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.executor.memory": "512m",
    # Two tasks a micro-batch, although its file is small.
    "spark.sql.files.minPartitionNum": "2",
    "spark.sql.files.openCostInBytes": "1",
}


def fill(source: Feed, first: int, last: int) -> None:
    """Adds micro-batches ``first`` to ``last - 1``."""
    for batch in range(first, last):
        source.add(rows(batch * SIZE, (batch + 1) * SIZE))


def unacknowledged(sf_dir: Path) -> dict[str, int]:
    """Frames by slot; an executor that Spark ended leaves its segments, also where all of them are acknowledged."""
    found = {}
    for slot in list_slots(sf_dir):
        if slot.published_fsn > slot.acked_fsn:
            found[slot.slot] = slot.published_fsn - slot.acked_fsn
    return found


def batches_passed(driver: Driver, number: int) -> bool:
    """Whether more micro-batches than so many are done."""
    return len(driver.events("batch")) > number


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """SIGSTOP for a process, SIGCONT in the end; it may be gone by then."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.scripted
@pytest.mark.parametrize("commit_on", ["ack", "store"])
def test_executor_frozen_for_two_epochs(start_server: Any, tmp_path: Path, commit_on: str) -> None:
    """An executor stands still in the middle of a micro-batch, Spark gives its task to the other one and goes on for
    two epochs, then it comes back with rows that it had not sent: nothing is missing, altered, or there twice.
    """
    server = start_server()
    source = Feed(tmp_path / "source", ROW)
    fill(source, 0, 2)
    impatient = {
        "spark.executor.heartbeatInterval": "1s",
        "spark.network.timeout": "15s",
        "spark.storage.blockManagerHeartbeatTimeoutMs": "15s",
        "spark.network.timeoutInterval": "1s",
    }
    chosen = keyed(server.addr, tmp_path / "slots", commit_on, frame_rows="50")
    with Driver(tmp_path / "driver", source, TWO_EXECUTORS | impatient) as driver:
        driver.start({"t": chosen})
        eventually("two micro-batches", lambda: len(driver.events("batch")) >= 2)
        server.script(hold_acks=True)
        fill(source, 2, 3)
        eventually(
            "rows of the third one are at the server, unacknowledged",
            lambda: server.counters()["tables"]["t"]["rows_received"] > 2 * SIZE,
        )
        with frozen(driver.executors()[0]):
            server.script(hold_acks=False)
            fill(source, 3, 6)
            eventually("two epochs more", lambda: len(driver.events("batch")) >= 5)
        fill(source, 6, 8)
        eventually("all micro-batches", lambda: len(driver.events("batch")) >= 8)
        assert server.await_count("t", 8 * SIZE) == 8 * SIZE
        assert differences(server, "t", 8 * SIZE) == []
        if commit_on == "store":
            eventually("all is acknowledged", lambda: unacknowledged(tmp_path / "slots") == {})


def test_executors_that_dynamic_allocation_ends_hold_rows(new_server: Any, tmp_path: Path) -> None:
    """Spark ends idle executors while their slots are full and no server is there; later ones send what they left."""
    port = free_port()
    source = Feed(tmp_path / "source", ROW)
    fill(source, 0, 3)
    allocation = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.executorIdleTimeout": "2s",
        "spark.dynamicAllocation.minExecutors": "0",
        "spark.dynamicAllocation.maxExecutors": "2",
    }
    chosen = keyed(f"127.0.0.1:{port}", tmp_path / "slots", "store", sf_dir_is_persistent="true")
    with Driver(tmp_path / "driver", source, TWO_EXECUTORS | allocation) as driver:
        driver.start({"t": chosen})
        eventually("three micro-batches", lambda: len(driver.events("batch")) >= 3)
        eventually("no executor is left", lambda: driver.executors() == [])
        assert unacknowledged(tmp_path / "slots")
        with new_server(port=port) as server:
            # Executors that come for a micro-batch adopt; they may end again before they are through.
            for batch in range(3, 20):
                fill(source, batch, batch + 1)
                eventually("one more", partial(batches_passed, driver, batch))
                total = (batch + 1) * SIZE
                server.await_count("t", total, seconds=5)
                if unacknowledged(tmp_path / "slots") == {}:
                    break
            assert server.await_count("t", total) == total
            assert differences(server, "t", total) == []
            assert unacknowledged(tmp_path / "slots") == {}
