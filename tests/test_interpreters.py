"""The package on every Python from 3.10 to 3.13 that is found here, in a fresh environment: what needs no Spark."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
MINORS = range(10, 14)
TESTS = ("test_slots.py", "test_frames.py", "test_spark_api.py")


def candidates(minor: int) -> Iterator[Path]:
    """Where a Python 3.minor may be; on the path, and where pyenv keeps its own."""
    if found := shutil.which(f"python3.{minor}"):
        yield Path(found)
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(root.glob(f"versions/3.{minor}.*/bin/python3.{minor}"))


def usable(python: Path, minor: int) -> bool:
    """Whether it is what its name says (some names only lead to a program that looks for it) and makes environments."""
    code = f"import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, {minor}))"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def others() -> dict[str, Path]:
    """One interpreter a version, without the one that runs the tests."""
    found = {}
    for minor in MINORS:
        if minor != sys.version_info.minor:
            for python in candidates(minor):
                if usable(python, minor):
                    found[f"3.{minor}"] = python
                    break
    return found


@pytest.mark.slow
@pytest.mark.parametrize("python", others().values(), ids=others().keys())
def test_the_wheel_on_another_python(python: Path, tmp_path: Path) -> None:
    wheel = next((REPO / "build/dist").glob("*.whl"))
    fresh = tmp_path / "venv"
    inside = fresh / "bin/python"
    package = fresh / f"lib/python{python.name.removeprefix('python')}/site-packages/questdb_sf"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "-q", "--python", inside]
    tests: list[str | Path] = [REPO / "tests" / name for name in TESTS]
    commands: tuple[list[str | Path], ...] = (
        [python, "-m", "venv", "--without-pip", fresh],
        [*pip, "install", wheel, "pytest", "pytest-timeout", "requests"],
        [inside, "-W", "error", "-m", "compileall", "-q", package],
        [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=60", *tests],
        [fresh / "bin/questdb-sf", "--version"],
    )
    ours = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "VIRTUAL"))
    }
    for command in commands:
        done = subprocess.run(
            command,
            cwd=REPO,
            env={**ours, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
