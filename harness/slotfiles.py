"""Slots made byte by byte, as files that no sender wrote: what readers, repairs and pages are tried on."""

from __future__ import annotations

import struct
from pathlib import Path

import google_crc32c

SEGMENT_BYTES = 4096


def message(number: int) -> bytes:
    """A QWP message: table t, one row, column n = number."""
    body = (
        b"\x00\x00"  # dictionary from 0, no entries
        b"\x01t\x01\x01\x01n\x05\x00" + struct.pack("<q", number)
    )
    return struct.pack("<4sBBHI", b"QWP1", 1, 0x08, 1, len(body)) + body


def segment(base: int, count: int) -> bytes:
    """A segment file with frames whose rows are numbered by their FSN."""
    data = struct.pack("<4sBBHqq", b"SF01", 1, 0, 0, base, 1_700_000_000_000_000)
    for fsn in range(base, base + count):
        payload = message(fsn)
        covered = struct.pack("<I", len(payload)) + payload
        data += struct.pack("<I", google_crc32c.value(covered)) + covered
    return data.ljust(SEGMENT_BYTES, b"\0")


FRAME_BYTES = 8 + len(message(0))


def make_slot(
    root: Path,
    *segments: tuple[int, int],
    acked: int | None = None,
    witness: tuple[int, int, int, int] | None = None,
) -> Path:
    """The slot ``app-0`` below a directory, with segments of (base FSN, frames), maybe a watermark, maybe a witness.

    The witness says acknowledged, oldest needed, written and forced FSN, as of this boot of the host.
    """
    slot = root / "app-0"
    slot.mkdir(parents=True)
    (slot / ".lock").touch()
    for n, (base, count) in enumerate(segments):
        (slot / f"sf-{n:016x}.sfa").write_bytes(segment(base, count))
    if acked is not None:
        (slot / ".ack-watermark").write_bytes(struct.pack("<4sIq", b"AKW1", 0, acked))
    if witness is not None:
        body = struct.pack("<4sIqqqqq", b"SQW1", 0, *witness, boot())
        (slot / ".witness").write_bytes(body + struct.pack("<I", google_crc32c.value(body)))
    return slot


def boot() -> int:
    """How a witness names this boot of the host."""
    return int(google_crc32c.value(Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()))
