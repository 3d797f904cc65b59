"""``make integration``: all scenarios against a QuestDB in a container, a table for people, one JSON line last.

``ARGS`` go to pytest: ``ARGS="-k sigkill"``. What each scenario counted is in ``build/integration.json`` as well.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
REPORT = REPOSITORY / "build/integration.json"
SUMS = ("fed", "lost", "altered", "unexpected_duplicates", "duplicates")


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    REPORT.unlink(missing_ok=True)
    status = run_pytest(sys.argv[1:])
    lines = json.loads(REPORT.read_text(encoding="utf-8")) if REPORT.exists() else []
    for text in table(lines):
        print(text, file=sys.stderr)
    print(json.dumps(summary(lines, status)))
    return status


def run_pytest(arguments: list[str]) -> int:
    """Its exit status. Ends only when it has, also at an interrupt: it has containers and processes to end."""
    command = [sys.executable, "-m", "pytest", "-v", "-rN", "--timeout=600", "integration"]
    process = subprocess.Popen(
        [*command, *arguments],
        cwd=REPOSITORY,
        stdout=sys.stderr,  # progress goes where people read it; standard output has the JSON line only
        start_new_session=True,  # an interrupt at the keyboard reaches it once, from here
    )
    try:
        return process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise


def table(lines: list[dict[str, Any]]) -> Iterator[str]:
    """One line a scenario and mode: everything in it was counted by SQL, but frames and reconnects."""
    columns = [
        ("scenario", "scenario", -24),
        ("mode", "commit_on", -5),
        ("fed", "fed", 5),
        ("with keys", "with_keys", 10),
        ("differing", "differing", 10),
        ("without keys", "without_keys", 13),
        ("lost", "lost", 5),
        ("altered", "altered", 8),
        ("twice", "duplicates", 6),
        ("may be", "duplicates_expected_up_to", 7),
        ("unacked frames", "unacked_frames", 15),
        ("of them sent", "on_their_way", 13),
        ("replayed", "frames_replayed", 9),
        ("s", "seconds", 7),
    ]
    yield " ".join(f"{title:{'<' if w < 0 else '>'}{abs(w)}}" for title, _, w in columns)
    for line in lines:
        cells = (f"{line.get(key, '-')!s:{'<' if w < 0 else '>'}{abs(w)}}" for _, key, w in columns)
        yield " ".join(cells) + ("" if line.get("passed") else "  FAILED")
    yield "with keys: rows there, and those missing, different in any column, or there twice (differing)"
    yield "without keys: rows there; twice: copies besides the first; may be: rows that were sent again"


def summary(lines: list[dict[str, Any]], status: int) -> dict[str, Any]:
    """The JSON line; a scenario that failed before it could count is in ``failed`` only."""
    return {
        "scenarios": len({line["scenario"] for line in lines}),
        "runs": len(lines),
        **{name: sum(line.get(name, 0) for line in lines) for name in SUMS},
        "failed": sum(not line.get("passed") for line in lines) or int(status != 0),
        "seconds": round(sum(line.get("seconds", 0) for line in lines), 1),
    }


if __name__ == "__main__":
    sys.exit(main())
