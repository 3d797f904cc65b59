"""The Spark driver dies, or starts again from its checkpoint: no row is missing, and none is there twice with keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.driver import Driver
from harness.fixtures import NewServer
from harness.server import ServerProcess, free_port
from harness.spark import (
    ROW,
    Feed,
    batches_done,
    differences,
    eventually,
    feed,
    finish,
    keyed,
    metric,
    row,
    rows,
    sink_metrics,
    write_stream,
)
from questdb_sf.spark import SinkError, counters, on_error

BOTH_MODES = pytest.mark.parametrize("commit_on", ["ack", "store"])
StartDriver = Callable[[Feed], Driver]
FAMILY = "family"


def options(addr: str, slots: Path, commit_on: str, **more: Any) -> dict[str, Any]:
    """Frames of 100 rows, so that a micro-batch goes in parts."""
    return keyed(addr, slots, commit_on, frame_rows="100", **more)


def frames_waiting(slots: Path) -> list[str]:
    """Slots that hold segments."""
    return sorted({path.parent.name for path in slots.glob("*/*.sfa")})


@pytest.mark.scripted
@pytest.mark.spark
@BOTH_MODES
def test_driver_killed_in_a_micro_batch(
    spark: Any, start_server: Any, start_driver: StartDriver, tmp_path: Path, commit_on: str
) -> None:
    """SIGKILL of the driver when part of a micro-batch is at the server, unacknowledged; restart from checkpoint."""
    server = start_server()
    source = feed(tmp_path / "source", 2, 50)
    source.add(rows(100, 1300))
    chosen = options(server.addr, tmp_path / "slots", commit_on)
    driver = start_driver(source).start({"t": chosen}, hold_at=1200)
    eventually("two micro-batches", lambda: len(driver.events("batch")) >= 2)
    server.script(hold_acks=True)
    eventually("the third one is half read", driver.holds)
    eventually(
        "part of it is at the server",
        lambda: server.counters()["tables"]["t"]["rows_received"] > 100,
    )
    driver.kill()
    received = server.counters()["tables"]["t"]["rows_received"]
    assert received < 1300
    server.script(hold_acks=False)
    source.add(rows(1300, 1350))
    query = write_stream(source.stream(spark), driver.checkpoint("t"), chosen, availableNow=True)
    finish(query)
    assert [p["batchId"] for p in query.recentProgress if p["numInputRows"]] == [2, 3]
    assert server.await_count("t", 1350) == 1350
    assert differences(server, "t", 1350) == []
    # The third micro-batch came again, whole.
    assert server.counters()["tables"]["t"]["rows_received"] >= received + 1250
    if commit_on == "store":
        eventually("the slots are empty", lambda: frames_waiting(tmp_path / "slots") == [])


@pytest.mark.scripted
@BOTH_MODES
def test_python_killed_with_handlers_in_use(
    spark: Any, start_server: Any, start_driver: StartDriver, tmp_path: Path, commit_on: str
) -> None:
    """SIGKILL of Python alone: its JVM ends by itself, though events for handlers are on their way; nothing is lost."""
    server = start_server()
    source = feed(tmp_path / "source", 2, 50)
    chosen = options(server.addr, tmp_path / "slots", commit_on)
    driver = start_driver(source).start({"t": chosen}, handlers=True)
    eventually("two micro-batches", lambda: len(driver.events("batch")) >= 2)
    # From here on every frame is refused, again and again, and each time the handlers are to be told.
    server.script(nack={"status": 9, "message": "busy", "table": "t", "times": None})
    source.add(rows(100, 350))
    eventually("refusals", lambda: len(driver.events("refused")) > 1)
    assert {"started", "error"} <= {event["kind"] for event in driver.events("heard")}
    driver.kill_python()
    server.script(nack={"times": 0})
    source.add(rows(350, 360))  # executors look for slots from their first row on
    finish(write_stream(source.stream(spark), driver.checkpoint("t"), chosen, availableNow=True))
    assert server.await_count("t", 360) == 360
    assert differences(server, "t", 360) == []


@pytest.mark.spark
@BOTH_MODES
def test_last_entry_of_the_commit_log_lost(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str
) -> None:
    """The driver dies after the sink's commit and before Spark's: the epoch comes again, and nothing is there twice."""
    server = start_server()
    source = feed(tmp_path / "source", 3, 50)
    chosen = options(server.addr, tmp_path / "slots", commit_on)
    checkpoint = tmp_path / "checkpoint"
    finish(write_stream(source.stream(spark), checkpoint, chosen, availableNow=True))
    server.await_count("t", 150)
    for entry in (checkpoint / "commits").glob("*2*"):
        entry.unlink()
    source.add(rows(150, 200))
    query = write_stream(source.stream(spark), checkpoint, chosen, availableNow=True)
    finish(query)
    assert [p["batchId"] for p in query.recentProgress if p["numInputRows"]] == [2, 3]
    assert metric(query, "rows_written") == 100  # the third micro-batch again, and the fourth
    server.await_count("t", 200)
    assert differences(server, "t", 200) == []


@pytest.fixture(scope="module")
def killed_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What a killed driver leaves behind that wrote three micro-batches of 50 rows with commit_on=store and never had a
    server: ``slots``, and in ``addr`` the address it wanted.
    """
    work = tmp_path_factory.mktemp("killed")
    addr = f"127.0.0.1:{free_port()}"
    source = feed(work / "source", 3, 50)
    with Driver(work / "driver", source) as driver:
        driver.start({"t": options(addr, work / "slots", "store", sender_id=FAMILY)})
        eventually("three micro-batches", lambda: len(driver.events("batch")) >= 3)
    assert frames_waiting(work / "slots")
    (work / "addr").write_text(addr, encoding="utf-8")
    yield work


