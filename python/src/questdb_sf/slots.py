"""Slot directories on disk, read without the JVM: a second implementation of the format.

For operators and tests: :func:`list_slots`, :func:`inspect`, :func:`scan`, :func:`dump`. Reads both layouts, the one
without a manifest (1) and the one with manifest and symbol file (2). Opens files for reading only, never takes or
tries a lock (who holds one is looked up in ``/proc/locks``), and never changes a byte. Nothing that writes
to a slot comes in here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from questdb_sf import _judge, _side_files, frames
from questdb_sf._segments import (
    FRAME_HEADER_BYTES,
    HEADER_BYTES,
    SEGMENT_SUFFIX,
    Frame,
    Segment,
    scan,
)
from questdb_sf._side_files import DICTIONARY, MANIFEST, WATERMARK, WITNESS, watermark

__all__ = [
    "CLEAN",
    "CORRUPT_SUFFIX",
    "FRAME_HEADER_BYTES",
    "HEADER_BYTES",
    "LIVE",
    "REFUSED",
    "SEGMENT_SUFFIX",
    "TORN",
    "UNREADABLE",
    "WATERMARK",
    "WITNESS",
    "Frame",
    "Segment",
    "SlotReport",
    "SlotUnreadable",
    "clues",
    "dump",
    "inspect",
    "list_slots",
    "lock_holder",
    "scan",
    "watermark",
]

CLEAN: Final = "clean"
TORN: Final = "torn"
REFUSED: Final = "refused"
LIVE: Final = "live"
UNREADABLE: Final = "unreadable"

CORRUPT_SUFFIX: Final = ".corrupt"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
_LOCKS = (".lock", ".lock.pid")
_TRACES = frozenset({".lock", ".failed", ".target", MANIFEST, WATERMARK, WITNESS})


@dataclass(frozen=True)
class SlotReport:
    """What :func:`inspect` found; :meth:`to_json` has the keys that ``questdb-sf slots show --json`` prints.

    ``newer`` says why this version sends none of it, which is no damage. ``missing`` are the frames that the slot is
    opened without, and nobody knows whether they arrived.
    """

    slot: str
    format: int
    verdict: str
    reason: str | None
    base_fsn: int | None
    published_fsn: int
    acked_fsn: int
    torn_bytes: int
    symbols: int
    segments: list[Segment]
    held: bool
    pid: int | None
    failed: str | None
    newer: str | None = None
    missing: list[_judge.Missing] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """How many frames are not acknowledged."""
        return self.published_fsn - self.acked_fsn

    def to_json(self) -> dict[str, Any]:
        """The form that ``questdb-sf slots show --json`` prints."""
        body = asdict(self)
        body["segments"] = [
            {k: getattr(s, k) for k in ("file", "base_fsn", "frames", "valid_end", "torn_bytes")}
            for s in self.segments
        ]
        body["lock"] = {"held": body.pop("held"), "pid": body.pop("pid")}
        return body


class SlotUnreadable(OSError):
    """The directory cannot be looked at, so that nothing can be said of it."""


def list_slots(sf_dir: str | os.PathLike[str]) -> list[SlotReport]:
    """Every slot directory below ``sf_dir`` (those with a lock or a segment), inspected, by name.

    One that cannot be looked at is among them, with the verdict ``unreadable``, and hides no other.
    """
    root = Path(sf_dir)
    try:
        with os.scandir(root) as found:
            entries = sorted(
                Path(e.path)
                for e in found
                if _NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)
            )
    except OSError as error:
        raise SlotUnreadable(f"cannot list {root}: {error.strerror}") from error
    reports = []
    for entry in entries:
        try:
            names = _names(entry)
            if ".lock" in names or any(n.endswith(SEGMENT_SUFFIX) for n in names):
                reports.append(inspect(entry))
        except OSError as error:
            reports.append(_unreadable(entry, [], str(error)))
    return reports


def inspect(slot: str | os.PathLike[str]) -> SlotReport:
    """Reads a slot directory and says what recovery would find. Raises :class:`SlotUnreadable`."""
    directory = Path(slot)
    names = _names(directory)
    if not any(n in _TRACES or n.endswith((SEGMENT_SUFFIX, CORRUPT_SUFFIX)) for n in names):
        inside = sorted(
            p.name for p in directory.iterdir() if p.is_dir() and (p / ".lock").exists()
        )
        hint = f"; it holds slots, such as {inside[0]}: give one of them" if inside else ""
        raise SlotUnreadable(f"{directory} is no slot: no lock and no segment is in it{hint}")
    try:
        return _inspect(directory, names)
    except OSError as error:
        return _unreadable(directory, names, str(error))


def _unreadable(directory: Path, names: list[str], reason: str) -> SlotReport:
    held, pid = lock_holder(directory)
    return SlotReport(
        slot=directory.name,
        format=2 if MANIFEST in names else 1,
        verdict=UNREADABLE,
        reason=reason,
        base_fsn=None,
        published_fsn=-1,
        acked_fsn=-1,
        torn_bytes=0,
        symbols=0,
        segments=[],
        held=held,
        pid=pid,
        failed=_side_files.read_text(directory / ".failed"),
    )


def _inspect(directory: Path, names: list[str]) -> SlotReport:
    for lock in _LOCKS:
        if lock in names:
            _side_files.check_own(directory / lock)
    held, pid = lock_holder(directory)
    symbols = _side_files.dictionary(directory / DICTIONARY)
    segments = []
    for name in names:
        if name.endswith(SEGMENT_SUFFIX):
            segment = scan(directory / name)
            if segment.unreadable:
                raise SlotUnreadable(f"{directory / name} {segment.fault}")
            _collect_symbols(segment, symbols)
            segment.content.clear()  # or the frames of all segments would be in memory
            segments.append(segment)
    newer_layout = MANIFEST in names or any(s.flagged for s in segments)
    if newer_layout:
        manifest = _side_files.latest_record(directory / MANIFEST, b"SFM1")
        found = _judge.judge_manifest(segments, manifest, watermark(directory))
    else:
        found = _judge.judge(segments, clues(directory, names))
    torn = sum(s.torn_bytes for s in (segments if newer_layout else found.kept))
    reason = found.refusal
    verdict = REFUSED if reason else TORN if torn else CLEAN
    if held:
        verdict, reason = LIVE, "held by a running process: its last frame may be half written"
    return SlotReport(
        slot=directory.name,
        format=2 if newer_layout else 1,
        verdict=verdict,
        reason=reason,
        base_fsn=found.kept[0].base_fsn if any(s.frames for s in found.kept) else None,
        published_fsn=found.published,
        acked_fsn=found.acked,
        torn_bytes=torn,
        symbols=len(symbols),
        segments=sorted(segments, key=lambda s: (s.base_fsn, s.file)),
        held=held,
        pid=pid,
        failed=_side_files.read_text(directory / ".failed"),
        newer=_newer(names, segments, found.acked),
        missing=found.missing,
    )


def clues(directory: Path, names: list[str]) -> _judge.Clues:
    """What is beside the segments of a slot whose files have these names."""
    return _judge.Clues(
        _side_files.plain_watermark(directory),
        _side_files.witness(directory),
        ".target" in names or WITNESS in names,
        [n for n in names if n.endswith(SEGMENT_SUFFIX + CORRUPT_SUFFIX)],
    )


def _newer(names: list[str], segments: list[Segment], acked: int) -> str | None:
    """Why the engine answers SLOT_NEWER_FORMAT, or None."""
    if MANIFEST in names:
        return f"it has {MANIFEST}"
    for segment in segments:
        if segment.flagged:
            return f"{segment.file} has flags 0x01"
        if segment.newer:
            return f"{segment.file} {segment.fault}"
        if segment.leaning > acked:
            return f"frame {segment.leaning} needs symbols that are not in it"
    return None


def _collect_symbols(segment: Segment, symbols: list[str]) -> None:
    for frame in segment.content:
        try:
            if frames.decode_dictionary(frame.payload, symbols) > 0:
                segment.leaning = frame.fsn if frame.fsn is not None else segment.leaning
        except frames.MalformedMessage:
            continue  # not a QWP message: dump() shows it as malformed


def dump(slot: str | os.PathLike[str], rows: bool = False) -> Iterator[dict[str, Any]]:
    """One dict a readable frame, in FSN order, also of a refused slot; with ``rows`` also the values.

    Frames behind damage come where their segment comes, with an ``fsn`` of None.
    """
    directory = Path(slot)
    segments = [scan(directory / n) for n in _names(directory) if n.endswith(SEGMENT_SUFFIX)]
    ordered = sorted(segments, key=lambda s: (s.base_fsn, s.file))
    shared = _side_files.dictionary(directory / DICTIONARY)
    for segment in ordered:
        _collect_symbols(segment, shared)
    for frame in (f for segment in ordered for f in (*segment.content, *segment.behind)):
        line: dict[str, Any] = {
            "fsn": frame.fsn,
            "segment": frame.segment,
            "offset": frame.offset,
            "length": len(frame.payload),
            "crc32c": f"{frame.crc32c:08x}",
        }
        try:
            # A self-sufficient frame is read with its own dictionary: ids may mean something else in the next one.
            message = frames.decode(frame.payload, list(shared))
            line.update(message.to_json(rows=rows))
        except frames.MalformedMessage as error:
            line["malformed"] = str(error)
        yield line


def lock_holder(directory: Path) -> tuple[bool, int | None]:
    """Whether some process holds the slot's ``.lock`` by flock, and its PID; never tries the lock itself."""
    lock = directory / ".lock"
    try:
        stat = lock.stat()
        table = Path("/proc/locks").read_text()
    except OSError:
        return False, None
    wanted = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"
    for line in table.splitlines():
        fields = line.split()
        if "->" not in fields and fields[1] == "FLOCK" and fields[5] == wanted:
            return True, int(fields[4]) if fields[4].isdigit() else _noted_pid(directory)
    return False, None


def _noted_pid(directory: Path) -> int | None:
    noted = _side_files.read_text(directory / ".lock.pid") or ""
    return int(noted) if noted.isdigit() else None


def _names(directory: Path) -> list[str]:
    try:
        return sorted(path.name for path in directory.iterdir())
    except OSError as error:
        raise SlotUnreadable(f"cannot read slot {directory}: {error.strerror}") from error
