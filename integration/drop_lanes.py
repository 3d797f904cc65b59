"""The lanes of ``make drops``: senders that write rows of known values, each from a thread of its own."""

from __future__ import annotations

import contextlib
import random
import threading
from collections import Counter
from enum import Enum
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from questdb_sf.errors import QuestDBSfError
from questdb_sf.sender import Sender

START = 1_704_067_200_000_000
LANE_IDS = 1_000_000_000
"""Lane n numbers its rows from n times this one on."""
LARGEST_WRITE, FRAME_ROWS = 40, 10
"""A write becomes up to four frames that go out together."""
LONGEST_PAUSE = 0.03
LONGEST_WAIT = 0.25
DRAIN_SECONDS = 60


class Rhythm(Enum):
    """How a lane writes around the event of a round."""

    STEADY = "frame after frame"
    BROKEN = "some frames, a short pause, and again"
    WAITING = "nothing on its way at the event, nor for a while after it"


def rows(first: int, count: int, add_column: bool) -> pa.Table:
    """Rows ``first`` to ``first + count - 1``: every column a function of the number."""
    numbers = range(first, first + count)
    ids = pa.array(numbers, pa.int64())
    columns = {
        "id": ids,
        "sym": pa.array([f"s{number % 23}" for number in numbers]),
        "name": pa.array([f"row {number}" for number in numbers]),
        "value": pc.divide(pc.cast(ids, pa.float64()), 8.0),
        "extra": pc.multiply(ids, 3),
        "ts": pc.cast(pc.add(ids, START - first // LANE_IDS * LANE_IDS), pa.timestamp("us")),
    }
    if add_column:
        columns["added"] = pc.multiply(ids, 7)
    return pa.table(columns)


class Lane:
    """A sender that outlives the rounds, as a lane of the sink outlives its tasks.

    :param sf_dir: where its frames wait (``store``); None for frames in memory (``ack``)
    """

    def __init__(self, number: int, addr: str, sf_dir: Path | None) -> None:
        self.number = number
        self.mode = "ack" if sf_dir is None else "store"
        self.next = number * LANE_IDS
        """The number of the next row."""
        self.counts: Counter[str] = Counter()
        """Of its senders that were closed."""
        self._keys = f"ws::addr={addr};frame_rows={FRAME_ROWS};"
        if sf_dir is not None:
            self._keys += f"sf_dir={sf_dir};sender_id=lane-{number};sf_durability=flush;sf_min_free_bytes=64m;"
        self.sender = Sender(self._keys)

    def work(self, table: str, rhythm: Rhythm, seed: str) -> Part:
        """Begins to write to a table."""
        return Part(self, table, rhythm, random.Random(seed))

    def renew(self) -> None:
        """Another sender in place of one that has ended; with a slot it sends what that one left."""
        self.close()
        self.sender = Sender(self._keys)

    def close(self) -> None:
        """Ends the sender and keeps its counts."""
        counters = self.sender.counters()
        self.counts["acks_rejected"] += counters.acks_rejected
        self.counts["frames_dropped"] += counters.frames_dropped
        with contextlib.suppress(QuestDBSfError):  # the part that it ended has it
            self.sender.close()


class Part:
    """What one lane writes in one round, on a thread of its own."""

    def __init__(self, lane: Lane, table: str, rhythm: Rhythm, chance: random.Random) -> None:
        self.lane = lane
        self.first = lane.next
        self.after = lane.next
        """The first row that was published after the event."""
        self.problem: str | None = None
        """What ended the sender, or that rows were not acknowledged in time: None where all of them were."""
        self.begun = threading.Event()
        """Its first rows are acknowledged."""
        self.ready = threading.Event()
        """Nothing of it is on its way, or it does not wait for that."""
        self._near = threading.Event()
        self._over = threading.Event()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._add_column = False
        self._table = table
        self._rhythm = rhythm
        self._chance = chance
        self._thread = threading.Thread(target=self._run, name=f"lane {lane.number}")
        self._thread.start()

    @property
    def written(self) -> range:
        """The numbers of its rows, once it was joined."""
        return range(self.first, self.lane.next)

    @property
    def written_after(self) -> range:
        """The numbers of those that were published after the event."""
        return range(self.after, self.lane.next)

    def event_is_near(self) -> None:
        """A lane that waits for the event lets its rows be acknowledged first."""
        self._near.set()

    def event_is_over(self, add_column: bool) -> None:
        """Rows that get their number from here on are published after the event, and with the new column."""
        with self._lock:
            self.after = self.lane.next
            self._add_column = add_column
        self._over.set()

    def stop(self) -> None:
        """No more rows."""
        self._stop.set()
        self._over.set()

    def join(self) -> None:
        """Until all its rows are acknowledged, or there is a problem."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self._write()
            self._drain()
            self.begun.set()
            if self._rhythm is not Rhythm.WAITING:
                self.ready.set()
            while not self._stop.is_set():
                self._pause()
                self._write()
            self._drain()
        except (QuestDBSfError, TimeoutError) as error:
            self.problem = str(error)
        finally:
            self.begun.set()
            self.ready.set()

    def _pause(self) -> None:
        if self._rhythm is Rhythm.BROKEN and self._chance.random() < 0.3:
            self._stop.wait(self._chance.uniform(0, LONGEST_PAUSE))
        elif self._near.is_set() and not self.ready.is_set():
            self._drain()
            self.ready.set()
            self._over.wait()
            self._stop.wait(self._chance.uniform(0, LONGEST_WAIT))

    def _write(self) -> None:
        with self._lock:
            first, count = self.lane.next, self._chance.randint(1, LARGEST_WRITE)
            self.lane.next += count
            add_column = self._add_column
        self.lane.sender.write(
            rows(first, count, add_column),
            table=self._table,
            timestamp="ts",
            symbols=["sym"],
        )

    def _drain(self) -> None:
        if not self.lane.sender.drain(DRAIN_SECONDS):
            raise TimeoutError(f"not acknowledged within {DRAIN_SECONDS} s")
