"""The designated timestamp: its ends, its units, rows out of order, and every way to cut a table into partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from conformance.events import await_applied, designated
from conformance.ways import save, table_name
from harness.sending import DRAIN_SECONDS, START, open_sender
from harness.server import ServerProcess
from questdb_sf.sender import SERVER_TIMESTAMP, Micros, Nanos

LAST_MICROS = 253_402_300_799_999_999  # the last of year 9999
LAST_NANOS = 9_214_646_399_999_999_999  # the last of year 2261
DAY_MICROS = 86_400_000_000


@dataclass(frozen=True)
class Times:
    """Designated times in a unit of a second, the type that they are sent as and the column that they make."""

    per_second: int
    values: list[int]
    arrow: Any
    spark: str
    column: str

    def shown(self, column: str) -> list[int]:
        """The same times in the unit of a column."""
        unit = 10**9 if column == "TIMESTAMP_NS" else 10**6
        return sorted(value * unit // self.per_second for value in self.values)


MICROS = [LAST_MICROS, 0, 1, START, START + 1, START, 951_782_400_000_000]
TIMES = {
    "microseconds": Times(10**6, MICROS, pa.timestamp("us"), "timestamp_micros(t)", "TIMESTAMP"),
    "milliseconds": Times(
        10**3,
        [micros // 1000 for micros in MICROS],
        pa.timestamp("ms"),
        "timestamp_millis(t)",
        "TIMESTAMP",
    ),
    "seconds": Times(
        1,
        [micros // 10**6 for micros in MICROS],
        pa.timestamp("s", "America/New_York"),
        "timestamp_seconds(t)",
        "TIMESTAMP",
    ),
    "nanoseconds": Times(
        10**9,
        [LAST_NANOS, 0, 1, START * 1000 + 1, START * 1000],
        pa.timestamp("ns"),
        "t",
        "TIMESTAMP_NS",
    ),
}


def create(server: ServerProcess, table: str, kind: str, partition: str = "YEAR") -> None:
    server.sql(
        f"CREATE TABLE {table} (n LONG, ts {kind}) TIMESTAMP(ts) PARTITION BY {partition} WAL"
    )


def check(server: ServerProcess, table: str, kind: str, times: Times) -> None:
    """Type and values of the designated timestamp."""
    await_applied(server, table)
    name = designated(server, table)
    types = f"SELECT type FROM table_columns('{table}') WHERE designated"
    assert server.sql(types) == [[kind]]
    found = server.sql(f"SELECT {name}::long FROM {table}")
    assert [value for (value,) in found] == times.shown(kind), (
        "a table is in the order of its times"
    )


def by_row(_: Any, server: ServerProcess, table: str, times: Times) -> None:
    if times.per_second == 10**9:
        moments: list[Any] = [Nanos(value) for value in times.values]
    else:
        moments = [Micros(value * 10**6 // times.per_second) for value in times.values]
    with open_sender(server) as sender:
        for n, at in enumerate(moments):
            sender.row(table, columns={"n": n}, at=at)
        assert sender.drain(DRAIN_SECONDS)


def by_arrow(_: Any, server: ServerProcess, table: str, times: Times) -> None:
    data = pa.table({"n": range(len(times.values)), "t": pa.array(times.values, times.arrow)})
    with open_sender(server) as sender:
        sender.write(data, table=table, timestamp="t")
        assert sender.drain(DRAIN_SECONDS)


def by_spark(session: Callable[[], Any], server: ServerProcess, table: str, times: Times) -> None:
    frame = session().createDataFrame(list(enumerate(times.values)), "n LONG, t LONG")
    unit = {"timestamp_unit": "ns"} if times.per_second == 10**9 else {}
    made = frame.selectExpr("n", f"{times.spark} AS ts").coalesce(1)
    save(made, server, table, create_table="true", **unit)


WAYS = [by_row, by_arrow, by_spark]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        (kind, unit)
        for kind in ("made", "TIMESTAMP", "TIMESTAMP_NS")
        for unit in TIMES
        if (kind, unit) != ("TIMESTAMP", "nanoseconds")  # it does not keep them
    ],
)
def test_designated_times(
    session: Any, server: ServerProcess, kind: str, unit: str, way: Any
) -> None:
    times = TIMES[unit]
    if kind == "TIMESTAMP_NS" and times.column == "TIMESTAMP":
        # The last of year 9999 is none in nanoseconds.
        later = [value for value in times.values if value < LAST_NANOS // 10**9 * times.per_second]
        times = Times(times.per_second, later, times.arrow, times.spark, times.column)
    table = table_name("times", kind, unit, way.__name__)
    if kind != "made":
        create(server, table, kind)
    way(session, server, table, times)
    check(server, table, times.column if kind == "made" else kind, times)


@pytest.mark.parametrize("partition", ["HOUR", "DAY", "WEEK", "MONTH", "YEAR"])
def test_rows_out_of_order_in_all_partitions(server: ServerProcess, partition: str) -> None:
    """Each frame goes back in time, over many partitions."""
    table, rows = f"order_{partition.lower()}", 2_000
    create(server, table, "TIMESTAMP", partition)
    step = {"HOUR": DAY_MICROS // 100, "DAY": DAY_MICROS // 7}.get(partition, DAY_MICROS // 2)
    moments = [START + (n * 7919 % rows) * step for n in range(rows)]
    data = pa.table({"n": range(rows), "ts": pa.array(moments, pa.timestamp("us"))})
    with open_sender(server, frame_rows=100) as sender:
        sender.write(data, table=table, timestamp="ts")
        assert sender.drain(DRAIN_SECONDS)
    await_applied(server, table)
    found = server.sql(f"SELECT n, ts::long FROM {table} ORDER BY n")
    assert found == [[n, at] for n, at in enumerate(moments)]


def test_the_server_gives_the_time(server: ServerProcess) -> None:
    (before,) = server.sql("SELECT now()::long")[0]
    with open_sender(server) as sender:
        for n in range(3):
            sender.row("server_gives", columns={"n": n}, at=SERVER_TIMESTAMP)
        sender.write(pa.table({"n": [3, 4]}), table="server_gives", timestamp=None)
        assert sender.drain(DRAIN_SECONDS)
    await_applied(server, "server_gives")
    (after,) = server.sql("SELECT now()::long")[0]
    found = server.sql("SELECT n, timestamp::long FROM server_gives ORDER BY n")
    assert [n for n, _ in found] == list(range(5))
    assert all(before <= at <= after for _, at in found)


@pytest.mark.parametrize("way", ["row", "arrow"])
def test_times_that_no_table_has_are_refused_alone(server: ServerProcess, way: str) -> None:
    """A row before 1970 or after 9999 takes no other with it."""
    table = f"no_time_{way}"
    with open_sender(server) as sender:
        for at in (-1, LAST_MICROS + 1):
            with pytest.raises(Exception, match="VALUE_INVALID"):
                if way == "row":
                    sender.row(table, columns={"n": 1}, at=Micros(at))
                else:
                    data = pa.table({"n": [1], "ts": pa.array([at], pa.timestamp("us"))})
                    sender.write(data, table=table, timestamp="ts")
        sender.row(table, columns={"n": 2}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
    await_applied(server, table)
    assert server.sql(f"SELECT n FROM {table}") == [[2]]
