"""The files beside the segments of a slot: watermark, witness, manifest, symbols. Read only, as all of `slots`."""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import google_crc32c

MANIFEST: Final = "sf-manifest.bin"
WATERMARK: Final = ".ack-watermark"
WITNESS: Final = ".witness"
DICTIONARY: Final = ".symbol-dict"
_RECORD_FILE_BYTES = 8192
_WITNESS_LAYOUT = "<4sIqqqqq"
_WITNESS_CRC_OFFSET = struct.calcsize(_WITNESS_LAYOUT)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class NotOurs(OSError):
    """What has the file's name is no regular file, or another user's, and is not opened."""


def check_own(path: Path) -> None:
    """Raises :class:`NotOurs` for all but regular files of this user, ``FileNotFoundError`` where nothing is."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise NotOurs(f"{path} is not a regular file, so it is not opened; remove it")
    user = os.geteuid()
    if found.st_uid != user:
        raise NotOurs(
            f"{path} belongs to user id {found.st_uid}, and this process runs as {user}, so it is not opened; run as "
            "its owner, or give it to this user (chown)"
        )


def read(path: Path, limit: int | None = None) -> bytes:
    """The bytes of a regular file of this user, at most ``limit``; never through a link, never waiting for a FIFO."""
    check_own(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        return file.read() if limit is None else file.read(limit)


def read_text(path: Path) -> str | None:
    """A small text file, or None where there is none that can be read."""
    try:
        return read(path, 1 << 20).decode("utf-8", "replace").strip()
    except OSError:
        return None


@dataclass(frozen=True)
class Witness:
    """What ``.witness`` says: how far the slot was when its last owner wrote it."""

    acked: int
    head: int
    written: int
    forced: int
    same_boot: bool = False

    @property
    def all_written(self) -> int:
        """All frames up to here were in the segments."""
        return max(self.written, self.forced)

    @property
    def promised(self) -> int:
        """All frames up to here must be in the segments, or acknowledged."""
        return self.all_written if self.same_boot else self.forced

    def encode(self) -> bytes:
        """The file's content, for a host that is up since."""
        marks = (self.acked, self.head, self.written, self.forced)
        body = struct.pack(_WITNESS_LAYOUT, b"SQW1", 0, *marks, boot())
        return body + struct.pack("<I", google_crc32c.value(body))


def boot() -> int:
    """Which boot of the host this is, 0 where that is not known."""
    try:
        return int(google_crc32c.value(_BOOT_ID.read_bytes().strip()))
    except OSError:
        return 0


def witness(directory: Path) -> Witness | None:
    """What the slot's own witness says, or None where it says nothing. Raises ``OSError`` if it cannot be read."""
    try:
        data = read(directory / WITNESS, _WITNESS_CRC_OFFSET + 5)
    except FileNotFoundError:
        return None
    if len(data) != _WITNESS_CRC_OFFSET + 4:
        return None
    magic, reserved, acked, head, written, forced, booted = struct.unpack_from(
        _WITNESS_LAYOUT, data
    )
    (crc,) = struct.unpack_from("<I", data, _WITNESS_CRC_OFFSET)
    if magic != b"SQW1" or reserved or google_crc32c.value(data[:_WITNESS_CRC_OFFSET]) != crc:
        return None
    return Witness(acked, head, written, forced, booted != 0 and booted == boot())


def latest_record(path: Path, magic: bytes) -> tuple[int, int] | None:
    """The valid record of a two-record side file with the greater generation, without its generation."""
    try:
        data = read(path, _RECORD_FILE_BYTES + 1)
    except FileNotFoundError:
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


def watermark(directory: Path) -> int | None:
    """The acknowledged FSN that the slot's watermark file holds in either layout, or None where it holds none.

    Raises ``OSError`` if the file is there and cannot be read.
    """
    plain = plain_watermark(directory)
    record = latest_record(directory / WATERMARK, b"AKW1") if plain is None else None
    return plain if record is None else record[0]


def plain_watermark(directory: Path) -> int | None:
    """The same for the layout without a manifest alone."""
    try:
        data = read(directory / WATERMARK, 17)
    except FileNotFoundError:
        return None
    if len(data) != 16:
        return None
    magic, reserved, fsn = struct.unpack("<4sIq", data)
    return int(fsn) if magic == b"AKW1" and not reserved and fsn >= -1 else None


def dictionary(path: Path) -> list[str]:
    """The entries of a file of symbols, up to the first chunk that is not whole."""
    try:
        data = read(path)
    except FileNotFoundError:
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
