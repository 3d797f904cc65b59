"""Slot directories on disk, read without the JVM: a second implementation of the format.

For operators and tests: :func:`list_slots`, :func:`inspect`, :func:`scan`, :func:`dump`. Reads both layouts, the one
without a manifest (1) and the one with manifest and symbol file (2). Opens files for reading only, never takes or
tries a lock (who holds one is looked up in ``/proc/locks``), and never changes a byte. Nothing that writes
to a slot comes in here.

Layout of a segment file, little-endian::

    0  "SF01" | 4  u8 version 1 | 5  u8 flags (1: manifest) | 6  u16 0 | 8  i64 base FSN | 16  i64 created µs
    24 frames, tightly packed: u32 CRC-32C of (length, payload) | u32 length | payload
    .. zeros up to the size that was reserved
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import google_crc32c

from questdb_sf import frames
from questdb_sf._side_files import (
    DICTIONARY,
    MANIFEST,
    WATERMARK,
    dictionary,
    latest_record,
    watermark,
)

__all__ = [
    "CLEAN",
    "CORRUPT_SUFFIX",
    "FRAME_HEADER_BYTES",
    "HEADER_BYTES",
    "LIVE",
    "REFUSED",
    "SEGMENT_SUFFIX",
    "TORN",
    "WATERMARK",
    "Frame",
    "Segment",
    "SlotReport",
    "SlotUnreadable",
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

SEGMENT_SUFFIX: Final = ".sfa"
CORRUPT_SUFFIX: Final = ".corrupt"
HEADER_BYTES: Final = 24
FRAME_HEADER_BYTES: Final = 8
_SEGMENT_MAGIC = b"SF01"
_FLAG_MANIFEST_REQUIRED = 0x01
_MAX_BASE_FSN = 1 << 62
_TRACES = frozenset({".lock", ".failed", ".target", MANIFEST, WATERMARK})


@dataclass(frozen=True)
class Frame:
    """One CRC-valid frame: where it lies and its payload, a QWP message. Behind damage its FSN is not known."""

    fsn: int | None
    segment: str
    offset: int
    crc32c: int
    payload: bytes


@dataclass
class Segment:
    """One segment file as found.

    ``fault`` says what is wrong with it as a whole, ``hole`` where a good frame lies behind a bad one; both are None
    in a whole file. ``newer`` marks a fault that only says that a newer program wrote it. ``content`` are the frames
    up to the valid end, ``behind`` those that can be read behind damage.
    """

    file: str
    base_fsn: int = 0
    frames: int = 0
    valid_end: int = HEADER_BYTES
    torn_bytes: int = 0
    flagged: bool = False
    fault: str | None = None
    hole: str | None = None
    newer: bool = False
    unreadable: bool = False
    content: list[Frame] = field(default_factory=list, repr=False)
    behind: list[Frame] = field(default_factory=list, repr=False)

    @property
    def last_fsn(self) -> int:
        """FSN of the last frame; base - 1 where there is none."""
        return self.base_fsn + self.frames - 1


@dataclass(frozen=True)
class SlotReport:
    """What :func:`inspect` found; :meth:`to_json` has the keys that ``questdb-sf slots show --json`` prints."""

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
    """Every slot directory below ``sf_dir`` (those with a lock or a segment), inspected, by name."""
    root = Path(sf_dir)
    try:
        entries = sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    except OSError as error:
        raise SlotUnreadable(f"cannot list {root}: {error.strerror}") from error
    return [inspect(p) for p in entries if (p / ".lock").exists() or any(p.glob("*.sfa"))]


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
    held, pid = lock_holder(directory)
    segments = [scan(directory / n) for n in names if n.endswith(SEGMENT_SUFFIX)]
    manifest = latest_record(directory / MANIFEST, b"SFM1", "<qq")
    newer_layout = MANIFEST in names or any(s.flagged for s in segments)
    acknowledged = watermark(directory)
    evidence = [n for n in names if n.endswith(SEGMENT_SUFFIX + CORRUPT_SUFFIX)]
    live, fault = _live_segments(segments, manifest, newer_layout, acknowledged, evidence)
    base = live[0].base_fsn if live else None
    published = live[-1].base_fsn + live[-1].frames - 1 if live else -1
    acked = -1 if base is None else base - 1
    if live and acknowledged is not None and acked < acknowledged <= published:
        acked = acknowledged
    torn = sum(s.torn_bytes for s in segments)
    reason = fault
    verdict = REFUSED if fault else TORN if torn else CLEAN
    if held:
        verdict, reason = LIVE, "held by a running process: its last frame may be half written"
    failed = directory / ".failed"
    return SlotReport(
        slot=directory.name,
        format=2 if newer_layout else 1,
        verdict=verdict,
        reason=reason,
        base_fsn=base,
        published_fsn=published,
        acked_fsn=acked,
        torn_bytes=torn,
        symbols=len(_symbols(directory, live)),
        segments=sorted(segments, key=lambda s: (s.base_fsn, s.file)),
        held=held,
        pid=pid,
        failed=failed.read_text("utf-8", "replace").strip() if failed.exists() else None,
    )


def dump(slot: str | os.PathLike[str], rows: bool = False) -> Iterator[dict[str, Any]]:
    """One dict a readable frame, in FSN order, also of a refused slot; with ``rows`` also the values.

    Frames behind damage come where their segment comes, with an ``fsn`` of None.
    """
    directory = Path(slot)
    segments = [scan(directory / n) for n in _names(directory) if n.endswith(SEGMENT_SUFFIX)]
    ordered = sorted(segments, key=lambda s: (s.base_fsn, s.file))
    shared = _symbols(directory, ordered)
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
    try:
        return int((directory / ".lock.pid").read_text().strip())
    except (OSError, ValueError):
        return None


def _names(directory: Path) -> list[str]:
    try:
        return sorted(path.name for path in directory.iterdir())
    except OSError as error:
        raise SlotUnreadable(f"cannot read slot {directory}: {error.strerror}") from error


def scan(path: Path) -> Segment:
    """Reads one segment file from end to end."""
    segment = Segment(path.name)
    try:
        data = path.read_bytes()
    except OSError as error:
        segment.fault = f"cannot be read: {error.strerror}"
        segment.unreadable = True
        return segment
    if not any(data):
        segment.valid_end = 0  # a spare that was never stamped
        return segment
    _read_header(segment, data)
    if segment.fault:
        if not segment.newer:
            segment.behind = _frames_behind(segment.file, data, HEADER_BYTES - 1)
        return segment
    offset = HEADER_BYTES
    while (frame := _frame_at(data, offset)) is not None:
        crc, payload = frame
        segment.content.append(
            Frame(segment.base_fsn + segment.frames, path.name, offset, crc, payload)
        )
        segment.frames += 1
        offset += FRAME_HEADER_BYTES + len(payload)
    segment.valid_end = offset
    if any(data[offset:]):
        segment.torn_bytes = len(data) - offset
        segment.behind = _frames_behind(segment.file, data, offset)
        if segment.behind:
            segment.hole = (
                f"offset {offset}: FSN {segment.last_fsn + 1} is damaged, but a valid frame lies behind it "
                f"at offset {segment.behind[0].offset}"
            )
    return segment


def _read_header(segment: Segment, data: bytes) -> None:
    if len(data) < HEADER_BYTES:
        segment.fault = f"is {len(data)} bytes long, shorter than its header"
        return
    magic, version, flags, reserved, base, _ = struct.unpack_from("<4sBBHqq", data)
    if magic != _SEGMENT_MAGIC:
        segment.fault = f"offset 0: magic is {magic.hex()}, not {_SEGMENT_MAGIC.hex()} (SF01)"
    elif version == 0:
        segment.fault = "offset 4: version 0"
    elif version != 1:
        segment.fault = f"offset 4: version {version} is newer than this reader"
        segment.newer = True
    elif flags & ~_FLAG_MANIFEST_REQUIRED:
        segment.fault = f"offset 5: unknown flags 0x{flags:02x}"
        segment.newer = True
    elif reserved:
        segment.fault = f"offset 6: 0x{reserved:04x} in a reserved field"
    elif not 0 <= base <= _MAX_BASE_FSN:
        segment.fault = f"offset 8: impossible base FSN {base}"
    else:
        segment.base_fsn, segment.flagged = base, bool(flags & _FLAG_MANIFEST_REQUIRED)


def _frame_at(data: bytes, offset: int) -> tuple[int, bytes] | None:
    if offset + FRAME_HEADER_BYTES > len(data):
        return None
    crc, length = struct.unpack_from("<Ii", data, offset)
    end = offset + FRAME_HEADER_BYTES + length
    if length <= 0 or end > len(data):
        return None
    if google_crc32c.value(data[offset + 4 : end]) != crc:
        return None
    return crc, data[offset + FRAME_HEADER_BYTES : end]


def _frames_behind(file: str, data: bytes, damage: int) -> list[Frame]:
    """CRC-valid frames behind a bad one, found by the message magic that every payload starts with."""
    found: list[Frame] = []
    at = data.find(frames.MAGIC, damage + 1)
    while at >= 0:
        start = at - FRAME_HEADER_BYTES
        frame = _frame_at(data, start) if start > damage else None
        if frame is None:
            at = data.find(frames.MAGIC, at + 1)
        else:
            found.append(Frame(None, file, start, *frame))
            at = data.find(frames.MAGIC, at + len(frame[1]))
    return found


def _live_segments(
    segments: list[Segment],
    manifest: tuple[int, int] | None,
    newer_layout: bool,
    watermark: int | None,
    evidence: list[str],
) -> tuple[list[Segment], str | None]:
    """The segments that recovery would keep, oldest first, and why it would refuse, or None."""
    for segment in segments:
        if segment.fault:
            return [], f"{segment.file} {segment.fault}"
    held = sorted((s for s in segments if s.frames), key=lambda s: (s.base_fsn, s.file))
    if newer_layout:
        if manifest is None and any(s.flagged for s in segments):
            return held, f"a segment requires {MANIFEST}, which is missing or damaged"
        if manifest is not None:
            head, active = manifest
            bases = {s.base_fsn for s in segments if s.valid_end}
            residue = head == active and active not in bases and not held
            if not residue and (head not in bases or active not in bases):
                lost = head if head not in bases else active
                return held, f"the segment with base FSN {lost}, named by {MANIFEST}, is missing"
            held = [s for s in held if s.base_fsn >= head]
            beyond = [s for s in held if s.base_fsn > active]
            if beyond:
                return (
                    held,
                    f"{beyond[0].file} holds frames beyond the active segment of {MANIFEST}",
                )
    acked, dropped = -1, False
    if watermark is not None and held and watermark <= held[-1].last_fsn:
        acked = watermark
        rest = [s for s in held if s.last_fsn > watermark] or held[-1:]
        dropped = len(rest) < len(held)
        held = rest
    if held and held[0].base_fsn > acked + 1 and not newer_layout:
        missing = f"FSN {acked + 1} to {held[0].base_fsn - 1}"
        if dropped:
            return held, f"{missing} are missing between the watermark and {held[0].file}"
        if evidence:
            return held, f"{missing} may be in {evidence[0]}, which was set aside"
    for segment in held:
        if segment.hole:
            return held, f"{segment.file} {segment.hole}"
    for left, right in pairwise(held):
        if left.base_fsn + left.frames != right.base_fsn:
            return held, (
                f"{left.file} ends before FSN {left.base_fsn + left.frames}, but {right.file} starts at "
                f"FSN {right.base_fsn}"
            )
    return held, None


def _symbols(directory: Path, segments: list[Segment]) -> list[str]:
    """The slot's dictionary: the side file's entries, then what the frames' own sections add."""
    symbols = dictionary(directory / DICTIONARY)
    for frame in (frame for segment in segments for frame in segment.content):
        try:
            frames.decode_dictionary(frame.payload, symbols)
        except frames.MalformedMessage:
            continue  # not a QWP message: dump() shows it as malformed
    return symbols
