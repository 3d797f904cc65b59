"""Every type with its edge values through every way in, into tables that are there and tables that are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.kinds import KINDS, Kind
from conformance.ways import by_arrow, by_rows, by_spark, create, read, table_name
from harness.sending import column_type
from harness.server import ServerProcess

Way = Callable[[Any, ServerProcess, str, Kind], str]
"""Writes the values and returns the type that the column should have."""


def row_made(_: Any, server: ServerProcess, table: str, kind: Kind) -> str:
    assert kind.row is not None and kind.row.makes is not None
    by_rows(server, table, kind, kind.values)
    return kind.row.makes


def row_existing(_: Any, server: ServerProcess, table: str, kind: Kind) -> str:
    create(server, table, f"x {kind.column}")
    by_rows(server, table, kind, kind.values)
    return kind.column


def arrow_made(_: Any, server: ServerProcess, table: str, kind: Kind) -> str:
    assert kind.arrow is not None
    by_arrow(server, table, kind, kind.values)
    return kind.arrow.makes or kind.column


def arrow_existing(_: Any, server: ServerProcess, table: str, kind: Kind) -> str:
    create(server, table, f"x {kind.column}")
    by_arrow(server, table, kind, kind.values)
    return kind.column


def spark_made(session: Any, server: ServerProcess, table: str, kind: Kind) -> str:
    """The sink makes the table, with the type that an option names."""
    by_spark(
        session(),
        server,
        table,
        kind,
        kind.values,
        create_table="true",
        column_types=f"x {kind.column}",
    )
    return kind.column


def spark_existing(session: Any, server: ServerProcess, table: str, kind: Kind) -> str:
    """The type is that of the table's column; no option says it."""
    create(server, table, f"x {kind.column}")
    by_spark(session(), server, table, kind, kind.values)
    return kind.column


def ways(kind: Kind) -> list[Way]:
    """Those that can carry a kind."""
    found: list[Way] = []
    if kind.row is not None:
        found += [row_existing, *([row_made] if kind.row.makes else [])]
    if kind.arrow is not None:
        found += [arrow_existing, *([arrow_made] if kind.made else [])]
    if kind.spark is not None:
        found += [spark_existing, *([spark_made] if kind.made else [])]
    return found


@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, id=f"{way.__name__}-{name}")
        for name, kind in KINDS.items()
        for way in ways(kind)
    ],
)
def test_values_arrive(session: Any, server: ServerProcess, name: str, way: Way) -> None:
    kind = KINDS[name]
    table = table_name(way.__name__, name)
    column = way(session, server, table, kind)
    assert server.await_count(table, len(kind.values)) == len(kind.values)
    assert column_type(server, table) == column
    # Written out: 0.0 is not -0.0 then, nor True 1.
    assert list(map(repr, read(server, table, kind))) == list(map(repr, kind.values))


@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, id=f"{way.__name__}-{name}")
        for name, kind in KINDS.items()
        if kind.has_null
        for way in ways(kind)
        if way in (row_existing, arrow_existing, spark_existing)
    ],
)
def test_nulls_alone_arrive(session: Any, server: ServerProcess, name: str, way: Way) -> None:
    """A frame whose column has not one value."""
    kind = replace(KINDS[name], values=[None, None, None])
    table = table_name("nulls", way.__name__, name)
    way(session, server, table, kind)
    assert server.await_count(table, 3) == 3
    assert read(server, table, kind) == [None] * 3
