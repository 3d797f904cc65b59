"""Jars of this library that say of themselves that they are of another version."""

from __future__ import annotations

import zipfile
from pathlib import Path

VERSION_FILE = "org/questdbsf/sender/version.txt"


def of_another_version(jar: Path, copy: Path, version: str) -> Path:
    """A copy of a jar, the same in all but its version."""
    with zipfile.ZipFile(jar) as source, zipfile.ZipFile(copy, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            target.writestr(entry, version.encode() if entry.filename == VERSION_FILE else content)
    return copy
