"""One kill run: two queries write a feed, something is killed with SIGKILL, and the tables are judged by SQL.

Everything random comes from the run's seed: when the blow falls, how often, whether the server is out of reach
meanwhile (what the slots hold then is nowhere else), whether it is stopped before it is killed (what is on its way is
lost with it), how late it acknowledges.

What may be there twice in the table without keys follows from ``docs/delivery.md``. Before each blow it is noted how
far Spark's commit log is, then which rows wait in the slots unacknowledged; after it, how far Spark's offset log is.
Rows of a micro-batch that was begun and not committed, and rows that waited, may come again. Any other row that is
there twice is an unexpected duplicate.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.server import ServerProcess
from integration.victim import COLUMNS, KEYED, PLAIN, Victim, VictimEnded, make_feed, row
from questdb_sf import frames, slots

SCENARIOS = ("driver", "executor", "server")
MODES = ("ack", "store")
FILES = 24
FILE_ROWS = 200
ROWS = FILES * FILE_ROWS
ACK_DELAYS = {"ack": (0, 30, 150), "store": (0, 150, 1000)}
STILL_SECONDS = 20
MASTERS = {"executor": "local-cluster[2,1,1024]"}


@dataclass(frozen=True)
class Blow:
    """One kill: falls ``wait`` seconds after so many files were committed to the table without keys."""

    after: int
    wait: float
    cut: float
    """Seconds for which the server is out of reach before the blow; 0: it is not. It is back ``heal`` s after it."""
    heal: float
    pause: float
    """Seconds for which the server is stopped before it is killed; 0: it is not."""
    down: float
    """Seconds until the server is started again."""
    more: int = 0
    """Files that are committed besides while the server is out of reach or stopped; with ``store`` only."""


@dataclass(frozen=True)
class Plan:
    """All that is random in a run."""

    scenario: str
    mode: str
    seed: int
    ack_delay_millis: int
    blows: tuple[Blow, ...]
    choice: int
    """Which executor dies: this modulo their number."""

    @staticmethod
    def of(scenario: str, mode: str, seed: int) -> Plan:
        """The plan of a seed."""
        dice = random.Random(f"{scenario}/{mode}/{seed}")
        count = 1 if scenario == "driver" else dice.choice((1, 2))
        blows = tuple(
            Blow(
                after=after,
                wait=dice.uniform(0, 0.4),
                cut=dice.uniform(0.2, 1.2) if scenario != "server" and dice.random() < 0.5 else 0,
                heal=dice.uniform(0, 2),
                pause=dice.uniform(0.1, 1) if scenario == "server" and dice.random() < 0.5 else 0,
                down=dice.uniform(0, 2),
                more=dice.choice((0, 3)) if mode == "store" else 0,
            )
            for after in sorted(dice.sample(range(1, FILES - 6), count))
        )
        return Plan(
            scenario, mode, seed, dice.choice(ACK_DELAYS[mode]), blows, dice.randrange(1 << 16)
        )


@dataclass
class Outcome:
    """What a run found; :attr:`problem` says what went wrong besides."""

    scenario: str
    mode: str
    seed: int
    rows: int = 2 * ROWS
    kills: int = 0
    in_slots: int = 0
    """Rows of both tables that waited unacknowledged in slots when a blow fell."""
    lost: int = 0
    altered: int = 0
    unexpected_duplicates: int = 0
    duplicates: int = 0
    """Rows of the table without keys that are there more than once, as they may."""
    seconds: float = 0
    problem: str | None = None
    examples: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether every promise held."""
        return not (self.lost or self.altered or self.unexpected_duplicates or self.problem)


def run(
    plan: Plan,
    server: ServerProcess,
    work: Path,
    patience: float,
    package: Path | None = None,
) -> Outcome:
    """Does one run against a running server, which runs again when this returns.

    :param patience: seconds after which the run is judged as it stands
    :param package: directory with another ``questdb_sf``, see :class:`Victim`
    """
    return _Run(plan, server, work, patience, package).run()


