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
import re
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import google_crc32c

from questdb_sf import _judge, _side_files, frames
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

SEGMENT_SUFFIX: Final = ".sfa"
CORRUPT_SUFFIX: Final = ".corrupt"
HEADER_BYTES: Final = 24
FRAME_HEADER_BYTES: Final = 8
_SEGMENT_MAGIC = b"SF01"
_FLAG_MANIFEST_REQUIRED = 0x01
_MAX_BASE_FSN = 1 << 62
_MAX_SEGMENT_BYTES = (1 << 31) - 1
_SEARCH_FACTOR = 8  # so many times the bytes behind a bad frame are checked in search of a good one
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
_LOCKS = (".lock", ".lock.pid")
_TRACES = frozenset({".lock", ".failed", ".target", MANIFEST, WATERMARK, WITNESS})


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
    up to the valid end, ``behind`` those that can be read behind damage. ``leaning`` is the FSN of the last frame that
    needs symbols of other frames, -1 for none.
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
    leaning: int = -1

    @property
    def last_fsn(self) -> int:
        """FSN of the last frame; base - 1 where there is none."""
        return self.base_fsn + self.frames - 1


@dataclass(frozen=True)
class SlotReport:
    """What :func:`inspect` found; :meth:`to_json` has the keys that ``questdb-sf slots show --json`` prints.

    ``newer`` says why this version sends none of it, which is no damage. ``assumed`` counts the frames before the
    first that are taken for acknowledged though nothing says so, in a slot that another client made.
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
    assumed: int = 0

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
            _side_files.check_regular(directory / lock)
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
        assumed=found.assumed,
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


def scan(path: Path) -> Segment:
    """Reads one segment file from end to end."""
    segment = Segment(path.name)
    try:
        size = path.lstat().st_size
        if size > _MAX_SEGMENT_BYTES:  # first: such a file may be a hole of terabytes
            _side_files.check_regular(path)
            segment.fault = f"is larger than a segment can be ({size} bytes)"
            return segment
        data = _side_files.read(path)
    except OSError as error:
        segment.fault = f"cannot be read: {error.strerror or error}"
        segment.unreadable = True
        return segment
    if _blank(data):
        segment.valid_end = 0  # a spare that was never stamped
        return segment
    _read_header(segment, data)
    if segment.fault:
        if not segment.newer:
            segment.behind, _ = _frames_behind(segment.file, data, HEADER_BYTES - 1)
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
    if not _blank(data, offset):
        segment.torn_bytes = len(data) - offset
        segment.behind, doubt = _frames_behind(segment.file, data, offset)
        if doubt is not None:
            segment.hole = (
                f"offset {offset}: FSN {segment.last_fsn + 1} is damaged, but a valid frame lies behind it "
                f"at offset {doubt}"
            )
    return segment


def _blank(data: bytes, start: int = 0) -> bool:
    """Whether there is nothing but zeros."""
    return data.count(0, start) == len(data) - start


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


def _frames_behind(file: str, data: bytes, damage: int) -> tuple[list[Frame], int | None]:
    """CRC-valid frames behind a bad one, found by the magic that every payload begins with; and where the first is.

    Bytes that look like very many frames are a doubt as well: then there is an offset, and maybe no frame.
    """
    found: list[Frame] = []
    first: int | None = None
    limit, checked = _SEARCH_FACTOR * (len(data) - damage), 0
    at = data.find(frames.MAGIC, damage + 1 + FRAME_HEADER_BYTES)
    while at >= 0:
        start = at - FRAME_HEADER_BYTES
        (length,) = struct.unpack_from("<i", data, start + 4)
        checked += length if 1 <= length <= len(data) - start else 0
        frame = _frame_at(data, start)
        first = start if first is None and (frame is not None or checked > limit) else first
        if frame is not None:
            found.append(Frame(None, file, start, *frame))
            checked -= length
        elif checked > limit:
            break
        at = data.find(frames.MAGIC, at + (1 if frame is None else len(frame[1])))
    return found, first
