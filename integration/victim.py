"""A Spark application of two streaming queries, as a process of its own that is there to be killed.

Both queries read the same files, one file a micro-batch, and write them into a table with keys and into one without.
Run as a program it streams until the file ``stop`` appears in its directory, or a query fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.driver import wait_for_end
from harness.spark import Feed, session, write_stream

REPOSITORY = Path(__file__).resolve().parents[1]
SCHEMA = "id LONG, sym STRING, name STRING, value DOUBLE, number INT, flag BOOLEAN, ts TIMESTAMP"
COLUMNS = ("id", "sym", "name", "value", "number", "flag", "ts")
KEYED, PLAIN = "keyed", "plain"


def row(number: int) -> dict[str, Any]:
    """Row ``number``: every column a function of the number, some of them null now and then."""
    minutes, millis = divmod(number, 60_000)
    return {
        "id": number,
        "sym": f"s{number % 23}",
        "name": None if number % 11 == 0 else f"name {number} ä",
        "value": number / 8,
        "number": None if number % 7 == 0 else number * 31 % 100_003,
        "flag": number % 3 == 0,
        "ts": f"2024-01-01T00:{minutes:02d}:{millis // 1000:02d}.{millis % 1000:03d}{number % 1000:03d}Z",
    }


def make_feed(directory: Path, files: int, size: int) -> Feed:
    """So many files, to be read in their order; file f holds the rows from f · size on."""
    feed = Feed(directory, SCHEMA)
    for file in range(files):
        feed.add(row(number) for number in range(file * size, (file + 1) * size))
    return feed


class Victim:
    """The process and all below it: Python, the driver's JVM, with ``local-cluster`` also the executors.

    ``package`` is a directory with another ``questdb_sf`` package than the one of this repository.
    """

    def __init__(
        self,
        work: Path,
        source: Feed,
        master: str,
        queries: dict[str, dict[str, Any]],
        package: Path | None,
    ) -> None:
        self.work = work
        self._settings = {
            "work": str(work),
            "source": str(source.directory),
            "master": master,
            "queries": queries,
        }
        self._package = package
        self._process: subprocess.Popen[bytes] | None = None
        work.mkdir(parents=True)

    def checkpoint(self, table: str) -> Path:
        """Where the query that writes this table has its checkpoint."""
        return self.work / f"checkpoint-{table}"

    def start(self) -> None:
        """Starts it, or starts it again from its checkpoints, and returns at once."""
        path = [str(REPOSITORY)] if self._package is None else [str(self._package), str(REPOSITORY)]
        with (self.work / "driver.log").open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "integration.victim", json.dumps(self._settings)],
                cwd=self.work,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(path),
                    "SPARK_WORKER_DIR": str(self.work / "executors"),
                },
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raises :class:`VictimEnded` if it has ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            failure = self.work / "failure"
            told = failure.read_text(encoding="utf-8") if failure.exists() else self._log()
            raise VictimEnded(f"the driver ended with {self._process.returncode}: {told[-1500:]}")

    def _log(self) -> str:
        return (self.work / "driver.log").read_text(encoding="utf-8", errors="replace")

    def executors(self) -> list[int]:
        """Process ids of its executors of the moment: processes of its group with the executor's main class."""
        assert self._process is not None
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                ours = os.getpgid(int(entry.name)) == self._process.pid
                arguments = (entry / "cmdline").read_bytes().split(b"\0") if ours else []
            except OSError:
                continue  # ended meanwhile
            if any(a.endswith(b"CoarseGrainedExecutorBackend") for a in arguments):
                found.append(int(entry.name))
        return sorted(found)

    def stop(self, seconds: float) -> None:
        """Lets the queries stop and the application end; :class:`TimeoutError` if it does not."""
        assert self._process is not None
        (self.work / "stop").touch()
        try:
            status = self._process.wait(max(seconds, 1))
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the driver did not stop within {seconds:.0f} s") from None
        if status:
            self.check()
        self.kill()

    def kill(self) -> None:
        """SIGKILL for the whole group at once, and waits until nothing of it is left."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):  # all of it may have ended
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            wait_for_end(process.pid)

    def __enter__(self) -> Victim:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()


class VictimEnded(Exception):
    """The application ended without having been killed; the text has its last words."""


def main() -> None:
    """The program in the process."""
    settings = json.loads(sys.argv[1])
    work = Path(settings["work"])
    spark = session(
        "victim",
        work,
        settings={
            "spark.master": settings["master"],
            # Two tasks a micro-batch, although its file is small.
            "spark.sql.files.minPartitionNum": "2",
            "spark.sql.files.openCostInBytes": "1",
        },
    )
    queries = []
    for table, options in settings["queries"].items():
        frame = (
            spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(settings["source"])
        )
        queries.append(write_stream(frame, work / f"checkpoint-{table}", options))
    while not (work / "stop").exists():
        for query in queries:
            if (error := query.exception()) is not None:
                (work / "failure").write_text(str(error), encoding="utf-8")
                sys.exit(1)
        time.sleep(0.05)
    for query in queries:
        query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
