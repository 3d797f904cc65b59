"""Damages slots and counts what becomes of them; progress on standard error, one JSON line last.

`refused`: a reader would not open it, and said why. `recovered`: all that waits is there. `torn`: the end is damaged or
was lost in a power cut, what is before it is there. `lost_silently`: frames that wait are missing and nobody says so.
`altered`: a frame is there that was never written, or in another order. `hung`: no answer in 30 s. `disagree`: engine
and Python package differ.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from questdb_sf import slots
from questdb_sf._jvm import jar_path
from torture import damage, readers
from torture.damage import Fault, Whole
from torture.readers import Engine, Reading

REPOSITORY = Path(__file__).resolve().parents[1]
TESTS = REPOSITORY / "jvm/engine/build/classes/java/test"
COUNTS = ("cases", "refused", "recovered", "torn", "lost_silently", "altered", "hung", "disagree")
GRAVE = ("lost_silently", "altered", "hung", "disagree")
BATCH = 200
USE_EVERY = 40  # of so many cases one is opened for use as well, and read again
SHOWN = 20

Case = tuple[Whole, Fault, Path]


def make_slots(engine: Engine, root: Path) -> list[Whole]:
    """One segment and several, with and without a watermark; the same as a crash and as other clients leave them."""
    shapes = {"one": (3, -1), "one-acked": (3, 0), "three": (8, -1), "three-acked": (9, 4)}
    made = []
    for name, (count, acked) in shapes.items():
        engine.make(root, name, acked, [damage.message(n) for n in range(count)])
        made.append(damage.whole(root / name, acked))
    by_name = {slot.name: slot for slot in made}
    return [
        *made,
        damage.stale_witness(by_name["one-acked"]),
        damage.after_power_cut(by_name["three-acked"]),
        damage.begun_anew(by_name["three-acked"]),
        damage.foreign(by_name["one-acked"]),
    ]


def place(slot: Whole, fault: Fault, directory: Path, originals: Path, copy: bool) -> None:
    """Makes the damaged slot. Files without a fault are links to one copy, where nobody will change them."""
    directory.mkdir()
    for name in slot.files:
        if name != fault.file:
            original = originals / slot.name / name
            (shutil.copyfile if copy else os.link)(original, directory / name)
    if fault.file != ".lock":
        (directory / ".lock").touch()
    fault.apply(directory / fault.file)


def judge(slot: Whole, fault: Fault, reading: Reading) -> str:
    """The count that a reading belongs to."""
    if reading.verdict == readers.HUNG:
        return "hung"
    if reading.verdict not in (slots.CLEAN, slots.TORN):
        return "refused"
    got = reading.frames
    start = slot.frames.index(got[0]) if got and got[0] in slot.frames else len(slot.frames)
    if slot.frames[start : start + len(got)] != got:
        return "altered"
    waits = slot.frames[slot.acked :]
    if got[len(got) - len(waits) :] == waits:
        return "torn" if reading.verdict == slots.TORN else "recovered"
    begins = not got or start <= slot.acked
    known = fault.segment and fault.offset >= damage.HEADER_BYTES
    if not slot.witnessed and not known and (begins or fault.file == slots.WATERMARK):
        return "recovered"  # of such a slot nobody can know; its front goes by the watermark
    intact = 1 if "^" in fault.what else len(waits)
    short = len(slot.frames) - start - len(got) if got else len(waits)
    cut = not slot.witnessed and "cut" in fault.what
    told = short <= reading.named
    torn = reading.verdict == slots.TORN and short <= intact
    return "torn" if begins and (cut or told or torn) else "lost_silently"


class Torture:
    """One run: ``each`` takes every so many-th case."""

    def __init__(self, engine: Engine, work: Path, each: int) -> None:
        self.counts = Counter(dict.fromkeys(COUNTS, 0))
        self._engine = engine
        self._work = work
        self._each = each
        self._shown = 0

    def run(self) -> None:
        originals = self._work / "originals"
        originals.mkdir()
        whole = make_slots(self._engine, originals)
        for slot in whole:
            (originals / slot.name).mkdir(exist_ok=True)
            for name, data in slot.files.items():
                (originals / slot.name / name).write_bytes(data)
        cases = ((slot, fault) for slot in whole for fault in damage.faults(slot))
        todo = islice(cases, 0, None, self._each)
        before: list[Case] = []
        answered: list[Reading] = []
        while placed := self._place(list(islice(todo, BATCH)), originals):
            self._engine.ask([f"look {path.parent} {path.name}" for _, _, path in placed])
            # While the engine reads these, the ones before: what it holds would be called live.
            mine = [readers.python(path) for _, _, path in before]
            answers = list(self._engine.answers(len(placed)))
            self._compare(before, answered, mine)
            before, answered = placed, answers
        self._compare(before, answered, [readers.python(path) for _, _, path in before])

    def _place(self, faults: Sequence[tuple[Whole, Fault]], originals: Path) -> list[Case]:
        if not faults:
            return []
        directory = Path(tempfile.mkdtemp(dir=self._work))
        (directory / ".slot-locks").mkdir()
        cases = []
        for number, (slot, fault) in enumerate(faults):
            path = directory / f"case-{number}"
            place(slot, fault, path, originals, copy=number % USE_EVERY == 0)
            cases.append((slot, fault, path))
        return cases

    def _compare(self, cases: list[Case], answers: list[Reading], mine: list[Reading]) -> None:
        for number, (slot, fault, _) in enumerate(cases):
            # What was not answered follows one that hung in the engine.
            answer = answers[number] if number < len(answers) else Reading(readers.HUNG)
            outcome = judge(slot, fault, answer)
            self._count(outcome, slot, fault, answer, mine[number])
            self.counts["cases"] += 1
            if not answer.agrees(mine[number]):
                self._count("disagree", slot, fault, answer, mine[number])
        self._use(cases[::USE_EVERY], answers[::USE_EVERY])
        if cases:
            shutil.rmtree(cases[0][2].parent)
        if self.counts["cases"] % 10_000 < BATCH:
            print(json.dumps(self.counts), file=sys.stderr, flush=True)

    def _use(self, cases: list[Case], answers: list[Reading]) -> None:
        """A slot that is opened for use and closed is as it was said to be."""
        for (slot, fault, path), before in zip(cases, answers, strict=False):
            if before.verdict not in (slots.CLEAN, slots.TORN):
                continue
            self._engine.ask([f"open {path.parent} {path.name}"])
            after = next(self._engine.answers(1))
            if after.frames != before.frames or after.verdict not in (slots.CLEAN, before.verdict):
                self._count("lost_silently", slot, fault, before, after)

    def _count(self, what: str, slot: Whole, fault: Fault, one: Reading, other: Reading) -> None:
        self.counts[what] += 1
        if what in GRAVE and self._shown < SHOWN:
            self._shown += 1
            print(f"{what}: {slot.name}/{fault.file} {fault.what}: {one} {other}", file=sys.stderr)


def torture(each: int, classpath: Sequence[Path] | None = None) -> dict[str, int]:
    """Runs every so many-th case and returns the counts."""
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="torture-", dir=place) as work:
        java = f"{os.environ['JAVA_HOME']}/bin/java" if "JAVA_HOME" in os.environ else "java"
        where = classpath or [TESTS, jar_path()]
        with Engine(java, where, Path(work) / "engine.log") as engine:
            run = Torture(engine, Path(work), each)
            run.run()
            return dict(run.counts)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1, help="take every so many-th case only")
    parser.add_argument(
        "--classpath", help="the engine and its test classes, where they are not as built"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it; exit status 1 where anything grave was seen."""
    options = _arguments(arguments)
    started = time.monotonic()
    where = [Path(p) for p in options.classpath.split(os.pathsep)] if options.classpath else None
    counts = torture(options.each, where)
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    print(json.dumps(counts))
    return 1 if any(counts[what] for what in GRAVE) else 0


if __name__ == "__main__":
    sys.exit(main())
