"""Whole slots, and every single fault of a file of theirs."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import google_crc32c

from questdb_sf import slots
from questdb_sf._side_files import Witness

HEADER_BYTES = slots.HEADER_BYTES
FRAME_BYTES = 1200  # three in a segment of 4096 bytes
MASKS = (0x01, 0x80, 0xFF)
HOLE_BYTES = 3 << 40
NOBODY = 65534


def message(number: int) -> bytes:
    """A QWP message of one row whose text fills it up: a byte that changes is seen, wherever it lies."""
    text = bytes(33 + (number * 31 + i) % 90 for i in range(FRAME_BYTES - 53))
    body = (
        b"\0\0\1t\1\2\1n\5\1s\x0f\0"
        + struct.pack("<q", number)
        + b"\0"
        + struct.pack("<II", 0, len(text))
        + text
    )
    return struct.pack("<4sBBHI", b"QWP1", 1, 0x08, 1, len(body)) + body


@dataclass(frozen=True)
class Whole:
    """A slot without a fault. ``frames`` are the CRCs of all that is in its files, ``acked`` the first so many of them.

    ``witnessed`` slots are ours: of the others a wrong watermark or a missing front cannot be told from a right one.
    ``settled`` says that the witness knows of every frame: a file that was cut behind what it knows of looks whole.
    """

    name: str
    files: dict[str, bytes]
    frames: tuple[str, ...]
    acked: int
    witnessed: bool = True
    settled: bool = True


@dataclass(frozen=True)
class Fault:
    """One fault of one file: ``apply`` makes what is there instead, at the path that it gets."""

    file: str
    what: str
    apply: Callable[[Path], None]
    segment: bool = False
    offset: int = 0


def crc(frame: bytes) -> str:
    """How both readers name a frame."""
    return f"{google_crc32c.value(frame):08x}"


def whole(directory: Path, acked: int) -> Whole:
    """Reads a slot that the engine made."""
    files = {
        path.name: path.read_bytes()
        for path in sorted(directory.iterdir())
        if not path.name.startswith(".lock")
    }
    found = [slots.scan(directory / name) for name in files if name.endswith(".sfa")]
    held = tuple(crc(f.payload) for s in found for f in s.content)
    first = min(s.base_fsn for s in found if s.frames)
    return Whole(directory.name, files, held, acked + 1 - first)


def foreign(made: Whole) -> Whole:
    """The same slot as another client leaves it: no witness, no target."""
    files = {n: data for n, data in made.files.items() if n not in (slots.WITNESS, ".target")}
    return Whole(f"{made.name}-foreign", files, made.frames, made.acked, witnessed=False)


def faults(slot: Whole) -> Iterator[Fault]:
    """Every fault: flips of each byte, each bit of headers and side files, each length, what is no file of ours."""
    for name, data in slot.files.items():
        segment = name.endswith(slots.SEGMENT_SUFFIX)
        for offset in range(len(data)):
            head = not segment or offset < HEADER_BYTES
            for mask in (*(1 << bit for bit in range(8)), 0xFF) if head else MASKS:
                yield _flip(name, data, offset, mask, segment)
        for size in range(len(data) if slot.settled or not segment else 0):
            yield Fault(name, f"cut to {size} bytes", _content(data[:size]), segment, size)
        yield Fault(name, "zeroed", _content(bytes(len(data))), segment)
        yield Fault(name, "deleted", lambda path: None, segment)
        yield Fault(name, "a hole", _hole, segment)
        yield from _not_files(name, segment)
        yield from _not_ours(name, data, segment)
    for lock in (".lock", ".lock.pid"):
        yield from _not_files(lock, False)
        yield from _not_ours(lock, b"", False)


def _flip(name: str, data: bytes, offset: int, mask: int, segment: bool) -> Fault:
    def apply(path: Path) -> None:
        changed = bytearray(data)
        changed[offset] ^= mask
        path.write_bytes(changed)

    return Fault(name, f"byte {offset} ^ 0x{mask:02x}", apply, segment, offset)


def _content(data: bytes) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        path.write_bytes(data)

    return apply


def _hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HOLE_BYTES)


def _not_files(name: str, segment: bool) -> Iterator[Fault]:
    yield Fault(name, "a FIFO", os.mkfifo, segment)
    yield Fault(name, "a link", lambda path: path.symlink_to("/etc/passwd"), segment)
    yield Fault(name, "a loop", lambda path: path.symlink_to(path.name), segment)
    yield Fault(name, "a directory", lambda path: path.mkdir(), segment)


def _not_ours(name: str, data: bytes, segment: bool) -> Iterator[Fault]:
    def apply(path: Path) -> None:
        path.write_bytes(data)
        os.chown(path, NOBODY, -1)

    if os.geteuid() == 0:  # nobody else can give a file away
        yield Fault(name, "another user's", apply, segment)


def after_power_cut(slot: Whole) -> Whole:
    """The slot as a host that went down leaves it where nothing was forced: any of its frames may be missing.

    The newer witness came to the disk, the newer watermark did not.
    """
    acked, head, written, _ = struct.unpack_from("<qqqq", slot.files[slots.WITNESS], 8)
    body = bytearray(Witness(acked, head, written, -1).encode()[:-4])
    body[40:48] = struct.pack("<q", 1)  # another boot of the host
    witness = bytes(body) + struct.pack("<I", google_crc32c.value(bytes(body)))
    older = struct.pack("<4sIq", b"AKW1", 0, acked - 1)
    files = {**slot.files, slots.WITNESS: witness, slots.WATERMARK: older}
    return Whole(f"{slot.name}-power-cut", files, slot.frames, slot.acked)


def begun_anew(slot: Whole) -> Whole:
    """The slot as one of another client, which emptied ours, left its witness there, and began with FSN 0 again."""
    left = Witness(500, 400, 500, 500).encode()
    files = {**slot.files, slots.WITNESS: left}
    return Whole(f"{slot.name}-anew", files, slot.frames, slot.acked, witnessed=False)


def stale_witness(slot: Whole) -> Whole:
    """The slot as a crash leaves it: its witness lags behind what was written since."""
    kept = struct.unpack_from("<qqqq", slot.files[slots.WITNESS], 8)
    lagging = Witness(kept[0], kept[1], kept[2] - 1, kept[3] - 1).encode()
    files = {**slot.files, slots.WITNESS: lagging}
    return Whole(f"{slot.name}-stale", files, slot.frames, slot.acked, settled=False)
