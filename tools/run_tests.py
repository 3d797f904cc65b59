"""Everything that `make test` runs: one part's failure hides no other, and the last line says `N passed, N failed`.

Parts: Java (format, checkstyle, JUnit of all modules), jars and wheel, Python (ruff, mypy), then side by side pytest on
Spark 4.3 and the Spark tests again on 3.5: most tests wait for something. A check that is not a test (a linter, a
compilation) counts as one.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import python_lint

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.reports import REPOSITORY as REPO
from harness.reports import Tally, end_all, read_reports, run, say

RESULTS = REPO / "build/test-results"
JAVA_MODULES = ("engine", "testserver", "spark")
OLDEST_SPARK = "3.5"
SPARK_PYTHON = REPO / f"build/venvs/{OLDEST_SPARK}/bin/python"


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


def pytest(
    name: str, python: Path, selection: str, limit: float, workers: int = 0
) -> Callable[[Tally], None]:
    """A part that runs the tests of a selection in one virtual environment.

    :param workers: processes that share the files of tests; 0: all in one
    """

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
                "--timeout=900",
                f"--junitxml={folder}/pytest.xml",
                *(["-n", str(workers), "--dist", "loadfile"] if workers else []),
            ],
            limit,
            label=f"{name}: ",
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
    "pytest-4.3": pytest("pytest-4.3", Path(sys.executable), "not versions", 2700, workers=2),
    f"pytest-{OLDEST_SPARK}": pytest(
        f"pytest-{OLDEST_SPARK}", SPARK_PYTHON, "spark and not versions", 2700
    ),
}


@dataclass
class Ran:
    """A part that has run."""

    tally: Tally
    seconds: float


def run_part(name: str) -> Ran:
    """Runs a part to its end, whatever becomes of it."""
    say(f"== {name}")
    tally = Tally()
    started = time.monotonic()
    try:
        PARTS[name](tally)
    except Exception as error:
        tally.failures.append(f"{name}: {error!r}")
    return Ran(tally, time.monotonic() - started)


def main(names: Sequence[str]) -> int:
    """Runs the named parts, or all; returns the exit status."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        say(f"unknown parts {unknown}: there are {list(PARTS)}")
        return 2
    chosen = list(names or PARTS)
    together = [name for name in chosen if name.startswith("pytest")]
    ran = {name: run_part(name) for name in chosen if name not in together}
    with ThreadPoolExecutor(max(1, len(together))) as pool:
        try:
            ran |= dict(zip(together, pool.map(run_part, together), strict=True))
        except KeyboardInterrupt:
            end_all()
            raise
    say("== what ran")
    for name, part in ran.items():
        say(
            f"{name}: {part.tally.passed} passed, {len(part.tally.failures)} failed, "
            f"{part.tally.skipped} skipped in {part.seconds:.0f} s"
        )
    failures = [failure for part in ran.values() for failure in part.tally.failures]
    for failure in failures:
        say(f"FAILED {failure}")
    say(f"{sum(part.tally.passed for part in ran.values())} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
