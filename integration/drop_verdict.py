"""The verdict on a round of ``make drops``, by SQL: which acknowledged rows are there, and with which values.

Rows that were published after the event and acknowledged have to be there; where the event takes no rows, all rows of
the round. After a RENAME a row may be in either table. Rows that were on their way while their table was dropped or
truncated may have reached it before or after: nobody can say, and they are not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.server import QuestDb
from integration.drop_lanes import LANE_IDS, START, Part
from integration.drop_round import Event, Plan
from integration.rows import designated

EXAMPLES = 3


@dataclass
class Verdict:
    """What is there and what is not, of one round or of all.

    ``counts`` has ``rows``, those that have to be there, and ``lost``, those of them that are not; ``altered``;
    ``unexpected_duplicates``, copies in a table with keys; and ``nulled``: rows that were published after their column
    ``extra`` was dropped and have no value in it. Servers do that to one frame of each connection, unseen by clients.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def judge(questdb: QuestDb, plan: Plan, parts: Sequence[Part]) -> Verdict:
    """Reads the tables of a round. Of a lane with a problem only values are judged: not all is acknowledged."""
    verdict = Verdict()
    tables = existing(questdb, plan)
    for table in tables:
        questdb.await_applied(table)
        look_at_values(questdb, table, plan, parts, verdict)
        look_for_copies(questdb, table, verdict)
    for part in parts:
        if part.problem is None:
            look_for_rows(questdb, tables, plan, part, verdict)
    return verdict


def existing(questdb: QuestDb, plan: Plan) -> list[str]:
    """The table of a round and what it was renamed to, as far as they are there."""
    names = f"'{plan.table}', '{plan.renamed}'"
    found = questdb.sql(f"SELECT table_name FROM tables() WHERE table_name IN ({names})")
    return [name for (name,) in found]


def look_for_rows(
    questdb: QuestDb, tables: Sequence[str], plan: Plan, part: Part, verdict: Verdict
) -> None:
    """Whether every row of a lane is there that has to be."""
    wanted = part.written_after if plan.event.takes_rows else part.written
    verdict.counts["rows"] += len(wanted)
    there = " UNION ALL ".join(
        f"SELECT id FROM '{table}' WHERE {within([wanted])}" for table in tables
    )
    if there and questdb.sql(f"SELECT count_distinct(id) FROM ({there})") == [[len(wanted)]]:
        return
    found = {number for (number,) in questdb.sql(there)} if there else set()
    lost = [number for number in wanted if number not in found]
    verdict.counts["lost"] += len(lost)
    verdict.examples.append(
        f"{plan.table}, lane {part.lane.number} ({part.lane.mode}): {len(lost)} of {len(wanted)} rows lost, first"
        f" {lost[:EXAMPLES]}"
    )


def look_at_values(
    questdb: QuestDb, table: str, plan: Plan, parts: Sequence[Part], verdict: Verdict
) -> None:
    """Whether every column of every row is as it was written."""
    after = within(part.written_after for part in parts)
    differs = [
        "sym != concat('s', id % 23)",
        "name != concat('row ', id)",
        "value != id / 8.0",
        f"cast({designated(questdb, table)} AS LONG) != {START} + id % {LANE_IDS}",
    ]
    if plan.event is not Event.DROP_COLUMN:
        differs.append("extra != id * 3")
    elif has_column(questdb, table, "extra"):
        differs.append("(extra != id * 3 AND extra != NULL)")
        nulled = f"SELECT count() FROM '{table}' WHERE extra = NULL AND {after}"
        verdict.counts["nulled"] += questdb.sql(nulled)[0][0]
    if plan.event is Event.ADD_COLUMN:
        differs.append(f"({after} AND added != id * 7)")
        differs.append(f"(NOT {after} AND added != NULL)")
    altered = questdb.sql(f"SELECT id FROM '{table}' WHERE {' OR '.join(differs)}")
    verdict.counts["altered"] += len(altered)
    if altered:
        verdict.examples.append(f"{table}: {len(altered)} rows altered, first {altered[:EXAMPLES]}")


def look_for_copies(questdb: QuestDb, table: str, verdict: Verdict) -> None:
    """Whether a table that has keys has a row twice. One that the server made has none, and may."""
    query = f"SELECT dedup FROM tables() WHERE table_name = '{table}'"
    if questdb.sql(query) == [[True]]:
        ((copies,),) = questdb.sql(f"SELECT count() - count_distinct(id) FROM '{table}'")
        verdict.counts["unexpected_duplicates"] += copies


def has_column(questdb: QuestDb, table: str, column: str) -> bool:
    """Whether a table has a column."""
    return [column] in questdb.sql(f"SELECT \"column\" FROM table_columns('{table}')")


def within(ranges: Iterable[range]) -> str:
    """A condition: the number of a row is in one of the ranges."""
    return "(" + " OR ".join(f"(id >= {r.start} AND id < {r.stop})" for r in ranges) + ")"
