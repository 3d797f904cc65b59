"""The engine in this process: any number of symbols, in every way in, in frames as large as those of few symbols."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.sending import DRAIN_SECONDS, START, open_sender, times
from harness.server import ServerProcess
from questdb_sf.sender import Micros, StateKind

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")


def texts(start: int, rows: int) -> Any:
    """So many distinct texts of 12 bytes."""
    return pa.array([f"s{n:011d}" for n in range(start, start + rows)])


def written(server: ServerProcess, table: str, rows: int) -> None:
    """Each row has its own symbol, made from its number."""
    assert server.await_count(table, rows, 240) == rows
    assert server.sql(
        f"SELECT count_distinct(n), count_distinct(s), min(n), max(n) FROM {table}"
    ) == [[rows, rows, 0, rows - 1]]
    assert server.sql(
        f"SELECT count() FROM {table} WHERE cast(substring(s, 2, 11) AS long) != n"
    ) == [[0]]


@pytest.mark.parametrize("where", ["memory", "slot"])
@pytest.mark.parametrize("layout", ["plain", "dictionary"])
def test_a_table_with_a_symbol_a_row_is_written_whole(
    server: ServerProcess, tmp_path: Path, where: str, layout: str
) -> None:
    rows = 160_000
    symbols = texts(0, rows)
    table = pa.table(
        {
            "n": np.arange(rows),
            "s": symbols.dictionary_encode() if layout == "dictionary" else symbols,
            "ts": times(rows),
        }
    )
    name = f"many_{where}_{layout}"
    store = tmp_path / "sf" if where == "slot" else None
    with open_sender(server, store, sf_min_free_bytes=0) as sender:
        assert sender.write(table, table=name, timestamp="ts", symbols=["s"]) == rows
        assert sender.drain(DRAIN_SECONDS)
        assert sender.counters().frames_written < 40
        assert sender.state.kind is StateKind.OK
    written(server, name, rows)


def test_frames_stay_large_when_many_symbols_are_known(server: ServerProcess) -> None:
    rows = 100_000
    with open_sender(server) as sender:
        first = pa.table({"n": np.arange(rows), "s": texts(0, rows), "ts": times(rows)})
        sender.write(first, table="known", timestamp="ts", symbols=["s"])
        before = sender.counters().frames_written
        again = pa.table({"n": np.arange(rows), "s": texts(0, rows), "ts": times(rows)})
        sender.write(again, table="known_again", timestamp="ts", symbols=["s"])
        assert sender.counters().frames_written - before < 10
        assert sender.drain(DRAIN_SECONDS)
    written(server, "known", rows)
    written(server, "known_again", rows)


def test_rows_of_a_slot_may_have_any_number_of_symbols(
    server: ServerProcess, tmp_path: Path
) -> None:
    rows = 40_000
    with open_sender(server, tmp_path / "sf", sf_min_free_bytes=0) as sender:
        for n in range(rows):
            sender.row(
                "slot_rows", symbols={"s": f"s{n:011d}"}, columns={"n": n}, at=Micros(START + n)
            )
        assert sender.drain(DRAIN_SECONDS)
    written(server, "slot_rows", rows)
