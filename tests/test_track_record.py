"""Each row of docs/track-record.md names a test, and what it names is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
NAME = re.compile(r"\b(?:test_\w+|[A-Z]\w*Test|[a-z]+[A-Z]\w*)\b(?!\.py)")
"""Names of tests, of Java's classes and of their methods."""


def rows() -> list[list[str]]:
    """The cells of all rows, without the heads of the tables."""
    lines = (REPO / "docs/track-record.md").read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return [row for row in cells if row[-1].strip() != "test"]


@cache
def text_of_all_tests() -> str:
    """The text of all tests."""
    here = [
        path
        for folder in ("tests", "conformance", "torture")
        for path in (REPO / folder).glob("*.py")
    ]
    paths = [path for path in here if path != Path(__file__)]
    java = REPO.glob("jvm/*/src/test/java/**/*.java")
    return "\n".join(path.read_text(encoding="utf-8") for path in [*paths, *java])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].strip()[:60])
def test_the_tests_of_a_fault_are_there(row: list[str]) -> None:
    assert len(row) == 4, row
    files = re.findall(r"\b\w+\.py\b", row[3])
    assert all(list(REPO.glob(f"*/{name}")) for name in files), row[3]
    names = NAME.findall(row[3])
    targets = re.findall(r"make (\w+)", row[3])
    assert files or names or targets
    assert all(f"\n{name}:" in (REPO / "Makefile").read_text() for name in targets), row[3]
    missing = [name for name in names if not re.search(rf"\b{name}\b", text_of_all_tests())]
    assert not missing, row[3]
