"""ruff (format and rules) and mypy over all Python of the repository; `--fix` mends what ruff can mend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
CONFIG = "python/pyproject.toml"
PLACES = ("python", "harness", "demo", "tools", "tests", "torture", "conformance", "integration")
FOLDERS = [folder for folder in PLACES if (REPO / folder).is_dir()]
TYPED = ["python/src" if folder == "python" else folder for folder in FOLDERS]


def commands(fix: bool) -> dict[str, list[str]]:
    """The checks by name, as commands to be run in the repository's root."""
    ruff = [sys.executable, "-m", "ruff"]
    if fix:
        return {
            "ruff check": [*ruff, "check", "-q", "--config", CONFIG, "--fix", *FOLDERS],
            "ruff format": [*ruff, "format", "-q", "--config", CONFIG, *FOLDERS],
        }
    return {
        "ruff check": [
            *ruff,
            "check",
            "-q",
            "--output-format=concise",
            "--config",
            CONFIG,
            *FOLDERS,
        ],
        "ruff format": [
            *ruff,
            "format",
            "-q",
            "--check",
            "--output-format=concise",
            "--config",
            CONFIG,
            *FOLDERS,
        ],
        "mypy --strict": [
            sys.executable,
            "-m",
            "mypy",
            "--no-error-summary",
            "--config-file",
            CONFIG,
            *TYPED,
        ],
    }


def main(fix: bool) -> dict[str, bool]:
    """Runs all of them, one failing or not; says for each whether it passed."""
    environment = {**os.environ, "NO_COLOR": "1"}
    return {
        name: subprocess.run(command, cwd=REPO, env=environment, check=False).returncode == 0
        for name, command in commands(fix).items()
    }


if __name__ == "__main__":
    sys.exit(0 if all(main("--fix" in sys.argv).values()) else 1)
