"""QWP messages, decoded to plain Python values: a second reading of the wire format beside the JVM's.

For tools and tests. Pure standard library, strict: what is not a message raises :class:`MalformedMessage` with
the offset, and every size is checked before anything is allocated. Nothing about files or segments comes in here.

Values, per column type::

    BOOLEAN bool                BYTE SHORT INT LONG CHAR int      FLOAT DOUBLE float ("nan", "inf", "-inf" in JSON)
    SYMBOL VARCHAR str          TIMESTAMP int (µs)                TIMESTAMP_NANOS int (ns)    DATE int (ms)
    UUID "8-4-4-4-12"           LONG256 "0x.."                    GEOHASH "0101b"             IPV4 "1.2.3.4"
    BINARY "hex:.."             DECIMAL* "1.2300"                 arrays {"shape": [..], "data": [..]}

NULL is ``None``, whether it was sent in the bitmap or as a sentinel. The designated timestamp (the column with the
empty name) appears under ``<designated>``. A symbol whose id is not in the dictionary appears as ``{"id": n}``.
"""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

MAGIC: Final = b"QWP1"
HEADER_BYTES: Final = 12
FLAG_DEFER_COMMIT: Final = 0x01
FLAG_GORILLA: Final = 0x04
FLAG_DELTA_SYMBOLS: Final = 0x08
MAX_ROWS: Final = 1_000_000
MAX_COLUMNS: Final = 2048
MAX_NAME_BYTES: Final = 127
MAX_SYMBOLS: Final = 2_000_000
DESIGNATED: Final = "<designated>"

_KNOWN_FLAGS = FLAG_DEFER_COMMIT | FLAG_GORILLA | FLAG_DELTA_SYMBOLS
_LONG_NULL = -(1 << 63)
_INT_NULL = -(1 << 31)

TYPE_NAMES: Final[dict[int, str]] = {
    0x01: "BOOLEAN",
    0x02: "BYTE",
    0x03: "SHORT",
    0x04: "INT",
    0x05: "LONG",
    0x06: "FLOAT",
    0x07: "DOUBLE",
    0x09: "SYMBOL",
    0x0A: "TIMESTAMP",
    0x0B: "DATE",
    0x0C: "UUID",
    0x0D: "LONG256",
    0x0E: "GEOHASH",
    0x0F: "VARCHAR",
    0x10: "TIMESTAMP_NANOS",
    0x11: "DOUBLE_ARRAY",
    0x12: "LONG_ARRAY",
    0x13: "DECIMAL64",
    0x14: "DECIMAL128",
    0x15: "DECIMAL256",
    0x16: "CHAR",
    0x17: "BINARY",
    0x18: "IPV4",
}


class MalformedMessage(ValueError):
    """Bytes that are not a QWP message; the text names the offset."""


@dataclass(frozen=True)
class Table:
    """One table block: ``columns`` are (name, type) in wire order, ``data`` one dict a row."""

    name: str
    rows: int
    columns: list[tuple[str, str]]
    data: list[dict[str, Any]]


@dataclass(frozen=True)
class Message:
    """One decoded message. ``delta_start`` is None where the message carries no dictionary section."""

    flags: int
    delta_start: int | None
    delta: list[str]
    tables: list[Table] = field(default_factory=list)

    def to_json(self, rows: bool = True) -> dict[str, Any]:
        """The form that ``questdb-sf frame decode --json`` prints."""
        tables = []
        for table in self.tables:
            entry: dict[str, Any] = {
                "table": table.name,
                "rows": table.rows,
                "columns": [{"name": name, "type": kind} for name, kind in table.columns],
            }
            if rows:
                entry["data"] = [{k: _json_value(v) for k, v in row.items()} for row in table.data]
            tables.append(entry)
        return {"flags": self.flags, "tables": tables}


def decode(message: bytes, symbols: list[str] | None = None) -> Message:
    """Decodes one message.

    ``symbols`` is the dictionary of the connection or slot so far; the message's own section is applied to it in
    place, so that a sequence of messages can share one list. Raises :class:`MalformedMessage`.
    """
    return _Decoder(message, [] if symbols is None else symbols).message()


def decode_dictionary(message: bytes, symbols: list[str]) -> int:
    """Applies only the dictionary section of a message to ``symbols``, without looking at its rows.

    Returns the id it begins with: above 0 the message leans on what others before it brought.
    """
    if len(message) > HEADER_BYTES and message[5] & FLAG_DELTA_SYMBOLS:
        decoder = _Decoder(message, symbols)
        decoder._pos = HEADER_BYTES
        return decoder._dictionary()[0]
    return 0


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, dict) and "data" in value:
        return {"shape": value["shape"], "data": [_json_value(v) for v in value["data"]]}
    return value


