"""Each scenario: two queries write the same rows, into a table with keys and into one without, and something happens to
the database in its container. Afterwards the table with keys must hold every row once, column by column as it was
fed, and the other one every row at least once, with no more copies than frames were sent again, and none of what was
acknowledged before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.driver import Driver
from harness.spark import eventually, files_logged, metric
from integration.container import ROOT, Container
from integration.rows import (
    Verdict,
    add_files,
    await_rows,
    designated,
    distinct,
    make_feed,
    unacked_ids,
)
from integration.streams import FRAME_ROWS, KEYED, PLAIN, Streams, sink_options

FILES, SIZE = 20, 100
FIRST = 5
"""Files that arrive before anything happens."""
TOTAL = FILES * SIZE
IN_FLOW_SECONDS = 1
PAUSE_SECONDS = 30
CUT_SECONDS = 8
"""Longer than the sink's ``ack_timeout_millis``: connections outlive a shorter cut, and nothing is sent again."""
SMALL_FILES = {
    # Files are allocated ahead; a full disk shows only when the next one is needed, here after some rows.
    "QDB_CAIRO_WAL_SEGMENT_ROLLOVER_ROW_COUNT": "100",
    "QDB_CAIRO_WRITER_DATA_APPEND_PAGE_SIZE": "1m",
    "QDB_CAIRO_WAL_WRITER_DATA_APPEND_PAGE_SIZE": "256k",
}
BOTH_MODES = pytest.mark.parametrize("commit_on", ["store", "ack"])

Line = dict[str, Any]


# What happens: each returns the container that is there afterwards.

Fault = Callable[[Container, Streams, Line], Container]


def freeze_in_flow(questdb: Container, streams: Streams) -> int:
    """Freezes the server when frames were sent that it has not acknowledged; how many they are.

    Between two micro-batches none is on its way: then it goes on, and is frozen again a moment later.
    """

    def frozen() -> int:
        questdb.pause()
        deadline = time.monotonic() + IN_FLOW_SECONDS
        while time.monotonic() < deadline:
            if (sent := streams.on_their_way()) > 0:
                return sent
            streams.alive()
        questdb.unpause()
        return 0

    return int(eventually("frames are on their way", frozen))


def stop_and_start(questdb: Container, streams: Streams, line: Line) -> Container:
    """The server is stopped in order, and started again when frames wait for it."""
    questdb.stop()
    line["unacked_frames"] = streams.await_unacked()
    return questdb.start()


def sigkill(questdb: Container, streams: Streams, line: Line) -> Container:
    """The server freezes with frames on their way to it, and is killed; then it is started again."""
    line["on_their_way"] = freeze_in_flow(questdb, streams)
    line["unacked_frames"] = streams.await_unacked()
    questdb.kill()
    return questdb.start()


def pause(questdb: Container, streams: Streams, line: Line) -> Container:
    """The server freezes for half a minute: connections stay open and nobody answers."""
    line["on_their_way"] = freeze_in_flow(questdb, streams)
    time.sleep(PAUSE_SECONDS)  # the length of the freeze is the scenario
    line["unacked_frames"] = streams.await_unacked()
    questdb.unpause()
    return questdb


def restart(questdb: Container, _: Streams, __: Line) -> Container:
    """The container is restarted on its volume."""
    questdb.restart()
    return questdb


def new_container(questdb: Container, streams: Streams, line: Line) -> Container:
    """The container is killed and removed, and a new one gets its volume when frames wait for it."""
    questdb.kill()
    questdb.remove()
    line["unacked_frames"] = streams.await_unacked()
    return questdb.successor().start()


def network(questdb: Container, streams: Streams, line: Line) -> Container:
    """The container loses its network and gets it back. What it has received by then it takes, and owes."""
    line["on_their_way"] = freeze_in_flow(questdb, streams)
    questdb.disconnect()
    questdb.unpause()
    time.sleep(CUT_SECONDS)  # the length of the cut is the scenario
    line["unacked_frames"] = streams.await_unacked()
    questdb.connect()
    return questdb


FAULTS: list[Fault] = [stop_and_start, sigkill, pause, restart, new_container, network]


