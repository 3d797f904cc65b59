"""The engine in this process when its server is away, refuses, or goes; slots, handlers, and ends."""

from __future__ import annotations

import datetime
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from harness.sending import (
    DRAIN_SECONDS,
    START,
    UTC,
    open_sender,
    script,
    times,
)
from harness.server import ServerProcess, free_port
from harness.spark import eventually
from questdb_sf.errors import (
    ConfigError,
    DeliveryError,
    ErrorCode,
    StorageError,
    UseError,
)
from questdb_sf.sender import (
    ErrorEvent,
    Micros,
    Sender,
    StateKind,
)

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")


def test_an_outage_while_writing_loses_nothing(start_server: Any, tmp_path: Path) -> None:
    running = start_server()
    batches, rows = 40, 20_000
    with open_sender(running, tmp_path / "store", sender_id="outage") as sender:
        for i in range(batches):
            if i == 1:
                # A server killed while it makes a table leaves one that takes no rows.
                assert sender.drain(DRAIN_SECONDS)
            if i == 10:
                running.kill()
            if i == 30:
                eventually(
                    "the outage is noticed", lambda: sender.state.kind is StateKind.RECONNECTING
                )
                assert sender.state.cause
                assert sender.counters().unacked_frames > 0
                running.start()
            first = i * rows
            table = pa.table(
                {
                    "n": np.arange(first, first + rows),
                    "s": pa.array([f"s{k % 50}" for k in range(rows)]),
                    "ts": pa.array(np.arange(first, first + rows) + START, pa.timestamp("us")),
                }
            )
            assert sender.write(table, table="outage", timestamp="ts", symbols=["s"]) == rows
        assert sender.drain(DRAIN_SECONDS)
        assert sender.state.kind is StateKind.OK
        assert sender.counters().reconnects_succeeded >= 1
    total = batches * rows
    assert running.await_count("outage", total, 240) >= total
    assert running.sql("SELECT count_distinct(n), count_distinct(s) FROM outage") == [[total, 50]]


@pytest.mark.full_disk
def test_a_full_disk_of_the_server_loses_nothing(start_server: Any, tmp_path: Path) -> None:
    """It refuses, in words, what it has no room for; that is sent again until there is."""
    running = start_server()
    running.sql(
        "CREATE TABLE full (n LONG, timestamp TIMESTAMP) TIMESTAMP(timestamp) PARTITION BY DAY WAL"
        " DEDUP UPSERT KEYS(timestamp, n)"
    )
    told: list[ErrorEvent] = []
    rows, batches = 20_000, 20
    with Sender(
        f"ws::addr={running.addr};sf_dir={tmp_path / 'store'};on_internal_error=retry;"
        f"poison_min_escalation_window_millis={DRAIN_SECONDS * 1000};",
        on_error=told.append,
    ) as sender:
        for i in range(batches):
            if i == 1:
                assert sender.drain(DRAIN_SECONDS)
                running.fill_disk()
            numbers = np.arange(i * rows, (i + 1) * rows)
            table = pa.table({"n": numbers, "ts": pa.array(numbers + START, pa.timestamp("us"))})
            sender.write(table, table="full", timestamp="ts")
        eventually("frames are refused", lambda: len(told) > 2)
        assert {error.category for error in told} == {"INTERNAL_ERROR"}
        assert "No space left" in told[0].message
        assert sender.state.kind is StateKind.REJECTING
        running.free_disk()
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().frames_dropped == 0
    # What was acknowledged before may wait behind a table that the full disk suspended.
    eventually("all is applied", lambda: resumed(running, "full"), pause=0.2)
    assert running.await_count("full", rows * batches, 240) == rows * batches
    assert running.sql("SELECT count_distinct(n) FROM full") == [[rows * batches]]


def resumed(server: ServerProcess, table: str) -> bool:
    """Whether all of a table is applied; resumes it where it is suspended, as an operator would."""
    (found,) = server.sql(
        f"SELECT suspended, writerTxn, sequencerTxn FROM wal_tables() WHERE name = '{table}'"
    )
    suspended, applied, committed = found
    if suspended:
        server.sql(f"ALTER TABLE {table} RESUME WAL")
    return not suspended and applied == committed


