"""Every wire type in every type of column: the server answers and stores as the recorded one did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from conformance import matrix
from conformance.matrix import COLUMNS, Cell, Prober
from conformance.wire import Wire
from harness.server import QuestDb

RECORD: dict[tuple[str, str], list[Cell]] = {}
for cell in matrix.read():
    RECORD.setdefault((cell.wire, cell.column), []).append(cell)


@pytest.fixture(scope="module")
def prober(server: QuestDb) -> Iterator[Prober]:
    with matrix.prober(server) as made:
        yield made


@pytest.mark.parametrize(("wire", "column"), list(product([wire.name for wire in Wire], COLUMNS)))
def test_coercion(prober: Prober, wire: str, column: str) -> None:
    recorded = RECORD[wire, column]
    seen = prober.cells(Wire[wire], [cell.value for cell in recorded], column)
    assert _comparable(seen) == _comparable(recorded)


def _comparable(cells: list[Cell]) -> list[Cell]:
    """Without the words of parse errors: the test server's name the offset."""
    return [replace(cell, answer="") if cell.status == "PARSE_ERROR" else cell for cell in cells]
