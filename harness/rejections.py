"""A Spark application with handlers, as a process of its own: meets each rejection of a scripted server once.

Its arguments are a master, the server's address, a directory for its files, and "without" for a session without the
sink's plugin, which then meets only the rejections that a query survives. It prints one JSON line: what handlers
were called with, what ended each query, counters, and what the metrics page shows.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import requests

from harness.spark import ROW, Feed, eventually, rows, write_stream

HALTING = {"schema": 0x03, "parse": 0x05, "security": 0x08}
RETRIED = {"write": 0x09}
CATEGORIES = {
    "schema": "SCHEMA_MISMATCH",
    "parse": "PARSE_ERROR",
    "security": "SECURITY_ERROR",
    "write": "WRITE_ERROR",
}
ROWS = 40


def main(master: str, address: str, work: Path, plugin: bool = True) -> dict[str, Any]:
    """Meets them all, one after the other."""
    from questdb_sf.spark import counters, failure, on_error, on_event

    spark = session(master, work, plugin)
    errors: list[Any] = []
    events: list[Any] = []
    slow: list[Any] = []
    removed: list[Any] = []

    def raising(error: Any) -> None:
        raise ValueError(f"a handler that raises, at {error.category}")

    def sleeping(error: Any) -> None:
        slow.append(error)
        time.sleep(600)

    registrations = {
        "main": on_error(spark, errors.append),
        "raising": on_error(spark, raising),
        "sleeping": on_error(spark, sleeping, queue=2),
        "events": on_event(spark, events.append),
        "removed": on_error(spark, removed.append),
    }
    registrations["removed"].remove()
    told: dict[str, Any] = {}
    for name, status in {**(HALTING if plugin else {}), **RETRIED}.items():
        script(
            address,
            nack={
                "status": status,
                "message": f"scripted {name}",
                "table": name,
                "times": None if name in HALTING else 2,
            },
        )
        feed = Feed(work / f"feed-{name}", ROW)
        feed.add(rows(0, ROWS))
        query = write_stream(
            feed.stream(spark).repartition(2),
            work / f"checkpoint-{name}",
            {"addr": address, "table": name, "timestamp": "ts", "create_table": "true"},
        )
        if name in HALTING:
            eventually("the query ends", partial(ended, query))
            error = failure(query)
            told[name] = {
                "query": str(query.id),
                "code": str(error.code) if error else None,
                "exception": str(query.exception()),
            }
        else:
            query.processAllAvailable()
            told[name] = {"query": str(query.id), "code": None}
            written = counters(query)
            told["counters"] = asdict(written) | {"at": None}
            told["table"] = str(written)
            told["html"] = written._repr_html_()
        wanted = CATEGORIES[name]
        eventually(
            f"a handler hears of {wanted}",
            partial(heard, errors, wanted),
            60,
        )
        if name in RETRIED:
            query.stop()
    script(address, nack={"times": 0})
    # Attempts of tasks whose query is over tell of their errors until their executors are done with them.
    told["metrics"], heard_of = eventually(
        "handlers and the metrics page agree", partial(agreed, spark, errors, plugin)
    )
    told["errors"] = [asdict(error) | {"at": error.at.isoformat()} for error in heard_of]
    told["events"] = sorted({event.kind for event in events})
    told["slow"] = len(slow)
    told["removed"] = len(removed)
    told["registrations"] = {
        name: {
            "delivered": one.delivered,
            "failed": one.failed,
            "dropped": one.dropped,
            "waiting": one.waiting,
            "last_failure": one.last_failure,
            "active": one.active,
        }
        for name, one in registrations.items()
    }
    return told


def ended(query: Any) -> bool:
    """Whether a query is over."""
    return not query.isActive


def heard(errors: list[Any], category: str) -> bool:
    """Whether a handler was told of an error of this category."""
    return any(error.category == category for error in errors)


def session(master: str, work: Path, plugin: bool = True) -> Any:
    """A Spark as a user would make it."""
    from pyspark.sql import SparkSession

    from questdb_sf.spark import configure

    builder = (
        SparkSession.builder.master(master)
        .appName("rejections")
        .config("spark.driver.memory", "1g")
        .config("spark.executor.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.port", "0")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
    )
    spark = configure(builder, plugin=plugin).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def script(address: str, **changes: Any) -> None:
    """Changes how the server behaves."""
    requests.post(f"http://{address}/qwp/script", json=changes, timeout=30).raise_for_status()


def metrics_page(spark: Any) -> dict[str, Any]:
    """The gauges of the plugin in /metrics/json, by their full name."""
    port = spark.sparkContext.uiWebUrl.rsplit(":", 1)[1]
    page = requests.get(f"http://127.0.0.1:{port}/metrics/json/", timeout=30).json()
    return {name: one["value"] for name, one in page["gauges"].items() if ".SfPlugin." in name}


def agreed(spark: Any, errors: list[Any], plugin: bool) -> tuple[dict[str, Any], list[Any]] | None:
    """The metrics page and the errors that a handler was told of, once their numbers are the same."""
    page, heard_of = metrics_page(spark), list(errors)
    shown = [value for name, value in page.items() if name.endswith(".server_errors")]
    return (page, heard_of) if not plugin or len(heard_of) in shown else None


if __name__ == "__main__":
    # Ends without stopping Spark, while one handler sleeps: the interpreter must end all the same.
    told = main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), "without" not in sys.argv[4:])
    print(json.dumps(told), flush=True)
