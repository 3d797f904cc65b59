"""``make selftest``: proofs that cannot fail prove nothing. Plants faults in the engine and sees that the proofs fail.

Each fault goes into a copy of one source file below ``build/selftest``; its classes take the place of the product's in
jars of their own (kill runs, scenarios, demo, drops) or come before them on the class path (JUnit). Nothing else is
changed. First every proof has to pass without a fault; then each has to fail with every fault that it is there for.
Progress and table go to standard error, one JSON line to standard output. Exit status 0 only when every fault was
caught.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.server import ServerProcess
from integration import kills
from integration.faults import FAULTS, Demo, Drops, Fault, JUnit, Proof, Scenario
from integration.kill_run import Plan

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "python/src/questdb_sf"
WORK = REPOSITORY / "build/selftest"
KILL_PATIENCE, DEMO_PATIENCE, SCENARIO_PATIENCE, JUNIT_PATIENCE = 120, 240, 400, 180
DROPS_PATIENCE = 240
END_SECONDS = 60
"""For a proof that was not done in time, to end what it started."""


class NotPlanted(Exception):
    """A fault that does not fit the code, or does not compile."""


class NoVerdict(Exception):
    """A proof that failed without having found anything wrong with the rows: that says nothing about a fault."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="selftest", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--fault", action="append", help="only faults whose name has this text; again for more"
    )
    parser.add_argument("--list", action="store_true", help="name the faults and plant none")
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    faults = [f for f in FAULTS if not chosen.fault or any(text in f.name for text in chosen.fault)]
    if chosen.list:
        print("\n".join(fault.name for fault in faults))
        return 0
    began = time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(kills.alone(WORK.with_suffix(".lock")))
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        result = Selftest(stack).run(faults)
    result["seconds"] = round(time.monotonic() - began, 1)
    print(json.dumps(result))
    return 0 if faults and result["caught"] == result["planted"] and not result["broken"] else 1


class Selftest:
    """The run: what it needs is started when the first proof asks for it, and ends with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._server: ServerProcess | None = None
        self._java: dict[str, Any] = {}

    def run(self, faults: Sequence[Fault]) -> dict[str, Any]:
        """All baselines, then all faults."""
        self._java = engine_tests()
        broken = []
        for proof in baselines(faults):
            try:
                failure, seconds = self._timed(proof, None)
            except NoVerdict as error:
                kills.say(f"NO VERDICT without a fault   {error}")
                broken.append(str(error))
                continue
            kills.say(f"without a fault   {label(proof)}: {failure or 'passes'}; {seconds:.1f} s")
            if failure:
                broken.append(label(proof))
        caught: list[str] = []
        missed: list[str] = []
        for fault in faults:
            try:
                classes = self._plant(fault)
                results = [(proof, *self._timed(proof, classes)) for proof in fault.proofs]
            except (NotPlanted, NoVerdict) as error:
                kills.say(f"NOTHING SHOWN for '{fault.name}': {error}")
                broken.append(f"{fault.name}: {error}")
                continue
            good = all(failure for _, failure, _ in results)
            kills.say(f"{'caught' if good else 'NOT CAUGHT':10}  {fault.name}")
            for proof, failure, seconds in results:
                kills.say(f"            {label(proof)}: {failure or 'passes'}; {seconds:.1f} s")
            (caught if good else missed).append(fault.name)
        return {
            "planted": len(faults),
            "caught": len(caught),
            "missed": missed,
            "broken": broken,
        }

    def _timed(self, proof: Proof, classes: Path | None) -> tuple[str | None, float]:
        began = time.monotonic()
        return self._failure(proof, classes), time.monotonic() - began

    def _failure(self, proof: Proof, classes: Path | None) -> str | None:
        """Runs a proof with faulty classes or with none, and says how it failed, None when it passed.

        :raises NoVerdict: when it ended otherwise
        """
        if isinstance(proof, JUnit):
            return junit(proof, self._java, classes)
        package = None if classes is None else variant(classes)
        if isinstance(proof, Demo):
            return demo(package)
        if isinstance(proof, Scenario):
            return scenario(proof, package)
        if isinstance(proof, Drops):
            return drops(proof, package)
        return self._kill(proof, package)

    def _plant(self, fault: Fault) -> Path:
        source = REPOSITORY / fault.file
        text = source.read_text(encoding="utf-8")
        if text.count(fault.old) != 1:
            raise NotPlanted(
                f"{fault.file} holds {text.count(fault.old)} times what is to be replaced"
            )
        root = WORK / re.sub(r"[^a-z]+", "-", fault.name.lower())
        copy = root / "src" / source.name
        copy.parent.mkdir(parents=True)
        copy.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        classes = root / "classes"
        classes.mkdir()
        made = build_tool(
            "javac", "-nowarn", "--release", "17", "-proc:none", "-encoding", "UTF-8", "-d", str(classes),
            "-cp", self._java["classpath"], str(copy),
        )  # fmt: skip
        if made.returncode:
            raise NotPlanted(f"it does not compile: {made.stderr}")
        return classes

    def _kill(self, plan: Plan, package: Path | None) -> str | None:
        if self._server is None:
            self._server = self._stack.enter_context(kills.running_server(WORK / "server"))
        outcome = kills.one(plan, self._server, WORK / "kills", KILL_PATIENCE, package)
        if outcome.good:
            return None
        return wrong_rows(plan, asdict(outcome), outcome.problem or "")


def wrong_rows(proof: Proof, told: Mapping[str, Any], problem: str) -> str:
    """How many rows a proof found wrong; :class:`NoVerdict` with the problem that it had where none was."""
    counts = {name: told.get(name, 0) for name in ("lost", "altered", "unexpected_duplicates")}
    if not any(counts.values()):
        raise NoVerdict(f"{label(proof)} failed, and no row was wrong: {problem[-500:]}")
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())


def baselines(faults: Sequence[Fault]) -> list[Proof]:
    """Every proof once; JUnit classes together, in one JVM."""
    proofs: list[Proof] = []
    classes: list[str] = []
    for proof in (proof for fault in faults for proof in fault.proofs):
        if isinstance(proof, JUnit):
            classes += [name for name in proof.classes if name not in classes]
        elif proof not in proofs:
            proofs.append(proof)
    return [*([JUnit(tuple(classes))] if classes else []), *proofs]


def label(proof: Proof) -> str:
    """A proof's name for people."""
    if isinstance(proof, JUnit):
        return "JUnit " + " ".join(name.rsplit(".", 1)[1] for name in proof.classes)
    if isinstance(proof, Demo):
        return "demo"
    if isinstance(proof, Scenario):
        return f"integration {proof.name} {proof.commit_on}"
    if isinstance(proof, Drops):
        return f"{proof.rounds} rounds of drops"
    return f"kill run {proof.scenario} {proof.mode}"


