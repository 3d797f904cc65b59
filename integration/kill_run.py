"""One kill run: two queries write a feed, something is killed with SIGKILL again and again, and SQL judges the tables.

Everything random comes from the run's seed: when the blows fall, whether the server is out of reach meanwhile (what the
slots hold then is nowhere else), whether it is stopped before it is killed (what is on its way is lost with it), how
late it acknowledges. A blow waits until something is under way: with ``commit_on=store`` frames in slots above the
watermark, with ``ack`` a micro-batch that was begun and not committed, and frames of it that the server took and did
not acknowledge. What it was is counted for each blow. Files come as blows do, so that the stream is not done before.
What only the test server does of this, :mod:`integration.kill_server` says.

What may be there twice in the table without keys follows from ``docs/delivery.md``. Before each blow it is noted how
far Spark's commit log is, then which rows wait in the slots unacknowledged; after it (after the server is within reach
again, where it was not) how far Spark's offset log is.
Rows of a micro-batch that was begun and not committed, and rows that waited, may come again. Any other row that is
there twice is an unexpected duplicate.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.driver import Driver, DriverEnded
from harness.server import ServerProcess
from harness.spark import files_logged
from integration.kill_server import reach
from integration.rows import Verdict, add_files, await_rows, make_feed, unacked_ids

SCENARIOS = ("driver", "executor", "server")
MODES = ("ack", "store")
KEYED, PLAIN = "keyed", "plain"
KILLS = 5
"""A run."""
FILES = 30
FILE_ROWS = 200
AHEAD = 6
"""Files beyond those after which a blow falls; no more, so that it meets a stream that has still to write."""
FRAME_ROWS = 25
ROWS = FILES * FILE_ROWS
ACK_DELAYS = {"ack": (30, 100, 200), "store": (100, 300, 1000)}
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
        blows = tuple(
            Blow(
                after=after,
                wait=dice.uniform(0, 0.4),
                cut=dice.uniform(0.2, 1.2) if scenario != "server" and dice.random() < 0.5 else 0,
                heal=dice.uniform(0, 1),
                pause=dice.uniform(0.1, 1) if scenario == "server" and dice.random() < 0.5 else 0,
                down=dice.uniform(0, 1),
                more=dice.choice((0, 3)) if mode == "store" else 0,
            )
            for after in sorted(dice.sample(range(1, FILES - 6), KILLS))
        )
        return Plan(
            scenario, mode, seed, dice.choice(ACK_DELAYS[mode]), blows, dice.randrange(1 << 16)
        )


@dataclass
class Kill:
    """What was under way when a blow fell."""

    committed: int
    """Files that Spark had committed to the table without keys."""
    frames: int | None
    """With ``store`` frames in slots that are not known to be acknowledged. With ``ack`` those that the server had
    taken and not acknowledged; what it had not read yet, and what it could not be asked for, is not in it. None where
    the server does not say."""
    open_rows: int
    """Rows of micro-batches that were begun and not committed."""


@dataclass
class Outcome:
    """What a run found; :attr:`problem` says what went wrong besides."""

    scenario: str
    mode: str
    seed: int
    rows: int = 2 * ROWS
    kills: list[dict[str, Any]] = field(default_factory=list)
    """A :class:`Kill` each."""
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

    :param patience: seconds without any progress after which the run is given up
    :param package: directory with another ``questdb_sf``, see :class:`Driver`
    """
    return _Run(plan, server, work, patience, package).run()


