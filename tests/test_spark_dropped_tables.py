"""Tables that are dropped while a query writes to them: in an outage, between micro-batches, under rows on the way."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess
from harness.spark import (
    Feed,
    batches_done,
    eventually,
    feed,
    finish,
    keyed,
    metric,
    rows,
    write_stream,
)

BOTH_MODES = pytest.mark.parametrize("commit_on", ["ack", "store"])


def begun(
    spark: Any, server: ServerProcess, tmp_path: Path, commit_on: str, **more: str
) -> tuple[Feed, Any]:
    """A feed and a query that has written its first 50 rows into table ``t``."""
    source = feed(tmp_path / "source", 1)
    chosen = keyed(server.addr, tmp_path / "slots", commit_on, **more)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("the first micro-batch", lambda: batches_done(query) == 1)
    server.await_count("t", 50)
    return source, query


def ends_with_table_missing(query: Any, source: Feed, server: ServerProcess) -> None:
    """A task that begins after the lane has ended is told of the rows before it: the feed goes on until then."""
    firsts = itertools.count(10_000, 50)

    def told() -> bool:
        first = next(firsts)
        source.add(rows(first, first + 50))
        return not query.isActive

    eventually("a task is told", told, pause=0.5)
    with pytest.raises(Exception, match="TABLE_MISSING") as caught:
        finish(query)
    for word in ("table 't'", server.addr, "create_table"):
        assert word in str(caught.value), str(caught.value)


@BOTH_MODES
@pytest.mark.parametrize("on_missing_table", ["fail", "create"])
def test_table_dropped_in_an_outage(
    spark: Any,
    start_server: Any,
    new_server: Any,
    tmp_path: Path,
    commit_on: str,
    on_missing_table: str,
) -> None:
    """A table that is gone when the connection is back: fail says so and sends nothing, create makes it anew."""
    server = start_server()
    source, query = begun(spark, server, tmp_path, commit_on, on_missing_table=on_missing_table)
    server.stop()
    with new_server(root=server.root) as elsewhere:  # on a port that the sink does not know
        elsewhere.sql("DROP TABLE t")
    server.start()
    source.add(rows(50, 100))
    if on_missing_table == "create":
        assert server.await_count("t", 50) == 50
        assert server.sql("SELECT dedup FROM tables() WHERE table_name = 't'") == [[True]]
        eventually("the second micro-batch", lambda: batches_done(query) == 2)
        query.stop()
        return
    ends_with_table_missing(query, source, server)
    assert server.count("t") == 0


@BOTH_MODES
@pytest.mark.parametrize("on_missing_table", ["fail", "create"])
def test_table_dropped_between_micro_batches(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str, on_missing_table: str
) -> None:
    """Connections stay open while the table goes: create makes it anew before rows are sent, fail sends none."""
    server = start_server()
    source, query = begun(spark, server, tmp_path, commit_on, on_missing_table=on_missing_table)
    time.sleep(1)  # the pause is the scenario
    server.sql("DROP TABLE t")
    source.add(rows(50, 100))
    if on_missing_table == "fail":
        ends_with_table_missing(query, source, server)
        assert server.count("t") == 0
        return
    assert server.await_count("t", 50) == 50
    assert server.sql("SELECT \"column\" FROM table_columns('t') WHERE upsertKey ORDER BY 1") == [
        ["id"],
        ["ts"],
    ]
    eventually("the second micro-batch", lambda: batches_done(query) == 2)
    query.stop()


@pytest.mark.scripted
@BOTH_MODES
def test_table_dropped_under_rows_on_the_way(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str
) -> None:
    """The server makes the table anew, without keys: they are enabled, and what is sent again is there once."""
    server = start_server()
    source, query = begun(spark, server, tmp_path, commit_on, frame_rows="10")
    total = 3000
    server.script(ack_delay_millis=5)
    source.add(rows(50, total))
    server.await_count("t", 200)
    server.sql("DROP TABLE t")
    query.processAllAvailable()
    server.script(hold_acks=True)
    source.add(rows(total, total + 50))
    last = f"SELECT count() FROM t WHERE id >= {total}"
    eventually("the table is there again", lambda: server.count("t") > 0)
    eventually("the last rows, unacknowledged", lambda: server.sql(last) == [[50]])
    server.kill()
    server.start()
    query.processAllAvailable()
    eventually("all is delivered", lambda: metric(query, "undelivered_rows") == 0)
    query.stop()
    assert metric(query, "frames_replayed") > 0
    assert server.sql(last) == [[50]]
    assert server.sql("SELECT id, n FROM (SELECT id, count() n FROM t) WHERE n > 1") == []
    assert server.sql("SELECT dedup FROM tables() WHERE table_name = 't'") == [[True]]
