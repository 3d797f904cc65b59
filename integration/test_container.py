"""Each scenario: two queries write the same rows, into a table with keys and into one without, and something happens to
the database in its container. Afterwards the table with keys must hold every row once, column by column as it was
sent, and the other one every row at least once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.spark import (
    Feed,
    differences,
    eventually,
    feed,
    metric,
    missing,
    rows,
    write_stream,
)
from integration.container import ROOT, Container

KEYED, PLAIN = "with_keys", "without_keys"
BATCHES, SIZE = 20, 100
TOTAL = BATCHES * SIZE
PAUSE_SECONDS = 30
BOTH_MODES = pytest.mark.parametrize("commit_on", ["store", "ack"])

Fault = Callable[[Container], Container | None]


def stop_and_start(questdb: Container) -> None:
    """The server is stopped in order and started again."""
    questdb.stop()
    questdb.start()


def sigkill(questdb: Container) -> None:
    """The server is killed and started again."""
    questdb.kill()
    questdb.start()


def pause(questdb: Container) -> None:
    """The server freezes for half a minute: connections stay open and nobody answers."""
    questdb.pause()
    time.sleep(PAUSE_SECONDS)  # the length of the freeze is the scenario
    questdb.unpause()


def restart(questdb: Container) -> None:
    """The container is restarted on its volume."""
    questdb.restart()


def new_container(questdb: Container) -> Container:
    """The container is removed, and a new one gets its volume."""
    questdb.kill()
    questdb.remove()
    return questdb.successor().start()


def network(questdb: Container) -> None:
    """The container loses its network and gets it back."""
    questdb.disconnect()
    time.sleep(3)  # the length of the cut is the scenario
    questdb.connect()


FAULTS: list[Fault] = [stop_and_start, sigkill, pause, restart, new_container, network]


class Streams:
    """The two queries of a scenario and what arrived of their rows."""

    def __init__(self, spark: Any, source: Feed, work: Path, addr: str, commit_on: str) -> None:
        self.queries = {}
        for table in (KEYED, PLAIN):
            options = {
                "addr": addr,
                "table": table,
                "timestamp": "ts",
                "create_table": "true",
                "commit_on": commit_on,
                "ack_timeout_millis": "5000",
                "reconnect_max_backoff_millis": "500",
            }
            if table == KEYED:
                options["dedup_keys"] = "ts,id"
            if commit_on == "store":
                options |= {"sf_dir": str(work / "slots"), "sf_min_free_bytes": "64m"}
            self.queries[table] = write_stream(
                source.stream(spark),
                work / f"checkpoint-{table}",
                options,
                processingTime="200 milliseconds",
            )

    def alive(self) -> bool:
        """Raises the error of a query that ended."""
        for query in self.queries.values():
            if (error := query.exception()) is not None:
                raise error
        return True

    def await_rows(self, questdb: Container, least: int) -> None:
        """Until both tables show so many rows."""
        for table in self.queries:
            eventually(
                f"{least} rows in {table}",
                partial(self._has_rows, questdb, table, least),
                pause=0.2,
            )

    def _has_rows(self, questdb: Container, table: str, least: int) -> bool:
        return self.alive() and questdb.count(table) >= least

    def metric(self, name: str) -> int:
        """Of both queries together."""
        return sum(metric(query, name) for query in self.queries.values())

    def stop(self) -> None:
        """Both, when everything that they took is acknowledged."""
        eventually(
            "nothing is undelivered", lambda: self.metric("undelivered_rows") == 0, pause=0.5
        )
        for query in self.queries.values():
            query.stop()


def judge(
    questdb: Container, streams: Streams, report: list[dict[str, Any]], name: str, total: int
) -> None:
    """Everything is there; the counts go into the report."""
    streams.await_rows(questdb, total)
    wrong = missing(questdb, KEYED, total) + missing(questdb, PLAIN, total)
    lost = sum(text.endswith(" is missing") for text in wrong)
    line = {
        "scenario": name,
        "rows": total,
        "with_keys": questdb.count(KEYED),
        "without_keys": questdb.count(PLAIN),
        "lost": lost,
        "altered": len(wrong) - lost,
        "duplicates_without_keys": questdb.count(PLAIN) - total,
        "reconnects": streams.metric("reconnects_succeeded"),
        "frames_replayed": streams.metric("frames_replayed"),
    }
    report.append(line)
    print(line)
    assert differences(questdb, KEYED, total) == []
    assert missing(questdb, PLAIN, total) == []
    streams.stop()


@BOTH_MODES
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_fault(
    spark: Any, tmp_path: Path, report: list[dict[str, Any]], fault: Fault, commit_on: str
) -> None:
    """Something happens when between a tenth and nine tenths of the rows have arrived."""
    source = feed(tmp_path / "source", BATCHES, SIZE)
    with Container() as questdb:
        streams = Streams(spark, source, tmp_path, questdb.addr, commit_on)
        streams.await_rows(questdb, TOTAL // 10)
        seen = questdb.count(KEYED)
        assert seen < TOTAL * 9 // 10, f"{seen} rows are there already: nothing would be tested"
        heir = fault(questdb)
        try:
            judge(heir or questdb, streams, report, f"{fault.__name__} {commit_on}", TOTAL)
            assert streams.metric("reconnects_succeeded") >= 1
        finally:
            if heir is not None:
                heir.remove()


@BOTH_MODES
def test_table_dropped(
    spark: Any, tmp_path: Path, report: list[dict[str, Any]], commit_on: str
) -> None:
    """A table dropped in mid-stream is made again as it was asked for, and takes all that comes after."""
    source = feed(tmp_path / "source", 5, SIZE)
    with Container() as questdb:
        streams = Streams(spark, source, tmp_path, questdb.addr, commit_on)
        streams.await_rows(questdb, 5 * SIZE)
        for table in (KEYED, PLAIN):
            questdb.sql(f"DROP TABLE {table}")
        for batch in range(5, 15):
            source.add(rows(batch * SIZE, (batch + 1) * SIZE))
        for query in streams.queries.values():
            query.processAllAvailable()
        streams.await_rows(questdb, 10 * SIZE)
        after = set(range(5 * SIZE, 15 * SIZE))
        for table in (KEYED, PLAIN):
            there = [number for (number,) in questdb.sql(f"SELECT id FROM {table}")]
            assert set(there) == after
        assert questdb.count(KEYED) == len(after)
        keys = questdb.sql(f"SELECT \"column\" FROM table_columns('{KEYED}') WHERE upsertKey")
        assert sorted(name for (name,) in keys) == ["id", "ts"]
        report.append(
            {"scenario": f"table_dropped {commit_on}", "rows": len(after), "lost": 0, "altered": 0}
        )
        streams.stop()


@BOTH_MODES
def test_disk_full(
    spark: Any, tmp_path: Path, report: list[dict[str, Any]], commit_on: str
) -> None:
    """The server's disk fills up and is freed again; a suspended table is resumed as an operator would."""
    source = feed(tmp_path / "source", 5, SIZE)
    with Container(tmpfs_megabytes=320) as questdb:
        streams = Streams(spark, source, tmp_path, questdb.addr, commit_on)
        streams.await_rows(questdb, 5 * SIZE)
        questdb.shell(f"dd if=/dev/zero of={ROOT}/ballast bs=64k 2>/dev/null || true")
        for batch in range(5, BATCHES):
            source.add(rows(batch * SIZE, (batch + 1) * SIZE))
        eventually(
            "the server says that its disk is full",
            lambda: streams.alive() and disk_is_full(questdb, streams),
            pause=0.5,
        )
        questdb.shell(f"rm {ROOT}/ballast")
        for table in (KEYED, PLAIN):
            questdb.sql(f"ALTER TABLE {table} RESUME WAL")
        judge(questdb, streams, report, f"disk_full {commit_on}", TOTAL)


def disk_is_full(questdb: Container, streams: Streams) -> bool:
    """Whether a table is suspended or a frame was refused."""
    suspended = questdb.sql("SELECT count() FROM wal_tables() WHERE suspended")[0][0]
    return bool(suspended) or streams.metric("server_errors") > 0