@pytest.fixture
def heir(killed_store: Path, tmp_path: Path, start_server: NewServer) -> ServerProcess:
    """A server at the address that the killed driver wanted; the test has a copy of the slots in ``slots``."""
    shutil.copytree(killed_store / "slots", tmp_path / "slots")
    port = int((killed_store / "addr").read_text(encoding="utf-8").rsplit(":", 1)[1])
    return start_server(port=port)


@pytest.mark.spark
def test_slots_of_a_killed_driver_are_adopted(
    spark: Any, heir: ServerProcess, tmp_path: Path
) -> None:
    """The next run with the same sf_dir sends what a killed driver left, says so, and leaves the slots empty."""
    source = Feed(tmp_path / "source", ROW)
    source.add(rows(150, 200))
    chosen = options(heir.addr, tmp_path / "slots", "store", sender_id=FAMILY)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    assert heir.await_count("t", 200) == 200
    eventually("the old slots are empty", lambda: frames_waiting_of_others(tmp_path, query) == [])
    source.add(rows(200, 250))
    eventually("the second micro-batch", lambda: batches_done(query) == 2)
    assert metric(query, "drainers_succeeded") >= 1, sink_metrics(query)
    assert metric(query, "stranded_slots") == 0, sink_metrics(query)
    heir.await_count("t", 250)
    assert differences(heir, "t", 250) == []
    query.stop()


def frames_waiting_of_others(tmp_path: Path, query: Any) -> list[str]:
    """Slots with frames that no running process holds."""
    waiting = []
    for name in frames_waiting(tmp_path / "slots"):
        holder = tmp_path / "slots" / name / ".lock.pid"
        pid = holder.read_text(encoding="utf-8").split()[0] if holder.exists() else ""
        if not pid or not Path(f"/proc/{pid}").exists():
            waiting.append(name)
    return waiting


