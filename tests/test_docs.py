"""The pages: they build without a warning, and the blocks with ``<!-- run -->`` above them do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.server import ServerProcess, free_port
from harness.slotfiles import make_slot

REPO = Path(__file__).resolve().parents[1]
PAGES = [REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]
BLOCK = re.compile(r"^<!-- run -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_BLOCK = re.compile(r"^```(python|bash|sh|shell|console|sql|scala)\n(.*?)^```$", re.M | re.S)
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Language and text of the blocks to be run, in order."""
    yield from BLOCK.findall(page.read_text(encoding="utf-8"))


class Reader:
    """Does what a page says, with the test server for localhost:9000 and a temporary directory for /data."""

    def __init__(self, server: ServerProcess, data: Path, python: Path | None = None) -> None:
        self._server = server
        self._data = data
        self._python = python or Path(sys.executable)

    def here(self, text: str) -> str:
        return text.replace("localhost:9000", self._server.addr).replace("/data/", f"{self._data}/")

    def follow(self, page: Path) -> None:
        for language, text in blocks(page):
            if language == "sql":
                for statement in filter(None, map(str.strip, text.split(";"))):
                    self._server.sql(self.here(statement))
            elif language == "bash":
                self._run(["bash", "-eu", "-c", self.here(text)], good=(0, 1))
            elif language == "python":
                script = (
                    self.here(text) + "\nquery.processAllAvailable()\nquery.stop()\nspark.stop()\n"
                )
                self._run([str(self._python), "-c", script], good=(0,))
            else:
                raise AssertionError(f"{page.name}: nobody can run {language}")

    def _run(self, command: list[str], good: tuple[int, ...]) -> None:
        """1 is a good end of a shell block: the command line says so when a slot is to be seen to."""
        theirs = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK_", "PYTHON"))}
        path = f"{self._python.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command,
            cwd=self._data,
            env={**theirs, "PATH": path},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode in good, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
        assert "usage:" not in done.stderr, done.stderr


@pytest.fixture
def reader(server: ServerProcess, tmp_path: Path) -> Reader:
    return Reader(server, tmp_path)


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"),
            *("-d", str(tmp_path / "doctrees"), str(REPO / "docs"), str(tmp_path / "html")),
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_block_is_run() -> None:
    """By following its page, or by a test of its own below."""
    on_its_own = {"index.md": 1, "development.md": 2}
    for page in PAGES:
        there = ANY_BLOCK.findall(page.read_text(encoding="utf-8"))
        followed = list(blocks(page))
        left = [block for block in there if block not in followed]
        assert len(left) == on_its_own.get(page.name, 0), f"{page.name}: {left}"


def development(word: str) -> str:
    """The block on the page for developers that has a word in it."""
    page = (REPO / "docs/development.md").read_text(encoding="utf-8")
    (found,) = [text for _, text in ANY_BLOCK.findall(page) if word in text]
    return str(found)


@pytest.mark.slow
def test_a_single_junit_class_runs_as_the_page_says() -> None:
    done = subprocess.run(
        ["bash", "-eu", "-c", development("gradle")],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reports = REPO / "jvm/engine/build/test-results/junit"
    assert "SlotRecoveryTest" in "".join(p.read_text() for p in reports.glob("*.xml"))


def test_the_test_server_starts_as_the_page_says(tmp_path: Path) -> None:
    command = development("java -jar").strip()
    here = command.replace("/tmp/qdb", str(tmp_path / "root")).replace("9000", str(free_port()))
    with subprocess.Popen(here.split(), cwd=REPO, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert any('"ready": true' in line or '"ready":true' in line for line in process.stdout)
        finally:
            process.kill()


def test_links_of_the_readme_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_same_example_is_in_the_readme_and_on_the_first_page() -> None:
    readme, index = (
        FENCE.findall(p.read_text()) for p in (REPO / "README.md", REPO / "docs/index.md")
    )
    assert readme == index


@pytest.mark.slow
def test_the_readme_works_for_a_new_user(server: ServerProcess, tmp_path: Path) -> None:
    """A fresh virtual environment, the wheel with [spark], the README's lines: no other step."""
    wheel = next((REPO / "build/dist").glob("*.whl"))
    fresh = tmp_path / "venv"
    commands: list[list[str | Path]] = [
        [sys.executable, "-m", "venv", fresh],
        [fresh / "bin/python", "-m", "pip", "install", "-q", f"{wheel}[spark]"],
    ]
    for command in commands:
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False
        )
        assert done.returncode == 0, done.stderr
    (tmp_path / "trips").mkdir()
    (tmp_path / "trips/1.json").write_text(
        '{"ts": "2026-01-01T10:00:00Z", "city": "Paris", "fare": 12.5}\n'
        '{"ts": "2026-01-01T10:01:00Z", "city": "Oslo", "fare": 20.0}\n'
    )
    Reader(server, tmp_path, fresh / "bin/python").follow(REPO / "README.md")
    assert server.await_count("trips", 2) == 2
    assert server.sql("SELECT city, fare FROM trips ORDER BY ts") == [
        ["Paris", 12.5],
        ["Oslo", 20.0],
    ]


def test_what_the_python_page_says_can_be_run(reader: Reader, server: ServerProcess) -> None:
    reader.follow(REPO / "docs/python.md")
    assert server.count("readings") >= 1


def test_what_operating_says_can_be_typed(
    reader: Reader, server: ServerProcess, tmp_path: Path
) -> None:
    slot = make_slot(tmp_path / "sf", (0, 3), (3, 2), acked=0)
    slot.rename(slot.with_name("spark-trips-0"))
    server.sql(
        "CREATE TABLE IF NOT EXISTS trips (ts TIMESTAMP, city SYMBOL, fare DOUBLE) TIMESTAMP(ts) PARTITION BY DAY WAL"
    )
    reader.follow(REPO / "docs/operating.md")
    assert not list((tmp_path / "sf/spark-trips-0").glob("*.sfa")), "drained"
