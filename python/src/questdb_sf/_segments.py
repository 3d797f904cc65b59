"""Segment files, read frame by frame; what :mod:`questdb_sf.slots` says of a slot is made of it.

Layout of a segment file, little-endian::

    0  "SF01" | 4  u8 version 1 | 5  u8 flags (1: manifest) | 6  u16 0 | 8  i64 base FSN | 16  i64 created µs
    24 frames, tightly packed: u32 CRC-32C of (length, payload) | u32 length | payload
    .. zeros up to the size that was reserved
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import google_crc32c

from questdb_sf import _side_files, frames

SEGMENT_SUFFIX: Final = ".sfa"
HEADER_BYTES: Final = 24
FRAME_HEADER_BYTES: Final = 8
_SEGMENT_MAGIC = b"SF01"
_FLAG_MANIFEST_REQUIRED = 0x01
_MAX_BASE_FSN = 1 << 62
_MAX_SEGMENT_BYTES = (1 << 31) - 1
_SEARCH_FACTOR = 8  # so many times the bytes behind a bad frame are checked in search of a good one


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


def scan(path: Path) -> Segment:
    """Reads one segment file from end to end."""
    segment = Segment(path.name)
    try:
        size = path.lstat().st_size
        if size > _MAX_SEGMENT_BYTES:  # first: such a file may be a hole of terabytes
            _side_files.check_own(path)
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
