"""The rows that integration and kill runs write, and the verdict on a table by SQL."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.server import QuestDb
from harness.spark import Feed
from questdb_sf import frames, slots

SCHEMA = "id LONG, sym STRING, name STRING, value DOUBLE, number INT, flag BOOLEAN, ts TIMESTAMP"
COLUMNS = ("id", "sym", "name", "value", "number", "flag", "ts")
STILL_SECONDS = 20


def row(number: int) -> dict[str, Any]:
    """Row ``number``: every column a function of the number, some of them null now and then."""
    minutes, millis = divmod(number, 60_000)
    return {
        "id": number,
        "sym": f"s{number % 23}",
        "name": None if number % 11 == 0 else f"name {number} ä",
        "value": number / 8,
        "number": None if number % 7 == 0 else number * 31 % 100_003,
        "flag": number % 3 == 0,
        "ts": f"2024-01-01T00:{minutes:02d}:{millis // 1000:02d}.{millis % 1000:03d}{number % 1000:03d}Z",
    }


def make_feed(directory: Path, files: int, size: int) -> Feed:
    """So many files, to be read in their order; file f holds the rows from f · size on."""
    feed = Feed(directory, SCHEMA)
    add_files(feed, 0, files, size)
    return feed


def designated(questdb: QuestDb, table: str) -> str:
    """The name of a table's designated timestamp; ours for a table that does not exist."""
    found = questdb.sql(f"SELECT designatedTimestamp FROM tables() WHERE table_name = '{table}'")
    return str(found[0][0]) if found else COLUMNS[-1]


def distinct(questdb: QuestDb, table: str) -> int:
    """Rows of different numbers that a table shows; 0 while it does not exist."""
    if questdb.count(table) == 0:
        return 0
    return int(questdb.sql(f"SELECT count_distinct(id) FROM '{table}'")[0][0])


def await_rows(
    questdb: QuestDb,
    tables: Iterable[str],
    rows: int,
    moving: Callable[[], bool],
    seconds: float = 150,
) -> None:
    """Until the tables show so many different rows.

    Returns as well when they stand still for :data:`STILL_SECONDS` and nothing is moving any more: what is missing then
    does not come, and is for the verdict. :class:`TimeoutError` when nothing comes for so many seconds that should.
    """
    names = list(tables)
    began = since = time.monotonic()
    seen: list[int] = []
    while not seen or min(seen) < rows:
        counts = [distinct(questdb, name) for name in names]
        if counts != seen:
            began = time.monotonic()
        if counts != seen or moving():
            seen, since = counts, time.monotonic()
        if time.monotonic() - since > STILL_SECONDS:
            return
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not within {seconds:.0f} s: {rows} rows in {names}; seen {seen}")
        time.sleep(0.1)


def add_files(feed: Feed, first: int, last: int, size: int) -> None:
    """Files ``first`` to ``last - 1``."""
    for file in range(first, last):
        feed.add(row(number) for number in range(file * size, (file + 1) * size))


def unacked_ids(sf_dir: Path) -> dict[str, list[list[int]]]:
    """Ids in frames above the watermarks of the slots in a directory, by table, a list a frame."""
    found: dict[str, list[list[int]]] = {}
    for slot in sf_dir.glob("*/"):
        acked = slots.watermark(slot)
        for path in slot.glob(f"*{slots.SEGMENT_SUFFIX}"):
            for frame in slots.scan(path).content:
                if acked is not None and frame.fsn is not None and frame.fsn <= acked:
                    continue
                for table in frames.decode(frame.payload).tables:
                    found.setdefault(table.name, []).append([row["id"] for row in table.data])
    return found


@dataclass(frozen=True)
class Verdict:
    """A table against the rows that it was fed, all by SQL."""

    table: str
    fed: int
    there: int
    lost: list[int]
    altered: list[list[Any]]
    """Rows that differ in a column, or were never fed."""
    repeated: list[int]
    """Numbers of rows that are there more than once."""
    surplus: int
    """Copies of rows besides the first."""

    @staticmethod
    def of(questdb: QuestDb, table: str, fed: Iterable[int]) -> Verdict:
        """Reads the whole table, every column; one that does not exist is empty."""
        wanted = set(fed)
        names = ", ".join([*COLUMNS[:-1], designated(questdb, table)])
        there = questdb.sql(f"SELECT {names} FROM '{table}'") if questdb.count(table) else []
        copies = Counter(values[0] for values in there)
        return Verdict(
            table,
            len(wanted),
            len(there),
            sorted(wanted - set(copies)),
            [v for v in there if v[0] not in wanted or v != list(row(v[0]).values())],
            sorted(number for number, count in copies.items() if count > 1),
            len(there) - len(copies),
        )

    def examples(self) -> list[str]:
        """What is wrong, whether or not it may be: one line a kind."""
        found: dict[str, list[Any]] = {
            "lost": self.lost,
            "altered": self.altered,
            "there twice": self.repeated,
        }
        return [
            f"{self.table}: {what}: {len(which)}, first {json.dumps(which[:3])}"
            for what, which in found.items()
            if which
        ]
