"""A Spark driver as a process of its own, to be killed with SIGKILL in the middle of what it does.

Run as a program it starts one streaming query from a :class:`harness.spark.Feed` and writes what happens to a file, a
JSON line an event. Rows named by ``hold_at`` make the task that reads them wait for the file ``go``: what it read
before is then with the sink, the rest is not, and the micro-batch stays open for as long as the test wants.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
HOLD_SECONDS = 240
PIECE_ROWS = 10


class Driver:
    """The process. Use as a context manager; :meth:`kill` may be called before its end."""

    def __init__(self, work: Path, source: Path, schema: str, checkpoint: Path) -> None:
        self.work = work
        self.checkpoint = checkpoint
        self._settings: dict[str, Any] = {
            "work": str(work),
            "source": str(source),
            "schema": schema,
            "checkpoint": str(checkpoint),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(
        self, options: dict[str, Any], hold_at: int | None = None, available_now: bool = False
    ) -> Driver:
        """Starts it and returns at once; :meth:`events` says how far it is."""
        self.work.mkdir(parents=True, exist_ok=True)
        settings = {
            **self._settings,
            "options": options,
            "hold_at": hold_at,
            "available_now": available_now,
        }
        output = (self.work / "driver.log").open("ab")
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "harness.driver", json.dumps(settings)],
            cwd=self.work,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        output.close()
        return self

    def events(self, name: str | None = None) -> list[dict[str, Any]]:
        """What it said so far, of one name or all; fails if the process has ended by itself."""
        assert self._process is not None
        if self._process.poll() not in (None, 0):
            raise AssertionError(f"the driver ended with {self._process.returncode}: {self.log()}")
        path = self.work / "events"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        told = [json.loads(line) for line in lines]
        return [event for event in told if name in (None, event["event"])]

    def holds(self) -> bool:
        """Whether a task has come to ``hold_at`` and waits there."""
        self.events()
        return (self.work / "reached").exists()

    def log(self) -> str:
        """The end of what it printed."""
        return (self.work / "driver.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    def kill(self) -> None:
        """SIGKILL for Python and the JVM at once: no hook runs, nothing is flushed."""
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
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

    settings = json.loads(sys.argv[1])
    work = Path(settings["work"])

    def tell(event: str, **what: Any) -> None:
        with (work / "events").open("a", encoding="utf-8") as out:
            out.write(json.dumps({"event": event, **what}) + "\n")

    spark = session("driver", work)
    frame = (
        spark.readStream.schema(settings["schema"])
        .option("maxFilesPerTrigger", 1)
        .json(settings["source"])
    )
    if settings["hold_at"] is not None:
        frame = frame.mapInPandas(holder(work, settings["hold_at"]), frame.schema)
    trigger: dict[str, Any] = {"availableNow": True} if settings["available_now"] else {}
    query = write_stream(
        frame, Path(settings["checkpoint"]), settings["options"], "append", **trigger
    )
    tell("started", id=str(query.id))
    told = -1
    while query.isActive:
        progress = query.lastProgress
        if progress is not None and progress["batchId"] != told and progress["numInputRows"]:
            told = progress["batchId"]
            tell("batch", id=told, metrics=dict(progress["sink"].get("metrics") or {}))
        query.awaitTermination(0.05)
    if (error := query.exception()) is not None:
        tell("failed", message=str(error))
        sys.exit(1)
    tell("ended")
    spark.stop()


def holder(work: Path, hold_at: int) -> Any:
    """The function for ``mapInPandas``: passes rows on in small pieces, and waits at one of them.

    What it has passed on lies in a buffer of 64 KiB before Spark reads it, so the last rows before ``hold_at`` do too.
    """

    def hold(frames: Any) -> Any:
        for frame in frames:
            for first in range(0, len(frame), PIECE_ROWS):
                piece = frame.iloc[first : first + PIECE_ROWS]
                if (piece["id"] == hold_at).any():
                    (work / "reached").touch()
                    deadline = time.monotonic() + HOLD_SECONDS
                    while not (work / "go").exists() and time.monotonic() < deadline:
                        time.sleep(0.05)
                yield piece

    return hold


if __name__ == "__main__":
    main()