def test_what_a_killed_process_left_is_sent_by_the_next(
    server: ServerProcess, tmp_path: Path
) -> None:
    port = free_port()
    process = script(
        """
        import sys, time
        import numpy as np, pyarrow as pa
        from questdb_sf.sender import Sender
        sender = Sender(sys.argv[1])
        n = np.arange(100_000)
        table = pa.table({"n": n, "s": [f"s{i % 7}" for i in n], "ts": pa.array(n + 10**15, pa.timestamp("us"))})
        sender.write(table, table="killed", timestamp="ts", symbols=["s"])
        print(sender.flush(), flush=True)
        time.sleep(600)
        """,
        f"ws::addr=127.0.0.1:{port};sf_dir={tmp_path};sender_id=app;initial_connect_retry=async;sf_durability=flush;",
    )
    try:
        assert process.stdout is not None
        newest = int(process.stdout.readline())
        assert newest > 0
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    with open_sender(server, tmp_path, sender_id="app") as sender:
        assert sender.flush() == newest
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().acked_fsn == newest
        assert sender.name == "app"
    assert server.await_count("killed", 100_000, 240) == 100_000
    assert server.sql("SELECT count_distinct(n), count_distinct(s) FROM killed") == [[100_000, 7]]


@pytest.mark.scripted
def test_a_refusal_reaches_the_handler_with_table_and_rows(
    start_server: Any, tmp_path: Path
) -> None:
    running = start_server()
    events: list[ErrorEvent] = []
    conf = f"ws::addr={running.addr};sf_dir={tmp_path / 'store'};"
    with Sender(conf, on_error=events.append) as sender:
        sender.write(pa.table({"x": [0], "ts": times(1)}), table="fine", timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        running.script(
            nack={
                "status": 3,
                "message": "no such shape",
                "table": "refused",
                "times": 1,
            }
        )
        sender.write(pa.table({"x": [1, 2, 3], "ts": times(3)}), table="refused", timestamp="ts")
        sender.write(pa.table({"x": [4], "ts": times(1)}), table="fine", timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        eventually("the handler is told", lambda: len(events) == 1)
        counters = sender.counters()
    event = events[0]
    assert (event.category, event.policy, event.status) == (
        "SCHEMA_MISMATCH",
        "DROP",
        3,
    )
    assert (event.table, event.rows, event.from_fsn, event.to_fsn) == (
        "refused",
        3,
        1,
        1,
    )
    assert "no such shape" in event.message
    assert event.endpoint == running.addr
    assert abs(event.at - datetime.datetime.now(UTC)) < datetime.timedelta(minutes=5)
    assert event.dead_letter
    assert (counters.server_errors, counters.rows_dropped, counters.frames_dropped) == (
        1,
        3,
        1,
    )
    assert counters.error_notifications_delivered == 1
    assert running.await_count("fine", 2) == 2


@pytest.mark.scripted
def test_without_a_place_to_keep_them_refused_rows_end_the_sender(
    start_server: Any,
) -> None:
    running = start_server()
    running.script(nack={"status": 3, "message": "no such shape", "table": "refused", "times": 1})
    sender = open_sender(running)
    sender.write(pa.table({"x": [1, 2, 3], "ts": times(3)}), table="refused", timestamp="ts")
    with pytest.raises(DeliveryError, match="no such shape") as ended:
        sender.drain(DRAIN_SECONDS)
    assert ended.value.code is ErrorCode.SERVER_REJECTED
    assert "table 'refused', 3 rows" in str(ended.value)
    assert sender.counters().rows_dropped == 0
    sender.close()


@pytest.mark.scripted
def test_close_says_how_many_rows_were_set_aside(
    start_server: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    running = start_server()
    running.script(nack={"status": 3, "message": "no", "table": "refused", "times": 1})
    with Sender(f"ws::addr={running.addr};sf_dir={tmp_path / 'store'};") as sender:
        sender.write(pa.table({"x": [1, 2, 3], "ts": times(3)}), table="refused", timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
    assert "refused and that are in no table: 3; they were kept" in capfd.readouterr().err
    assert len(list((tmp_path / "store" / ".rejected").glob("*.qwp"))) == 1


@pytest.mark.scripted
def test_a_handler_that_raises_is_counted_and_harms_nothing(
    start_server: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    running = start_server()

    def handler(event: ErrorEvent) -> None:
        raise ValueError(f"handler of {event.table}")

    with Sender(
        f"ws::addr={running.addr};sf_dir={tmp_path / 'store'};", on_error=handler
    ) as sender:
        running.script(nack={"status": 3, "message": "no", "table": "refused", "times": 2})
        for _ in range(2):
            sender.write(pa.table({"x": [1], "ts": times(1)}), table="refused", timestamp="ts")
        sender.write(pa.table({"x": [4], "ts": times(1)}), table="fine", timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        eventually("both are counted", lambda: sender.counters().handler_failures == 2)
    assert "handler of refused" in caplog.text
    assert running.await_count("fine", 1) == 1


@pytest.mark.scripted
def test_a_halt_is_raised_by_whoever_uses_the_sender_next(start_server: Any) -> None:
    running = start_server()
    running.script(nack={"status": 3, "message": "never"})
    sender = open_sender(running, on_schema_error="halt")
    sender.write(pa.table({"x": [1], "ts": times(1)}), table="halted", timestamp="ts")
    with pytest.raises(DeliveryError, match="never") as halted:
        sender.drain(DRAIN_SECONDS)
    assert halted.value.code is ErrorCode.SERVER_REJECTED
    assert sender.state.kind is StateKind.FAILED
    with pytest.raises(DeliveryError):
        sender.write(pa.table({"x": [1], "ts": times(1)}), table="halted", timestamp="ts")
    sender.close()


def test_nobody_there() -> None:
    with pytest.raises(DeliveryError) as nobody:
        Sender(f"ws::addr=127.0.0.1:{free_port()};")
    assert nobody.value.code is ErrorCode.CONNECT_FAILED


def test_settings_are_refused_in_words(tmp_path: Path) -> None:
    for conf, code in (
        ("ws::addr=h;adr=x;", ErrorCode.CONFIG_UNKNOWN_KEY),
        ("ws::addr=h;frame_rows=none;", ErrorCode.CONFIG_INVALID_VALUE),
        ("ws::", ErrorCode.CONFIG_MISSING),
    ):
        with pytest.raises(ConfigError) as refused:
            Sender(conf)
        assert refused.value.code is code


def test_a_held_slot_is_refused(server: ServerProcess, tmp_path: Path) -> None:
    with (
        open_sender(server, tmp_path, sender_id="one"),
        pytest.raises(StorageError) as held,
    ):
        open_sender(server, tmp_path, sender_id="one")
    assert held.value.code is ErrorCode.SLOT_LOCKED
    assert str(os.getpid()) in str(held.value)


def test_a_full_store_raises_after_its_deadline(tmp_path: Path) -> None:
    conf = (
        f"ws::addr=127.0.0.1:{free_port()};sf_dir={tmp_path};initial_connect_retry=async;sf_max_segment_bytes=256k;"
        "sf_max_total_bytes=1m;sf_append_deadline_millis=500;close_flush_timeout_millis=0;"
    )
    table = pa.table({"x": np.arange(1_000_000), "ts": times(1_000_000)})
    with Sender(conf) as sender, pytest.raises(StorageError) as full:
        sender.write(table, table="full", timestamp="ts")
    assert full.value.code is ErrorCode.BACKPRESSURE_TIMEOUT
    assert full.value.rows_written is not None
    assert 0 < full.value.rows_written < 1_000_000


def test_a_closed_sender_says_so(server: ServerProcess) -> None:
    sender = open_sender(server)
    sender.close()
    sender.close()
    for use in (
        lambda: sender.row("t", at=Micros(1)),
        lambda: sender.write(pa.table({"x": [1]}), table="t", timestamp=None),
        sender.flush,
        lambda: sender.drain(1),
    ):
        with pytest.raises(UseError) as closed:
            use()
        assert closed.value.code is ErrorCode.SENDER_CLOSED
