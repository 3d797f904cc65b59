"""Slot directories on disk, read without the JVM: a second implementation of the format.

For operators and tests: :func:`list_slots`, :func:`inspect`, :func:`dump`. Reads both layouts, the one without a
manifest (1) and the one with manifest and symbol file (2). Opens files for reading only, never takes or tries a lock
(who holds one is looked up in ``/proc/locks``), and never changes a byte. Nothing that writes to a slot comes in here.

Layout of a segment file, little-endian::

    0  "SF01" | 4  u8 version 1 | 5  u8 flags (bit 0: manifest required) | 6  u16 0 | 8  i64 base FSN | 16  i64 created µs
    24 frames, tightly packed: u32 CRC-32C of (length, payload) | u32 length | payload
    .. zeros up to the size that was reserved
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import google_crc32c

from questdb_sf import frames

CLEAN: Final = "clean"
TORN: Final = "torn"
REFUSED: Final = "refused"
LIVE: Final = "live"

SEGMENT_SUFFIX: Final = ".sfa"
HEADER_BYTES: Final = 24
FRAME_HEADER_BYTES: Final = 8
_SEGMENT_MAGIC = b"SF01"
_FLAG_MANIFEST_REQUIRED = 0x01
_MANIFEST = "sf-manifest.bin"
_WATERMARK = ".ack-watermark"
_DICTIONARY = ".symbol-dict"
_RECORD_FILE_BYTES = 8192


@dataclass(frozen=True)
class Frame:
    """One CRC-valid frame: where it lies and its payload, a QWP message."""

    fsn: int
    segment: str
    offset: int
    crc32c: int
    payload: bytes


@dataclass
class Segment:
    """One segment file as found. ``fault`` says what is wrong with it as a whole, or is None."""

    file: str
    base_fsn: int = 0
    frames: int = 0
    valid_end: int = HEADER_BYTES
    torn_bytes: int = 0
    flagged: bool = False
    fault: str | None = None
    hole: str | None = None
    content: list[Frame] = field(default_factory=list, repr=False)


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
    held, pid = lock_holder(directory)
    segments = [_scan(directory / n) for n in names if n.endswith(SEGMENT_SUFFIX)]
    manifest = _latest_record(directory / _MANIFEST, b"SFM1", "<qq")
    newer_layout = _MANIFEST in names or any(s.flagged for s in segments)
    watermark = _watermark(directory / _WATERMARK)
    live, fault = _live_segments(segments, manifest, newer_layout, watermark)
    base = live[0].base_fsn if live else None
    published = live[-1].base_fsn + live[-1].frames - 1 if live else -1
    acked = -1 if base is None else base - 1
    if live and watermark is not None and acked < watermark <= published:
        acked = watermark
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
    """One dict a readable frame, in FSN order, also of a refused slot; with ``rows`` also the values."""
    directory = Path(slot)
    segments = [_scan(directory / n) for n in _names(directory) if n.endswith(SEGMENT_SUFFIX)]
    ordered = sorted((s for s in segments if s.frames), key=lambda s: (s.base_fsn, s.file))
    shared = _symbols(directory, ordered)
    for frame in (frame for segment in ordered for frame in segment.content):
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
        return sorted(os.listdir(directory))
    except OSError as error:
        raise SlotUnreadable(f"cannot read slot {directory}: {error.strerror}") from error


def _scan(path: Path) -> Segment:
    segment = Segment(path.name)
    try:
        data = path.read_bytes()
    except OSError as error:
        segment.fault = f"cannot be read: {error.strerror}"
        return segment
    if not any(data):
        segment.valid_end = 0  # a spare that was never stamped
        return segment
    if len(data) < HEADER_BYTES:
        segment.fault = f"is {len(data)} bytes long, shorter than its header"
        return segment
    magic, version, flags, _, base, _ = struct.unpack_from("<4sBBHqq", data)
    if magic != _SEGMENT_MAGIC:
        segment.fault = f"offset 0: magic is {magic.hex()}, not {_SEGMENT_MAGIC.hex()} (SF01)"
    elif version != 1:
        segment.fault = f"offset 4: version {version} is newer than this reader"
    elif flags & ~_FLAG_MANIFEST_REQUIRED:
        segment.fault = f"offset 5: unknown flags 0x{flags:02x}"
    elif base < 0:
        segment.fault = f"offset 8: negative base FSN {base}"
    if segment.fault:
        return segment
    segment.base_fsn, segment.flagged = base, bool(flags & _FLAG_MANIFEST_REQUIRED)
    offset = HEADER_BYTES
    while (frame := _frame_at(data, offset)) is not None:
        crc, payload = frame
        segment.content.append(
            Frame(base + segment.frames, path.name, offset, crc, payload)
        )
        segment.frames += 1
        offset += FRAME_HEADER_BYTES + len(payload)
    segment.valid_end = offset
    if any(data[offset:]):
        segment.torn_bytes = len(data) - offset
        behind = _valid_frame_behind(data, offset)
        if behind is not None:
            segment.hole = (
                f"offset {offset}: FSN {base + segment.frames} is damaged, but a valid frame lies behind it "
                f"at offset {behind}"
            )
    return segment


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


def _valid_frame_behind(data: bytes, offset: int) -> int | None:
    """Offset of a CRC-valid frame behind a bad one: every payload starts with the message magic."""
    at = data.find(frames.MAGIC, offset + 1)
    while at >= 0:
        start = at - FRAME_HEADER_BYTES
        if start > offset and _frame_at(data, start) is not None:
            return start
        at = data.find(frames.MAGIC, at + 1)
    return None


def _live_segments(
    segments: list[Segment],
    manifest: tuple[int, int] | None,
    newer_layout: bool,
    watermark: int | None,
) -> tuple[list[Segment], str | None]:
    """The segments that recovery would keep, oldest first, and why it would refuse, or None."""
    for segment in segments:
        if segment.fault:
            return [], f"{segment.file} {segment.fault}"
    held = sorted((s for s in segments if s.frames), key=lambda s: (s.base_fsn, s.file))
    if newer_layout:
        if manifest is None and any(s.flagged for s in segments):
            return held, f"a segment requires {_MANIFEST}, which is missing or damaged"
        if manifest is not None:
            head, active = manifest
            bases = {s.base_fsn for s in segments if s.valid_end}
            residue = head == active and active not in bases and not held
            if not residue and (head not in bases or active not in bases):
                lost = head if head not in bases else active
                return held, f"the segment with base FSN {lost}, named by {_MANIFEST}, is missing"
            held = [s for s in held if s.base_fsn >= head]
            beyond = [s for s in held if s.base_fsn > active]
            if beyond:
                return held, f"{beyond[0].file} holds frames beyond the active segment of {_MANIFEST}"
    if watermark is not None and held:
        published = held[-1].base_fsn + held[-1].frames - 1
        if watermark <= published:
            rest = [s for s in held if s.base_fsn + s.frames - 1 > watermark]
            held = rest or held[-1:]
    for segment in held:
        if segment.hole:
            return held, f"{segment.file} {segment.hole}"
    for left, right in zip(held, held[1:]):
        if left.base_fsn + left.frames != right.base_fsn:
            return held, (
                f"{left.file} ends before FSN {left.base_fsn + left.frames}, but {right.file} starts at "
                f"FSN {right.base_fsn}"
            )
    return held, None


def _latest_record(path: Path, magic: bytes, layout: str) -> tuple[int, int] | None:
    """The valid record of a two-record side file with the greater generation, without its generation."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) != _RECORD_FILE_BYTES:
        return None
    best: tuple[int, tuple[int, int]] | None = None
    for offset in (0, 4096):
        record = data[offset : offset + 64]
        found, version, generation = struct.unpack_from("<4sIq", record)
        (crc,) = struct.unpack_from("<I", record, 60)
        if found != magic or version != 1 or generation <= 0:
            continue
        if google_crc32c.value(record[:60]) != crc:
            continue
        first, second = struct.unpack_from("<qq", record, 16)
        if best is None or generation > best[0]:
            best = (generation, (first, second))
    return None if best is None else best[1]