def build_tool(*command: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with the JDK and the helpers of the build."""
    return subprocess.run(
        ["bash", "-c", '. tools/env.sh && "$@"', "-", *command],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def engine_tests() -> dict[str, Any]:
    """Compiles the engine and its tests; gives class path and JVM arguments of its tests."""
    made = build_tool("run_gradle", "-q", ":questdb-sf-engine:junitCommand")
    lines = [line for line in made.stdout.splitlines() if line.startswith("{")]
    if made.returncode or not lines:
        raise SystemExit(f"the engine's tests do not compile:\n{made.stdout}{made.stderr}")
    return dict(json.loads(lines[-1]))


def junit(proof: JUnit, java: dict[str, Any], classes: Path | None) -> str | None:
    """Runs test classes of the engine with the faulty classes in front."""
    path = java["classpath"] if classes is None else f"{classes}{os.pathsep}{java['classpath']}"
    temporary = WORK / "tmp"
    temporary.mkdir(exist_ok=True)
    status, output = bounded(
        [
            java["java"], *java["jvm"], "-Xmx1g", f"-Djava.io.tmpdir={temporary}",
            f"-Dorg.slf4j.simpleLogger.logFile={WORK / 'junit-log.txt'}", "-cp", path,
            "org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner",
            "--disable-ansi-colors", "--details=summary", "--fail-if-no-tests",
            *(part for name in proof.classes for part in ("--select-class", name)),
        ],
        REPOSITORY / "jvm/engine",
        {},
        JUNIT_PATIENCE,
    )  # fmt: skip
    if status is None:
        raise NoVerdict(f"{label(proof)}: not done within {JUNIT_PATIENCE} s")
    if status == 0:
        return None
    failed = re.search(r"\[\s*(\d+) tests failed", output)
    if failed is None or failed.group(1) == "0":
        raise SystemExit(f"JUnit did not run: {output[-3000:]}")
    names = sorted(
        set(re.findall(r"MethodSource \[className = '[\w.]*\.(\w+)', methodName = '(\w+)'", output))
    )
    return f"{failed.group(1)} failed: {', '.join('.'.join(name) for name in names)}"


def variant(classes: Path) -> Path:
    """A directory with a ``questdb_sf`` whose jars have the faulty classes, for PYTHONPATH."""
    package = classes.parent / "python"
    if package.exists():
        return package
    shutil.copytree(
        PACKAGE, package / PACKAGE.name, ignore=shutil.ignore_patterns("jars", "__pycache__")
    )
    jars = package / PACKAGE.name / "jars"
    jars.mkdir()
    faulty = {str(path.relative_to(classes)): path for path in classes.rglob("*.class")}
    for kind in ("bundle", "standalone"):
        (jar,) = (PACKAGE / "jars").glob(f"questdb-sf-{kind}-*.jar")
        replace_classes(jar, faulty, jars / jar.name)
    return package


def replace_classes(jar: Path, faulty: Mapping[str, Path], target: Path) -> None:
    """Copies a jar, with faulty classes in place of its own."""
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(target, "w") as new:
        missing = set(faulty) - set(old.namelist())
        if missing:
            raise NotPlanted(f"{jar} has no {sorted(missing)}: run `make build`")
        for name, path in faulty.items():
            new.write(path, name)
        for entry in old.infolist():
            if entry.filename not in faulty:
                new.writestr(entry, old.read(entry))


def demo(package: Path | None) -> str | None:
    """Runs the demo as a user does."""
    path = {} if package is None else {"PYTHONPATH": str(package)}
    status, output = bounded([sys.executable, "demo/run.py"], REPOSITORY, path, DEMO_PATIENCE)
    if status is None:
        raise NoVerdict(f"the demo was not done within {DEMO_PATIENCE} s")
    if status == 0:
        return None
    lines = output.strip().splitlines()
    if not lines or not lines[-1].startswith("{"):
        raise NoVerdict(f"the demo ended with {status}: {lines[-1] if lines else ''}")
    told = json.loads(lines[-1])
    return ", ".join(
        f"{name} {told[name]}" for name in ("rows_read", "rows_in_questdb", "differing")
    )


def scenario(proof: Scenario, package: Path | None) -> str | None:
    """Runs one scenario of the integration tests."""
    found = WORK / "integration.json"
    found.unlink(missing_ok=True)
    environment = {"QUESTDB_SF_REPORT": str(found)}
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    status, output = bounded(
        [sys.executable, "-m", "pytest", "-q", "-k", f"{proof.name} and {proof.commit_on}", "integration"],
        REPOSITORY,
        environment,
        SCENARIO_PATIENCE,
    )  # fmt: skip
    if status is None:
        raise NoVerdict(f"{label(proof)}: not done within {SCENARIO_PATIENCE} s")
    if status == 0:
        return None
    lines = json.loads(found.read_text(encoding="utf-8")) if found.exists() else []
    if status != 1 or not lines:
        raise SystemExit(f"the integration test did not run: {output[-3000:]}")
    errors = [text for text in output.splitlines() if text.startswith("E  ")]
    return wrong_rows(proof, lines[0], "\n".join(errors))


def drops(proof: Drops, package: Path | None) -> str | None:
    """Runs rounds of ``make drops``."""
    path = {} if package is None else {"PYTHONPATH": str(package)}
    status, output = bounded(
        [sys.executable, "-m", "integration.drops", f"--rounds={proof.rounds}", f"--seed={proof.seed}"],
        REPOSITORY,
        path,
        DROPS_PATIENCE,
    )  # fmt: skip
    if status is None:
        raise NoVerdict(f"{label(proof)}: not done within {DROPS_PATIENCE} s")
    if status == 0:
        return None
    told = [line for line in output.splitlines() if line.startswith("{")]
    if not told:
        raise NoVerdict(f"{label(proof)} ended with {status}: {output[-3000:]}")
    return wrong_rows(proof, json.loads(told[-1]), output)


def bounded(
    command: Sequence[str], folder: Path, environment: dict[str, str], seconds: float
) -> tuple[int | None, str]:
    """Runs a program and all that it starts; exit status, None if it was not done in time, and what it printed."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        end(process)
    return process.returncode, output


def end(process: subprocess.Popen[str]) -> None:
    """An interrupt, at which it ends what it has elsewhere, containers; then SIGKILL for what is left of its group."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=END_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    sys.exit(main())
