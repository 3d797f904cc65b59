"""The two streams of a scenario, which write the same rows into a table with keys and into one without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.spark import Feed, eventually, files_logged, live_metrics, metric, write_stream

KEYED, PLAIN = "with_keys", "without_keys"
FRAME_ROWS = 5
PACE = "java_method('java.lang.Thread', 'sleep', 10L) = 'null'"
"""Rows come one by one and not a micro-batch at once, so that frames are on their way most of the time."""


class Streams:
    """The two queries of a scenario and what the sink says of them."""

    def __init__(self, spark: Any, source: Feed, work: Path, addr: str, commit_on: str) -> None:
        self._spark = spark
        self._checkpoints = {table: work / f"checkpoint-{table}" for table in (KEYED, PLAIN)}
        self.queries = {
            table: write_stream(
                source.stream(spark).where(PACE),
                self._checkpoints[table],
                options,
                processingTime="200 milliseconds",
            )
            for table, options in sink_options(addr, work, commit_on).items()
        }

    def alive(self) -> bool:
        """Raises the error of a query that ended."""
        for query in self.queries.values():
            if (error := query.exception()) is not None:
                raise error
        return True

    def metric(self, name: str) -> int:
        """Of both queries together."""
        return sum(metric(query, name) for query in self.queries.values())

    def moving(self, files: int) -> bool:
        """Whether something is still to come of so many files; raises the error of a query that ended."""
        return self.alive() and (
            any(files_logged(path, "commits") < files for path in self._checkpoints.values())
            or self.metric("undelivered_rows") > 0
        )

    def begun(self) -> int:
        """Files that micro-batches of both queries were begun with."""
        return min(files_logged(path, "offsets") for path in self._checkpoints.values())

    def await_unacked(self) -> int:
        """Until frames wait that nobody has acknowledged, while nobody can; how many they are."""
        return int(
            eventually(
                "frames wait",
                lambda: self.alive() and live_metrics(self._spark, "unacked_frames")[0],
                pause=0.5,
            )
        )

    def on_their_way(self) -> int:
        """Frames that were sent and not acknowledged."""
        sent, acked = live_metrics(self._spark, "frames_sent", "frames_acked")
        return sent - acked

    def quiet(self) -> bool:
        """Whether every frame that was written is acknowledged; raises the error of a query that ended."""
        return self.alive() and live_metrics(self._spark, "unacked_frames") == [0]

    def stop(self) -> None:
        """Both, when everything that they took is acknowledged."""
        eventually(
            "nothing is undelivered", lambda: self.metric("undelivered_rows") == 0, pause=0.5
        )
        for query in self.queries.values():
            query.stop()


def sink_options(addr: str, work: Path, commit_on: str) -> dict[str, dict[str, Any]]:
    """Of both queries, by table."""
    options = {
        "addr": addr,
        "timestamp": "ts",
        "symbols": "sym",
        "create_table": "true",
        "commit_on": commit_on,
        "frame_rows": str(FRAME_ROWS),
        "ack_timeout_millis": "5000",
        "reconnect_max_backoff_millis": "500",
    }
    if commit_on == "store":
        options |= {"sf_dir": str(work / "slots"), "sf_min_free_bytes": "64m"}
    return {
        KEYED: {**options, "table": KEYED, "dedup_keys": "ts,id"},
        PLAIN: {**options, "table": PLAIN},
    }