@BOTH_MODES
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_fault(spark: Any, tmp_path: Path, line: Line, fault: Fault, commit_on: str) -> None:
    """Something happens when a quarter of the rows has arrived and the rest begins to come."""
    source = make_feed(tmp_path / "source", FIRST, SIZE)
    with Container() as questdb:
        streams = Streams(spark, source, tmp_path, questdb.addr, commit_on)
        arrived(questdb, streams, FIRST * SIZE)
        add_files(source, FIRST, FILES, SIZE)
        eventually("more is under way", lambda: streams.alive() and streams.begun() > FIRST)
        after = fault(questdb, streams, line)
        try:
            judge(after, streams, line, range(TOTAL))
            # Counters come with progress, a moment after the rows.
            eventually("a reconnect", lambda: streams.metric("reconnects_succeeded") >= 1)
            line["reconnects"] = streams.metric("reconnects_succeeded")
            if "on_their_way" in line:
                eventually("frames sent again", lambda: streams.metric("frames_replayed") >= 1)
            line["frames_replayed"] = streams.metric("frames_replayed")
            streams.stop()
        finally:
            if after is not questdb:
                after.remove()


@BOTH_MODES
def test_table_dropped(spark: Any, tmp_path: Path, line: Line, commit_on: str) -> None:
    """A table dropped in mid-stream is there again, with its keys, and takes all that comes after. Who makes it decides
    on the name of its timestamp: the sink, or the server for rows that were on their way.
    """
    source = make_feed(tmp_path / "source", FIRST, SIZE)
    with Container() as questdb:
        streams = Streams(spark, source, tmp_path, questdb.addr, commit_on)
        arrived(questdb, streams, FIRST * SIZE)
        for table in (KEYED, PLAIN):
            questdb.sql(f"DROP TABLE {table}")
        add_files(source, FIRST, FILES, SIZE)
        judge(questdb, streams, line, range(FIRST * SIZE, TOTAL))
        keys = questdb.sql(f"SELECT \"column\" FROM table_columns('{KEYED}') WHERE upsertKey")
        assert {name for (name,) in keys} == {"id", designated(questdb, KEYED)}
        streams.stop()


@BOTH_MODES
def test_disk_full(spark: Any, tmp_path: Path, line: Line, commit_on: str) -> None:
    """The server's disk fills up and is freed again; a suspended table is resumed as an operator would."""
    source = make_feed(tmp_path / "source", FIRST, SIZE)
    with Container(tmpfs_megabytes=1024, environment=SMALL_FILES) as questdb:
        streams = Streams(spark, source, tmp_path, questdb.addr, commit_on)
        arrived(questdb, streams, FIRST * SIZE)
        fill_disk(questdb)
        add_files(source, FIRST, FILES, SIZE)
        line["refused_by"] = eventually(
            "the server says that its disk is full",
            lambda: streams.alive() and disk_is_full(questdb, streams),
            pause=0.5,
        )
        questdb.shell(f"rm {ROOT}/ballast")
        judge(questdb, streams, line, range(TOTAL), meanwhile=partial(resume, questdb))
        streams.stop()


def resume(questdb: Container) -> None:
    """What an operator does about tables that a full disk suspended."""
    for (table,) in questdb.sql("SELECT name FROM wal_tables() WHERE suspended"):
        questdb.sql(f"ALTER TABLE '{table}' RESUME WAL")


def fill_disk(questdb: Container) -> None:
    """To the last byte."""
    questdb.shell(f"cat /dev/zero >>{ROOT}/ballast 2>/dev/null || true")


def disk_is_full(questdb: Container, streams: Streams) -> str:
    """How the server shows it: a table is suspended, or frames were refused; empty while it does not. What the server
    gave free meanwhile, segments that were applied, is filled up again.
    """
    if questdb.sql("SELECT count() FROM wal_tables() WHERE suspended")[0][0]:
        return "suspended table"
    if streams.metric("server_errors") + streams.metric("error_notifications_delivered") > 0:
        return "refused frames"
    fill_disk(questdb)
    return ""


