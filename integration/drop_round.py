"""One round of ``make drops``: lanes write to one table while something happens to it."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from harness.server import QuestDb
from integration.drop_lanes import Lane, Part, Rhythm

LONGEST_BEFORE = 0.3
LONGEST_AFTER = 0.3


class Event(Enum):
    """What happens to the table."""

    DROP = "DROP"
    DROP_AND_CREATE = "DROP, CREATE"
    RENAME = "RENAME"
    TRUNCATE = "TRUNCATE"
    ADD_COLUMN = "ADD COLUMN"
    DROP_COLUMN = "DROP COLUMN"

    @property
    def takes_rows(self) -> bool:
        """Whether rows go with it that were acknowledged before."""
        return self in (Event.DROP, Event.DROP_AND_CREATE, Event.TRUNCATE)


STATEMENTS = {
    Event.DROP: "DROP TABLE '{table}'",
    Event.DROP_AND_CREATE: "DROP TABLE '{table}'",
    Event.RENAME: "RENAME TABLE '{table}' TO '{renamed}'",
    Event.TRUNCATE: "TRUNCATE TABLE '{table}'",
    Event.ADD_COLUMN: "ALTER TABLE '{table}' ADD COLUMN added LONG",
    Event.DROP_COLUMN: "ALTER TABLE '{table}' DROP COLUMN extra",
}


@dataclass(frozen=True)
class Plan:
    """What is drawn of a round: equal seeds give equal plans."""

    number: int
    event: Event
    keyed: bool
    before: float
    after: float
    rhythms: tuple[Rhythm, ...]
    seed: str

    @property
    def table(self) -> str:
        """The table of this round."""
        return f"drops_{self.number}"

    @property
    def renamed(self) -> str:
        """The name that the table gets in a RENAME."""
        return f"{self.table}_renamed"

    @staticmethod
    def of(seed: int, number: int, lanes: int) -> Plan:
        """Events take turns; the rest is drawn."""
        text = f"{seed}-{number}"
        chance = random.Random(text)
        return Plan(
            number,
            tuple(Event)[number % len(Event)],
            chance.random() < 0.5,
            chance.uniform(0, LONGEST_BEFORE),
            chance.uniform(0.05, LONGEST_AFTER),
            tuple(chance.choice(tuple(Rhythm)) for _ in range(lanes)),
            text,
        )


def run(questdb: QuestDb, lanes: Sequence[Lane], plan: Plan) -> list[Part]:
    """What each lane wrote, when all of it is acknowledged or the lane has a problem."""
    questdb.sql(create(plan))
    parts = [
        lane.work(plan.table, rhythm, f"{plan.seed}-{lane.number}")
        for lane, rhythm in zip(lanes, plan.rhythms, strict=True)
    ]
    try:
        for part in parts:
            part.begun.wait()
        time.sleep(plan.before)  # the moment is random
        for part in parts:
            part.event_is_near()
        for part in parts:
            part.ready.wait()
        happen(questdb, plan, parts)
        time.sleep(plan.after)
    finally:
        for part in parts:
            part.stop()
        for part in parts:
            part.join()
    return parts


def create(plan: Plan) -> str:
    """The statement that makes the table. After a DROP a frame may come first; then the server has made it."""
    columns = "id LONG, sym SYMBOL, name VARCHAR, value DOUBLE, extra LONG, ts TIMESTAMP"
    keys = " DEDUP UPSERT KEYS(ts, id)" if plan.keyed else ""
    return f"CREATE TABLE IF NOT EXISTS '{plan.table}' ({columns}) TIMESTAMP(ts) PARTITION BY DAY WAL{keys}"


def happen(questdb: QuestDb, plan: Plan, parts: Sequence[Part]) -> None:
    """The event. When its statement has returned, it cannot take rows that are published from then on."""
    questdb.sql(STATEMENTS[plan.event].format(table=plan.table, renamed=plan.renamed))
    for part in parts:
        part.event_is_over(add_column=plan.event is Event.ADD_COLUMN)
    if plan.event is Event.DROP_AND_CREATE:
        questdb.sql(create(plan))