class _Decoder:
    def __init__(self, data: bytes, symbols: list[str]) -> None:
        self._data = data
        self._pos = 0
        self._symbols = symbols
        self._gorilla = False
        self._shared_symbols = True

    def message(self) -> Message:
        if len(self._data) < HEADER_BYTES:
            raise MalformedMessage(
                f"a message has at least {HEADER_BYTES} bytes, this one {len(self._data)}"
            )
        magic, version, flags, table_count, payload = struct.unpack_from("<4sBBHI", self._data)
        if magic != MAGIC:
            raise MalformedMessage(f"offset 0: magic is {magic.hex()}, not {MAGIC.hex()} (QWP1)")
        if version != 1:
            raise MalformedMessage(f"offset 4: version {version}; this reader knows version 1")
        if flags & ~_KNOWN_FLAGS:
            raise MalformedMessage(f"offset 5: unknown flags 0x{flags & ~_KNOWN_FLAGS:02x}")
        if payload != len(self._data) - HEADER_BYTES:
            raise MalformedMessage(
                f"offset 8: payload length {payload}, but {len(self._data) - HEADER_BYTES} bytes follow"
            )
        self._pos = HEADER_BYTES
        self._gorilla = bool(flags & FLAG_GORILLA)
        self._shared_symbols = bool(flags & FLAG_DELTA_SYMBOLS)
        delta_start: int | None = None
        delta: list[str] = []
        if flags & FLAG_DELTA_SYMBOLS:
            delta_start, delta = self._dictionary()
        tables = [self._table() for _ in range(table_count)]
        if self._pos != len(self._data):
            raise MalformedMessage(
                f"offset {self._pos}: {len(self._data) - self._pos} bytes after the last table"
            )
        return Message(flags, delta_start, delta, tables)

    def _dictionary(self) -> tuple[int, list[str]]:
        at = self._pos
        start = self._varint()
        count = self._varint()
        if count > len(self._data) - self._pos:
            raise MalformedMessage(
                f"offset {at}: {count} dictionary entries do not fit the message"
            )
        delta = [self._text() for _ in range(count)]
        if start + count > MAX_SYMBOLS:
            raise MalformedMessage(
                f"offset {at}: dictionary up to id {start + count}, at most {MAX_SYMBOLS}"
            )
        known = self._symbols
        # A reader of one frame alone (a tool) may lack what came before: keep the ids, leave the texts unknown.
        known.extend(_UNKNOWN for _ in range(start + count - len(known)))
        known[start : start + count] = delta
        return start, delta

    def _table(self) -> Table:
        name = self._name(empty_ok=False)
        at = self._pos
        rows = self._varint()
        if rows > MAX_ROWS:
            raise MalformedMessage(
                f"offset {at}: {rows} rows in table {name!r}, at most {MAX_ROWS}"
            )
        at = self._pos
        count = self._varint()
        if count > MAX_COLUMNS:
            raise MalformedMessage(
                f"offset {at}: {count} columns in table {name!r}, at most {MAX_COLUMNS}"
            )
        columns: list[tuple[str, int]] = []
        for _ in range(count):
            column = self._name(empty_ok=True)
            at = self._pos
            code = self._take(1)[0]
            if code not in TYPE_NAMES:
                raise MalformedMessage(
                    f"offset {at}: column {column!r} has unknown type 0x{code:02x}"
                )
            columns.append((column, code))
        if rows and not columns:
            raise MalformedMessage(f"offset {at}: {rows} rows without columns in table {name!r}")
        values = [self._column(code, rows) for _, code in columns]
        labels = [column or DESIGNATED for column, _ in columns]
        data = [dict(zip(labels, row, strict=True)) for row in zip(*values, strict=True)]
        return Table(name, rows, [(c, TYPE_NAMES[code]) for c, code in columns], data)

    def _column(self, code: int, rows: int) -> list[Any]:
        bitmap = b""
        null_flag = self._take(1)[0]
        if null_flag:
            bitmap = self._take((rows + 7) // 8)
            absent = [bool(bitmap[i >> 3] >> (i & 7) & 1) for i in range(rows)]
        else:
            absent = [False] * rows
        present = rows - sum(absent)
        values = iter(_READERS[TYPE_NAMES[code]](self, present, not null_flag))
        return [None if gone else next(values) for gone in absent]

    # -- primitives

    def _take(self, count: int) -> bytes:
        end = self._pos + count
        if end > len(self._data):
            raise MalformedMessage(
                f"offset {self._pos}: {count} bytes wanted, {len(self._data) - self._pos} left"
            )
        chunk = self._data[self._pos : end]
        self._pos = end
        return chunk

    def _varint(self) -> int:
        at, value = self._pos, 0
        for shift in range(0, 70, 7):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                if value > 0x7FFFFFFFFFFFFFFF:
                    break
                return value
        raise MalformedMessage(f"offset {at}: a varint of more than 63 bits")

    def _text(self) -> str:
        at = self._pos
        raw = self._take(self._varint())
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise MalformedMessage(f"offset {at}: not UTF-8 ({error.reason})") from error

    def _name(self, *, empty_ok: bool) -> str:
        at = self._pos
        name = self._text()
        size = len(name.encode("utf-8"))
        if size > MAX_NAME_BYTES or (not size and not empty_ok):
            raise MalformedMessage(
                f"offset {at}: a name of {size} bytes, 1 to {MAX_NAME_BYTES} allowed"
            )
        return name

    def _unpack(self, letter: str, count: int) -> list[Any]:
        layout = f"<{count}{letter}"
        return list(struct.unpack(layout, self._take(struct.calcsize(layout))))

    # -- readers of `count` values; `sentinels`: the column was sent without a bitmap

    def _booleans(self, count: int, sentinels: bool) -> list[Any]:
        raw = self._take((count + 7) // 8)
        return [bool(raw[i >> 3] >> (i & 7) & 1) for i in range(count)]

    def _reals(self, letter: str, count: int) -> list[Any]:
        return [None if math.isnan(v) else v for v in self._unpack(letter, count)]

    def _symbol_values(self, count: int, sentinels: bool) -> list[Any]:
        if not self._shared_symbols:
            return self._own_symbols(count)
        out: list[Any] = []
        for _ in range(count):
            symbol = self._varint()
            known = symbol < len(self._symbols) and self._symbols[symbol] is not _UNKNOWN
            out.append(self._symbols[symbol] if known else {"id": symbol})
        return out

    def _own_symbols(self, count: int) -> list[str]:
        """Values of a column that brings its own dictionary."""
        at = self._pos
        size = self._varint()
        if size > len(self._data) - self._pos:
            raise MalformedMessage(f"offset {at}: {size} dictionary entries do not fit the message")
        texts = [self._text() for _ in range(size)]
        out: list[str] = []
        for _ in range(count):
            at = self._pos
            symbol = self._varint()
            if symbol >= size:
                raise MalformedMessage(
                    f"offset {at}: symbol id {symbol}, the column's dictionary has {size}"
                )
            out.append(texts[symbol])
        return out

    def _instants(self, count: int, sentinels: bool) -> list[Any]:
        if not self._gorilla:
            return self._unpack("q", count)
        at = self._pos
        encoding = self._take(1)[0]
        if encoding == 0:
            return self._unpack("q", count)
        if encoding != 1 or count < 3:
            raise MalformedMessage(f"offset {at}: timestamp encoding {encoding} for {count} values")
        return self._gorilla_values(count)

    def _gorilla_values(self, count: int) -> list[int]:
        first, second = self._unpack("q", 2)
        values, delta, bits = [first, second], second - first, _Bits(self._data, self._pos)
        while len(values) < count:
            width = 0
            for prefix, candidate in enumerate((7, 9, 12, 32), 1):
                if not bits.take(1):
                    break
                width = candidate
                if prefix == 4:
                    break
            # prefix 0b0: no change; 0b01, 0b011, 0b0111 end in a zero bit, 0b1111 does not
            if width:
                raw = bits.take(width)
                delta += raw - (1 << width) if raw >> (width - 1) else raw
            values.append(values[-1] + delta)
        self._pos = bits.end()
        return values

    def _uuids(self, count: int, sentinels: bool) -> list[Any]:
        pairs = self._unpack("q", 2 * count)
        out: list[Any] = []
        for low, high in zip(pairs[::2], pairs[1::2], strict=True):
            if sentinels and low == high == _LONG_NULL:
                out.append(None)
            else:
                mask = (1 << 64) - 1
                out.append(str(uuid.UUID(int=(high & mask) << 64 | low & mask)))
        return out

    def _long256(self, count: int, sentinels: bool) -> list[Any]:
        null = struct.pack("<4q", *([_LONG_NULL] * 4))
        chunks = [self._take(32) for _ in range(count)]
        return [
            None if sentinels and c == null else hex(int.from_bytes(c, "little")) for c in chunks
        ]

    def _geohashes(self, count: int, sentinels: bool) -> list[Any]:
        at = self._pos
        precision = self._varint()
        if not 1 <= precision <= 60:
            raise MalformedMessage(f"offset {at}: geohash precision {precision}, 1 to 60 allowed")
        width = (precision + 7) // 8
        out: list[Any] = []
        for _ in range(count):
            chunk = self._take(width)
            if sentinels and chunk == b"\xff" * width:
                out.append(None)
                continue
            value = int.from_bytes(chunk, "little") & ((1 << precision) - 1)
            out.append(f"{value:0{precision}b}b")
        return out

    def _strings(self, count: int, sentinels: bool) -> list[Any]:
        at = self._pos
        try:
            return [raw.decode("utf-8") for raw in self._blobs(count)]
        except UnicodeDecodeError as error:
            raise MalformedMessage(f"offset {at}: a VARCHAR that is not UTF-8") from error

    def _blobs(self, count: int) -> list[bytes]:
        at = self._pos
        offsets = self._unpack("I", count + 1)
        if offsets[0] or any(a > b for a, b in pairwise(offsets)):
            raise MalformedMessage(f"offset {at}: value offsets do not start at 0 or go back")
        body = self._take(offsets[-1])
        return [body[a:b] for a, b in pairwise(offsets)]

    def _arrays(self, letter: str, count: int) -> list[Any]:
        out: list[Any] = []
        for _ in range(count):
            at = self._pos
            dimensions = self._take(1)[0]
            if not 1 <= dimensions <= 32:
                raise MalformedMessage(f"offset {at}: an array of {dimensions} dimensions")
            shape = self._unpack("I", dimensions)
            size = math.prod(shape)
            if size * 8 > len(self._data) - self._pos:
                raise MalformedMessage(f"offset {at}: an array of shape {shape} does not fit")
            out.append({"shape": shape, "data": self._unpack(letter, size)})
        return out

    def _decimals(self, width: int, count: int) -> list[Any]:
        at = self._pos
        scale = self._take(1)[0]
        if scale > 76:
            raise MalformedMessage(f"offset {at}: decimal scale {scale}, at most 76")
        out = []
        for _ in range(count):
            unscaled = int.from_bytes(self._take(width), "little", signed=True)
            digits = f"{abs(unscaled):0{scale + 1}d}"
            whole = digits[: len(digits) - scale]
            text = f"{whole}.{digits[len(digits) - scale :]}" if scale else whole
            out.append(f"-{text}" if unscaled < 0 else text)
        return out


class _Bits:
    """Bits of a byte string from a byte position on, least significant first."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._bit = start * 8

    def take(self, count: int) -> int:
        if self._bit + count > len(self._data) * 8:
            raise MalformedMessage(f"offset {self._bit // 8}: the timestamp bit stream ends early")
        value = 0
        for i in range(count):
            value |= (self._data[self._bit >> 3] >> (self._bit & 7) & 1) << i
            self._bit += 1
        return value

    def end(self) -> int:
        return (self._bit + 7) // 8


_UNKNOWN: Final = "\0unknown symbol"  # compared by identity; no real symbol is this object


def _integers(letter: str, null: int | None) -> Callable[[_Decoder, int, bool], list[Any]]:
    def read(decoder: _Decoder, count: int, sentinels: bool) -> list[Any]:
        values = decoder._unpack(letter, count)
        return values if null is None else [None if v == null else v for v in values]

    return read


def _ipv4(decoder: _Decoder, count: int, sentinels: bool) -> list[Any]:
    return [
        ".".join(str(v >> s & 255) for s in (24, 16, 8, 0)) if v else None
        for v in decoder._unpack("I", count)
    ]


_READERS: Final[dict[str, Callable[[_Decoder, int, bool], list[Any]]]] = {
    "BOOLEAN": _Decoder._booleans,
    "BYTE": _integers("b", None),
    "SHORT": _integers("h", None),
    "INT": _integers("i", _INT_NULL),
    "LONG": _integers("q", _LONG_NULL),
    "FLOAT": lambda d, n, s: d._reals("f", n),
    "DOUBLE": lambda d, n, s: d._reals("d", n),
    "SYMBOL": _Decoder._symbol_values,
    "TIMESTAMP": _Decoder._instants,
    "DATE": _integers("q", None),
    "UUID": _Decoder._uuids,
    "LONG256": _Decoder._long256,
    "GEOHASH": _Decoder._geohashes,
    "VARCHAR": _Decoder._strings,
    "TIMESTAMP_NANOS": _Decoder._instants,
    "DOUBLE_ARRAY": lambda d, n, s: d._arrays("d", n),
    "LONG_ARRAY": lambda d, n, s: d._arrays("q", n),
    "DECIMAL64": lambda d, n, s: d._decimals(8, n),
    "DECIMAL128": lambda d, n, s: d._decimals(16, n),
    "DECIMAL256": lambda d, n, s: d._decimals(32, n),
    "CHAR": _integers("H", None),
    "BINARY": lambda d, n, s: [f"hex:{raw.hex()}" for raw in d._blobs(n)],
    "IPV4": _ipv4,
}
