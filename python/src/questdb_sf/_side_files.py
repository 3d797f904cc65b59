"""The files beside the segments of a slot: watermark, manifest, symbols. Read only, as all of `slots`."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

import google_crc32c

MANIFEST: Final = "sf-manifest.bin"
WATERMARK: Final = ".ack-watermark"
DICTIONARY: Final = ".symbol-dict"
_RECORD_FILE_BYTES = 8192


def latest_record(path: Path, magic: bytes, layout: str) -> tuple[int, int] | None:
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


def watermark(directory: Path) -> int | None:
    """The acknowledged FSN that the slot's watermark file holds, or None where it holds none."""
    path = directory / WATERMARK
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) == 16:
        magic, _, fsn = struct.unpack("<4sIq", data)
        return int(fsn) if magic == b"AKW1" else None
    record = latest_record(path, b"AKW1", "<qq")
    return None if record is None else record[0]


def dictionary(path: Path) -> list[str]:
    """The entries of a file of symbols, up to the first chunk that is not whole."""
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
