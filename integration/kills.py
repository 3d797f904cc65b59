"""``make kills``: drivers, executors and servers are killed with SIGKILL while two queries write, and nothing is lost.

Every run is some kills of one of ``driver`` (``local[2]``), ``executor`` (of ``local-cluster[2,1,1024]``), ``server``,
with ``commit_on=ack`` or ``store``, and has a seed; see :mod:`integration.kill_run`. Finished runs are kept in
``build/kills.json`` (``kills-source.json`` with SERVER=source) and not repeated while the code they cover is the same;
the table says which commit they came from.
Progress and table go to standard error, one JSON line to standard output. Exit status 0 when every promise held.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness import servers
from harness.server import ServerProcess
from harness.source import build_directory
from integration.kill_run import KILLS, MODES, SCENARIOS, Blow, Outcome, Plan, run

REPOSITORY = Path(__file__).resolve().parents[1]
STATE = REPOSITORY / f"build/kills{'' if servers.scriptable() else '-' + servers.kind()}.json"
KEPT = REPOSITORY / "build/kills"
RUNS = {"driver": 2, "executor": 2, "server": 2}
COVERED = (
    "gradle.properties",
    "harness",
    "integration/kill_run.py",
    "integration/kill_server.py",
    "integration/rows.py",
    "jvm/engine/src/main",
    "jvm/spark/src/main",
    "jvm/testserver/src/main",
    "python/src/questdb_sf/frames.py",
    "python/src/questdb_sf/slots.py",
    "python/src/questdb_sf/spark",
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="kills", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--scenario", action="append", choices=SCENARIOS, help="only this; again for more"
    )
    parser.add_argument("--mode", action="append", choices=MODES, help="only this commit_on")
    parser.add_argument(
        "--runs",
        type=int,
        help=f"runs of {KILLS} kills, of each scenario and mode (default: {RUNS})",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first run; the others follow")
    parser.add_argument("--again", action="store_true", help="repeat finished runs as well")
    parser.add_argument(
        "--patience",
        type=float,
        default=120,
        help="seconds without any progress after which a run is given up",
    )
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    plans = [
        Plan.of(scenario, mode, chosen.seed + number)
        for number in range(chosen.runs or max(RUNS.values()))
        for scenario in chosen.scenario or SCENARIOS
        for mode in chosen.mode or MODES
        if number < (chosen.runs or RUNS[scenario])
    ]
    with alone(STATE.with_suffix(".lock")):
        return run_all(plans, chosen.again, chosen.patience)


def run_all(plans: list[Plan], again: bool, patience: float) -> int:
    """Does what is not finished, and tells of all; the exit status."""
    book = Book(STATE)
    todo = [plan for plan in plans if again or not book.has(plan)]
    say(f"{len(plans)} runs, {len(plans) - len(todo)} of them finished before on the same code")
    if todo:
        KEPT.mkdir(exist_ok=True)
        with running_server(Path(tempfile.mkdtemp(prefix="server-", dir=KEPT))) as server:
            for number, plan in enumerate(todo, 1):
                say(f"{number:>3}/{len(todo)}  {plan.scenario} {plan.mode} seed {plan.seed} ...")
                outcome = one(plan, server, KEPT, patience)
                book.enter(outcome)
                say(f"         {describe(plan, outcome)}")
    entries = [book.entry(plan) for plan in plans]
    for line in table(entries):
        say(line)
    result = summary(entries)
    print(json.dumps(result))
    bad = result["lost"] or result["altered"] or result["unexpected_duplicates"] or result["failed"]
    return 1 if bad else 0


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Holds a lock file, so that no second program of this kind works in the same directories."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"error: {lock} is held by another run: wait for its end") from None
        yield


@contextmanager
def running_server(folder: Path) -> Iterator[ServerProcess]:
    """One server for all runs; its root goes at the end."""
    server = servers.new_server(folder / "root")
    try:
        yield server.start()
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def one(
    plan: Plan, server: ServerProcess, kept: Path, patience: float, package: Path | None = None
) -> Outcome:
    """One run in a directory of its own below ``kept``, which stays where the run failed."""
    work = kept / f"{plan.scenario}-{plan.mode}-{plan.seed}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    outcome = run(plan, server, work, patience, package)
    if outcome.good:
        shutil.rmtree(work)
        for kind in ("keyed", "plain"):
            server.sql(f"DROP TABLE '{kind}_{plan.scenario}_{plan.mode}_{plan.seed}'")
    else:
        text = json.dumps({"plan": asdict(plan), "outcome": asdict(outcome)}, indent=1)
        (work / "outcome.json").write_text(text, encoding="utf-8")
    return outcome


def describe(plan: Plan, outcome: Outcome) -> str:
    """Some lines for people, more where something is wrong."""
    text = (
        f"{plan.scenario} {plan.mode} seed {plan.seed}: {len(outcome.kills)} kills, lost {outcome.lost}, "
        f"altered {outcome.altered}, unexpected duplicates {outcome.unexpected_duplicates}, "
        f"twice without keys {outcome.duplicates}; {outcome.seconds:.0f} s"
    )
    moments = [
        f"file {kill['committed']:>2}: {number(kill['frames']):>3} frames unacknowledged, "
        f"{kill['open_rows']:>3} rows in open micro-batches{circumstances(blow)}"
        for blow, kill in zip(plan.blows, outcome.kills, strict=False)
    ]
    wrong = [*outcome.examples, *([outcome.problem] if outcome.problem else [])]
    return "\n         ".join([text, *moments, *wrong])


def circumstances(blow: Blow) -> str:
    """What was done to the server before the blow."""
    if blow.cut:
        return f", server out of reach for {blow.cut:.1f} s"
    return f", server stopped for {blow.pause:.1f} s" if blow.pause else ""


class Book:
    """The file of finished runs. An entry counts while the code it covers is the same, and the run was good."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._code = code()
        self._commit = commit()
        self._runs: dict[str, dict[str, Any]] = {}
        try:
            self._runs = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            pass  # the first time
        except ValueError as error:
            say(f"{path} is damaged, every run is done again: {error}")

    def has(self, plan: Plan) -> bool:
        """Whether a plan was run to a good end on this code."""
        entry = self._runs.get(_key(plan.scenario, plan.mode, plan.seed))
        return entry is not None and entry["code"] == self._code and entry["good"]

    def enter(self, outcome: Outcome) -> None:
        """Adds a run and writes the file."""
        entry = {
            "code": self._code,
            "commit": self._commit,
            "good": outcome.good,
            **asdict(outcome),
        }
        self._runs[_key(outcome.scenario, outcome.mode, outcome.seed)] = entry
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".part")
        beside.write_text(json.dumps(self._runs, indent=1), encoding="utf-8")
        beside.replace(self._path)

    def entry(self, plan: Plan) -> dict[str, Any]:
        """What is known of a plan that was run."""
        return self._runs[_key(plan.scenario, plan.mode, plan.seed)]