@pytest.mark.scripted
@pytest.mark.parametrize("policy", ["drop", "halt"])
def test_what_goes_wrong_with_adopted_slots_reaches_a_handler(
    spark: Any, heir: ServerProcess, tmp_path: Path, policy: str
) -> None:
    """Frames that the server refuses, and a slot that is damaged; what rows they hold only a dead process knew."""
    slots = tmp_path / "slots"
    left = {str(slots / name) for name in frames_waiting(slots)}
    damaged = shutil.copytree(sorted(left)[0], slots / f"{FAMILY}-77")
    segment = min(damaged.glob("*.sfa"))
    with segment.open("r+b") as file:
        file.seek(24 + 8 + 20)  # into the first frame
        file.write(b"?")
    heir.script(nack={"status": 3, "message": "not this", "table": "t", "times": None})
    chosen = options(heir.addr, slots, "store", sender_id=FAMILY, table="u")
    if policy == "drop":
        chosen |= {"on_schema_error": "drop", "dead_letter_dir": str(tmp_path / "letters")}
    errors: list[SinkError] = []

    def of(slot: str) -> list[SinkError]:
        return [error for error in errors if error.slot == slot]

    source = Feed(tmp_path / "source", ROW)
    source.add(rows(0, 10))
    with on_error(spark, errors.append):
        query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
        eventually("word of each", lambda: all(of(slot) for slot in left))
        eventually(
            "the damaged one is given up",
            lambda: [e.policy for e in of(str(damaged))][-1:] == ["HALT"],
        )
        gone = {Path(slot).name for slot in left}
        if policy == "drop":
            eventually("the slots are empty", lambda: not gone & set(frames_waiting(slots)))
        else:
            marked = [slots / name / ".failed" for name in gone]
            eventually("the slots are set aside", lambda: all(path.exists() for path in marked))
        eventually("the counters", lambda: counters(query).server_errors > 0)
        dropped = counters(query).rows_dropped
        query.stop()
    for slot in left:
        for error in of(slot):
            assert (error.category, error.policy) == ("SCHEMA_MISMATCH", policy.upper())
            assert (error.table, error.message, error.status) == ("t", "not this", 3)
            assert error.query_id == query.id
            assert error.fsn_range is not None
            assert error.row_range is None
            assert (error.dead_letter is not None) == (policy == "drop")
        assert policy == "drop" or len(of(slot)) == 1, "told once"
    assert {error.category for error in of(str(damaged))} == {"SLOT_REFUSED"}
    assert dropped == (150 if policy == "drop" else 0)
    assert heir.await_count("u", 10) == 10


def test_slots_of_another_target_are_left_alone(
    spark: Any, heir: ServerProcess, tmp_path: Path, spark_log: Callable[[], str]
) -> None:
    """Slots that were meant for another address are not sent; they are counted, and named with what to do."""
    source = Feed(tmp_path / "source", ROW)
    source.add(rows(150, 200))
    elsewhere = heir.addr.replace("127.0.0.1", "localhost")
    chosen = options(elsewhere, tmp_path / "slots", "store", sender_id=FAMILY)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("the first micro-batch", lambda: batches_done(query) == 1)
    eventually("a word about the slot", lambda: "questdb-sf slots drain" in spark_log())
    source.add(rows(200, 250))
    eventually("the second micro-batch", lambda: batches_done(query) == 2)
    assert metric(query, "stranded_slots") >= 1, sink_metrics(query)
    assert heir.await_count("t", 100) == 100
    assert [r[0] for r in heir.sql("SELECT min(id) FROM t")] == [150]
    query.stop()


def test_an_older_value_that_is_replayed_later_wins(
    spark: Any, heir: ServerProcess, tmp_path: Path
) -> None:
    """What docs/delivery.md warns of: 10 waits in a slot, 15 is written meanwhile, the replay leaves 10. Dedup keys
    order nothing; upserts that must survive this need a version column.
    """
    later = spark.createDataFrame(
        [(3, "newer", 15.0)], "id LONG, name STRING, value DOUBLE"
    ).selectExpr("id", "name", "value", f"timestamp'{row(3)['ts'][:-1]}' AS ts")
    ack = options(heir.addr, tmp_path / "slots", "ack")
    later.write.format("questdb-sf").mode("append").options(**ack).save()
    heir.await_count("t", 1)
    assert heir.sql("SELECT value FROM t WHERE id = 3") == [[15.0]]
    source = Feed(tmp_path / "source", ROW)
    source.add(rows(150, 200))
    chosen = options(heir.addr, tmp_path / "slots", "store", sender_id=FAMILY)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("the replay", lambda: heir.count("t") == 200)
    assert heir.sql("SELECT value FROM t WHERE id = 3") == [[row(3)["value"]]]
    query.stop()


def test_the_same_checkpoint_with_another_address(
    spark: Any, start_server: Any, tmp_path: Path
) -> None:
    """A stream that goes on elsewhere: what was committed stays where it is, what follows goes to the new server."""
    old, new = start_server(root=tmp_path / "old"), start_server(root=tmp_path / "new")
    source = feed(tmp_path / "source", 2, 50)
    for server in (old, new):
        chosen = options(server.addr, tmp_path / "slots", "store")
        finish(
            write_stream(source.stream(spark), tmp_path / "checkpoint", chosen, availableNow=True)
        )
        source.add(rows(100, 150))
        eventually("the rows", partial(server.await_count, "t", 50))
    assert old.await_count("t", 100) == 100
    assert new.await_count("t", 50) == 50
    assert old.sql("SELECT min(id), max(id) FROM t") == [[0, 99]]
    assert new.sql("SELECT min(id), max(id) FROM t") == [[100, 149]]
