"""Puts the built jars into the Python package, makes wheel and sdist, prints where everything is as one JSON line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
JARS_IN_WHEEL = ("bundle", "standalone")


def version() -> str:
    """The project's version, from gradle.properties."""
    text = (REPO / "gradle.properties").read_text(encoding="utf-8")
    found = re.search(r"^version=(\S+)$", text, re.MULTILINE)
    if not found:
        raise SystemExit("gradle.properties has no line version=...")
    return found.group(1)


def jar(module: str, classifier: str = "") -> Path:
    """Where Gradle puts the jar of a module."""
    return REPO / f"jvm/{module}/build/libs/questdb-sf-{module}-{version()}{classifier}.jar"


def copy_jars() -> None:
    """Brings the package's jars up to date; an unchanged jar keeps its file, a foreign one goes."""
    target = REPO / "python/src/questdb_sf/jars"
    target.mkdir(parents=True, exist_ok=True)
    wanted = {jar(module).name: jar(module) for module in JARS_IN_WHEEL}
    for old in target.glob("*.jar"):
        if old.name not in wanted:
            old.unlink()
    for name, source in wanted.items():
        copy = target / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            # Beside and renamed: a running Spark may have the old one open.
            shutil.copyfile(source, copy.with_suffix(".part"))
            copy.with_suffix(".part").replace(copy)


def make_wheel() -> Path:
    """Wheel and sdist into build/dist, without the network; returns the wheel."""
    dist = REPO / "build/dist"
    shutil.rmtree(dist, ignore_errors=True)
    made = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "-o", str(dist), str(REPO / "python")],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if made.returncode:
        raise SystemExit(f"the wheel was not built:\n{made.stdout}")
    return next(dist.glob("*.whl"))


def main() -> None:
    """Everything, then the JSON line."""
    copy_jars()
    places = {
        "bundle": jar("bundle"),
        "standalone": jar("standalone"),
        "wheel": make_wheel(),
        "testserver": jar("testserver", "-all"),
        "m2": REPO / "build/m2",
    }
    for name, path in places.items():
        if not path.exists():
            raise SystemExit(f"{name} was not built: {path} is missing")
    print(json.dumps({name: str(path.relative_to(REPO)) for name, path in places.items()}))


if __name__ == "__main__":
    main()