@BOTH_MODES
def test_spark_killed_in_outage(tmp_path: Path, line: Line, commit_on: str) -> None:
    """The server is stopped, then Spark dies with what it holds; both come back, Spark from its checkpoints."""
    source = make_feed(tmp_path / "source", FIRST, SIZE)
    with Container() as questdb, Driver(tmp_path / "spark", source) as driver:
        options = sink_options(questdb.addr, tmp_path, commit_on)
        checkpoints = [driver.checkpoint(table) for table in options]
        driver.start(options)

        def logged(log: str, files: int) -> bool:
            driver.check()
            return all(files_logged(path, log) >= files for path in checkpoints)

        eventually("the first files are committed", partial(logged, "commits", FIRST))
        await_rows(questdb, options, FIRST * SIZE, lambda: True)
        slots = tmp_path / "slots"
        eventually("nothing waits in a slot", lambda: not any(unacked_ids(slots).values()))
        questdb.stop()
        add_files(source, FIRST, FILES, SIZE)
        # With `store` commits go on, with `ack` the next micro-batch waits.
        eventually(
            "more is under way",
            partial(
                logged,
                *(("commits", FIRST + 5) if commit_on == "store" else ("offsets", FIRST + 1)),
            ),
        )
        driver.kill()
        committed, begun = (
            files_logged(driver.checkpoint(PLAIN), log) for log in ("commits", "offsets")
        )
        questdb.start()
        driver.start(options)
        await_rows(
            questdb,
            options,
            TOTAL,
            lambda: not logged("commits", FILES) or any(unacked_ids(slots).values()),
        )
        # The server got none of it before. A micro-batch that was begun and not committed comes from Spark again, and
        # what of it was in a slot from there.
        settle(questdb, line, range(TOTAL), committed * SIZE, (begun - committed) * SIZE)
        driver.stop(60)


def arrived(questdb: Container, streams: Streams, rows: int) -> None:
    """Until both tables show so many rows, and all of them are acknowledged: no reason is left to send them again."""

    def look(table: str) -> bool:
        return streams.alive() and distinct(questdb, table) >= rows

    for table in streams.queries:
        eventually(f"{rows} rows in {table}", partial(look, table), pause=0.2)
    eventually("their acknowledgements", streams.quiet, pause=0.2)


def judge(
    questdb: Container,
    streams: Streams,
    line: Line,
    fed: Iterable[int],
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Waits for all rows; then everything is there as it was fed, and only what was replayed more than once."""
    numbers = list(fed)

    def moving() -> bool:
        meanwhile()
        return streams.moving(FILES)

    await_rows(questdb, streams.queries, len(numbers), moving)
    surplus = Verdict.of(questdb, PLAIN, numbers).surplus
    plain = streams.queries[PLAIN]
    try:
        eventually(
            "frames sent again account for the copies",
            lambda: surplus <= FRAME_ROWS * metric(plain, "frames_replayed"),
            seconds=15,
        )
    finally:
        line["frames_replayed"] = metric(plain, "frames_replayed")
        line["reconnects"] = streams.metric("reconnects_succeeded")
        settle(questdb, line, numbers, FIRST * SIZE, FRAME_ROWS * line["frames_replayed"])


def settle(questdb: Container, line: Line, fed: Iterable[int], once: int, may_repeat: int) -> None:
    """The verdict on both tables, into the report's line, and asserted.

    :param once: rows below this number were acknowledged before anything happened: they may not come again
    :param may_repeat: copies that there may be of the others, in the table without keys
    """
    numbers = list(fed)
    keyed, plain = (Verdict.of(questdb, table, numbers) for table in (KEYED, PLAIN))
    early = [number for number in plain.repeated if number < once]
    line |= {
        "fed": len(numbers),
        "with_keys": keyed.there,
        "differing": len(keyed.lost) + len(keyed.altered) + keyed.surplus,
        "without_keys": plain.there,
        "lost": len(keyed.lost) + len(plain.lost),
        "altered": len(keyed.altered) + len(plain.altered),
        "duplicates": plain.surplus,
        "duplicates_expected_up_to": may_repeat,
        "unexpected_duplicates": keyed.surplus + max(len(early), plain.surplus - may_repeat),
    }
    problems = keyed.examples() + [text for text in plain.examples() if "twice" not in text]
    assert problems == []
    assert early == []
    assert plain.surplus <= may_repeat
