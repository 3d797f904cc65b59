"""What operators do to a slot: extract, drain, repair, quarantine, clear-failed.

Reading is :mod:`questdb_sf.slots`; this module changes slots, each change under the slot's locks, so that no running
sender is disturbed. Repair and quarantine keep every byte: what they take away is there under another name. Draining
is done by the engine, in a JVM of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

from questdb_sf import _judge, _side_files, frames, slots
from questdb_sf._jvm import jar_path
from questdb_sf._side_files import Witness

CONNECT_STRING_VARIABLE = "QDB_CLIENT_CONF"
FAILED = ".failed"
_SIBLINGS = ".slot-locks"


class SlotHeld(slots.SlotUnreadable):
    """A running process holds the slot."""


class NotRepairable(RuntimeError):
    """The slot is not damaged in a way that giving up frames would mend."""


@dataclass
class RepairPlan:
    """What a repair would do: nothing was done yet."""

    slot: str
    aside: list[str] = field(default_factory=list)
    cut: dict[str, int] = field(default_factory=dict)
    marks: Witness | None = None
    kept_frames: int = 0
    given_up: list[str] = field(default_factory=list)


@contextmanager
def held(slot: str | os.PathLike[str]) -> Iterator[Path]:
    """Holds both locks of a slot, as a sender does. Raises :class:`SlotHeld` at once if somebody has one."""
    directory = _directory(slot)
    siblings = directory.parent / _SIBLINGS
    siblings.mkdir(exist_ok=True)
    with ExitStack() as stack:
        for file in (siblings / f"{directory.name}.lock", directory / ".lock"):
            stack.enter_context(_locked(file, directory))
        yield directory


@contextmanager
def _locked(file: Path, slot: Path) -> Iterator[None]:
    for path in (file, _pid_file(file)):
        if path.is_symlink() or path.exists():
            _side_files.check_own(path)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _, pid = slots.lock_holder(slot)
            who = f"process {pid}" if pid else "a running process"
            raise SlotHeld(f"slot {slot} is held by {who}: end it first, or wait") from None
        locked, named = os.fstat(descriptor), file.stat()
        if (locked.st_dev, locked.st_ino) != (named.st_dev, named.st_ino):
            raise SlotHeld(f"slot {slot} was taken by another process just now")
        _pid_file(file).write_text(f"{os.getpid()}\n")
        yield
    finally:
        os.close(descriptor)


def _pid_file(lock: Path) -> Path:
    return lock.with_name(lock.name + ".pid")


def quarantine(slot: str | os.PathLike[str]) -> Path:
    """Renames a slot to ``SLOT.unreplayable-n``: nobody adopts it, its name is free. Returns where it is now."""
    with held(slot) as directory:
        n = 1
        while (aside := directory.with_name(f"{directory.name}.unreplayable-{n}")).exists():
            n += 1
        directory.rename(aside)
        _force(directory.parent)
    return aside


def clear_failed(slot: str | os.PathLike[str]) -> str | None:
    """Deletes ``.failed``, so that adopters try the slot again; returns what it said, or None without one."""
    with held(slot) as directory:
        try:
            text = (directory / FAILED).read_text("utf-8", "replace").strip()
        except FileNotFoundError:
            return None
        (directory / FAILED).unlink()
        _force(directory)
    return text


def extract(slot: str | os.PathLike[str], out: TextIO) -> tuple[int, int]:
    """Writes every readable frame with its rows as a JSON line; returns how many frames and rows."""
    count = rows = 0
    for line in slots.dump(slot, rows=True):
        out.write(json.dumps(line) + "\n")
        count += 1
        rows += sum(table["rows"] for table in line.get("tables", []))
    return count, rows


def plan_repair(slot: str | os.PathLike[str]) -> RepairPlan:
    """What a repair would keep and give up. Raises :class:`NotRepairable`, or ``SlotUnreadable``."""
    directory = _directory(slot)
    report = slots.inspect(directory)
    if report.verdict == slots.UNREADABLE:
        raise slots.SlotUnreadable(f"{directory} cannot be read: {report.reason}")
    names = sorted(path.name for path in directory.iterdir())
    found = [slots.scan(directory / n) for n in names if n.endswith(slots.SEGMENT_SUFFIX)]
    if report.format != 1 or any(s.newer for s in found):
        raise NotRepairable(
            f"slot {directory} is of a newer format: drain it with the program that wrote it"
        )
    return _Planner(directory, found).plan()


class _Planner:
    """Walks the segments in the order of their FSNs and keeps what hangs together from the first one on."""

    def __init__(self, directory: Path, found: list[slots.Segment]) -> None:
        self._result = RepairPlan(str(directory))
        self._faulty = [s for s in found if s.fault]
        framed = [s for s in found if not s.fault and (s.frames or s.torn_bytes)]
        self._framed = sorted(framed, key=lambda s: (s.base_fsn, s.file))
        clues = slots.clues(directory, sorted(path.name for path in directory.iterdir()))
        self._refusal = _judge.judge(found, clues).refusal
        self._head = clues.witness.head if clues.witness else None
        # How many frames lie behind a hole is not known: then the watermark is believed.
        plausible = any(s.hole or s.last_fsn >= clues.acked for s in self._framed[-1:])
        self._acked = clues.acked if plausible else -1
        self._released = clues.released if plausible else -1

    def plan(self) -> RepairPlan:
        for segment in self._faulty:
            self._set_aside(segment, f"{segment.file} {segment.fault}")
        kept = self._contiguous(self._live())
        if kept and kept[-1].last_fsn <= self._acked and self._result.given_up:
            # Nothing unacknowledged is left; a watermark above the last frame would be taken for a wrong one.
            for segment in kept:
                self._result.cut.pop(segment.file, None)
                self._result.aside.append(segment.file)
            kept = []
        elif kept and kept[0].base_fsn > self._released + 1 and self._refusal:
            self._result.given_up.append(
                f"FSN {self._released + 1} to {kept[0].base_fsn - 1}, which are missing before {kept[0].file}"
            )
        if self._refusal and not self._result.given_up:
            self._result.given_up.append(self._refusal)
        self._result.kept_frames = sum(s.frames for s in kept)
        if kept and self._result.given_up:
            self._result.marks = self._marks(kept)
        return self._result

    def _live(self) -> list[slots.Segment]:
        """The segments that hold, or may hold, what is not acknowledged."""
        live = []
        for segment, following in zip_longest(self._framed, self._framed[1:]):
            if segment.hole and following and following.base_fsn <= self._acked + 1:
                self._set_aside(segment, f"{segment.file} is damaged, and wholly acknowledged")
            elif segment.hole or segment.last_fsn > self._acked or following is None:
                live.append(segment)
        return live

    def _marks(self, kept: list[slots.Segment]) -> Witness:
        """What the slot holds from now on. Where the FSNs themselves are in doubt, all of it is sent again."""
        base, last = kept[0].base_fsn, kept[-1].last_fsn
        proven = bool(self._result.aside or self._result.cut)
        there = self._head is None or any(s.base_fsn == self._head for s in self._framed)
        acked = max(self._acked, base - 1) if proven and there else base - 1
        return Witness(acked, base, last, last)

    def _contiguous(self, live: list[slots.Segment]) -> list[slots.Segment]:
        kept: list[slots.Segment] = []
        whole = True
        for segment in live:
            if not whole:
                self._set_aside(segment, f"{segment.file} lies behind the damage")
            elif kept and segment.base_fsn != kept[-1].last_fsn + 1:
                whole = False
                self._cut(kept[-1], damaged=False)
                self._set_aside(
                    segment,
                    f"{segment.file} begins with FSN {segment.base_fsn}, not {kept[-1].last_fsn + 1}",
                )
            else:
                kept.append(segment)
                if segment.hole:
                    whole = False
                    self._cut(segment, damaged=True)
        return kept

    def _cut(self, segment: slots.Segment, damaged: bool) -> None:
        """Ends a segment behind its last frame that hangs together with the first."""
        if damaged or segment.torn_bytes:
            self._result.cut[segment.file] = segment.valid_end
            self._result.given_up.append(
                f"{segment.file} is damaged from offset {segment.valid_end} (FSN {segment.last_fsn + 1}) on: "
                f"{_contents(segment.behind)} behind it"
            )

    def _set_aside(self, segment: slots.Segment, why: str) -> None:
        self._result.aside.append(segment.file)
        self._result.given_up.append(
            f"{why}: {_contents([*segment.content, *segment.behind])} in it"
        )


def repair(slot: str | os.PathLike[str]) -> RepairPlan:
    """Copies each damaged segment aside as ``.corrupt``, then keeps the frames before the damage."""
    with held(slot) as directory:
        plan = plan_repair(directory)
        if not plan.given_up:
            return plan
        for name in sorted({*plan.aside, *plan.cut}):
            _copy_aside(directory / name)
        _force(directory)
        if plan.marks is not None:
            _write_marks(directory, plan.marks)
        # From the end on: a repair that is cut off leaves a slot that can be repaired again.
        for name in reversed(plan.aside):
            (directory / name).unlink()
        if plan.marks is None:
            for name in (slots.WATERMARK, slots.WITNESS):
                (directory / name).unlink(missing_ok=True)
        _force(directory)
        for name, end in plan.cut.items():
            _zero(directory / name, end)
    report = slots.inspect(directory)
    if report.verdict == slots.REFUSED:
        raise NotRepairable(f"slot {directory} is still refused: {report.reason}")
    return plan


def _copy_aside(file: Path) -> None:
    n = 0
    while True:
        copy = file.with_name(f"{file.name}{slots.CORRUPT_SUFFIX}" + (f".{n}" if n else ""))
        if not copy.exists():
            break
        n += 1
    shutil.copy2(file, copy)
    _force(copy)


def _write_marks(directory: Path, marks: Witness) -> None:
    """Writes watermark and witness, each whole or not at all."""
    watermark = struct.pack("<4sIq", b"AKW1", 0, marks.acked)
    for name, content in ((slots.WATERMARK, watermark), (slots.WITNESS, marks.encode())):
        temporary = directory / f"{name}.tmp"
        temporary.write_bytes(content)
        _force(temporary)
        temporary.replace(directory / name)
    _force(directory)


def _zero(file: Path, offset: int) -> None:
    with file.open("r+b") as segment:
        size = segment.seek(0, os.SEEK_END)
        segment.seek(offset)
        segment.write(bytes(size - offset))
        segment.flush()
        os.fsync(segment.fileno())


def _contents(found: list[slots.Frame]) -> str:
    """How many frames and rows can be read."""
    rows = 0
    for frame in found:
        try:
            rows += sum(t.rows for t in frames.decode(frame.payload).tables)
        except frames.MalformedMessage:
            continue
    return f"{len(found)} readable frames with {rows} rows"


def drain(
    slot: str | os.PathLike[str], connect_string: str | None = None, any_target: bool = False
) -> int:
    """Sends a slot to the end by the engine in a JVM; its output goes where ours goes. Returns its exit status.

    The connect string is passed by the environment: a command line can be read by every user of the host.
    """
    command = [str(_java()), "-jar", str(jar_path()), "drain", os.fspath(slot)]
    environment = dict(os.environ)
    if connect_string is not None:
        environment[CONNECT_STRING_VARIABLE] = connect_string
    return subprocess.run(
        [*command, *(["--any-target"] if any_target else [])], env=environment, check=False
    ).returncode


def _java() -> Path:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else None
    found = found or shutil.which("java")
    if found is None:
        raise slots.SlotUnreadable("cannot find java: install Java 17 or later, or set JAVA_HOME")
    return Path(found)


def _directory(slot: str | os.PathLike[str]) -> Path:
    directory = Path(slot).resolve()
    if not directory.is_dir():
        raise slots.SlotUnreadable(f"{directory} is not a directory: name a slot")
    if not (directory / ".lock").exists() and not any(directory.glob("*.sfa")):
        raise slots.SlotUnreadable(f"{directory} is not a slot: it has no .lock and no segment")
    return directory


def _force(path: Path) -> None:
    """Has a file's bytes, or a directory's names, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
