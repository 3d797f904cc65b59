"""QWP frames, written from plain Python values: what a test wants to put on the wire, right or wrong.

::

    message(
        table("trades", column("s", Wire.SYMBOL, [0, None]), column("", Wire.TIMESTAMP, [1, 2])),
        symbols=["EU"],
    )

A writer of its own beside the engine's encoder and the decoders, so that no two of them share a mistake. It checks
only what it cannot write: frames that a server must refuse are made with it too. Numbers are little-endian.

Values, per wire type; ``None`` is a NULL, sent in the bitmap::

    BOOLEAN bool                 BYTE SHORT INT LONG int          FLOAT DOUBLE float
    SYMBOL int (id)              TIMESTAMP int (µs)               TIMESTAMP_NANOS int (ns)     DATE int (ms)
    CHAR str                     VARCHAR str, or bytes as given   BINARY bytes                 IPV4 "1.2.3.4"
    UUID uuid.UUID               LONG256 int                      GEOHASH int, of `precision` bits
    DECIMAL* int, unscaled; `scale` is the column's               arrays: nested lists
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from ipaddress import IPv4Address
from typing import Any


class Wire(IntEnum):
    """Wire types of columns, each with the code it has in a frame."""

    BOOLEAN = 0x01
    BYTE = 0x02
    SHORT = 0x03
    INT = 0x04
    LONG = 0x05
    FLOAT = 0x06
    DOUBLE = 0x07
    STRING = 0x08  # once assigned; servers refuse the code
    SYMBOL = 0x09
    TIMESTAMP = 0x0A
    DATE = 0x0B
    UUID = 0x0C
    LONG256 = 0x0D
    GEOHASH = 0x0E
    VARCHAR = 0x0F
    TIMESTAMP_NANOS = 0x10
    DOUBLE_ARRAY = 0x11
    LONG_ARRAY = 0x12
    DECIMAL64 = 0x13
    DECIMAL128 = 0x14
    DECIMAL256 = 0x15
    CHAR = 0x16
    BINARY = 0x17
    IPV4 = 0x18


class Flag(IntFlag):
    """Flags of a frame's header."""

    DEFER_COMMIT = 0x01
    GORILLA = 0x04
    DELTA_SYMBOLS = 0x08


@dataclass(frozen=True)
class Column:
    """One column of a table block: its place in the list of columns, and its values."""

    head: bytes
    data: bytes
    rows: int


def message(
    *tables: bytes,
    symbols: Sequence[str | bytes] = (),
    delta_start: int = 0,
    flags: int = Flag.DELTA_SYMBOLS,
    version: int = 1,
) -> bytes:
    """A whole frame. ``symbols`` are the dictionary's entries from id ``delta_start`` on."""
    payload = b"".join(tables)
    if flags & Flag.DELTA_SYMBOLS:
        entries = b"".join(text(symbol) for symbol in symbols)
        payload = varint(delta_start) + varint(len(symbols)) + entries + payload
    return struct.pack("<4sBBHI", b"QWP1", version, flags, len(tables), len(payload)) + payload


def table(name: str | bytes, *columns: Column, rows: int | None = None) -> bytes:
    """A table block; ``rows`` only where it is not what the columns have."""
    counts = {column.rows for column in columns}
    if rows is None:
        (rows,) = counts or {0}
    heads = b"".join(column.head for column in columns)
    data = b"".join(column.data for column in columns)
    return text(name) + varint(rows) + varint(len(columns)) + heads + data


def column(
    name: str | bytes, wire: Wire, values: Sequence[Any], *, scale: int = 0, precision: int = 0
) -> Column:
    """A column; an empty name makes it the designated timestamp."""
    present = [value for value in values if value is not None]
    body = null_section([value is None for value in values])
    if wire is Wire.GEOHASH:
        body += varint(precision) + _geohashes(present, precision)
    elif wire in _DECIMAL_BYTES:
        body += bytes([scale]) + _signed(present, _DECIMAL_BYTES[wire])
    else:
        body += _BODIES[wire](present)
    return Column(text(name) + bytes([wire]), body, len(values))


