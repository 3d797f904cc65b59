"""The buffers of Arrow arrays as the engine reads them: direct, without a copy, down to a multiple of eight rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from questdb_sf._jvm import Jvm
from questdb_sf.errors import DataError, ErrorCode


class Buffers:
    """Of the arrays of one table, which is named in errors.

    Arrays may begin anywhere in their buffers: what lies before is left out, down to a multiple of eight rows, for
    the sake of the bitmaps.
    """

    def __init__(self, machine: Jvm, table: str) -> None:
        self._machine = machine
        self._table = table

    def validity(self, array: Any) -> tuple[int, Any]:
        """Where the first row is behind a multiple of eight, and the bitmap from there."""
        first = array.offset % 8
        bitmap = array.buffers()[0]
        if bitmap is None or array.null_count == 0:
            return first, None
        return first, self.part(bitmap, array.offset // 8, (first + len(array) + 7) // 8)

    def values(self, array: Any, width: int) -> tuple[int, Any, Any]:
        """As :meth:`validity`, and the values from there, ``width`` bytes each."""
        first, validity = self.validity(array)
        start = array.offset - first
        return (
            first,
            validity,
            self.part(array.buffers()[1], start * width, (first + len(array)) * width),
        )

    def offsets(self, array: Any) -> tuple[Any, bool, int, Any]:
        """Offsets, whether they have 64 bits, the first one, and the data from there on."""
        wide, offsets, begin, end = self.offset_range(array)
        return offsets, wide, begin, self.part(array.buffers()[2], begin, end - begin)

    def offset_range(self, array: Any) -> tuple[bool, Any, int, int]:
        """Whether offsets have 64 bits, the offsets, the first one, and the one behind the last."""
        wide = is_wide(array.type)
        width = 8 if wide else 4
        first = array.offset % 8
        buffer = array.buffers()[1]
        start = array.offset - first
        if buffer is None or buffer.size == 0:
            # An array of nothing may come without offsets.
            return wide, self._machine.direct(bytes(width * (first + 1))), 0, 0
        at, count = array.offset * width, len(array) * width
        begin = int.from_bytes(buffer[at : at + width], "little", signed=True)
        end = int.from_bytes(buffer[at + count : at + count + width], "little", signed=True)
        return (
            wide,
            self.part(buffer, start * width, (first + len(array) + 1) * width),
            begin,
            end,
        )

    def part(self, buffer: Any, start: int, size: int) -> Any:
        """Bytes of one buffer; an empty buffer where there is none."""
        if buffer is None or size == 0:
            return self._machine.empty_buffer
        if start < 0 or size < 0 or start + size > buffer.size:
            raise DataError(
                ErrorCode.VALUE_INVALID,
                f"table '{self._table}': an Arrow array reaches beyond its buffers; it is damaged",
            )
        return self._machine.direct(buffer.slice(start, size))


def is_wide(arrow: Any) -> bool:
    """Whether the offsets of a type have 64 bits."""
    types = pa.types
    return bool(
        types.is_large_string(arrow) or types.is_large_binary(arrow) or types.is_large_list(arrow)
    )
