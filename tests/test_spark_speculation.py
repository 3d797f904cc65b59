"""Speculation: Spark runs a copy of a slow task beside it, takes what is ready first, and kills the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.driver import Driver
from harness.spark import ROW, Feed, differences, eventually, keyed, missing, rows
from harness.standalone import Standalone
from questdb_sf.slots import list_slots

SIZE = 4000
BATCHES = 2
FRAME_ROWS = 50
HELD = SIZE - 10
"""In the second task of the first micro-batch."""

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.1",
    "spark.executor.memory": "512m",
    # Two tasks a micro-batch, although its file is small.
    "spark.sql.files.minPartitionNum": "2",
    "spark.sql.files.openCostInBytes": "1",
}


def options(addr: str, slots: Path) -> dict[str, dict[str, Any]]:
    """By query and table."""
    with_keys = keyed(addr, slots, "ack", frame_rows=str(FRAME_ROWS), table="keys")
    without = keyed(addr, slots, "store", frame_rows=str(FRAME_ROWS), table="plain")
    del without["dedup_keys"]
    return {"keys": with_keys, "plain": without}


def copies(server: Any, table: str) -> dict[int, int]:
    """Rows that are there more than once, and how often."""
    found = server.sql(f"SELECT id, c FROM (SELECT id, count() c FROM '{table}') WHERE c > 1")
    return {row[0]: row[1] for row in found}


def test_the_copy_of_a_slow_task_wins(start_server: Any, tmp_path: Path) -> None:
    """A task waits for ever in the middle of its rows, what it read is on the way; its copy on another host ends the
    micro-batch. Nothing is missing or altered, rows of both are there twice only where no keys are, and the loser
    leaves nothing in a slot.
    """
    server = start_server()
    source = Feed(tmp_path / "source", ROW)
    for batch in range(BATCHES):
        source.add(rows(batch * SIZE, (batch + 1) * SIZE))
    total = BATCHES * SIZE
    queries = options(server.addr, tmp_path / "slots")
    with (
        Standalone(tmp_path / "cluster", cores=4) as cluster,
        Driver(
            tmp_path / "driver", source, SPECULATION | {"spark.master": cluster.master}
        ) as driver,
    ):
        driver.start(queries, hold_at=HELD, hold_first=True)
        eventually(
            "all micro-batches", lambda: len(driver.events("batch")) == len(queries) * BATCHES
        )
        assert driver.holds()
        last = {event["query"]: event["metrics"] for event in driver.events("batch")}
        for table in queries:
            server.await_count(table, total)
            assert int(last[table]["rows_written"]) == total
            assert last[table]["server_errors"] == last[table]["failed_slots"] == "0"
        assert differences(server, "keys", total) == []
        transactions = server.sql("SELECT count() FROM wal_transactions('keys')")[0][0]
        assert transactions > total / FRAME_ROWS + HELD / FRAME_ROWS / 4  # those of the loser, too
        assert missing(server, "plain", total) == []
        twice = eventually("rows of the loser", lambda: copies(server, "plain"))
        # The loser's; it never came to the rows behind the one that it waits at.
        assert set(twice.values()) == {2}
        assert any(number < HELD for number in twice)
        assert not any(HELD <= number < SIZE for number in twice)
        eventually(
            "all is acknowledged, the loser's too",
            lambda: all(
                slot.published_fsn == slot.acked_fsn for slot in list_slots(tmp_path / "slots")
            ),
        )
        driver.stop(60)