def _watermark(path: Path) -> int | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) == 16:
        magic, _, fsn = struct.unpack("<4sIq", data)
        return int(fsn) if magic == b"AKW1" else None
    record = _latest_record(path, b"AKW1", "<qq")
    return None if record is None else record[0]


def _symbols(directory: Path, segments: list[Segment]) -> list[str]:
    """The slot's dictionary: the side file's entries, then what the frames' own sections add."""
    symbols = _dictionary_file(directory / _DICTIONARY)
    for frame in (frame for segment in segments for frame in segment.content):
        try:
            frames.decode_dictionary(frame.payload, symbols)
        except frames.MalformedMessage:
            continue  # not a QWP message: dump() shows it as malformed
    return symbols


def _dictionary_file(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
    except OSError:
        return []
    symbols: list[str] = []
    if data[:5] != b"SYD1\x01":
        return symbols
    offset = 8
    while (chunk := _dictionary_chunk(data, offset)) is not None:
        entries, offset = chunk
        symbols.extend(entries)
    return symbols


def _dictionary_chunk(data: bytes, offset: int) -> tuple[list[str], int] | None:
    """The entries of the chunk at ``offset`` and where it ends, or None where no valid chunk begins."""
    try:
        count, at = _varint(data, offset)
        size, at = _varint(data, at)
        end = at + size
        (crc,) = struct.unpack_from("<I", data, end)
        if count == 0 or google_crc32c.value(data[offset:end]) != crc:
            return None
        entries = []
        while at < end:
            length, at = _varint(data, at)
            entries.append(data[at : at + length].decode("utf-8"))
            at += length
        return (entries, end + 4) if len(entries) == count else None
    except (IndexError, struct.error, UnicodeDecodeError):
        return None


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, offset
    raise IndexError("varint too long")
