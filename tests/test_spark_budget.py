"""Many queries and tables in one JVM share one budget of bytes: they wait for each other, and none fails for it."""

from __future__ import annotations

from typing import Any

from harness.server import ServerProcess

TABLES = 8
TWO_RINGS = {"sf_max_total_bytes": "16m", "sf_max_segment_bytes": "4m", "max_lanes": "2"}


def test_one_table_after_the_other(spark: Any, server: ServerProcess) -> None:
    """Idle lanes of finished writes make room at once: a budget of two rings is enough for any number of tables."""
    for number in range(TABLES):
        table = f"budget_{number}"
        spark.range(0, 100, 1, 2).selectExpr("id", "timestamp_micros(id) AS ts").write.format(
            "questdb-sf"
        ).mode("append").options(
            addr=server.addr, table=table, timestamp="ts", create_table="true", **TWO_RINGS
        ).save()
        assert server.await_count(table, 100) == 100
