"""A Spark application as a process of its own, to be killed with SIGKILL in the middle of what it does.

Run as a program it starts streaming queries that read the same :class:`harness.spark.Feed`, one file a micro-batch, and
writes what happens to a file, a JSON line an event. The row ``hold_at`` makes the task that reads it wait for the file
``go``: what it read before is then with the sink, the rest is not, and the micro-batch stays open for as long as the
test wants. It ends when its queries do, when one fails, when the file ``stop`` appears, or when who started it is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.spark import Feed

REPOSITORY = Path(__file__).resolve().parents[1]
HOLD_SECONDS = 240
PIECE_ROWS = 10


class DriverEnded(Exception):
    """The application ended without having been killed; the text has its last words."""


class Driver:
    """The process and all below it: Python, the driver's JVM, with ``local-cluster`` also the executors.

    Use as a context manager; :meth:`kill` may be called before its end, and :meth:`start` after that.

    :param settings: of Spark, on top of those of :func:`harness.spark.session`
    :param package: directory with another ``questdb_sf`` package than the one that this process would import
    """

    def __init__(
        self,
        work: Path,
        feed: Feed,
        settings: Mapping[str, str] | None = None,
        package: Path | None = None,
    ) -> None:
        self.work = work
        self._settings = {
            "work": str(work),
            "source": str(feed.directory),
            "schema": feed.schema,
            "spark": dict(settings or {}),
        }
        self._path = [str(part) for part in (package, REPOSITORY) if part is not None]
        self._process: subprocess.Popen[bytes] | None = None

    def checkpoint(self, query: str) -> Path:
        """Where a query has its checkpoint."""
        return self.work / f"checkpoint-{query}"

    def start(
        self,
        queries: Mapping[str, Mapping[str, Any]],
        hold_at: int | None = None,
        available_now: bool = False,
        handlers: bool = False,
        hold_first: bool = False,
    ) -> Driver:
        """Starts it, or starts it again, and returns at once; :meth:`events` says how far it is.

        :param queries: options of the sink by the name of a query
        :param hold_first: only a task's first attempt waits; a copy of it passes ``hold_at`` once that one is there
        :param handlers: of errors and events, which say in :meth:`events` what they hear
        """
        self.work.mkdir(parents=True, exist_ok=True)
        settings = {
            **self._settings,
            "checkpoints": {name: str(self.checkpoint(name)) for name in queries},
            "queries": {name: dict(options) for name, options in queries.items()},
            "hold_at": hold_at,
            "hold_first": hold_first,
            "available_now": available_now,
            "handlers": handlers,
        }
        with (self.work / "driver.log").open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "harness.driver", json.dumps(settings)],
                cwd=self.work,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join([*self._path, *inherited_path()]),
                    "SPARK_WORKER_DIR": str(self.work / "executors"),
                },
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self

    def check(self) -> None:
        """Raises :class:`DriverEnded` if it has ended by itself and not well."""
        if self._process is not None and self._process.poll() not in (None, 0):
            told = [event["message"] for event in self._told() if event["event"] == "failed"]
            raise DriverEnded(
                f"the driver ended with {self._process.returncode}: {(told or [self.log()])[-1][-1500:]}"
            )

    def events(self, name: str | None = None) -> list[dict[str, Any]]:
        """What it said so far, of one name or all; raises as :meth:`check` does."""
        self.check()
        return [event for event in self._told() if name in (None, event["event"])]

    def _told(self) -> list[dict[str, Any]]:
        path = self.work / "events"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def holds(self) -> bool:
        """Whether a task has come to ``hold_at`` and waits there."""
        self.check()
        return (self.work / "reached").exists()

    def log(self) -> str:
        """The end of what it printed."""
        return (self.work / "driver.log").read_text(encoding="utf-8", errors="replace")[-4000:]

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
            self._process.wait(max(seconds, 1))
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the driver did not stop within {seconds:.0f} s") from None
        self.check()
        self.kill()

    def kill(self) -> None:
        """SIGKILL for the whole group at once: no hook runs, nothing is flushed. Waits until nothing of it is left."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):  # all of it may have ended
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            wait_for_end(process.pid)

    def kill_python(self) -> None:
        """SIGKILL for Python alone, and waits until the JVM has ended by itself."""
        process, self._process = self._process, None
        assert process is not None
        process.kill()
        process.wait()
        wait_for_end(process.pid)

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()


