"""Spark for tests: a session with the sink's jar, sources that make one micro-batch a file, and waiting for events.

Spark's own log goes to a file, where tests may look for what must or must not be in it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import requests

PATIENCE_SECONDS = 400.0
"""Far above what anything here takes, also beside other tests on two cores: only what hangs gets there."""
LOG_FORMAT = """
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
logger.sink.name = org.questdbsf
logger.sink.level = info
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{HH:mm:ss.SSS}} %p %c: %m%n%ex
"""


def session(
    name: str, work: Path, cores: int = 2, settings: Mapping[str, str] | None = None
) -> Any:
    """A new Spark in a JVM of its own, with the jar of the installed package; its log is ``work/spark.log``.

    ``settings`` of Spark come on top of what is set here.
    """
    from pyspark.sql import SparkSession

    from questdb_sf.spark import configure

    work.mkdir(parents=True, exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    log_settings = work / "log4j2.properties"
    log_settings.write_text(LOG_FORMAT.format(file=work / "spark.log"), encoding="utf-8")
    builder = (
        SparkSession.builder.master(f"local[{cores}]")
        .appName(name)
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile=file:{log_settings}")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.port", "0")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.stopTimeout", "60s")
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
    )
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    return configure(builder).getOrCreate()


def eventually(
    what: str, look: Callable[[], Any], seconds: float = PATIENCE_SECONDS, pause: float = 0.05
) -> Any:
    """Looks until the answer is true and returns it; after ``seconds`` fails with the last answer."""
    deadline = time.monotonic() + seconds
    while not (answer := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}; last seen {answer!r}")
        time.sleep(pause)
    return answer


class Feed:
    """A directory of JSON files that a stream reads one a micro-batch, in the order in which they were added."""

    def __init__(self, directory: Path, schema: str) -> None:
        self.directory = directory
        self.schema = schema
        self._files = 0
        directory.mkdir(parents=True)

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """One more micro-batch."""
        text = "".join(json.dumps(row) + "\n" for row in rows)
        name = f"{self._files:05d}.json"
        hidden = self.directory / f".{name}.tmp"
        hidden.write_text(text, encoding="utf-8")
        # The file source goes by time, in whole seconds or milliseconds: spaced so that the order is fixed.
        stamp = 1_700_000_000 + 10 * self._files
        os.utime(hidden, (stamp, stamp))
        hidden.rename(self.directory / name)
        self._files += 1

    def stream(self, spark: Any) -> Any:
        """The streaming frame."""
        return (
            spark.readStream.schema(self.schema)
            .option("maxFilesPerTrigger", 1)
            .json(str(self.directory))
        )


ROW = "id LONG, name STRING, value DOUBLE, ts TIMESTAMP"
START_MICROS = 1_704_067_200_000_000
"""2024-01-01T00:00:00Z."""


def row(number: int, **changes: Any) -> dict[str, Any]:
    """Row ``number`` of :data:`ROW`, every column a function of the number."""
    seconds, millis = divmod(number, 1000)
    minutes, seconds = divmod(seconds, 60)
    return {
        "id": number,
        "name": f"name {number % 17}",
        "value": number / 8,
        "ts": f"2024-01-01T{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}.{millis:03d}Z",
        **changes,
    }


def rows(first: int, last: int) -> list[dict[str, Any]]:
    """Rows ``first`` to ``last - 1``."""
    return [row(number) for number in range(first, last)]


def feed(directory: Path, batches: int, size: int = 50) -> Feed:
    """A feed that already holds so many micro-batches of :data:`ROW`."""
    made = Feed(directory, ROW)
    for batch in range(batches):
        made.add(rows(batch * size, (batch + 1) * size))
    return made


def differences(server: Any, table: str, total: int) -> list[str]:
    """What of rows 0 to ``total - 1`` is missing, there more than once, or different; empty when all is well."""
    there = server.sql(f"SELECT id, name, value, ts FROM '{table}' ORDER BY id")
    found: dict[int, list[Any]] = {}
    for number, *values in there:
        found.setdefault(number, []).append(values)
    wrong = [f"{number} is missing" for number in range(total) if number not in found]
    for number, copies in found.items():
        wanted = row(number)
        if number >= total:
            wrong.append(f"{number} was never sent")
        if len(copies) > 1:
            wrong.append(f"{number} is there {len(copies)} times")
        for name, value, ts in copies:
            same = (name, value, ts[:23] + "Z") == (wanted["name"], wanted["value"], wanted["ts"])
            if not same:
                wrong.append(f"{number} is {(name, value, ts)}")
    return wrong


def missing(server: Any, table: str, total: int) -> list[str]:
    """As :func:`differences`, but rows may be there more than once: for tables without keys."""
    return [text for text in differences(server, table, total) if not text.endswith(" times")]


def write_stream(
    frame: Any, checkpoint: Path, options: dict[str, Any], mode: str = "append", **trigger: Any
) -> Any:
    """Starts a query into the sink. Without a trigger: the next micro-batch as soon as there is one."""
    writer = (
        frame.writeStream.format("questdb-sf")
        .options(**options)
        .option("checkpointLocation", str(checkpoint))
        .outputMode(mode)
    )
    return (writer.trigger(**trigger) if trigger else writer).start()


def keyed(addr: str, slots: Path, commit_on: str, **more: Any) -> dict[str, Any]:
    """Options for a table ``t`` with keys, so that a row sent again is there once."""
    chosen = {
        "addr": addr,
        "table": "t",
        "timestamp": "ts",
        "create_table": "true",
        "dedup_keys": "ts,id",
        "commit_on": commit_on,
        "reconnect_max_backoff_millis": "500",
    }
    if commit_on == "store":
        chosen |= {"sf_dir": str(slots), "sf_min_free_bytes": "64m"}
    return chosen | more


def finish(query: Any, seconds: float = PATIENCE_SECONDS) -> None:
    """Waits until a query has ended by itself; its error is raised."""
    if not query.awaitTermination(seconds):
        progress = query.lastProgress
        query.stop()
        raise AssertionError(f"the query did not end within {seconds} s; last progress {progress}")


def batches_done(query: Any) -> int:
    """Micro-batches with rows that a query has finished in this run; raises the query's error."""
    if (error := query.exception()) is not None:
        raise error
    return len([p for p in query.recentProgress if p["numInputRows"] > 0])


