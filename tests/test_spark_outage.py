"""The server is down, dies, or is cut off while a Spark stream writes to it: no row is lost, in either mode."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.fixtures import NewServer
from harness.server import ServerProcess
from harness.spark import (
    batches_done,
    differences,
    eventually,
    feed,
    finish,
    last_execution,
    metric,
    missing,
    rows,
    sink_metrics,
    sql_tab,
    sql_tab_total,
    write_stream,
)

BATCHES, SIZE = 6, 50
ROWS = BATCHES * SIZE
BOTH_MODES = pytest.mark.parametrize("commit_on", ["ack", "store"])


def options(server: ServerProcess, tmp_path: Path, commit_on: str) -> dict[str, Any]:
    """A table with keys, so that a row sent again is there once."""
    chosen = {
        "addr": server.addr,
        "table": "t",
        "timestamp": "ts",
        "create_table": "true",
        "dedup_keys": "ts,id",
        "commit_on": commit_on,
        "reconnect_max_backoff_millis": "500",
    }
    if commit_on == "store":
        chosen |= {"sf_dir": str(tmp_path / "slots"), "sf_min_free_bytes": "64m"}
    return chosen


def has_done(query: Any, batches: int) -> bool:
    return batches_done(query) == batches


@pytest.fixture
def down(new_server: NewServer) -> ServerProcess:
    """A server that is not started yet."""
    return new_server()


@pytest.mark.spark
def test_server_down_at_the_start_store_goes_on(
    spark: Any, down: ServerProcess, tmp_path: Path
) -> None:
    """commit_on=store: micro-batches go on without a server, and everything arrives when it comes up."""
    source = feed(tmp_path / "source", BATCHES, SIZE)
    query = write_stream(
        source.stream(spark), tmp_path / "checkpoint", options(down, tmp_path, "store")
    )
    eventually("all micro-batches are committed", lambda: batches_done(query) == BATCHES)
    assert metric(query, "undelivered_rows") == ROWS, sink_metrics(query)
    assert sink_metrics(query)["health"].startswith("reconnecting since"), sink_metrics(query)
    down.start()
    assert down.await_count("t", ROWS) == ROWS
    assert differences(down, "t", ROWS) == []
    source.add(rows(ROWS, ROWS + SIZE))
    eventually("one more micro-batch", lambda: batches_done(query) == BATCHES + 1)
    assert metric(query, "undelivered_rows") <= SIZE, sink_metrics(query)
    assert down.await_count("t", ROWS + SIZE) == ROWS + SIZE
    query.stop()


@pytest.mark.spark
def test_server_down_at_the_start_ack_waits(
    spark: Any, down: ServerProcess, tmp_path: Path, spark_log: Callable[[], str]
) -> None:
    """commit_on=ack: the first micro-batch waits for the server, and then everything arrives."""
    source = feed(tmp_path / "source", BATCHES, SIZE)
    query = write_stream(
        source.stream(spark), tmp_path / "checkpoint", options(down, tmp_path, "ack")
    )
    eventually(
        "the sink says that no server is there", lambda: "No server was reached" in spark_log()
    )
    eventually("a task runs", lambda: spark.sparkContext.statusTracker().getActiveJobsIds())
    assert down.addr in spark_log()
    assert batches_done(query) == 0
    down.start()
    eventually("all micro-batches are committed", lambda: batches_done(query) == BATCHES)
    query.stop()
    assert down.await_count("t", ROWS) == ROWS
    assert differences(down, "t", ROWS) == []


@BOTH_MODES
def test_available_now_with_the_server_down(
    spark: Any, down: ServerProcess, tmp_path: Path, commit_on: str
) -> None:
    """trigger(availableNow=True): with ack it waits for the server and ends complete; with store it ends and the rows
    arrive later, from the slots.
    """
    source = feed(tmp_path / "source", BATCHES, SIZE)
    query = write_stream(
        source.stream(spark),
        tmp_path / "checkpoint",
        options(down, tmp_path, commit_on),
        availableNow=True,
    )
    if commit_on == "ack":
        eventually("a task runs", lambda: spark.sparkContext.statusTracker().getActiveJobsIds())
        assert query.isActive
    else:
        finish(query)
        assert metric(query, "undelivered_rows") == ROWS
    down.start()
    finish(query)
    assert batches_done(query) == BATCHES
    assert down.await_count("t", ROWS) == ROWS
    assert differences(down, "t", ROWS) == []


def test_batch_write_with_the_server_down(spark: Any, down: ServerProcess, tmp_path: Path) -> None:
    """A batch write waits for the server as well, within its budget; past it, it fails and names the server."""
    frame = spark.createDataFrame([(1, 1.5)], "id LONG, value DOUBLE")
    write = frame.write.format("questdb-sf").mode("append").option("addr", down.addr)
    write = write.option("table", "t").option("reconnect_max_duration_millis", "1500")
    with pytest.raises(Exception, match=r"(?i)transport|reconnect") as caught:
        write.save()
    assert down.addr in str(caught.value)


@pytest.mark.scripted
@pytest.mark.spark
@BOTH_MODES
def test_server_killed_in_mid_stream(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str
) -> None:
    """SIGKILL of the server when it has received more than it acknowledged: what it did not is sent again."""
    server = start_server()
    source = feed(tmp_path / "source", 2, SIZE)
    query = write_stream(
        source.stream(spark), tmp_path / "checkpoint", options(server, tmp_path, commit_on)
    )
    eventually("two micro-batches", lambda: batches_done(query) == 2)
    server.await_count("t", 2 * SIZE)
    server.script(hold_acks=True)
    for batch in range(2, BATCHES):
        source.add(rows(batch * SIZE, (batch + 1) * SIZE))

    def unacknowledged() -> int:
        seen = server.counters()["tables"]["t"]
        return int(seen["rows_received"] - seen["rows_acked"])

    eventually("rows without acknowledgement", unacknowledged)
    server.kill()
    server.start()
    eventually("all micro-batches are committed", lambda: batches_done(query) == BATCHES)
    assert server.await_count("t", ROWS) == ROWS
    source.add(rows(ROWS, ROWS + SIZE))
    eventually("one more micro-batch", lambda: batches_done(query) == BATCHES + 1)
    server.await_count("t", ROWS + SIZE)
    assert differences(server, "t", ROWS + SIZE) == []
    assert metric(query, "reconnects_succeeded") >= 1, sink_metrics(query)
    assert metric(query, "frames_replayed") >= 1, sink_metrics(query)
    assert server.counters()["tables"]["t"]["rows_received"] > ROWS + SIZE
    query.stop()


@pytest.mark.scripted
@pytest.mark.spark
@BOTH_MODES
def test_a_cut_connection_shows_in_progress_and_sql_tab(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str
) -> None:
    """A connection that is reset with unacknowledged rows: reconnects and replays are above 0 in lastProgress and in
    the SQL tab (REST API), and without keys every row is there at least once.
    """
    server = start_server()
    server.script(hold_acks=True, drop_after_messages=1, drop_times=2)
    source = feed(tmp_path / "source", BATCHES, SIZE)
    chosen = options(server, tmp_path, commit_on)
    del chosen["dedup_keys"]
    before = last_execution(spark)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("two cuts", lambda: server.counters()["connections_total"] >= 3)
    server.script(hold_acks=False)
    eventually("all micro-batches are committed", lambda: batches_done(query) == BATCHES)
    assert server.await_count("t", ROWS) >= ROWS
    # What happened after a task was last asked is shown by the next one.
    for batch in (BATCHES, BATCHES + 1):
        source.add(rows(batch * SIZE, (batch + 1) * SIZE))
        eventually("one more micro-batch", partial(has_done, query, batch + 1))
    total = ROWS + 2 * SIZE
    eventually("all rows", lambda: missing(server, "t", total) == [])
    shown = sink_metrics(query)
    executions = sql_tab(spark, after=before)
    for name in ("reconnect_attempts", "reconnects_succeeded", "frames_replayed"):
        assert int(shown[name]) >= 1, shown
        assert sql_tab_total(executions, f"questdb-sf {name}") == int(shown[name]), name
    assert sql_tab_total(executions, "questdb-sf rows_written") == total
    assert int(shown["rows_written"]) == total
    query.stop()
