"""Programs that run tests, with a time limit, and what their JUnit reports say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree

REPOSITORY = Path(__file__).resolve().parents[1]


OUTCOMES = {"skipped": "skipped", "failure": "failed", "error": "failed"}
"""What an element of a JUnit XML report's test case means; a test that passed has none of them."""

LONGEST_REASON = 500
"""Characters of a failure's message in a summary."""


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
    """Why it failed or was skipped; empty when it passed."""
    seconds: float


def cases(folder: Path) -> Iterator[Case]:
    """The tests of all JUnit XML reports in a folder."""
    for report in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            outcome, reason = "passed", ""
            for element in case:
                if element.tag in OUTCOMES:
                    outcome, reason = OUTCOMES[element.tag], element.get("message", "")
            yield Case(
                case.get("classname", ""),
                case.get("name", ""),
                outcome,
                reason,
                float(case.get("time", 0)),
            )


def short(reason: str) -> str:
    """The reason of a failure as part of a line."""
    return " ".join(reason.split())[:LONGEST_REASON]


def read_reports(folder: Path, what: str, tally: Tally) -> int:
    """Adds the tests of all reports in a folder; returns how many there were."""
    count = 0
    for case in cases(folder):
        count += 1
        if case.outcome == "failed":
            tally.failures.append(f"{what} {case.where}.{case.name}: {short(case.reason)}")
        elif case.outcome == "skipped":
            tally.skipped += 1
        else:
            tally.passed += 1
    return count


def say(text: str, out: TextIO | None = None) -> None:
    """Progress for people; at once, so that it stays in order with what the programs print."""
    print(text, file=out, flush=True)


_RUNNING: set[subprocess.Popen[str]] = set()
"""What :func:`run` has started and waits for."""


def end_all() -> None:
    """Kills all that :func:`run` waits for, with their children."""
    for process in list(_RUNNING):
        os.killpg(process.pid, signal.SIGKILL)


def run(
    command: Sequence[str | Path],
    limit_seconds: float,
    keep_output: bool = False,
    out: TextIO | None = None,
    label: str = "",
) -> tuple[int, str]:
    """Runs a program with a time limit for it and all its children; returns exit status and, if kept, output.

    Any thread may call it; where it is not the main one, :func:`end_all` ends the program at Ctrl-C.

    :param out: where it prints, standard output by default
    :param label: what stands before each of its lines, for programs that run side by side
    """
    out = out or sys.stdout
    read = keep_output or bool(label)
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE if read else out,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    output: list[str] = []
    killed = False

    def end() -> None:
        nonlocal killed
        killed = True
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit_seconds, end)
    timer.daemon = True
    timer.start()
    _RUNNING.add(process)
    try:
        for line in process.stdout or ():
            if keep_output:
                output.append(line)
            out.write(label + line)
            out.flush()
        status = process.wait()
    except BaseException:
        end()
        raise
    finally:
        timer.cancel()
        _RUNNING.discard(process)
    if killed:
        say(f"{label}stopped: not done within {limit_seconds:.0f} s", out)
    return status, "".join(output)
