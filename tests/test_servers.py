"""Which server tests run against, and the source that one of them is built from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.server import NotApplicable
from harness.servers import new_server
from harness.source import SourceServer

REPO = Path(__file__).resolve().parents[1]


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", "-C", str(directory), *identity, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with what the build takes and what it does not."""
    made = tmp_path / "repository"
    files = {
        "pom.xml": "all",
        "core/pom.xml": "core",
        "core/src/main/java/A.java": "A",
        "core/src/test/java/ATest.java": "not taken",
        "core/rust/build.sh": "#!/bin/sh",
        "benchmarks/pom.xml": "not taken",
    }
    for name, text in files.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (made / "core/rust/build.sh").chmod(0o755)
    (made / "core/conf").mkdir()
    (made / "core/conf/link").symlink_to("../pom.xml")
    git(tmp_path, "init", "-q", str(made))
    git(made, "add", ".")
    git(made, "commit", "-q", "-m", "all")
    return made


def take(repository: Path, directory: Path) -> subprocess.CompletedProcess[str]:
    program = str(REPO / "tools/questdb_source.py")
    return subprocess.run(
        [sys.executable, program, str(repository), "HEAD", str(directory)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_source_of_the_server_without_what_is_missing(repository: Path, tmp_path: Path) -> None:
    """Files, modes and links as they were committed; what the repository lacks is named."""
    blob = git(repository, "rev-parse", "HEAD:core/src/main/java/A.java")
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    taken = tmp_path / "taken"
    done = take(repository, taken)
    assert done.returncode == 0, done.stderr
    assert "core/src/main/java/A.java" in done.stderr
    there = sorted(str(p.relative_to(taken)) for p in taken.rglob("*") if not p.is_dir())
    assert there == ["core/conf/link", "core/pom.xml", "core/rust/build.sh", "pom.xml"]
    assert (taken / "core/rust/build.sh").stat().st_mode & 0o111
    assert not (taken / "core/pom.xml").stat().st_mode & 0o111
    assert (taken / "core/conf/link").read_text(encoding="utf-8") == "core"


def test_a_part_that_is_a_submodule_is_an_error(repository: Path, tmp_path: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},java-questdb-client")
    git(repository, "commit", "-q", "-m", "submodule")
    done = take(repository, tmp_path / "taken")
    assert done.returncode == 1
    assert "java-questdb-client is a submodule" in done.stderr


def test_a_server_that_nobody_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER", "postgres")
    with pytest.raises(ValueError, match="SERVER=postgres: it is one of testserver, source"):
        new_server(tmp_path / "root")


def test_a_server_that_cannot_be_scripted_says_so(tmp_path: Path) -> None:
    server = SourceServer(tmp_path / "root")
    with pytest.raises(NotApplicable, match=r"script\(hold_acks\) needs a scriptable server"):
        server.script(hold_acks=True)
    with pytest.raises(NotApplicable, match=r"counters\(\) needs a scriptable server"):
        server.counters()


def test_options_that_only_the_test_server_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused before anything is started."""
    program = tmp_path / "questdb"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    monkeypatch.setenv("QUESTDB_SOURCE_BUILD", str(tmp_path))
    with pytest.raises(NotApplicable, match="--token needs a scriptable server"):
        SourceServer(tmp_path / "root", "--token", "secret").start()
    assert not (tmp_path / "root").exists()
