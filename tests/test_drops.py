"""A round of ``make drops`` for each event, and that its verdict finds what is wrong with rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.server import ServerProcess

pytest.importorskip("jpype")
pytest.importorskip("pyarrow")

from integration import drop_round
from integration.drop_lanes import Lane, Part, Rhythm
from integration.drop_round import Event, Plan
from integration.drop_verdict import judge

SECONDS = 0.05
NUMBERS = itertools.count()


@pytest.fixture
def lanes(server: ServerProcess, tmp_path: Path) -> Iterator[list[Lane]]:
    """One lane of either mode."""
    both = [Lane(0, server.addr, None), Lane(1, server.addr, tmp_path)]
    yield both
    for lane in both:
        lane.close()


def written(server: ServerProcess, lanes: list[Lane], event: Event) -> tuple[Plan, list[Part]]:
    """A round on a table with keys, before it is judged."""
    rhythms = (Rhythm.STEADY, Rhythm.WAITING)
    plan = Plan(next(NUMBERS), event, True, SECONDS, SECONDS, rhythms, "fixed")
    return plan, drop_round.run(server, lanes, plan)


@pytest.mark.parametrize("event", Event)
def test_every_row_is_there_as_it_was_written(
    server: ServerProcess, lanes: list[Lane], event: Event
) -> None:
    plan, parts = written(server, lanes, event)
    verdict = judge(server, plan, parts)
    assert [part.problem for part in parts] == [None, None]
    assert verdict.counts["rows"] > 0
    assert not verdict.examples


@pytest.mark.parametrize("statement", ["DROP TABLE '{0}'", "TRUNCATE TABLE '{0}'"])
def test_all_rows_lost(server: ServerProcess, lanes: list[Lane], statement: str) -> None:
    plan, parts = written(server, lanes, Event.ADD_COLUMN)
    server.sql(statement.format(plan.table))
    verdict = judge(server, plan, parts)
    assert verdict.counts["lost"] == sum(len(part.written) for part in parts)


def test_one_row_lost(server: ServerProcess, lanes: list[Lane]) -> None:
    plan, parts = written(server, lanes, Event.ADD_COLUMN)
    lanes[1].next += 1  # as if it had written one more
    assert judge(server, plan, parts).counts["lost"] == 1


@pytest.mark.parametrize(
    "change",
    [
        *("sym = 'other'", "name = 'other'", "name = NULL", "value = value + 1", "value = NULL"),
        *("extra = 0", "extra = NULL", "added = 0", "added = NULL"),
    ],
)
def test_a_value_altered(server: ServerProcess, lanes: list[Lane], change: str) -> None:
    plan, parts = written(server, lanes, Event.ADD_COLUMN)
    server.await_applied(plan.table)
    server.sql(f"UPDATE '{plan.table}' SET {change} WHERE id = {parts[1].written[-1]}")
    assert judge(server, plan, parts).counts["altered"] == 1


def test_a_row_twice_in_spite_of_keys(server: ServerProcess, lanes: list[Lane]) -> None:
    plan, parts = written(server, lanes, Event.ADD_COLUMN)
    server.sql(f"ALTER TABLE '{plan.table}' DEDUP DISABLE")
    server.await_applied(plan.table)
    server.sql(f"INSERT INTO '{plan.table}' SELECT * FROM '{plan.table}' LIMIT 1")
    server.sql(f"ALTER TABLE '{plan.table}' DEDUP ENABLE UPSERT KEYS(ts, id)")
    assert judge(server, plan, parts).counts["unexpected_duplicates"] == 1