def designated(*values: int | None, wire: Wire = Wire.TIMESTAMP) -> Column:
    """The column of the designated timestamp, in µs unless ``wire`` says otherwise."""
    return column("", wire, values)


def null_section(absent: Sequence[bool]) -> bytes:
    """A zero byte where nothing is NULL, otherwise a one and the bitmap."""
    return b"\1" + bits(absent) if any(absent) else b"\0"


def varint(value: int) -> bytes:
    """Unsigned LEB128."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(value: str | bytes) -> bytes:
    """A string with its length before it; bytes are taken as they are, UTF-8 or not."""
    raw = value if isinstance(value, bytes) else value.encode()
    return varint(len(raw)) + raw


def bits(values: Sequence[bool]) -> bytes:
    """Eight to a byte, the first in the lowest bit."""
    packed = sum(1 << i for i, value in enumerate(values) if value)
    return packed.to_bytes((len(values) + 7) // 8, "little")


def _packed(letter: str) -> Callable[[Sequence[Any]], bytes]:
    return lambda values: struct.pack(f"<{len(values)}{letter}", *values)


def _signed(values: Sequence[int], width: int) -> bytes:
    return b"".join(value.to_bytes(width, "little", signed=True) for value in values)


def _blobs(values: Sequence[str | bytes]) -> bytes:
    raw = [value if isinstance(value, bytes) else value.encode() for value in values]
    offsets, end = [0], 0
    for blob in raw:
        end += len(blob)
        offsets.append(end)
    return struct.pack(f"<{len(offsets)}I", *offsets) + b"".join(raw)


def _geohashes(values: Sequence[int], precision: int) -> bytes:
    return b"".join(value.to_bytes((precision + 7) // 8, "little") for value in values)


def _uuids(values: Sequence[uuid.UUID]) -> bytes:
    return b"".join(value.bytes[::-1] for value in values)


def _addresses(values: Sequence[str]) -> bytes:
    return b"".join(IPv4Address(value).packed[::-1] for value in values)


def _arrays(letter: str) -> Callable[[Sequence[Any]], bytes]:
    def one(value: list[Any]) -> bytes:
        shape, flat = [], [value]
        while flat and isinstance(flat[0], list):
            (size,) = {len(inner) for inner in flat}
            shape.append(size)
            flat = [leaf for inner in flat for leaf in inner]
        return struct.pack(f"<B{len(shape)}I{len(flat)}{letter}", len(shape), *shape, *flat)

    return lambda values: b"".join(one(value) for value in values)


_DECIMAL_BYTES = {Wire.DECIMAL64: 8, Wire.DECIMAL128: 16, Wire.DECIMAL256: 32}

_BODIES: dict[Wire, Callable[[Sequence[Any]], bytes]] = {
    Wire.BOOLEAN: bits,
    Wire.BYTE: _packed("b"),
    Wire.SHORT: _packed("h"),
    Wire.INT: _packed("i"),
    Wire.LONG: _packed("q"),
    Wire.FLOAT: _packed("f"),
    Wire.DOUBLE: _packed("d"),
    Wire.STRING: _blobs,
    Wire.SYMBOL: lambda ids: b"".join(varint(symbol) for symbol in ids),
    Wire.TIMESTAMP: _packed("q"),
    Wire.DATE: _packed("q"),
    Wire.UUID: _uuids,
    Wire.LONG256: lambda values: b"".join(value.to_bytes(32, "little") for value in values),
    Wire.VARCHAR: _blobs,
    Wire.TIMESTAMP_NANOS: _packed("q"),
    Wire.DOUBLE_ARRAY: _arrays("d"),
    Wire.LONG_ARRAY: _arrays("q"),
    Wire.CHAR: lambda values: "".join(values).encode("utf-16-le"),
    Wire.BINARY: _blobs,
    Wire.IPV4: _addresses,
}