class _Run:
    def __init__(
        self, plan: Plan, server: ServerProcess, work: Path, patience: float, package: Path | None
    ) -> None:
        self.plan = plan
        self.server = server
        self.reach = reach(server, plan.ack_delay_millis)
        self.slots = work / "slots"
        self.outcome = Outcome(plan.scenario, plan.mode, plan.seed)
        self.patience = patience
        self.progress: tuple[int, ...] = ()
        self.moved = time.monotonic()
        label = f"{plan.scenario}_{plan.mode}_{plan.seed}"
        self.tables = {kind: f"{kind}_{label}" for kind in (KEYED, PLAIN)}
        self.may_repeat: set[int] = set()
        self.source = make_feed(work / "source", 0, FILE_ROWS)
        self.fed = self.begun = 0
        self.victim = Driver(
            work / "victim",
            self.source,
            {
                "spark.master": MASTERS.get(plan.scenario, "local[2]"),
                # Two tasks a micro-batch, although its file is small.
                "spark.sql.files.minPartitionNum": "2",
                "spark.sql.files.openCostInBytes": "1",
            },
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
            "frame_rows": str(FRAME_ROWS),
            "reconnect_max_backoff_millis": "500",
        }
        if kind == KEYED:
            options["dedup_keys"] = "ts,id"
        if self.plan.mode == "store":
            options |= {"sf_dir": str(self.slots), "sf_min_free_bytes": "64m"}
        return options

    def _start(self) -> None:
        self.victim.start({kind: self._options(kind) for kind in (KEYED, PLAIN)})

    def run(self) -> Outcome:
        began = time.monotonic()
        for table in self.tables.values():
            self.server.sql(f"DROP TABLE IF EXISTS '{table}'")
        self.reach.heal()
        with self.victim:
            try:
                self._start()
                for blow in self.plan.blows:
                    self._strike(blow)
                self._feed(FILES)
                self._await("all files committed", self._all_committed)
                await_rows(
                    self.server,
                    self.tables.values(),
                    ROWS,
                    self._moving,
                    self.patience,
                )
                self.victim.stop(self.patience)
            except (DriverEnded, TimeoutError) as error:
                self.outcome.problem = str(error)
        self.server.resume()  # where a blow was given up while it was stopped
        self._judge()
        self.outcome.seconds = round(time.monotonic() - began, 1)
        return self.outcome

    # What happens

    def _feed(self, files: int) -> None:
        """So many files are there from now on."""
        add_files(self.source, self.fed, files, FILE_ROWS)
        self.fed = max(self.fed, files)

    def _strike(self, blow: Blow) -> None:
        self._feed(blow.after + AHEAD)
        self._await(f"{blow.after} files committed", lambda: self._committed(PLAIN) >= blow.after)
        time.sleep(blow.wait)
        # In this order: what is written after the look at the slots belongs to no file that was committed before.
        committed = self._committed(PLAIN)
        waiting = self._waiting()[PLAIN]
        if blow.cut:
            self.reach.cut()
            time.sleep(blow.cut)
            self._await_more(blow)
        getattr(self, f"_kill_{self.plan.scenario}")(blow)
        if blow.cut:
            time.sleep(blow.heal)
            self.reach.heal()
            self.begun = self._begun(PLAIN)  # what was begun meanwhile may have met the cut
        self.may_repeat.update(number for frame in waiting for number in frame)
        self.may_repeat.update(range(committed * FILE_ROWS, self.begun * FILE_ROWS))

    def _await_more(self, blow: Blow) -> None:
        wanted = min(self._committed(PLAIN) + blow.more, self.fed)
        self._await(f"{wanted} files committed", lambda: self._committed(PLAIN) >= wanted)

    def _await_under_way(self, unreachable: bool) -> None:
        """Where all is written already there is nothing to wait for; the counts will say so."""

        def look() -> bool:
            if self._all_committed():
                self._feed(min(self.fed + 1, FILES))  # what there was went through
            if self.plan.mode == "store":
                return any(self._waiting().values())
            # Out of reach, or stopped: what is open cannot be acknowledged.
            return any(self._open_rows().values()) and (unreachable or self._at_server() != 0)

        self._await("something is under way", lambda: look() or self._committed(PLAIN) == FILES)

    def _kill_driver(self, blow: Blow) -> None:
        self._await_under_way(unreachable=blow.cut > 0)
        at_server = self._at_server()
        self.victim.kill()
        self._note(at_server)
        self._start()

    def _kill_executor(self, blow: Blow) -> None:
        self._await("an executor", self.victim.executors)
        self._await_under_way(unreachable=blow.cut > 0)
        at_server = self._at_server()
        there = self.victim.executors()
        pid = there[self.plan.choice % len(there)]
        os.kill(pid, signal.SIGKILL)
        self._note(at_server)
        self._await("the executor's end", lambda: pid not in self.victim.executors())

    def _kill_server(self, blow: Blow) -> None:
        if blow.pause:
            self.server.pause()
            time.sleep(blow.pause)
            self._await_more(blow)
        self._await_under_way(unreachable=blow.pause > 0)
        self.server.kill()
        self._note(0)
        time.sleep(blow.down)
        self.server.start()
        if self.plan.mode == "ack":
            self.outcome.kills[-1]["frames"] = frames_of(self.reach.rows_unacked_when_killed())
        self.reach.heal()

    def _note(self, at_server: int | None) -> None:
        """Just after a blow."""
        self.begun = self._begun(PLAIN)
        found = at_server
        if self.plan.mode == "store":
            found = sum(len(waiting) for waiting in self._waiting().values())
        kill = Kill(self._committed(PLAIN), found, sum(self._open_rows().values()))
        self.outcome.kills.append(asdict(kill))

    # What is there

    def _committed(self, kind: str) -> int:
        return files_logged(self.victim.checkpoint(kind), "commits")

    def _begun(self, kind: str) -> int:
        return files_logged(self.victim.checkpoint(kind), "offsets")

    def _all_committed(self) -> bool:
        """Of those that there are."""
        return all(self._committed(kind) == self.fed for kind in (KEYED, PLAIN))

    def _open_rows(self) -> dict[str, int]:
        """Of micro-batches that were begun and not committed, by kind of table."""
        rows = {}
        for kind in (KEYED, PLAIN):
            committed = self._committed(kind)
            rows[kind] = max(0, self._begun(kind) - committed) * FILE_ROWS
        return rows

    def _at_server(self) -> int | None:
        """Frames that the server took and did not acknowledge on connections that are open, if it says that."""
        return frames_of(self.reach.rows_unacked())

    def _waiting(self) -> dict[str, list[list[int]]]:
        """Ids in frames above the watermarks of the slots, a list a frame, by kind of table."""
        found = unacked_ids(self.slots)
        return {kind: found.get(table, []) for kind, table in self.tables.items()}

    def _moving(self) -> bool:
        self._check("all rows")
        return any(self._waiting().values())

    def _await(self, what: str, look: Callable[[], Any]) -> None:
        while not look():
            self._check(what)
            time.sleep(0.03)

    def _check(self, what: str) -> None:
        self.victim.check()
        progress = (len(self.outcome.kills), self._committed(KEYED), self._committed(PLAIN))
        if progress != self.progress:
            self.progress, self.moved = progress, time.monotonic()
        if time.monotonic() - self.moved > self.patience:
            raise TimeoutError(f"nothing went on for {self.patience:.0f} s: {what}")

    def _judge(self) -> None:
        keyed, plain = (
            Verdict.of(self.server, self.tables[kind], range(ROWS)) for kind in (KEYED, PLAIN)
        )
        if self.outcome.problem:
            # Given up: what is not there yet is not lost.
            missing = len(keyed.lost) + len(plain.lost)
            self.outcome.problem += f"; {missing} rows of both tables were not there yet"
        else:
            self.outcome.lost = len(keyed.lost) + len(plain.lost)
        strange = [number for number in plain.repeated if number not in self.may_repeat]
        self.outcome.altered = len(keyed.altered) + len(plain.altered)
        self.outcome.unexpected_duplicates = len(keyed.repeated) + len(strange)
        self.outcome.duplicates = len(plain.repeated) - len(strange)
        if not self.outcome.good:
            self.outcome.examples = keyed.examples() + plain.examples()
        if strange:
            self.outcome.examples.append(
                f"{plain.table}: no reason to be there twice: {len(strange)}, first {strange[:3]}"
            )
        for failed in sorted(self.slots.glob("*/.failed")):
            self.outcome.problem = (
                f"{self.outcome.problem or ''} slot {failed.parent.name} failed: "
                f"{failed.read_text(encoding='utf-8', errors='replace')}"
            ).strip()


def frames_of(rows: int | None) -> int | None:
    """How many frames so many rows are: each file is cut into tasks of whole frames, but for the last of a task."""
    return None if rows is None else -(-rows // FRAME_ROWS)