def inherited_path() -> list[str]:
    """This process's PYTHONPATH: what it imports from there, the application has to import as well."""
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]


def wait_for_end(group: int) -> None:
    """Until no process of a killed group is left, so that its locks and connections are gone."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    raise AssertionError(f"process group {group} is still there")


def main() -> None:
    """The program in the process."""
    from harness.spark import session, write_stream

    started_by = os.getppid()
    settings = json.loads(sys.argv[1])
    work = Path(settings["work"])

    def tell(event: str, **what: Any) -> None:
        with (work / "events").open("a", encoding="utf-8") as out:
            out.write(json.dumps({"event": event, **what}) + "\n")

    spark = session("driver", work, settings=settings["spark"])
    if settings["handlers"]:
        from questdb_sf.spark import on_error, on_event

        on_event(spark, lambda event: tell("heard", kind=event.kind))
        on_error(spark, lambda error: tell("refused", category=error.category))
    trigger: dict[str, Any] = {"availableNow": True} if settings["available_now"] else {}
    queries: dict[str, Any] = {}
    for name, options in settings["queries"].items():
        frame = (
            spark.readStream.schema(settings["schema"])
            .option("maxFilesPerTrigger", 1)
            .json(settings["source"])
        )
        if settings["hold_at"] is not None:
            frame = frame.mapInPandas(
                holder(work, settings["hold_at"], settings["hold_first"]), frame.schema
            )
        queries[name] = write_stream(
            frame, Path(settings["checkpoints"][name]), options, "append", **trigger
        )
        tell("started", query=name, id=str(queries[name].id))
    told = dict.fromkeys(queries, -1)
    while any(query.isActive for query in queries.values()) and not (work / "stop").exists():
        if os.getppid() != started_by:
            os.killpg(0, signal.SIGKILL)  # nobody is left who would end this group
        for name, query in queries.items():
            progress = query.lastProgress
            if progress and progress["batchId"] != told[name] and progress["numInputRows"]:
                told[name] = progress["batchId"]
                metrics = dict(progress["sink"].get("metrics") or {})
                tell("batch", query=name, id=told[name], metrics=metrics)
        if any(query.exception() is not None for query in queries.values()):
            break
        time.sleep(0.05)
    for name, query in queries.items():
        if (error := query.exception()) is not None:
            tell("failed", query=name, message=str(error))
            sys.exit(1)
        query.stop()
    tell("ended")
    spark.stop()


def holder(work: Path, hold_at: int, hold_first: bool) -> Any:
    """The function for ``mapInPandas``: passes rows on in small pieces, and waits at one of them.

    What it has passed on lies in a buffer of 64 KiB before Spark reads it, so the last rows before ``hold_at`` do too.
    With ``hold_first`` a copy of the task that waits goes on as soon as that one waits.
    """

    def hold(frames: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        reached = work / f"reached-{context.stageId()}"
        awaited = reached if hold_first and context.attemptNumber() > 0 else work / "go"
        for frame in frames:
            for first in range(0, len(frame), PIECE_ROWS):
                piece = frame.iloc[first : first + PIECE_ROWS]
                if (piece["id"] == hold_at).any():
                    if awaited != reached:
                        reached.touch()
                        (work / "reached").touch()
                    deadline = time.monotonic() + HOLD_SECONDS
                    while not awaited.exists() and time.monotonic() < deadline:
                        time.sleep(0.05)
                yield piece

    return hold


if __name__ == "__main__":
    main()
