"""Tables in mid-stream: several by a column, upserts in update mode, and rows that are refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess
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
from questdb_sf import frames

BOTH_MODES = pytest.mark.parametrize("commit_on", ["ack", "store"])
SCHEMA_MISMATCH, WRITE_ERROR = 3, 9


def options(server: ServerProcess, tmp_path: Path, commit_on: str, **more: str) -> dict[str, Any]:
    return keyed(server.addr, tmp_path / "slots", commit_on, **more)


@pytest.mark.spark
@BOTH_MODES
def test_many_tables_by_a_column(
    spark: Any, server: ServerProcess, tmp_path: Path, commit_on: str
) -> None:
    """table_column: each row goes to the table that it names, which is made with the asked-for keys."""
    source = Feed(tmp_path / "source", f"{ROW}, kind STRING")
    for first in (0, 300):
        source.add([row(n, kind=f"many_{commit_on}_{n % 3}") for n in range(first, first + 300)])
    chosen = options(server, tmp_path, commit_on, table_column="kind")
    del chosen["table"]
    finish(write_stream(source.stream(spark), tmp_path / "checkpoint", chosen, availableNow=True))
    for rest in range(3):
        table = f"many_{commit_on}_{rest}"
        assert server.await_count(table, 200) == 200
        ids = [found[0] for found in server.sql(f"SELECT id FROM {table} ORDER BY id")]
        assert ids == list(range(rest, 600, 3))
        assert server.sql(f"SELECT dedup FROM tables() WHERE table_name = '{table}'") == [[True]]
        names = [
            found[0] for found in server.sql(f"SELECT \"column\" FROM table_columns('{table}')")
        ]
        assert "kind" not in names


def test_null_table_name(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """A row that names no table is an error with its number."""
    source = Feed(tmp_path / "source", f"{ROW}, kind STRING")
    source.add([row(0, kind="many_null"), row(1, kind=None)])
    chosen = options(server, tmp_path, "ack", table_column="kind")
    del chosen["table"]
    with pytest.raises(Exception, match=r"row 2 of partition 0.*'kind' \(table_column\) is null"):
        finish(
            write_stream(source.stream(spark), tmp_path / "checkpoint", chosen, availableNow=True)
        )


@pytest.mark.spark
def test_update_mode_is_an_upsert(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """An aggregated stream in update mode: each key is there once, with its last value."""
    source = feed(tmp_path / "source", 3, 50)
    counts = source.stream(spark).groupBy("name").count()
    frame = counts.selectExpr("name", "count", "timestamp_micros(1704067200000000) AS ts")
    chosen = options(
        server,
        tmp_path,
        "ack",
        table="latest",
        symbols="name",
        dedup_keys="ts,name",
        update_keys="ts,name",
    )
    query = write_stream(frame, tmp_path / "checkpoint", chosen, "update")
    eventually("three micro-batches", lambda: batches_done(query) == 3)
    rows_written = metric(query, "rows_written")
    query.stop()
    wanted = [list(item) for item in sorted(Counter(row(n)["name"] for n in range(150)).items())]

    def shown() -> list[Any]:
        return server.sql("SELECT name, count FROM latest ORDER BY name")

    eventually("the last value of each key", lambda: shown() == wanted)
    assert rows_written > len(wanted)


def test_update_keys_that_are_not_the_tables(
    spark: Any, server: ServerProcess, tmp_path: Path
) -> None:
    """update_keys must be the table's own: both are named."""
    server.sql(
        "CREATE TABLE other_keys (name SYMBOL, count LONG, ts TIMESTAMP) TIMESTAMP(ts)"
        " PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts)"
    )
    source = feed(tmp_path / "source", 1)
    frame = source.stream(spark).groupBy("name").count()
    frame = frame.selectExpr("name", "count", "timestamp_micros(1704067200000000) AS ts")
    chosen = options(server, tmp_path, "ack", table="other_keys", update_keys="ts,name")
    del chosen["dedup_keys"], chosen["create_table"]
    with pytest.raises(Exception, match="update_keys") as caught:
        finish(write_stream(frame, tmp_path / "checkpoint", chosen, "update", availableNow=True))
    assert "other_keys" in str(caught.value)
    assert server.untouched("other_keys")