def _key(scenario: str, mode: str, seed: int) -> str:
    return f"{scenario}/{mode}/{seed}"


def code() -> str:
    """A hash of all files whose change asks for new runs."""
    digest = hashlib.sha256()
    for name in COVERED:
        path = REPOSITORY / name
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            if file.suffix != ".pyc":
                digest.update(f"{file.relative_to(REPOSITORY)}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    if servers.kind() == "source":
        digest.update((build_directory() / "commit").read_bytes())
    return digest.hexdigest()[:16]


def commit() -> str:
    """The commit of the moment, with ``+`` where the tree differs from it."""
    try:
        answer = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()


COUNTS = ("rows", "lost", "altered", "unexpected_duplicates", "duplicates")


def table(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    """One line a scenario and mode, with the sums, the commits and the seeds."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in entries:
        groups.setdefault((entry["scenario"], entry["mode"]), []).append(entry)
    yield (
        "scenario mode  kills   unacked frames: all, least    rows  lost altered  duplicates: unexpected, without keys"
        "  s/run  seeds  commits"
    )
    for (scenario, mode), runs in groups.items():
        sums, frames = sums_of(runs), frames_at_kills(runs)
        seeds = [run["seed"] for run in runs]
        yield (
            f"{scenario:8} {mode:5} {sums['kills']:>5} {number(sums['unacked_frames_at_kills']):>21} "
            f"{number(min(frames, default=None)):>7} {sums['rows']:>7,} {sums['lost']:>5} {sums['altered']:>7} "
            f"{sums['unexpected_duplicates']:>23} {sums['duplicates']:>13} "
            f"{sum(r['seconds'] for r in runs) / len(runs):>6.1f}  {min(seeds)}..{max(seeds):<3} "
            f"{' '.join(sorted({r['commit'] for r in runs}))}"
        )


def frames_at_kills(entries: Iterable[dict[str, Any]]) -> list[int]:
    """How many frames were unacknowledged, kill by kill where that is known."""
    found = (kill["frames"] for entry in entries for kill in entry["kills"])
    return [frames for frames in found if frames is not None]


def number(count: int | None) -> str:
    """What is not known is a dash."""
    return "-" if count is None else str(count)


def sums_of(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """What is added up over runs."""
    frames = frames_at_kills(entries)
    return {
        "kills": sum(len(entry["kills"]) for entry in entries),
        "unacked_frames_at_kills": sum(frames) if frames else None,
        "kills_with_nothing_under_way": sum(
            not kill["frames"] and not kill["open_rows"]
            for entry in entries
            for kill in entry["kills"]
        ),
        **{name: sum(entry[name] for entry in entries) for name in COUNTS},
    }


def summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The JSON line."""
    return {
        "server": servers.kind(),
        "scenarios": len({(entry["scenario"], entry["mode"]) for entry in entries}),
        "runs": len(entries),
        **sums_of(entries),
        "failed": sum(1 for entry in entries if not entry["good"]),
        "commits": sorted({entry["commit"] for entry in entries}),
        "seconds": round(sum(entry["seconds"] for entry in entries), 1),
    }


def say(text: str) -> None:
    """Progress for people."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
