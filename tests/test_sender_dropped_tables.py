"""The engine in this process: a table is dropped, and made again, between two frames of one connection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.sending import DRAIN_SECONDS, START, open_sender
from harness.server import ServerProcess

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")

WITH_KEYS = (
    "CREATE TABLE '{0}' (x LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
    " DEDUP UPSERT KEYS(ts, x)"
)
ROWS_OF_A_FRAME = 10


def write(sender: Any, table: str, first: int, frames: int) -> list[int]:
    """So many frames at once, acknowledged; the numbers in them."""
    numbers = list(range(first, first + frames * ROWS_OF_A_FRAME))
    data = pa.table(
        {"x": numbers, "ts": pa.array([START + n for n in numbers], pa.timestamp("us"))}
    )
    sender.write(data, table=table, timestamp="ts")
    assert sender.drain(DRAIN_SECONDS)
    return numbers


def numbers_in(server: ServerProcess, table: str) -> list[int]:
    """What a table shows."""
    return [x for (x,) in server.sql(f"SELECT DISTINCT x FROM '{table}' ORDER BY x")]


@pytest.mark.parametrize("storage", ["memory", "disk"])
@pytest.mark.parametrize("frames", [1, 4])
@pytest.mark.parametrize("event", ["drop", "drop_create", "drop_create_write"])
def test_rows_after_a_drop_are_in_the_new_table(
    server: ServerProcess, tmp_path: Path, event: str, frames: int, storage: str
) -> None:
    """Servers acknowledge the first frame of a connection after the drop and throw it away.

    Either the sender sees before it that the table is another one, or it does not take that acknowledgement. Where
    others have written to the new table already, its transactions have numbers that the old one might have.
    """
    table = f"{event}_{frames}_{storage}"
    create = WITH_KEYS.format(table)
    server.sql(create)
    with open_sender(
        server, tmp_path if storage == "disk" else None, frame_rows=ROWS_OF_A_FRAME
    ) as sender:
        write(sender, table, 0, 2)
        server.sql(f"DROP TABLE '{table}'")
        if event != "drop":
            server.sql(create)
        expected = []
        if event == "drop_create_write":
            for number in range(20):
                server.sql(f"INSERT INTO '{table}' VALUES ({number + 1000}, {START + number})")
                expected.append(number + 1000)
        expected += write(sender, table, 100, frames)
        expected += write(sender, table, 200, 1)
    server.await_applied(table)
    assert numbers_in(server, table) == sorted(expected)
