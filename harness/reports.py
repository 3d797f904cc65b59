"""Programs that run tests, with a time limit, and what their JUnit reports say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass
class Tally:
    """What a part counted, and the names of what failed."""

    passed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def check(self, name: str, good: bool) -> None:
        """Counts a check that is not a test."""
        if good:
            self.passed += 1
        else:
            self.failures.append(name)


@dataclass(frozen=True)
class Case:
    """A test of a report."""

    where: str
    """Its class or module."""
    name: str
    outcome: str
    """``passed``, ``failed`` or ``skipped``."""
    reason: str
    """Why it was skipped."""
    seconds: float


def cases(folder: Path) -> Iterator[Case]:
    """The tests of all JUnit XML reports in a folder."""
    for report in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                outcome = "failed"
            else:
                outcome = "passed" if skipped is None else "skipped"
            yield Case(
                case.get("classname", ""),
                case.get("name", ""),
                outcome,
                "" if skipped is None else skipped.get("message", ""),
                float(case.get("time", 0)),
            )


def read_reports(folder: Path, what: str, tally: Tally) -> int:
    """Adds the tests of all reports in a folder; returns how many there were."""
    count = 0
    for case in cases(folder):
        count += 1
        if case.outcome == "failed":
            tally.failures.append(f"{what} {case.where}.{case.name}")
        elif case.outcome == "skipped":
            tally.skipped += 1
        else:
            tally.passed += 1
    return count


def say(text: str, out: TextIO | None = None) -> None:
    """Progress for people; at once, so that it stays in order with what the programs print."""
    print(text, file=out, flush=True)


def run(
    command: Sequence[str | Path],
    limit_seconds: float,
    keep_output: bool = False,
    out: TextIO | None = None,
) -> tuple[int, str]:
    """Runs a program with a time limit for it and all its children; returns exit status and, if kept, output.

    :param out: where it prints, standard output by default
    """
    out = out or sys.stdout
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE if keep_output else out,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    output: list[str] = []
    killed = False

    def end(*_: object) -> None:
        nonlocal killed
        killed = True
        os.killpg(process.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit_seconds)
    try:
        for line in process.stdout or ():
            output.append(line)
            out.write(line)
        out.flush()
        status = process.wait()
    except BaseException:
        end()
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if killed:
        say(f"stopped: not done within {limit_seconds:.0f} s", out)
    return status, "".join(output)
