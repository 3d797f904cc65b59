"""Writers at full rate of the rows of :mod:`conformance.events`: senders with a thread each, and a stream of Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from conformance.events import DAY_MICROS, row
from harness.sending import DRAIN_SECONDS, START, open_sender
from harness.server import ServerProcess
from harness.spark import eventually, write_stream
from questdb_sf.sender import Sender
from questdb_sf.slots import list_slots

ARROW = pa.schema(
    {
        "n": pa.int64(),
        "v": pa.int32(),
        "s": pa.string(),
        "w": pa.string(),
        "ts": pa.timestamp("us"),
    }
)
LANES = 3
LANE_ROWS = 1_000_000
"""Lane l numbers its rows from l times this one on."""
WRITE_ROWS, FRAME_ROWS = 200, 50
BATCH_ROWS = 1_000
SPARK_ROW = (
    "value AS n",
    "CAST(value * 7 AS INT) AS v",
    "concat('s', value % 5) AS s",
    "concat('word ', value, ' ä') AS w",
    f"{START} + value % 2 * {DAY_MICROS} + value AS ts",
)
"""The columns of :func:`conformance.events.row`, of a number ``value``."""
SPARK_OPTIONS = {
    "timestamp": "ts",
    "timestamp_unit": "us",
    "symbols": "s",
    "create_table": "true",
    "on_missing_table": "create",
    "frame_rows": "100",
}


class Lane:
    """A sender and the thread that writes with it, frame after frame."""

    def __init__(self, number: int, sender: Sender, table: str) -> None:
        self.sender = sender
        self.first = self.next = self.after = number * LANE_ROWS
        """``next`` is the row that is written next, ``after`` the first that was written after the event."""
        self._error: BaseException | None = None
        self._table = table
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                with self._lock:
                    numbers = range(self.next, self.next + WRITE_ROWS)
                    self.next = numbers.stop
                self.sender.write(arrow(numbers), table=self._table, timestamp="ts", symbols=["s"])
            assert self.sender.drain(DRAIN_SECONDS), self.sender.state
            assert self.sender.counters().frames_dropped == 0
        except BaseException as error:
            self._error = error

    def written(self, since: int, writes: int) -> bool:
        """Whether so many writes have begun from a row on; raises what ended the lane."""
        self.check()
        return self.next >= since + writes * WRITE_ROWS

    def event_is_over(self) -> None:
        """What is written from here on was not on its way during the event."""
        with self._lock:
            self.after = self.next

    def stop(self) -> None:
        """No more rows; returns when all of them are acknowledged, or the lane has ended otherwise."""
        self._stop.set()
        self._thread.join()

    def check(self) -> None:
        """Raises what ended the lane."""
        if self._error is not None:
            raise self._error


class Lanes:
    """Several of them, which write to one table."""

    def __init__(self, senders: list[Sender], table: str) -> None:
        self.each = [Lane(number, sender, table) for number, sender in enumerate(senders)]

    def await_writes(self, writes: int) -> None:
        """Until each has begun so many more."""
        since = {lane: lane.next for lane in self.each}
        eventually("writes", lambda: all(x.written(first, writes) for x, first in since.items()))

    def event_is_over(self) -> None:
        """See :meth:`Lane.event_is_over`."""
        for lane in self.each:
            lane.event_is_over()

    def stop(self) -> None:
        """Stops all, whatever became of them."""
        for lane in self.each:
            lane.stop()

    def finish(self) -> None:
        """Stops all and raises what ended one."""
        self.stop()
        for lane in self.each:
            lane.check()

    @property
    def before(self) -> set[int]:
        """Rows that were written before the event was over."""
        return {n for lane in self.each for n in range(lane.first, lane.after)}

    @property
    def after(self) -> set[int]:
        """Rows that were written afterwards."""
        return {n for lane in self.each for n in range(lane.after, lane.next)}

    @property
    def first_frames(self) -> set[int]:
        """Those of them that may be in the first frame of their connection since the event."""
        return {n for lane in self.each for n in range(lane.after, lane.after + WRITE_ROWS)}


@contextmanager
def lanes(server: ServerProcess, table: str, store: Path | None, **keys: Any) -> Iterator[Lanes]:
    """Lanes that write until they are stopped; ``store`` is the ``sf_dir`` of all, None for rings in memory."""
    with ExitStack() as stack:
        senders = []
        for number in range(LANES):
            named = {"sender_id": f"lane-{number}", "sf_min_free_bytes": "64m"} if store else {}
            sender = open_sender(server, store, frame_rows=FRAME_ROWS, **named, **keys)
            senders.append(stack.enter_context(sender))
        running = Lanes(senders, table)
        stack.callback(running.stop)
        yield running


def arrow(numbers: range) -> pa.Table:
    """Rows as an Arrow table."""
    return pa.Table.from_pylist([row(n) for n in numbers], ARROW)


class Stream:
    """A streaming query that takes as many rows as the sink does, two tasks at a time."""

    def __init__(
        self, spark: Any, addr: str, table: str, work: Path, commit_on: str, **options: str
    ) -> None:
        self._slots = work / "slots"
        chosen = {**SPARK_OPTIONS, "addr": addr, "table": table, "commit_on": commit_on, **options}
        if commit_on == "store":
            chosen |= {"sf_dir": str(self._slots), "sf_min_free_bytes": "64m"}
        rows = (
            spark.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", BATCH_ROWS)
            .option("numPartitions", 2)
            .load()
        )
        self.query = write_stream(rows.selectExpr(*SPARK_ROW), work / "checkpoint", chosen)

    @property
    def done(self) -> int:
        """The last micro-batch that is over, −1 before the first; raises the query's error."""
        if (error := self.query.exception()) is not None:
            raise error
        progress = self.query.lastProgress
        return progress["batchId"] if progress else -1

    def await_batch(self, number: int) -> None:
        """Until this one is over."""
        eventually(f"micro-batch {number}", lambda: self.done >= number)

    def finish(self) -> None:
        """Stops the query, and waits until the server has acknowledged what is in slots."""
        self.query.stop()
        if self._slots.exists():
            eventually("slots are drained", lambda: drained(self._slots))

    @staticmethod
    def rows(first: int, last: int) -> range:
        """The numbers of the rows of micro-batches."""
        return range(first * BATCH_ROWS, (last + 1) * BATCH_ROWS)


def drained(sf_dir: Path) -> bool:
    """Whether no slot holds a frame that was not acknowledged."""
    return all(slot.acked_fsn == slot.published_fsn for slot in list_slots(sf_dir))
