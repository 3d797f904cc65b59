"""``make conformance``: everything that talks to a server, against the one that ``SERVER`` or ``QUESTDB_IMAGE`` names.

The tests here, those in ``tests`` that need a server, and the demo. What the server at hand cannot do, such
as being scripted, is not applicable, and counted with its reason. ``ARGS`` go to pytest: ``ARGS="-k matrix"`` (then the
demo is left out). Progress and a table go to standard error, one JSON line to standard output; exit status 0 when
nothing failed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from harness import servers
from harness.reports import REPOSITORY, Case, cases, run, say, short

RESULTS = REPOSITORY / "build/test-results/conformance"
WORKERS = 3
"""More than there are cores on a small machine: most tests wait for something."""
TESTS_SECONDS = 2400
DEMO_SECONDS = 400


def main(arguments: list[str]) -> int:
    if os.environ.get("QUESTDB_IMAGE"):
        os.environ["SERVER"] = "image"
        subprocess.run(["tools/docker.sh", "ready"], cwd=REPOSITORY, check=True)
    began = time.monotonic()
    version = server_version()
    say(f"server: {servers.kind()}, version {version}", sys.stderr)
    done = pytest(arguments)
    if not arguments:
        done.append(demo())
    for line in table(done):
        say(line, sys.stderr)
    say(f"{time.monotonic() - began:.0f} s", sys.stderr)
    counts = Counter(case.outcome for case in done)
    result = {
        "server": servers.kind(),
        "version": version,
        "passed": counts["passed"],
        "failed": counts["failed"],
        "not_applicable": counts["skipped"],
    }
    print(json.dumps(result))
    return 1 if counts["failed"] or not counts["passed"] else 0


def server_version() -> str:
    """What a server of this kind says that it is."""
    work = Path(tempfile.mkdtemp(prefix="questdb-sf-conformance-"))
    try:
        with servers.new_server(work / "root") as server:
            return server.version()
    finally:
        shutil.rmtree(work, ignore_errors=True)


def pytest(arguments: list[str]) -> list[Case]:
    """All tests; one more that failed where pytest did not come to its end."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-m", "on_server", "--timeout=900"]
    spread = ["-n", str(WORKERS), "--dist", "loadfile"]
    report = f"--junitxml={RESULTS}/pytest.xml"
    status, _ = run(
        [*command, *spread, report, "conformance", "tests", *arguments],
        TESTS_SECONDS,
        out=sys.stderr,
    )
    done = list(cases(RESULTS))
    failed = any(case.outcome == "failed" for case in done)
    if status != 0 and not failed:
        done.append(Case("pytest", f"ended with exit status {status}", "failed", "", 0))
    return done


def demo() -> Case:
    """The demo as one test."""
    began = time.monotonic()
    status, _ = run([sys.executable, "demo/run.py"], DEMO_SECONDS, out=sys.stderr)
    outcome = "failed" if status else "passed"
    return Case("demo", "flights through an outage", outcome, "", time.monotonic() - began)


def table(done: list[Case]) -> Iterator[str]:
    """A line a file, then what failed, and why what did not apply."""
    by_place: dict[str, list[Case]] = defaultdict(list)
    for case in done:
        by_place[case.where].append(case)
    yield f"{'tests':44} {'passed':>7} {'failed':>7} {'not applicable':>15} {'s':>7}"
    for place, there in sorted(by_place.items()):
        counts = Counter(case.outcome for case in there)
        seconds = sum(case.seconds for case in there)
        yield (
            f"{place:44} {counts['passed']:>7} {counts['failed']:>7} {counts['skipped']:>15} {seconds:>7.1f}"
        )
    for reason, count in Counter(case.reason for case in done if case.outcome == "skipped").items():
        yield f"{count} of them: {reason}"
    for case in done:
        if case.outcome == "failed":
            yield f"FAILED {case.where}: {case.name}: {short(case.reason)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
