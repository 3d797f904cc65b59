"""Tells hatchling the version: the jar's, which `gradle.properties` holds for the whole project.

A source distribution has no `gradle.properties` above it; there the version it was made with is in `PKG-INFO`.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent


def version() -> str:
    """The version of the project; fails when neither file says it."""
    for path, pattern in (
        (HERE / "PKG-INFO", r"^Version: *(\S+)$"),
        (HERE.parent / "gradle.properties", r"^version=(\S+)$"),
    ):
        if path.is_file():
            found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
            if found:
                return found.group(1)
    raise RuntimeError(f"no version in PKG-INFO beside or gradle.properties above {HERE}")
