"""Nothing is gained: threads, descriptors and segment files stay as they are over hundreds of micro-batches.

Reconnects and replaced lanes are counted by the connector's own LeakTest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess
from harness.spark import batches_done, eventually, metric, sink_metrics, write_stream

BATCHES = 200
WARM = 40
SIZE = 20
FIXED = 1_704_067_200_000_000
SLACK = 3
# A thread gained every other micro-batch is a leak; Spark's own pools grow by tens where the machine is busy.
MANY_THREADS = (BATCHES - WARM) // 2


class Counted:
    """What a process of this machine holds, by kind, so that a failure says what grew."""

    def __init__(self, pid: int) -> None:
        process = Path(f"/proc/{pid}")
        self.descriptors = sorted(
            target for link in (process / "fd").iterdir() if (target := resolved(link))
        )
        self.threads = sorted(
            name for task in (process / "task").iterdir() if (name := thread_name(task))
        )

    def ours(self) -> list[str]:
        """Threads of the sink."""
        return [name for name in self.threads if name.startswith("questdb-sf")]


def resolved(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""


def thread_name(task: Path) -> str:
    try:
        return (task / "comm").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def grown(before: list[str], after: list[str]) -> list[str]:
    """What is in the second list and not in the first; copies count."""
    left = list(before)
    more = []
    for name in after:
        if name in left:
            left.remove(name)
        else:
            more.append(name)
    return more


def settled(pid: int, before: Counted) -> Counted | None:
    """What the process holds, once that is no more than before, but for a few descriptors of Spark's caches.

    The thread that looks for orphans is there for a moment every few seconds.
    """
    now = Counted(pid)
    more = len(now.descriptors) - len(before.descriptors) > SLACK or grown(
        before.ours(), now.ours()
    )
    return None if more else now


@pytest.mark.parametrize("commit_on", ["ack", "store"])
def test_two_hundred_micro_batches(
    spark: Any, server: ServerProcess, tmp_path: Path, commit_on: str
) -> None:
    """No thread and no descriptor is gained between the 40th and the 200th micro-batch; every row is there once."""
    table = f"endless_{commit_on}"
    options = {
        "addr": server.addr,
        "table": table,
        "timestamp": "ts",
        "create_table": "true",
        "symbols": "kind",
        "commit_on": commit_on,
    }
    if commit_on == "store":
        options |= {"sf_dir": str(tmp_path / "slots"), "sf_min_free_bytes": "64m"}
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    stream = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", SIZE)
        .option("numPartitions", 2)
        .load()
    )
    frame = stream.selectExpr(
        "value AS id",
        "concat('kind ', value % 9) AS kind",
        f"timestamp_micros({FIXED} + value) AS ts",
    )
    query = write_stream(frame, tmp_path / "checkpoint", options)

    def done(batches: int) -> bool:
        return (
            batches_done(query) >= 0
            and (query.lastProgress or {"batchId": -1})["batchId"] >= batches
        )

    eventually("a warm start", lambda: done(WARM))
    before = Counted(pid)
    eventually("two hundred micro-batches", lambda: done(BATCHES), seconds=800, pause=0.2)
    # Spark itself holds temporary files, and pipes to programs that it runs, for a moment at each micro-batch.
    after = eventually("what was held at the start", lambda: settled(pid, before))
    query.stop()
    total = metric(query, "rows_written")
    assert total >= BATCHES * SIZE, sink_metrics(query)
    assert server.await_count(table, total) >= total
    rows, distinct = server.sql(f"SELECT count(), count_distinct(id) FROM {table}")[0]
    assert rows == distinct
    # The stop may have met one of the two tasks of a last micro-batch, whose rows are not all there.
    committed = (query.lastProgress["batchId"] + 1) * SIZE
    assert committed >= BATCHES * SIZE
    whole = server.sql(f"SELECT count(), min(id), max(id) FROM {table} WHERE id < {committed}")[0]
    assert whole == [committed, 0, committed - 1], (whole, rows)
    slots = [name for name in after.descriptors if str(tmp_path) in name and "slots" in name]
    held = [name for name in before.descriptors if str(tmp_path) in name and "slots" in name]
    assert len(slots) <= len(held) + 2, (held, slots)
    gained = len(after.threads) - len(before.threads)
    assert gained < MANY_THREADS, (gained, grown(before.threads, after.threads))
