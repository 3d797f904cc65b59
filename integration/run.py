"""``make integration``: all scenarios, a table for people, one JSON line last."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
REPORT = REPOSITORY / "build/integration.json"


def main() -> int:
    REPORT.unlink(missing_ok=True)
    status = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--timeout=600", "integration", *sys.argv[1:]],
        cwd=REPOSITORY,
        check=False,
    ).returncode
    results = json.loads(REPORT.read_text(encoding="utf-8")) if REPORT.exists() else []
    width = max((len(r["scenario"]) for r in results), default=8)
    print(f"{'scenario':{width}}  rows  with keys  without keys  replayed", file=sys.stderr)
    for r in results:
        print(
            f"{r['scenario']:{width}}  {r['rows']:>4}  {r.get('with_keys', '-'):>9}  "
            f"{r.get('without_keys', '-'):>12}  {r.get('frames_replayed', '-'):>8}",
            file=sys.stderr,
        )
    line = {
        "scenarios": len({r["scenario"].split()[0] for r in results}),
        "runs": len(results),
        "lost": sum(r["lost"] for r in results),
        "altered": sum(r["altered"] for r in results),
        "failed": int(status != 0),
    }
    print(json.dumps(line))
    return status


if __name__ == "__main__":
    sys.exit(main())
