"""Everything that `make test` runs: one part's failure hides no other, and the last line says `N passed, N failed`.

Parts: Java (format, checkstyle, JUnit of all modules), jars and wheel, Python (ruff, mypy), pytest on Spark 4.3 and the
Spark tests again on 3.5. A check that is not a test (a linter, a compilation) counts as one.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import python_lint

REPO = Path(__file__).resolve().parent.parent
RESULTS = REPO / "build/test-results"
JAVA_MODULES = ("engine", "testserver", "spark")
OLDEST_SPARK = "3.5"
SPARK_PYTHON = REPO / f"build/venvs/{OLDEST_SPARK}/bin/python"


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


def say(text: str) -> None:
    """Progress for people; at once, so that it stays in order with what the programs print."""
    print(text, flush=True)


def run(
    command: Sequence[str | Path], limit_seconds: float, keep_output: bool = False
) -> tuple[int, str]:
    """Runs a program with a time limit for it and all its children; returns exit status and, if kept, output."""
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=REPO,
        stdout=subprocess.PIPE if keep_output else None,
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
            sys.stdout.write(line)
        sys.stdout.flush()
        status = process.wait()
    except BaseException:
        end()
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if killed:
        say(f"stopped: not done within {limit_seconds:.0f} s")
    return status, "".join(output)


def read_reports(folder: Path, what: str, tally: Tally) -> int:
    """Adds the tests of all JUnit XML reports in a folder; returns how many there were."""
    count = 0
    for report in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            count += 1
            if case.find("failure") is not None or case.find("error") is not None:
                tally.failures.append(f"{what} {case.get('classname')}.{case.get('name')}")
            elif case.find("skipped") is not None:
                tally.skipped += 1
            else:
                tally.passed += 1
    return count


def java(tally: Tally) -> None:
    """All of Gradle's work in one call: linters, jars, the local Maven repository, JUnit."""
    for module in JAVA_MODULES:
        shutil.rmtree(REPO / f"jvm/{module}/build/test-results", ignore_errors=True)
    script = (
        f". tools/env.sh; set -o pipefail; run_gradle -q --continue -Dmaven.repo.local={REPO}/build/m2 "
        "lint assemble publishToMavenLocal junit"
    )
    status, output = run(["bash", "-c", script], 1200, keep_output=True)
    failed = set(re.findall(r"Execution failed for task '(:[^']+)'", output))
    for module in JAVA_MODULES:
        task = f":questdb-sf-{module}:junit"
        before = len(tally.failures)
        found = read_reports(REPO / f"jvm/{module}/build/test-results/junit", module, tally)
        say(f"  junit {module}: {found} tests, {len(tally.failures) - before} failed")
        if task in failed:
            failed.discard(task)
            if len(tally.failures) == before:
                tally.failures.append(f"gradle {task}")
    for task in sorted(failed):
        tally.failures.append(f"gradle {task}")
    if status and not tally.failures:
        tally.failures.append(f"gradle ended with exit status {status}")
    elif not failed:
        tally.passed += 1  # format, checkstyle, compilation without warnings, jars


def package(tally: Tally) -> None:
    """Jars into the package, wheel and sdist; the wheel goes into the Python of the oldest Spark."""
    status, _ = run([sys.executable, "tools/package.py"], 120)
    tally.check("jars and wheel", status == 0)
    if status == 0:
        status, _ = run(["tools/setup.sh", "wheel", OLDEST_SPARK], 120)
        tally.check(f"installation of the wheel beside Spark {OLDEST_SPARK}", status == 0)


def lint(tally: Tally) -> None:
    """Ruff and mypy."""
    for name, good in python_lint.main(fix=False).items():
        tally.check(name, good)


def pytest(name: str, python: Path, selection: str, limit: float) -> Callable[[Tally], None]:
    """A part that runs the tests of a selection in one virtual environment."""

    def part(tally: Tally) -> None:
        folder = RESULTS / name
        shutil.rmtree(folder, ignore_errors=True)
        status, _ = run(
            [
                python,
                "-m",
                "pytest",
                "-q",
                "-m",
                selection,
                "--timeout=300",
                f"--junitxml={folder}/pytest.xml",
            ],
            limit,
        )
        before = len(tally.failures)
        read_reports(folder, name, tally)
        # 5: nothing selected; 1: tests failed, which the report names.
        if status not in (0, 5) and len(tally.failures) == before:
            tally.failures.append(f"{name}: pytest ended with exit status {status}")

    return part


PARTS: dict[str, Callable[[Tally], None]] = {
    "java": java,
    "package": package,
    "lint": lint,
    "pytest-4.3": pytest("pytest-4.3", Path(sys.executable), "not versions", 1800),
    f"pytest-{OLDEST_SPARK}": pytest(
        f"pytest-{OLDEST_SPARK}", SPARK_PYTHON, "spark and not versions", 1200
    ),
}


def main(names: Sequence[str]) -> int:
    """Runs the named parts, or all; returns the exit status."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        say(f"unknown parts {unknown}: there are {list(PARTS)}")
        return 2
    total = Tally()
    summary: list[str] = []
    for name in names or PARTS:
        say(f"== {name}")
        tally = Tally()
        started = time.monotonic()
        try:
            PARTS[name](tally)
        except Exception as error:
            tally.failures.append(f"{name}: {error!r}")
        seconds = time.monotonic() - started
        summary.append(
            f"{name}: {tally.passed} passed, {len(tally.failures)} failed, "
            f"{tally.skipped} skipped in {seconds:.0f} s"
        )
        total.passed += tally.passed
        total.skipped += tally.skipped
        total.failures += tally.failures
    say("== what ran")
    for line in summary:
        say(line)
    for failure in total.failures:
        say(f"FAILED {failure}")
    say(f"{total.passed} passed, {len(total.failures)} failed")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