@pytest.mark.spark
@BOTH_MODES
def test_rows_that_cannot_be_written_go_to_files(
    spark: Any, server: ServerProcess, tmp_path: Path, commit_on: str
) -> None:
    """on_row_error=dead_letter: the rest arrives, and each refused row is in a file with its reason."""
    source = Feed(tmp_path / "source", ROW)
    bad = {3: row(3, id=-(2**63)), 55: row(55, ts=None)}
    for first in (0, 50):
        source.add([bad.get(n, row(n)) for n in range(first, first + 50)])
    letters = tmp_path / "letters"
    table = f"letters_{commit_on}"
    chosen = options(
        server,
        tmp_path,
        commit_on,
        table=table,
        on_row_error="dead_letter",
        dead_letter_dir=str(letters),
    )
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen, availableNow=True)
    finish(query)
    assert server.await_count(table, 98) == 98
    assert differences(server, table, 100) == ["3 is missing", "55 is missing"]
    kept = [
        json.loads(line)
        for path in sorted(letters.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    kept.sort(key=lambda letter: letter["row"]["value"])
    assert [letter["row_number"] for letter in kept] == [4, 6]
    assert [letter["row"]["name"] for letter in kept] == [row(3)["name"], row(55)["name"]]
    assert "sentinel_values=null" in kept[0]["reason"]
    assert "designated timestamp is null" in kept[1]["reason"]
    assert metric(query, "rows_dropped") == 2, sink_metrics(query)


def test_too_many_rows_for_the_files(spark: Any, server: ServerProcess, tmp_path: Path) -> None:
    """max_dead_letter_rows bounds what one task puts away; past it the task fails with the reason."""
    source = Feed(tmp_path / "source", ROW)
    source.add([row(n, ts=None) for n in range(5)])
    chosen = options(
        server,
        tmp_path,
        "ack",
        table="letters_full",
        on_row_error="dead_letter",
        dead_letter_dir=str(tmp_path / "letters"),
        max_dead_letter_rows="3",
    )
    with pytest.raises(Exception, match=r"max_dead_letter_rows=3.*timestamp is null"):
        finish(
            write_stream(source.stream(spark), tmp_path / "checkpoint", chosen, availableNow=True)
        )
    assert list((tmp_path / "letters").glob("*.jsonl")) == []


def one_large_row(spark: Any) -> Any:
    """Five rows in one task; no server takes the text of the fourth."""
    return (
        spark.range(5)
        .selectExpr(
            "id",
            "if(id = 3, repeat('x', 5000000), 'small') AS text",
            "timestamp_micros(id) AS ts",
        )
        .coalesce(1)
    )


def test_a_row_larger_than_a_frame_goes_to_a_file(
    spark: Any, server: ServerProcess, tmp_path: Path
) -> None:
    """As any value that cannot be written: its row of the task and its largest column are named, the rest arrives."""
    letters = tmp_path / "letters"
    chosen = {"addr": server.addr, "table": "large", "timestamp": "ts", "create_table": "true"}
    one_large_row(spark).write.format("questdb-sf").mode("append").options(
        **chosen, on_row_error="dead_letter", dead_letter_dir=str(letters)
    ).save()
    assert server.await_count("large", 4) == 4
    assert server.sql("SELECT id FROM large ORDER BY id") == [[0], [1], [2], [4]]
    (kept,) = [
        json.loads(line)
        for path in letters.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert kept["row_number"] == 4
    assert len(kept["row"]["text"]) == 5_000_000
    for words in ("FRAME_TOO_LARGE", "table 'large'", "column 'text' with 5000"):
        assert words in kept["reason"]
    with pytest.raises(Exception, match=r"row 4 of partition 0 cannot be written: .*column 'text'"):
        one_large_row(spark).write.format("questdb-sf").mode("append").options(**chosen).save()


@pytest.mark.scripted
def test_an_aborted_task_leaves_no_dead_letters(
    spark: Any, start_server: Any, tmp_path: Path
) -> None:
    """The rows of the task are safe before its dead letters show: who writes them again keeps them again."""
    server = start_server()
    server.script(nack={"status": SCHEMA_MISMATCH, "message": "no", "times": 100})
    letters = tmp_path / "letters"
    with pytest.raises(Exception, match="SERVER_REJECTED"):
        spark.range(5).selectExpr("id", "if(id = 3, null, timestamp_micros(id)) AS ts").coalesce(
            1
        ).write.format("questdb-sf").mode("append").options(
            addr=server.addr,
            table="aborted",
            create_table="true",
            timestamp="ts",
            on_row_error="dead_letter",
            dead_letter_dir=str(letters),
        ).save()
    assert [path.name for path in letters.iterdir() if not path.name.endswith(".crc")] == []


@pytest.mark.scripted
@pytest.mark.spark
@BOTH_MODES
def test_frames_that_the_server_refuses_go_to_files(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str
) -> None:
    """on_schema_error=drop: the rest arrives, and the refused frame is in a file beside the server's words."""
    server = start_server()
    server.script(
        nack={
            "status": SCHEMA_MISMATCH,
            "message": "column nine is odd",
            "after_messages": 1,
            "times": 1,
        }
    )
    source = feed(tmp_path / "source", 1)
    letters = tmp_path / "letters"
    chosen = options(
        server, tmp_path, commit_on, on_schema_error="drop", dead_letter_dir=str(letters)
    )
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    for batch in range(1, 4):
        assert server.await_count("t", 50) >= 50
        source.add(rows(batch * 50, batch * 50 + 50))
        if batch == 1:
            eventually("the refused frame", lambda: list(letters.glob("*.qwp")))
    eventually("four micro-batches", lambda: batches_done(query) == 4)
    assert server.await_count("t", 150) == 150
    assert differences(server, "t", 200) == [f"{n} is missing" for n in range(50, 100)]
    (message,) = letters.glob("*.qwp")
    told = message.with_suffix(".txt").read_text(encoding="utf-8")
    assert "column nine is odd" in told
    (table,) = frames.decode(message.read_bytes()).tables
    assert (table.name, table.rows) == ("t", 50)
    eventually("the metrics", lambda: metric(query, "rows_dropped") == 50)
    assert metric(query, "server_errors") == 1, sink_metrics(query)
    query.stop()


@pytest.mark.scripted
@pytest.mark.spark
@BOTH_MODES
def test_the_servers_words_are_in_the_error(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str
) -> None:
    """A refusal fails the query with category, table and the server's words; with store, the task at hand or the next
    is told, and the slot is kept for an operator.
    """
    server = start_server()
    source = feed(tmp_path / "source", 1)
    chosen = options(server, tmp_path, commit_on)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("the first micro-batch", lambda: batches_done(query) == 1)
    server.await_count("t", 50)
    words = "type coercion from DOUBLE to UUID is not supported [column=value]"
    server.script(nack={"status": SCHEMA_MISMATCH, "message": words})
    source.add(rows(50, 100))
    with pytest.raises(Exception, match="SERVER_REJECTED") as caught:
        if commit_on == "store":  # the refusal may come before the second micro-batch has committed
            eventually("the second micro-batch", lambda: batches_done(query) == 2)
            eventually("its refusal", lambda: server.counters()["nacks"] >= 1)
            source.add(rows(100, 150))
        finish(query)
    said = str(caught.value)
    for word in ("SCHEMA_MISMATCH", words, "'t'"):
        assert word in said, said
    if commit_on == "ack":
        assert "rows 1 to 50 of this task" in said, said
    else:
        failed = [path.parent for path in (tmp_path / "slots").glob("*/.failed")]
        assert len(failed) == 1
        assert str(failed[0]) in said, said
        assert words in (failed[0] / ".failed").read_text(encoding="utf-8")
        server.script(nack={"times": 0})
        again = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
        eventually("the third micro-batch", lambda: batches_done(again) == 1)
        assert metric(again, "failed_slots") == 1, sink_metrics(again)
        again.stop()
        assert server.await_count("t", 100) == 100
        assert server.sql("SELECT count() FROM t WHERE id BETWEEN 50 AND 99") == [[0]]


@pytest.mark.scripted
@BOTH_MODES
def test_a_server_that_cannot_write_for_a_while(
    spark: Any, start_server: Any, tmp_path: Path, commit_on: str
) -> None:
    """WRITE_ERROR is tried again until it works: nothing is lost, and the state says "rejecting" meanwhile."""
    server = start_server()
    server.script(nack={"status": WRITE_ERROR, "message": "no space left", "after_messages": 1})
    source = feed(tmp_path / "source", 3)
    chosen = options(server, tmp_path, commit_on)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("a few refusals", lambda: server.counters()["nacks"] >= 4)
    assert server.count("t") <= 50
    server.script(nack={"times": 0})
    eventually("three micro-batches", lambda: batches_done(query) == 3)
    assert server.await_count("t", 150) == 150
    source.add(rows(150, 200))
    eventually("one more", lambda: batches_done(query) == 4)
    assert server.await_count("t", 200) == 200
    assert differences(server, "t", 200) == []
    assert metric(query, "server_errors") >= 4, sink_metrics(query)
    query.stop()


def test_a_half_open_connection(
    spark: Any, start_server: Any, tmp_path: Path, spark_log: Callable[[], str]
) -> None:
    """A server that takes nothing and says nothing: after ack_timeout_millis the connection is given up."""
    server = start_server()
    source = feed(tmp_path / "source", 1)
    chosen = options(server, tmp_path, "ack", ack_timeout_millis="1500", auth_timeout_ms="1000")
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("the first micro-batch", lambda: batches_done(query) == 1)
    server.pause()
    source.add(rows(50, 100))
    eventually("an end of patience", lambda: "no acknowledgement for 1500 ms" in spark_log())
    assert batches_done(query) == 1
    server.resume()
    eventually("the second micro-batch", lambda: batches_done(query) == 2)
    assert server.await_count("t", 100) == 100
    assert differences(server, "t", 100) == []
    query.stop()


@pytest.mark.scripted
def test_a_cap_that_becomes_smaller(
    spark: Any, start_server: Any, tmp_path: Path, spark_log: Callable[[], str]
) -> None:
    """A server whose cap falls below a frame that is in the slot: the sink says so and keeps it, what follows is cut
    smaller, and all arrive when the cap is what it was.
    """
    server = start_server()
    source = Feed(tmp_path / "source", ROW)
    source.add(rows(0, 5000))
    chosen = options(server, tmp_path, "store")
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", chosen)
    eventually("the first micro-batch", lambda: batches_done(query) == 1)
    server.await_count("t", 5000)
    server.script(max_batch_bytes=64 * 1024)
    source.add(rows(5000, 10_000))
    eventually("a word about the cap", lambda: "the server takes 65536" in spark_log())
    source.add(rows(10_000, 15_000))
    eventually("the third micro-batch", lambda: batches_done(query) == 3)
    assert server.count("t") == 5000
    server.script(max_batch_bytes=2 << 20)
    assert server.await_count("t", 15_000) == 15_000
    assert differences(server, "t", 15_000) == []
    query.stop()


def test_rows_older_than_the_ttl(
    spark: Any, server: ServerProcess, tmp_path: Path, spark_log: Callable[[], str]
) -> None:
    """What the server would acknowledge and discard is refused here, with what to do."""
    server.sql(
        "CREATE TABLE aged (id LONG, name VARCHAR, value DOUBLE, ts TIMESTAMP) TIMESTAMP(ts)"
        " PARTITION BY DAY TTL 2 DAYS WAL"
    )
    server.sql("INSERT INTO aged VALUES (-1, 'new', 0, '2024-06-01T00:00:00.000000Z')")
    server.await_count("aged", 1)
    source = feed(tmp_path / "source", 1)
    chosen = options(server, tmp_path, "ack", table="aged")
    del chosen["dedup_keys"], chosen["create_table"]
    with pytest.raises(Exception, match="older than the table's TTL") as caught:
        finish(
            write_stream(source.stream(spark), tmp_path / "checkpoint", chosen, availableNow=True)
        )
    assert "raise the TTL" in str(caught.value)
    assert server.sql("SELECT count() FROM wal_transactions('aged')") == [[1]]
