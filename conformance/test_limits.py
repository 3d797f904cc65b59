"""Limits of servers: rows and bytes of a frame, columns, symbols, tables, sizes of values, caps that were set."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.events import await_applied
from conformance.ways import save
from harness import servers
from harness.fixtures import NewServer
from harness.sending import DRAIN_SECONDS, START, UTC, column_type, open_sender, times
from harness.server import ServerProcess
from questdb_sf.errors import DataError, ErrorCode
from questdb_sf.sender import Micros

MOST_ROWS = 999_999
MOST_COLUMNS = 2_048
WARM_UP = 50_000


def write(server: ServerProcess, name: str, table: pa.Table, **keys: Any) -> None:
    """Writes a table in which ``ts`` is the time."""
    with open_sender(server, **keys) as sender:
        sender.write(table, table=name, timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0


@pytest.mark.parametrize("rows", [MOST_ROWS, MOST_ROWS + 1, MOST_ROWS + 2])
def test_rows_of_a_frame(server: ServerProcess, rows: int) -> None:
    """A frame of a million would be acknowledged without a word about its table."""
    name = f"rows_{rows}"
    flags = pa.table({"b": np.arange(rows) % 2 == 0})  # a bit a row, so that they fit into a frame
    with open_sender(server, frame_rows=MOST_ROWS) as sender:
        # Frames stay small until a server has said its cap, and are measured by those before.
        sender.write(flags.slice(0, WARM_UP), table=name, timestamp=None)
        assert sender.drain(DRAIN_SECONDS)
        before = sender.counters().frames_written
        sender.write(flags, table=name, timestamp=None)
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().frames_written - before == (1 if rows <= MOST_ROWS else 2)
        assert sender.counters().server_errors == 0
    await_applied(server, name)
    assert server.sql(f"SELECT count() FROM {name} WHERE b") == [[(rows + 1) // 2 + WARM_UP // 2]]
    assert server.count(name) == rows + WARM_UP


@pytest.mark.parametrize("way", ["arrow", "spark"])
def test_columns_of_a_table(
    request: pytest.FixtureRequest, server: ServerProcess, way: str
) -> None:
    """As many as a frame may have, with the designated timestamp."""
    name, columns = f"columns_{way}", MOST_COLUMNS - 1
    if way == "arrow":
        data = {f"c{i}": pa.array([i, None], pa.int64()) for i in range(columns)}
        write(server, name, pa.table({**data, "ts": times(2)}))
    else:
        spark = request.getfixturevalue("spark")
        schema = ", ".join([*(f"c{i} LONG" for i in range(columns)), "ts TIMESTAMP"])
        ts = [datetime.datetime.fromtimestamp((START + n) / 1e6, UTC) for n in range(2)]
        rows = [(*range(columns), ts[0]), (*[None] * columns, ts[1])]
        save(spark.createDataFrame(rows, schema).coalesce(1), server, name, create_table="true")
    await_applied(server, name)
    assert server.sql(f"SELECT count() FROM table_columns('{name}')") == [[MOST_COLUMNS]]
    picked = [0, 1, columns // 2, columns - 1]
    select = ", ".join(f"c{i}" for i in picked)
    assert server.sql(f"SELECT {select} FROM {name}") == [picked, [None] * len(picked)]


def test_more_columns_than_a_frame_may_have(server: ServerProcess) -> None:
    data = {f"c{i}": [i] for i in range(MOST_COLUMNS)}
    with open_sender(server) as sender:
        with pytest.raises(DataError) as told:
            sender.write(pa.table({**data, "ts": times(1)}), table="too_wide", timestamp="ts")
        assert told.value.code == ErrorCode.LIMIT_EXCEEDED
        sender.row("after_too_wide", columns={"x": 1}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("after_too_wide", 1) == 1


@pytest.mark.parametrize("mode", ["memory", "store"])
def test_symbols_of_a_connection(server: ServerProcess, tmp_path: Any, mode: str) -> None:
    """More distinct ones than a slot keeps: others begin, and none is mixed up."""
    name, rows = f"symbols_{mode}", 25_000
    texts = pa.array([f"s{i}" for i in range(rows)])
    table = pa.table({"n": np.arange(rows), "s": texts, "ts": times(rows)})
    with open_sender(server, tmp_path if mode == "store" else None) as sender:
        for piece in range(0, rows, 50_000):
            sender.write(table.slice(piece, 50_000), table=name, timestamp="ts", symbols=["s"])
        assert sender.drain(DRAIN_SECONDS)
    await_applied(server, name)
    assert column_type(server, name, "s") == "SYMBOL"
    counted = f"SELECT count(), count_distinct(n), count_distinct(s) FROM {name}"
    assert server.sql(counted) == [[rows, rows, rows]]
    assert server.sql(f"SELECT count() FROM {name} WHERE s != concat('s', n)") == [[0]]


def test_tables_of_a_frame(new_server: NewServer) -> None:
    """More tables than one commit of some servers takes; a server of its own, for its many files."""
    server, tables = new_server().start(), 300
    with open_sender(server, auto_flush="off") as sender:
        for n in range(2 * tables):
            sender.row(f"many_{n % tables}", columns={"x": n}, at=Micros(START + n))
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0
    for n in range(tables):
        await_applied(server, f"many_{n}")
        assert server.sql(f"SELECT x FROM many_{n}") == [[n], [n + tables]]


def test_a_table_that_many_make_at_once(server: ServerProcess) -> None:
    """Each of the senders is told by the server to make table and columns; one does."""
    senders, rows = 8, 200
    errors: list[BaseException] = []
    begin = threading.Barrier(senders)

    def run(number: int) -> None:
        try:
            with open_sender(server) as sender:
                begin.wait()
                for n in range(number * rows, (number + 1) * rows):
                    sender.row("at_once", columns={"n": n, f"c{number}": n}, at=Micros(START + n))
                assert sender.drain(DRAIN_SECONDS)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    await_applied(server, "at_once")
    assert server.sql("SELECT count(), count_distinct(n) FROM at_once") == [[senders * rows] * 2]
    for number in range(senders):
        found = f"SELECT count() FROM at_once WHERE c{number} = n"
        assert server.sql(found) == [[rows]]


LARGE = {
    "text": ("x" * 1_500_000, "length(x)", 1_500_000),
    "text of four bytes": ("😀" * 350_000, "length(x)", 350_000),
    "binary": (bytes(1_500_000), "length(x)", 1_500_000),
    "symbol": ("y" * 30_000, "length(x)", 30_000),
    "array": (np.arange(180_000, dtype=np.float64), "array_sum(x)", 180_000 * 179_999 / 2),
}


@pytest.mark.parametrize("name", LARGE)
def test_values_almost_as_large_as_a_frame(server: ServerProcess, name: str) -> None:
    value, shown, expected = LARGE[name]
    table = f"large_{name.replace(' ', '_')}"
    cell: dict[str, Any] = {"x": value}
    with open_sender(server) as sender:
        sender.row(table, columns={"n": 0}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)  # frames stay small until a server has said its cap
        for n in range(1, 4):
            symbols = cell if name == "symbol" else {}
            columns = {"n": n} if name == "symbol" else {"n": n, **cell}
            sender.row(table, symbols=symbols, columns=columns, at=Micros(START + n))
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().server_errors == 0
    await_applied(server, table)
    assert server.sql(f"SELECT n, {shown} FROM {table} WHERE n > 0 ORDER BY n") == [
        [n, expected] for n in range(1, 4)
    ]


CAPS = [65_536 - 14, 262_144 - 14, 8 * 1_048_576 - 14]


@pytest.fixture
def capped(request: pytest.FixtureRequest, new_server: NewServer) -> Iterator[ServerProcess]:
    """A server that takes frames up to a size and no larger."""
    if servers.scriptable():
        server = new_server().start()
        server.script(max_batch_bytes=request.param)
    else:
        setting = {"QDB_HTTP_RECV_BUFFER_SIZE": str(request.param + 14)}
        server = new_server(environment=setting).start()
    yield server


@pytest.mark.spark
@pytest.mark.parametrize("capped", CAPS, indirect=True)
def test_frames_follow_the_cap(spark: Any, capped: ServerProcess) -> None:
    """Rows of all ways in arrive through a cap below and above what frames have otherwise."""
    rows = 20_000
    texts = pa.array([f"text {n} " * (n % 7) for n in range(rows)])
    table = pa.table({"n": np.arange(rows), "w": texts, "ts": times(rows)})
    write(capped, "t", table, frame_bytes="4m")
    with open_sender(capped, auto_flush="off") as sender:
        for n in range(rows, rows + 3_000):
            sender.row("t", columns={"n": n, "w": f"text {n} " * (n % 7)}, at=Micros(START + n))
        assert sender.drain(DRAIN_SECONDS)
    frame = spark.range(rows + 3_000, 2 * rows).selectExpr(
        "id AS n",
        "repeat(concat('text ', id, ' '), CAST(id % 7 AS INT)) AS w",
        f"timestamp_micros({START} + id) AS ts",
    )
    save(frame, capped, "t", frame_bytes="4m")
    await_applied(capped, "t")
    assert capped.sql("SELECT count(), count_distinct(n) FROM t") == [[2 * rows] * 2]
    found = capped.sql("SELECT n, w FROM t WHERE n % 97 = 0 ORDER BY n")
    assert found == [[n, f"text {n} " * (n % 7)] for n in range(0, 2 * rows, 97)]


@pytest.mark.parametrize("capped", CAPS[:1], indirect=True)
def test_a_row_larger_than_the_cap(capped: ServerProcess) -> None:
    """It is refused alone; what is below the cap goes."""
    with open_sender(capped) as sender:
        sender.row("t", columns={"w": "small"}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
        with pytest.raises(DataError) as told:
            sender.row("t", columns={"w": "x" * 70_000}, at=Micros(START + 1))
            sender.flush()
        assert told.value.code == ErrorCode.FRAME_TOO_LARGE
        sender.row("t", columns={"w": "y" * 50_000}, at=Micros(START + 2))
        assert sender.drain(DRAIN_SECONDS)
    assert capped.await_count("t", 2) == 2
    assert capped.sql("SELECT length(w) FROM t ORDER BY timestamp") == [[5], [50_000]]