def files_logged(checkpoint: Path, log: str) -> int:
    """How many files of a :class:`Feed` the micro-batches cover that are in one of Spark's logs, offsets or commits.

    One a micro-batch, but two in the one after a kill that fell between the log of the source and that of the query.
    """
    try:
        names = [entry.name for entry in (checkpoint / log).iterdir()]
        last = max((int(name) for name in names if name.isdigit()), default=None)
        if last is None:
            return 0
        offsets = (checkpoint / "offsets" / str(last)).read_text(encoding="utf-8")
    except FileNotFoundError:
        return 0
    return int(json.loads(offsets.splitlines()[-1])["logOffset"]) + 1


def sink_metrics(query: Any) -> dict[str, str]:
    """What the sink last reported in the query's progress."""
    progress = query.lastProgress
    return dict(progress["sink"].get("metrics") or {}) if progress else {}


def metric(query: Any, name: str) -> int:
    """One counter or gauge of the last progress, 0 before the first."""
    return int(sink_metrics(query).get(name, 0))


def live_metrics(spark: Any, *names: str) -> list[int]:
    """Of the sink's metrics as its lanes in this process have them at one moment, with a local master.

    Progress and the driver's own metrics are as of the last word from executors.
    """
    port = spark.sparkContext.uiWebUrl.rsplit(":", 1)[1]
    answer = requests.get(f"http://127.0.0.1:{port}/metrics/json", timeout=60)
    answer.raise_for_status()
    gauges = answer.json()["gauges"]
    return [int(gauges[f"plugin.org.questdbsf.spark.SfPlugin.{name}"]["value"]) for name in names]


def sql_tab(spark: Any, after: int = -1) -> list[dict[str, Any]]:
    """SQL executions with higher ids, as the UI's SQL tab shows them, through the REST API."""
    context = spark.sparkContext
    # The UI may name itself by a host that does not resolve here.
    port = context.uiWebUrl.rsplit(":", 1)[1]
    answer = requests.get(
        f"http://127.0.0.1:{port}/api/v1/applications/{context.applicationId}/sql",
        params={"details": "true", "planDescription": "true", "length": "100000"},
        timeout=60,
    )
    answer.raise_for_status()
    return [execution for execution in answer.json() if execution["id"] > after]


def last_execution(spark: Any) -> int:
    """The highest id in the SQL tab, -1 where it is empty."""
    return max((int(execution["id"]) for execution in sql_tab(spark)), default=-1)


def sql_tab_total(executions: Sequence[dict[str, Any]], name: str) -> int:
    """The sum of one of the sink's metrics over executions; its label is the one that the sink gives it."""
    total = 0
    for execution in executions:
        for node in execution["nodes"]:
            for shown in node["metrics"]:
                if shown["name"] == name:
                    total += int(shown["value"].split("\n")[-1].split(" ")[0].replace(",", ""))
    return total
