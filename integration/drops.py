"""``make drops``: something happens to tables while lanes write to them, and nothing that is acknowledged is lost.

A round is one event, at a random moment, on a table that lanes of ``ack`` and of ``store`` write to; see
:mod:`integration.drop_round`, and :mod:`integration.drop_verdict` for which rows have to be there. Servers acknowledge
rows that they throw away; ``acks_rejected`` counts how often the engine did not take an OK for the truth. Progress goes
to standard error, one JSON line to standard output. Exit status 0 when all rows are there as they were written, every
lane has lived, and the engine had an OK to reject: without that nothing was shown.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from harness.server import REPOSITORY, QuestDb
from harness.servers import kind
from integration import drop_round
from integration.drop_lanes import Lane
from integration.drop_round import Plan
from integration.drop_verdict import existing, judge
from integration.kills import running_server, say

KEPT = REPOSITORY / "build/drops"
MODES = ("ack", "ack", "store", "store")
"""Of the lanes."""
NONE_ALLOWED = (
    "lost",
    "altered",
    "unexpected_duplicates",
    "frames_dropped",
    "lanes_ended",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="drops", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    KEPT.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="run-", dir=KEPT))
    try:
        with running_server(work / "server") as server:
            result = run_all(server, work / "slots", chosen.seed, chosen.rounds)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(result))
    bad = any(result[name] for name in NONE_ALLOWED)
    return 1 if bad or not result["acks_rejected"] else 0


def run_all(questdb: QuestDb, sf_dir: Path, seed: int, rounds: int) -> dict[str, Any]:
    """All rounds on one server; the counts of them together."""
    began = time.monotonic()
    total: Counter[str] = Counter()
    version = questdb.version()
    say(f"{kind()} {version}, seed {seed}")
    with running_lanes(questdb, sf_dir) as lanes:
        for number in range(rounds):
            total += run_one(questdb, lanes, Plan.of(seed, number, len(lanes)))
    for lane in lanes:
        total += lane.counts
    return {
        "server": kind(),
        "version": version,
        "seed": seed,
        "rounds": rounds,
        **{name: total[name] for name in ("rows", *NONE_ALLOWED, "nulled", "acks_rejected")},
        "seconds": round(time.monotonic() - began, 1),
    }


@contextmanager
def running_lanes(questdb: QuestDb, sf_dir: Path) -> Iterator[list[Lane]]:
    """The lanes, which are the same in all rounds."""
    with ExitStack() as stack:
        lanes = []
        for number, mode in enumerate(MODES):
            lane = Lane(number, questdb.addr, sf_dir if mode == "store" else None)
            stack.callback(lane.close)
            lanes.append(lane)
        yield lanes


def run_one(questdb: QuestDb, lanes: Sequence[Lane], plan: Plan) -> Counter[str]:
    """One round, told of; its counts. Its tables are gone then, and a lane that has ended is replaced."""
    parts = drop_round.run(questdb, lanes, plan)
    verdict = judge(questdb, plan, parts)
    counts = verdict.counts
    say(
        f"{plan.number + 1:>5}  {plan.event.value:<12} {'with' if plan.keyed else 'without':>7} keys"
        f" {counts['rows']:>7} rows, lost {counts['lost']}, altered {counts['altered']}"
    )
    for text in verdict.examples:
        say(f"       {text}")
    for part in parts:
        if part.problem is not None:
            say(f"       lane {part.lane.number} ({part.lane.mode}) has ended: {part.problem}")
            counts["lanes_ended"] += 1
            part.lane.renew()
    for table in existing(questdb, plan):
        questdb.sql(f"DROP TABLE '{table}'")
    return counts


if __name__ == "__main__":
    sys.exit(main())
