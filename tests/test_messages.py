"""What messages and pages name must exist: options, commands of the command line, pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from questdb_sf import cli

REPO = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path
    for module in ("engine", "spark")
    for path in (REPO / f"jvm/{module}/src/main").rglob("*.java")
)
PAGES = [REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SNAKE = re.compile(r"(?<![\w./${:])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/(])")
COMMAND = re.compile(r"questdb-sf (slots|frame|doctor)(?: ([a-z-]+))?")
# Snake case that is neither option nor metric: values of options, SQL, examples, and what a command prints.
OTHERS = {
    *("unsafe_off", "dead_letter", "retriable_other", "nightly_load"),
    *("table_name", "wal_tables", "current_timestamp", "acked_fsn", "published_fsn"),
    *("undelivered_rows_by_slot", "questdb_sf", "full_disk", "not_applicable"),
    *("lanes_ended", "rows_received", "unexpected_duplicates", "lost_silently", "rows_lost"),
}


def documented(page: str) -> set[str]:
    """Names in the first column of a page's tables."""
    lines = (REPO / "docs" / page).read_text(encoding="utf-8").splitlines()
    cells = [line.split("|")[1] for line in lines if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def texts(source: Path) -> Iterator[str]:
    """The string literals of a file, those joined by + as one."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", source.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield from LITERAL.findall(re.sub(r'"\s*\+\s*"', "", code))


def commands(text: str) -> Iterator[list[str]]:
    for topic, name in COMMAND.findall(text):
        yield [topic] if topic == "doctor" or not name else [topic, name]


def accepted(command: list[str]) -> bool:
    with pytest.raises(SystemExit) as end:
        cli.main([*command, "--help"])
    return end.value.code == 0


def test_messages_name_options_that_exist() -> None:
    known = documented("options.md") | documented("metrics.md") | OTHERS
    assert {"sf_dir", "frames_replayed", "on_schema_error"} <= known
    strange = {
        f"{source.name}: {word} in {text!r}"
        for source in SOURCES
        for text in texts(source)
        if " " in text
        for word in SNAKE.findall(text)
        if word not in known
    }
    assert not strange, "\n".join(sorted(strange))


def test_messages_and_pages_name_commands_and_pages_that_exist() -> None:
    found = {
        tuple(command)
        for path in [*SOURCES, *PAGES]
        for text in ([path.read_text()] if path.suffix == ".md" else texts(path))
        for command in commands(text)
    }
    assert ("slots", "drain") in found
    for command in sorted(found):
        assert accepted(list(command)), command
    for source in SOURCES:
        for text in texts(source):
            for page in re.findall(r"docs/[\w-]+\.md", text):
                assert (REPO / page).is_file(), f"{source.name}: {page}"


def names_in_python() -> set[str]:
    """Modules, functions, classes, fields and parameters of the Python package."""
    names: set[str] = set()
    for path in (REPO / "python/src/questdb_sf").rglob("*.py"):
        names |= {path.stem, path.parent.name}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    return names


def test_pages_name_options_that_exist() -> None:
    known = documented("options.md") | documented("metrics.md") | names_in_python() | OTHERS
    strange = {
        f"{page.name}: {word}"
        for page in PAGES
        for word in re.findall(r"`(\w+)(?:=[^`]*)?`", page.read_text(encoding="utf-8"))
        if SNAKE.fullmatch(word) and word not in known
    }
    assert not strange, "\n".join(sorted(strange))