class _Run:
    def __init__(
        self, plan: Plan, server: ServerProcess, work: Path, patience: float, package: Path | None
    ) -> None:
        self.plan = plan
        self.server = server
        self.slots = work / "slots"
        self.outcome = Outcome(plan.scenario, plan.mode, plan.seed)
        self.deadline = time.monotonic() + patience
        self.patience = patience
        label = f"{plan.scenario}_{plan.mode}_{plan.seed}"
        self.tables = {kind: f"{kind}_{label}" for kind in (KEYED, PLAIN)}
        self.may_repeat: set[int] = set()
        self.victim = Victim(
            work / "victim",
            make_feed(work / "source", FILES, FILE_ROWS),
            MASTERS.get(plan.scenario, "local[2]"),
            {kind: self._options(kind) for kind in (KEYED, PLAIN)},
            package,
        )

    def _options(self, kind: str) -> dict[str, str]:
        options = {
            "addr": self.server.addr,
            "table": self.tables[kind],
            "timestamp": "ts",
            "symbols": "sym",
            "create_table": "true",
            "commit_on": self.plan.mode,
            "frame_rows": "25",
            "reconnect_max_backoff_millis": "500",
        }
        if kind == KEYED:
            options["dedup_keys"] = "ts,id"
        if self.plan.mode == "store":
            options |= {"sf_dir": str(self.slots), "sf_min_free_bytes": "64m"}
        return options

    def run(self) -> Outcome:
        began = time.monotonic()
        for table in self.tables.values():
            self.server.sql(f"DROP TABLE IF EXISTS '{table}'")
        self._heal()
        with self.victim:
            try:
                self.victim.start()
                for blow in self.plan.blows:
                    self._strike(blow)
                self._await("all files committed", self._all_committed)
                self._await_rows()
                self.victim.stop(self.deadline - time.monotonic())
            except (VictimEnded, TimeoutError) as error:
                self.outcome.problem = str(error)
        self._judge()
        self.outcome.seconds = round(time.monotonic() - began, 1)
        return self.outcome

    # What happens

    def _strike(self, blow: Blow) -> None:
        self._await(f"{blow.after} files committed", lambda: self._committed(PLAIN) >= blow.after)
        time.sleep(blow.wait)
        with self._noting_repeats():
            if blow.cut:
                self.server.script(drop_after_messages=0, refuse_status=503)
                time.sleep(blow.cut)
                self._await_more(blow)
            getattr(self, f"_kill_{self.plan.scenario}")(blow)
            self.outcome.kills += 1
            if blow.cut:
                time.sleep(blow.heal)
                self._heal()

    def _await_more(self, blow: Blow) -> None:
        wanted = min(self._committed(PLAIN) + blow.more, FILES)
        self._await(f"{wanted} files committed", lambda: self._committed(PLAIN) >= wanted)

    def _kill_driver(self, _: Blow) -> None:
        self.victim.kill()
        self.outcome.in_slots += sum(len(rows) for rows in self._waiting().values())
        self.victim.start()

    def _kill_executor(self, _: Blow) -> None:
        self._await("an executor", self.victim.executors)
        there = self.victim.executors()
        pid = there[self.plan.choice % len(there)]
        os.kill(pid, signal.SIGKILL)
        self.outcome.in_slots += sum(len(rows) for rows in self._waiting().values())
        self._await("the executor's end", lambda: pid not in self.victim.executors())

    def _kill_server(self, blow: Blow) -> None:
        if blow.pause:
            self.server.pause()
            time.sleep(blow.pause)
            self._await_more(blow)
        self.server.kill()
        self.outcome.in_slots += sum(len(rows) for rows in self._waiting().values())
        time.sleep(blow.down)
        self.server.start()
        self._heal()

    def _heal(self) -> None:
        self.server.script(reset=True, ack_delay_millis=self.plan.ack_delay_millis)

    @contextmanager
    def _noting_repeats(self) -> Iterator[None]:
        # In this order: what is written after the look at the slots belongs to no file that was committed before.
        committed = self._committed(PLAIN)
        waiting = set(self._waiting()[PLAIN])
        yield
        begun = _files(self.victim.checkpoint(PLAIN), "offsets")
        self.may_repeat |= waiting
        self.may_repeat.update(range(committed * FILE_ROWS, begun * FILE_ROWS))

    # What is there

    def _committed(self, kind: str) -> int:
        return _files(self.victim.checkpoint(kind), "commits")

    def _all_committed(self) -> bool:
        return all(self._committed(kind) == FILES for kind in (KEYED, PLAIN))

    def _waiting(self) -> dict[str, list[int]]:
        """Ids in frames above the watermarks of the slots, by kind of table."""
        found: dict[str, list[int]] = {KEYED: [], PLAIN: []}
        names = {table: kind for kind, table in self.tables.items()}
        for slot in self.slots.glob("*/"):
            acked = slots.watermark(slot)
            for path in slot.glob(f"*{slots.SEGMENT_SUFFIX}"):
                for frame in slots.scan(path).content:
                    if acked is not None and frame.fsn is not None and frame.fsn <= acked:
                        continue
                    for table in frames.decode(frame.payload).tables:
                        found[names[table.name]] += [r["id"] for r in table.data]
        return found

    def _await_rows(self) -> None:
        """Until all rows are there, or nothing waits in a slot any more and the tables stand still."""
        seen, since = [-1, -1], time.monotonic()
        while min(seen) < ROWS:
            counts = [self._distinct(kind) for kind in (KEYED, PLAIN)]
            if counts != seen or any(self._waiting().values()):
                seen, since = counts, time.monotonic()
            if time.monotonic() - since > STILL_SECONDS:
                raise TimeoutError("rows are missing, and none is on its way")
            self._check("all rows")
            time.sleep(0.1)

    def _distinct(self, kind: str) -> int:
        if self.server.count(self.tables[kind]) == 0:
            return 0
        return int(self.server.sql(f"SELECT count_distinct(id) FROM '{self.tables[kind]}'")[0][0])

    def _await(self, what: str, look: Callable[[], Any]) -> None:
        while not look():
            self._check(what)
            time.sleep(0.03)

    def _check(self, what: str) -> None:
        self.victim.check()
        if time.monotonic() > self.deadline:
            raise TimeoutError(f"not within {self.patience:.0f} s: {what}")

    def _judge(self) -> None:
        repeated: dict[str, list[int]] = {}
        for kind, table in self.tables.items():
            names = ", ".join(COLUMNS)
            there = (
                self.server.sql(f"SELECT {names} FROM '{table}'")
                if self.server.count(table)
                else []
            )
            copies = Counter(values[0] for values in there)
            lost = [number for number in range(ROWS) if number not in copies]
            wrong = [values for values in there if values != _expected(values[0])]
            repeated[kind] = sorted(number for number, count in copies.items() if count > 1)
            self.outcome.lost += len(lost)
            self.outcome.altered += len(wrong)
            self._show(f"{table}: lost", lost)
            self._show(f"{table}: altered", wrong)
        strange = [number for number in repeated[PLAIN] if number not in self.may_repeat]
        self._show(f"{self.tables[KEYED]}: there twice", repeated[KEYED])
        self._show(f"{self.tables[PLAIN]}: there twice, and had no reason to", strange)
        self.outcome.unexpected_duplicates = len(repeated[KEYED]) + len(strange)
        self.outcome.duplicates = len(repeated[PLAIN]) - len(strange)
        for failed in sorted(self.slots.glob("*/.failed")):
            self.outcome.problem = (
                f"{self.outcome.problem or ''} slot {failed.parent.name} failed: "
                f"{failed.read_text(encoding='utf-8', errors='replace')}"
            ).strip()

    def _show(self, what: str, found: list[Any]) -> None:
        if found:
            self.outcome.examples.append(f"{what}: {len(found)}, first {json.dumps(found[:3])}")


def _expected(number: Any) -> list[Any] | None:
    known = isinstance(number, int) and 0 <= number < ROWS
    return list(row(number).values()) if known else None


def _files(checkpoint: Path, log: str) -> int:
    """How many files the micro-batches cover that one of Spark's logs has.

    One a micro-batch, but two in the one after a kill that fell between the log of the source and that of the query.
    """
    try:
        names = [entry.name for entry in (checkpoint / log).iterdir()]
        last = max((int(name) for name in names if name.isdigit()), default=None)
        if last is None:
            return 0
        offsets = (checkpoint / "offsets" / str(last)).read_text(encoding="utf-8")
    except FileNotFoundError:
        return 0
    return int(json.loads(offsets.splitlines()[-1])["logOffset"]) + 1
