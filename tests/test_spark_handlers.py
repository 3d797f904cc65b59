"""Errors, events and counters in Python, from executors in this JVM and in others; two applications at a time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.test_spark_api import WRONG

from harness.fixtures import NewServer
from harness.rejections import CATEGORIES, HALTING, ROWS
from harness.server import ServerProcess
from harness.servers import new_server
from harness.spark import ROW, Feed, eventually, feed, finish, rows, write_stream
from harness.standalone import Standalone
from questdb_sf.errors import ErrorCode, QuestDBSfError, UseError
from questdb_sf.spark import (
    SinkError,
    SinkEvent,
    SinkOptions,
    counters,
    failure,
    history,
    on_error,
    on_event,
    watch,
)
from questdb_sf.spark._events import _Callback

pytestmark = pytest.mark.spark
REPOSITORY = Path(__file__).resolve().parents[1]
MASTERS = ["local[2,3]", "local-cluster[2,1,1024]"]


def test_a_call_without_the_token_reaches_no_handler() -> None:
    """Any process of the host can call what is registered at the port that Spark calls back on."""
    told: list[dict[str, Any]] = []
    callback = _Callback(told.append)
    for token in ("", "guess", _Callback(told.append).token):
        with pytest.raises(PermissionError):
            callback.onEvent(token, "{}")
    assert not told
    callback.onEvent(callback.token, "{}")
    assert told == [{}]


@dataclass
class Application:
    """A run of harness.rejections: its process, and what it said in the end."""

    process: subprocess.Popen[str]
    log: Path
    answer: dict[str, Any] | None = None

    def told(self) -> dict[str, Any]:
        if self.answer is None:
            output, _ = self.process.communicate(timeout=400)
            assert self.process.returncode == 0, self.log.read_text(errors="replace")[-5000:]
            self.answer = json.loads(output)
        return self.answer

    def __enter__(self) -> Application:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def start(master: str, server: ServerProcess, work: Path, *more: str) -> Application:
    work.mkdir()
    log = work / "application.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "harness.rejections"),
                *(master, server.addr, str(work / "files"), *more),
            ],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    return Application(process, log)


@pytest.fixture(scope="module")
def applications(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Application]]:
    """One application a master, all at the same time on this machine, each with handlers and a scripted server."""
    work = tmp_path_factory.mktemp("applications")
    with ExitStack() as stack:
        running = {}
        for number, master in enumerate(MASTERS):
            server = stack.enter_context(new_server(work / f"root-{number}"))
            started = start(master, server, work / f"application-{number}")
            running[master] = stack.enter_context(started)
        yield running


@pytest.mark.scripted
@pytest.mark.parametrize("master", MASTERS)
def test_each_rejection_reaches_a_handler(
    applications: dict[str, Application], master: str
) -> None:
    check_rejections(applications[master].told(), local=master.startswith("local["))


@pytest.mark.scripted
@pytest.mark.slow
def test_each_rejection_reaches_a_handler_from_two_workers(
    start_server: NewServer, tmp_path: Path
) -> None:
    server = start_server()
    with (
        Standalone(tmp_path / "cluster") as cluster,
        start(cluster.master, server, tmp_path / "application") as application,
    ):
        told = application.told()
    check_rejections(told, local=False)
    assert {one["executor"] for one in told["errors"]} <= {"0", "1"}


@pytest.mark.scripted
@pytest.mark.slow
def test_without_the_plugin_errors_come_with_what_tasks_commit(
    start_server: NewServer, tmp_path: Path
) -> None:
    server = start_server()
    with start(MASTERS[1], server, tmp_path / "application", "without") as application:
        told = application.told()
    assert [error["category"] for error in told["errors"]] == ["WRITE_ERROR"] * 2
    for error in told["errors"]:
        assert (error["table"], error["row_range"]) == ("write", [1, ROWS // 2])
    assert told["counters"]["rows_written"] == ROWS
    assert told["metrics"] == {}


def check_rejections(told: dict[str, Any], local: bool) -> None:
    for name, category in CATEGORIES.items():
        errors = [error for error in told["errors"] if error["category"] == category]
        assert errors, name
        for error in errors:
            assert error["table"] == name
            assert error["row_range"] == [1, ROWS // 2]
            assert error["fsn_range"] is not None
            assert error["message"] == f"scripted {name}"
            assert error["policy"] == ("HALT" if name in HALTING else "RETRY")
            assert error["query_id"] == told[name]["query"]
            assert error["batch"] == 0
            assert error["partition"] in (0, 1)
            assert (error["executor"] == "driver") == local
        if name in HALTING:
            assert told[name]["code"] == "SERVER_REJECTED"
            said = told[name]["exception"]
            assert f"scripted {name}. The frame is of rows 1 to {ROWS // 2} of this task" in said
            assert f"table '{name}'" in said
            # Of every attempt of a task that ends the query.
            assert len(errors) >= 3


@pytest.mark.scripted
@pytest.mark.parametrize("master", MASTERS)
def test_bad_handlers_stall_nobody_and_are_counted(
    applications: dict[str, Application], master: str
) -> None:
    told = applications[master].told()
    handlers = told["registrations"]
    total = len(told["errors"])
    assert handlers["main"]["delivered"] == total
    assert handlers["raising"]["failed"] == total
    assert "a handler that raises" in handlers["raising"]["last_failure"]
    assert told["slow"] == 1
    assert handlers["sleeping"]["waiting"] == 2
    assert handlers["sleeping"]["dropped"] == total - 3
    assert told["removed"] == 0
    assert not handlers["removed"]["active"]
    assert {"started", "error", "ended"} <= set(told["events"])


@pytest.mark.scripted
@pytest.mark.parametrize("master", MASTERS)
def test_counters_and_metrics_page(applications: dict[str, Application], master: str) -> None:
    told = applications[master].told()
    counted = told["counters"]
    assert counted["rows_written"] == ROWS
    assert counted["server_errors"] == 2
    assert counted["commit_on"] == "ack"
    executors = counted["executors"]
    assert sum(one["rows_written"] for one in executors.values()) == ROWS
    if not master.startswith("local["):
        assert set(executors) <= {"0", "1"}
    page = {name.rpartition(".")[2]: value for name, value in told["metrics"].items()}
    driver = [name for name in told["metrics"] if ".driver.plugin." in name]
    assert any(name.endswith(".rows_written") for name in driver)
    assert page["rows_written"] == ROWS
    assert page["server_errors"] == len(told["errors"])


def test_handlers_hear_of_starts_ends_and_row_errors(
    spark: Any, server: ServerProcess, tmp_path: Path
) -> None:
    events: list[SinkEvent] = []
    errors: list[SinkError] = []
    threads: set[str] = set()

    def heard(event: SinkEvent) -> None:
        threads.add(threading.current_thread().name)
        assert spark.range(3).count() == 3  # a handler may use Spark
        events.append(event)

    options = SinkOptions(
        addr=server.addr,
        table="heard",
        timestamp="ts",
        create_table=True,
        nulls_boolean="zero",
    )
    with on_event(spark, heard) as registration, on_error(spark, errors.append):
        good = Feed(tmp_path / "good", ROW)
        good.add(rows(0, 30))
        query = write_stream(good.stream(spark), tmp_path / "cp", options.to_options())
        query.processAllAvailable()
        now = counters(query)
        assert now.rows_written == 30
        query.stop()
        eventually("start and end", lambda: {e.kind for e in events} >= {"started", "ended"})
        started = next(event for event in events if event.kind == "started")
        assert started.query_id == query.id
        assert "commit_on=ack" in started.message

        bad = Feed(tmp_path / "bad", ROW)
        bad.add([*rows(0, 3), {"id": -(2**63), "ts": "2024-01-01T00:00:00Z"}])
        query = write_stream(bad.stream(spark), tmp_path / "cp2", options.to_options())
        with pytest.raises(Exception, match="VALUE_INVALID") as raised:
            finish(query)
        found = failure(raised.value)
        assert found is not None and found.code == ErrorCode.VALUE_INVALID
        error = eventually("the row error", lambda: errors and errors[-1])
        assert (error.category, error.policy) == ("VALUE_INVALID", "HALT")
        assert (error.table, error.row_range) == ("heard", (4, 4))
        assert error.query_id == query.id
        assert error.status is None
        assert registration.delivered >= 3
        assert registration.failed == 0
    assert not registration.active
    assert registration.delivered >= 3  # still to be read
    assert threading.main_thread().name not in threads


@pytest.mark.scripted
def test_the_rows_of_the_frame_that_was_refused_are_named(
    spark: Any, start_server: NewServer, tmp_path: Path
) -> None:
    server = start_server()
    nack = {
        "status": 0x09,
        "message": "not now",
        "table": "third",
        "after_messages": 2,
        "times": 1,
    }
    server.script(nack=nack)
    options = SinkOptions(
        addr=server.addr,
        table="third",
        timestamp="ts",
        create_table=True,
        frame_rows=30,
    )
    errors: list[SinkError] = []
    with on_error(spark, errors.append):
        source = feed(tmp_path / "feed", 1, 100)
        stream = source.stream(spark).coalesce(1)
        query = write_stream(stream, tmp_path / "cp", options.to_options(), availableNow=True)
        finish(query)
        error = eventually("the refusal", lambda: errors and errors[0])
    assert (error.category, error.table, error.row_range) == (
        "WRITE_ERROR",
        "third",
        (61, 90),
    )
    assert server.await_count("third", 100) >= 100


@pytest.mark.scripted
def test_rows_that_were_committed_to_a_slot_are_named_when_they_are_refused(
    spark: Any, start_server: NewServer, tmp_path: Path
) -> None:
    server = start_server()
    server.script(hold_acks=True)
    errors: list[SinkError] = []
    options = SinkOptions(
        addr=server.addr,
        table="late",
        timestamp="ts",
        create_table=True,
        commit_on="store",
        sf_dir=tmp_path / "slots",
        on_schema_error="drop",
        dead_letter_dir=str(tmp_path / "letters"),
    )
    with on_error(spark, errors.append):
        source = feed(tmp_path / "feed", 2, 7)
        query = write_stream(source.stream(spark), tmp_path / "cp", options.to_options())
        query.processAllAvailable()
        assert counters(query).undelivered_rows == 14  # committed; nobody has acknowledged them
        server.script(nack={"status": 0x03, "message": "too late", "table": "late", "times": 1})
        server.kill()
        server.start()
        server.script(nack={"status": 0x03, "message": "too late", "table": "late", "times": 1})
        error = eventually("the refusal", lambda: errors and errors[0])
        query.stop()
    assert (error.category, error.policy, error.table) == (
        "SCHEMA_MISMATCH",
        "DROP",
        "late",
    )
    assert error.row_range == (1, 7)
    assert error.batch in (0, 1)
    assert error.query_id == query.id
    assert error.slot is not None and error.slot.startswith(str(tmp_path / "slots"))
    assert error.dead_letter is not None


def test_a_handler_that_was_removed_hears_nothing(
    spark: Any, server: ServerProcess, tmp_path: Path
) -> None:
    first: list[SinkEvent] = []
    second: list[SinkEvent] = []
    removed = on_event(spark, first.append)
    removed.remove()
    removed.remove()
    with on_event(spark, second.append):
        query = write_stream(
            feed(tmp_path / "feed", 1).stream(spark),
            tmp_path / "cp",
            {
                "addr": server.addr,
                "table": "removed",
                "timestamp": "ts",
                "create_table": "on",
            },
            availableNow=True,
        )
        finish(query)
        eventually("the end", lambda: any(event.kind == "ended" for event in second))
    assert first == []


@pytest.mark.parametrize("options", WRONG, ids=lambda o: json.dumps(o)[:60])
def test_python_refuses_in_the_words_of_the_jvm(spark: Any, options: dict[str, str]) -> None:
    with pytest.raises(QuestDBSfError) as here:
        SinkOptions.of(options)
    frame = spark.range(1).selectExpr("timestamp_seconds(id) AS ts")
    with pytest.raises(Exception) as there:
        frame.write.format("questdb-sf").options(**options).mode("append").save()
    found = failure(there.value)
    assert found is not None, there.value
    assert (found.code, found.message) == (here.value.code, here.value.message)


def test_history_and_watch(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    options = {
        "addr": server.addr,
        "table": "watched",
        "timestamp": "ts",
        "create_table": "on",
    }
    source = feed(tmp_path / "feed", 3, 10)
    with history(spark) as kept:
        query = write_stream(source.stream(spark), tmp_path / "cp", options)
        query.processAllAvailable()
        drawn = StringIO()
        last = watch(query, every=0.2, seconds=0.5, file=drawn)
        assert last.rows_written == 30
        assert drawn.getvalue().count("rows_written") >= 2
        query.stop()
        eventually(
            "three micro-batches",
            lambda: sum(r["input_rows"] for r in kept.rows()) == 30,
        )
    frame = kept.frame()
    assert frame["rows_written"].max() == 30
    assert set(frame["query_id"]) == {query.id}
    assert frame["at"].is_monotonic_increasing


def test_counters_of_another_sink_are_refused(spark: Any, tmp_path: Path) -> None:
    query = (
        feed(tmp_path / "feed", 1)
        .stream(spark)
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "cp"))
        .start()
    )
    query.processAllAvailable()
    with pytest.raises(UseError, match="does not write through questdb-sf"):
        counters(query)
    query.stop()
