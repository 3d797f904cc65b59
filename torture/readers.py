"""The two readers: the engine in a JVM that reads very many slots, and the Python package in this process."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from questdb_sf import slots
from torture.damage import crc

READER = "org.questdbsf.slot.SlotReader"
SECONDS = 30.0
HUNG = "hung"


@dataclass(frozen=True)
class Reading:
    """What a reader says: the verdict; of a slot that may be opened also how far it is, and what is to be sent."""

    verdict: str
    acked: int = -1
    published: int = -1
    frames: tuple[str, ...] = ()
    missing: str = ""  # FSNs that the slot is opened without, as "3-5,8-8"
    why: str = ""

    @property
    def named(self) -> int:
        """How many frames are missing with a word."""
        spans = (span.split("-") for span in self.missing.split(",") if span)
        return sum(int(end) - int(start) + 1 for start, end in spans)

    def agrees(self, other: Reading) -> bool:
        """Whether both say the same; reasons are worded differently."""
        return replace(self, why="") == replace(other, why="")


class Engine:
    """The engine's reader. Use as a context manager."""

    def __init__(self, java: str, classpath: Sequence[Path], log: Path) -> None:
        self._command = [
            *("nice", "-n", "5", java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            f"-Dorg.slf4j.simpleLogger.logFile={log}",
            *("-cp", os.pathsep.join(map(str, classpath)), READER),
        ]
        self._process = self._start()
        self._rest = b""

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()

    def make(self, root: Path, name: str, acked: int, frames: Sequence[bytes]) -> None:
        """Has the engine make a slot."""
        hexes = ",".join(frame.hex() for frame in frames)
        self.ask([f"make {root} {name} {acked} {hexes}"])
        answer = next(self.answers(1))
        if answer.verdict != slots.CLEAN:
            raise RuntimeError(f"the engine made no slot: {answer}")

    def ask(self, lines: Sequence[str]) -> None:
        """Gives it commands; the answers come by :meth:`answers`."""
        assert self._process.stdin is not None
        self._process.stdin.write("".join(line + "\n" for line in lines).encode())
        self._process.stdin.flush()

    def answers(self, count: int) -> Iterator[Reading]:
        """So many answers. After one that does not come the reader is started anew, and the rest is not asked."""
        for _ in range(count):
            line = self._line()
            if line is None:
                self._process.kill()
                self._process.wait()
                self._process, self._rest = self._start(), b""
                yield Reading(HUNG)
                return
            yield _reading(line)

    def _line(self) -> str | None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([descriptor], [], [], SECONDS)[0]:
                return None
            more = os.read(descriptor, 1 << 16)
            if not more:
                raise RuntimeError(f"the engine's reader ended: exit status {self._process.wait()}")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace")


def _reading(line: str) -> Reading:
    verdict, _, rest = line.partition(" ")
    if verdict not in (slots.CLEAN, slots.TORN):
        return Reading(verdict, why=rest)
    acked, published, frames, missing = rest.split(" ")
    sent = tuple(frames.split(",")) if frames else ()
    return Reading(verdict, int(acked), int(published), sent, missing)


def python(slot: Path) -> Reading:
    """What the Python package says of a slot."""
    try:
        with _alarm():
            return _python(slot)
    except TimeoutError:
        return Reading(HUNG)


def _python(slot: Path) -> Reading:
    try:
        report = slots.inspect(slot)
    except slots.SlotUnreadable as error:
        return Reading(slots.UNREADABLE, why=str(error))
    if report.verdict == slots.UNREADABLE or report.newer:
        verdict = slots.UNREADABLE if report.verdict == slots.UNREADABLE else "newer"
        return Reading(verdict, why=report.reason or report.newer or "")
    if report.verdict == slots.REFUSED:
        return Reading(report.verdict, why=report.reason or "")
    sent = [
        crc(frame.payload)
        for segment in report.segments
        for frame in slots.scan(slot / segment.file).content
        if frame.fsn is not None and report.acked_fsn < frame.fsn <= report.published_fsn
    ]
    missing = ",".join(f"{m.from_fsn}-{m.to_fsn}" for m in report.missing)
    return Reading(report.verdict, report.acked_fsn, report.published_fsn, tuple(sent), missing)


@contextmanager
def _alarm() -> Iterator[None]:
    def late(number: int, frame: types.FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
