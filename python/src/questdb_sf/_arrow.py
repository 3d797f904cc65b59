"""Arrow tables to the engine: each column's buffers are handed over as they are, and read there once.

What Arrow has in another form than the engine reads is cast by Arrow first, column by column. No value becomes a Python
object on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from questdb_sf._jvm import Jvm, missing
from questdb_sf._names import twice
from questdb_sf.errors import DataError, ErrorCode

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as _error:
    raise missing("pyarrow", "arrow") from _error

from questdb_sf._buffers import Buffers
from questdb_sf._given import Wishes, as_table

__all__ = ["TablePlan", "Wishes", "as_table"]

# A batch is handed over in one call; a Java buffer holds less than 2 GiB.
_BATCH_ROWS = 1 << 20
_BATCH_BYTES = 1 << 30

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MILLIS_A_DAY = 86_400_000
_INTEGER_TARGETS = ("BYTE", "SHORT", "INT", "LONG")

# Extension types whose values are those of their storage.
_EXTENSIONS = ("arrow.uuid", "arrow.json")

HandOver = Callable[[Any, Any], None]


@dataclass(frozen=True)
class Column:
    """How one column goes over: cast where needed, then handed to a batch of the engine."""

    index: int
    cast: Callable[[Any], Any] | None
    hand_over: HandOver


class TablePlan:
    """How the columns of one schema go over. Refuses what cannot, before anything is written."""

    def __init__(self, machine: Jvm, table: str, schema: Any, wishes: Wishes) -> None:
        self._machine = machine
        self._table = table
        self._wishes = wishes
        self._buffers = Buffers(machine, table)
        self._check_names(schema)
        planned = (self._plan(i, schema.field(i)) for i in range(len(schema)))
        self.columns = [column for column in planned if column is not None]
        if not self.columns:
            raise DataError(ErrorCode.VALUE_INVALID, f"table '{table}': no column to write")

    def _check_names(self, schema: Any) -> None:
        names = list(schema.names)
        wishes = self._wishes
        asked = [*([wishes.timestamp] if wishes.timestamp is not None else []), *wishes.types]
        asked += [
            *([] if isinstance(wishes.symbols, str) else wishes.symbols),
            *wishes.zero_for_null,
        ]
        for name in asked:
            if names.count(name) != 1:
                raise DataError(
                    ErrorCode.NAME_INVALID,
                    f"table '{self._table}': there is {'no' if name not in names else 'more than one'} column "
                    f"'{name}'; the columns are {', '.join(names)}",
                )
        same = twice(names)
        if same is not None:
            raise DataError(
                ErrorCode.NAME_INVALID,
                f"table '{self._table}': columns '{same[0]}' and '{same[1]}' are one, given twice, for QuestDB, which "
                "does not tell case apart; rename one",
            )

    def batches(self, table: Any) -> Iterator[Any]:
        """The rows in pieces that can be handed over at once."""
        for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
            if batch.num_rows:
                yield from self._halved(batch)

    def _halved(self, batch: Any) -> Iterator[Any]:
        if batch.num_rows > 1 and any(column.nbytes > _BATCH_BYTES for column in batch.columns):
            half = batch.num_rows // 2
            yield from self._halved(batch.slice(0, half))
            yield from self._halved(batch.slice(half))
        else:
            yield batch

    def hand_over(self, batch: Any, to: Any) -> list[Any]:
        """Gives all columns to a batch of the engine; returns what must live until that was written."""
        alive = []
        for column in self.columns:
            array = batch.column(column.index)
            if column.cast is not None:
                array = self._cast(column.cast, array, batch.schema.field(column.index))
            column.hand_over(array, to)
            alive.append(array)
        return alive

    def _cast(self, cast: Callable[[Any], Any], array: Any, field: Any) -> Any:
        try:
            return cast(array)
        except pa.ArrowException as error:
            raise DataError(
                ErrorCode.VALUE_INVALID,
                f"table '{self._table}', column '{field.name}' of Arrow type {field.type}: {error}",
            ) from error

    # What each type becomes.

    def _plan(self, index: int, field: Any) -> Column | None:
        designated = field.name == self._wishes.timestamp
        name = None if designated else field.name
        arrow = field.type
        casts: list[Callable[[Any], Any]] = []
        wish = self._wishes.types.get(field.name, "").upper().strip()
        if isinstance(arrow, pa.BaseExtensionType):
            if arrow.extension_name not in _EXTENSIONS:
                raise self._refused(
                    field.name,
                    arrow,
                    f"the storage of the extension type {arrow.extension_name} may not be its value; cast it, or give "
                    "its storage",
                )
            if arrow.extension_name == "arrow.uuid":
                wish = wish or "UUID"
            arrow, casts = arrow.storage_type, [lambda array: array.storage]
        if pa.types.is_null(arrow) and not designated:
            return None
        if pa.types.is_run_end_encoded(arrow):
            arrow, casts = arrow.value_type, [*casts, pc.run_end_decode]
        if designated:
            if not pa.types.is_timestamp(arrow) and not pa.types.is_date(arrow):
                raise self._refused(field.name, arrow, "it cannot be the designated timestamp")
            found = self._time(name, field.name, arrow, wish)
        else:
            found = self._target(field.name, arrow, wish, casts)
        if field.name in self._wishes.zero_for_null and wish != "CHAR":  # there zero is null
            casts.append(self._zero(field.name, arrow))
        return Column(index, _chain(casts), found)

    def _target(self, name: str, arrow: Any, wish: str, casts: list[Any]) -> HandOver:
        types = pa.types
        if types.is_dictionary(arrow):
            if _is_text(arrow.value_type):
                return self._dictionary(name, arrow, wish, casts)
            casts.append(lambda array: array.dictionary_decode())
            arrow = arrow.value_type
        if _is_text(arrow) or _is_view(arrow, "string_view"):
            return self._text(name, arrow, wish, casts)
        if types.is_boolean(arrow):
            self._allow(name, arrow, wish, "BOOLEAN")
            return self._bits(name)
        if types.is_integer(arrow):
            return self._integer(name, arrow, wish)
        if types.is_floating(arrow):
            return self._floating(name, arrow, wish, casts)
        if types.is_timestamp(arrow) or types.is_date(arrow):
            return self._time(name, name, arrow, wish)
        if types.is_decimal(arrow):
            return self._decimal(name, arrow, wish)
        if types.is_binary(arrow) or types.is_large_binary(arrow) or _is_view(arrow, "binary_view"):
            self._allow(name, arrow, wish, "BINARY")
            if _is_view(arrow, "binary_view"):
                casts.append(lambda array: array.cast(pa.large_binary()))
            return self._spans(name, "BINARY")
        if types.is_fixed_size_binary(arrow):
            return self._fixed_binary(name, arrow, wish, casts)
        if _is_list(arrow):
            return self._list(name, arrow, wish, casts)
        hint = (
            "cast it, for example to int64"
            if types.is_time(arrow) or types.is_duration(arrow)
            else "leave it out, or cast it"
        )
        raise self._refused(name, arrow, hint)

    def _allow(self, name: str, arrow: Any, wish: str, *targets: str) -> str:
        """The wished target if it is one of these, the first of them if nothing was wished."""
        if wish and wish not in targets:
            raise self._refused(name, arrow, f"it cannot become {wish}, only {', '.join(targets)}")
        return wish or targets[0]

    def _refused(self, name: str, arrow: Any, why: str) -> DataError:
        return DataError(
            ErrorCode.TYPE_UNSUPPORTED,
            f"table '{self._table}', column '{name}' of Arrow type {arrow}: {why}",
        )

    def _zero(self, name: str, arrow: Any) -> Callable[[Any], Any]:
        if not (pa.types.is_boolean(arrow) or pa.types.is_integer(arrow)):
            raise self._refused(name, arrow, "zero_for_null is for booleans and integers")
        zero = pa.scalar(False if pa.types.is_boolean(arrow) else 0, arrow)
        return lambda array: pc.fill_null(array, zero)

    def _integer(self, name: str, arrow: Any, wish: str) -> HandOver:
        width, signed = arrow.bit_width // 8, pa.types.is_signed_integer(arrow)
        natural = "LONG" if width == 8 or (width == 4 and not signed) else "INT"
        target = self._allow(name, arrow, wish, natural, *_INTEGER_TARGETS, "CHAR", "IPV4")
        if signed and (width, target) in ((4, "INT"), (8, "LONG"), (1, "BYTE"), (2, "SHORT")):
            return self._fixed(name, target, width)
        return self._scaled(name, target, width, signed, 1)

    def _floating(self, name: str, arrow: Any, wish: str, casts: list[Any]) -> HandOver:
        wide = arrow.bit_width == 64
        targets = ("DOUBLE",) if wide else ("FLOAT", "DOUBLE")
        target = self._allow(name, arrow, wish, *targets)
        wanted = pa.float64() if target == "DOUBLE" else pa.float32()
        if wanted != arrow:
            casts.append(lambda array: array.cast(wanted))
        return self._fixed(name, target, 8 if target == "DOUBLE" else 4)

    def _time(self, name: str | None, called: str, arrow: Any, wish: str) -> HandOver:
        nanos = pa.types.is_timestamp(arrow) and arrow.unit == "ns"
        targets = ["TIMESTAMP_NS"] if nanos else ["TIMESTAMP", "TIMESTAMP_NS"]
        if name is not None and not nanos:
            targets.append("DATE")
        target = self._allow(called, arrow, wish, *targets)
        per_second = {"DATE": 1_000, "TIMESTAMP": 1_000_000, "TIMESTAMP_NS": 1_000_000_000}[target]
        width = 4 if pa.types.is_date32(arrow) else 8
        if pa.types.is_date32(arrow):
            factor = 86_400 * per_second
        else:
            unit = 1_000 if pa.types.is_date64(arrow) else _PER_SECOND[arrow.unit]
            if unit > per_second:
                raise self._refused(called, arrow, f"{target} would lose digits; cast it")
            factor = per_second // unit
        wire = "TIMESTAMP_NANOS" if target == "TIMESTAMP_NS" else target
        if factor == 1:
            return self._fixed(name, wire, width)
        return self._scaled(name, wire, width, True, factor)

    def _decimal(self, name: str, arrow: Any, wish: str) -> HandOver:
        natural = (
            "DECIMAL64"
            if arrow.precision <= 18
            else "DECIMAL128"
            if arrow.precision <= 38
            else "DECIMAL256"
        )
        target = self._allow(name, arrow, wish, natural, "DECIMAL64", "DECIMAL128", "DECIMAL256")
        if arrow.scale < 0:
            raise self._refused(name, arrow, "QuestDB has no negative scale; cast it")
        width, scale = arrow.bit_width // 8, arrow.scale
        wire = getattr(self._machine.types, target)

        def hand_over(array: Any, to: Any) -> None:
            first, validity, values = self._buffers.values(array, width)
            to.decimals(name, wire, validity, first, values, width, scale)

        return hand_over

    def _fixed_binary(self, name: str, arrow: Any, wish: str, casts: list[Any]) -> HandOver:
        width = arrow.byte_width
        special = {16: ("UUID",), 32: ("LONG256",)}.get(width, ())
        target = self._allow(name, arrow, wish, "BINARY", *special)
        if target == "BINARY":
            casts.append(lambda array: array.cast(pa.binary()))
            return self._spans(name, "BINARY")
        if target == "LONG256":
            return self._fixed(name, "LONG256", width)

        def hand_over(array: Any, to: Any) -> None:
            first, validity, values = self._buffers.values(array, width)
            to.uuids(name, validity, first, values)

        return hand_over

    def _text(self, name: str, arrow: Any, wish: str, casts: list[Any]) -> HandOver:
        natural = "SYMBOL" if self._wishes.symbol(name, False) else "VARCHAR"
        target = self._allow(name, arrow, wish, natural, "VARCHAR", "SYMBOL")
        if not _is_text(arrow):
            casts.append(lambda array: array.cast(pa.large_string()))
        return self._spans(name, target)

    def _dictionary(self, name: str, arrow: Any, wish: str, casts: list[Any]) -> HandOver:
        natural = "SYMBOL" if self._wishes.symbol(name, True) else "VARCHAR"
        target = self._allow(name, arrow, wish, natural, "VARCHAR", "SYMBOL")
        if target == "VARCHAR":
            casts.append(lambda array: array.dictionary_decode())
            return self._spans(name, "VARCHAR")
        plain = self._spans(name, "SYMBOL")
        width = arrow.index_type.bit_width // 8

        def hand_over(array: Any, to: Any) -> None:
            texts = array.dictionary
            if texts.null_count or _span_bytes(texts) > _BATCH_BYTES:
                plain(array.dictionary_decode(), to)
                return
            first, validity, indexes = self._buffers.values(array.indices, width)
            to.symbols(
                name,
                validity,
                first,
                indexes,
                width,
                *self._buffers.offsets(texts),
                texts.offset % 8,
                len(texts),
            )

        return hand_over

    def _list(self, name: str, arrow: Any, wish: str, casts: list[Any]) -> HandOver:
        self._allow(name, arrow, wish, "DOUBLE[]")
        element = arrow.value_type
        if _is_list(element):
            raise self._refused(
                name,
                arrow,
                "arrays of more than one dimension are not written by column; give each row's array as a numpy array "
                "to row()",
            )
        if not pa.types.is_floating(element):
            raise self._refused(
                name, arrow, "QuestDB keeps arrays of doubles; cast it to list<double>"
            )
        wanted = pa.large_list(pa.float64())
        if pa.types.is_fixed_size_list(arrow) or element != pa.float64():
            casts.append(lambda array: array.cast(wanted))

        def hand_over(array: Any, to: Any) -> None:
            first, validity = self._buffers.validity(array)
            wide, offsets, begin, end = self._buffers.offset_range(array)
            elements = array.values
            start = (elements.offset + begin) // 8 * 8
            bits, numbers = elements.buffers()
            count = elements.offset + end - start
            to.lists(
                name,
                validity,
                first,
                offsets,
                wide,
                # The offset, in terms of the array, of the first element handed over.
                start - elements.offset,
                self._buffers.part(numbers, start * 8, count * 8),
                None
                if bits is None or not elements.null_count
                else self._buffers.part(bits, start // 8, (count + 7) // 8),
                0,
            )

        return hand_over

    # How each layout goes over.

    def _fixed(self, name: str | None, target: str, width: int) -> HandOver:
        wire = getattr(self._machine.types, target)

        def hand_over(array: Any, to: Any) -> None:
            first, validity, values = self._buffers.values(array, width)
            to.fixed(name, wire, validity, first, values)

        return hand_over

    def _scaled(
        self, name: str | None, target: str, width: int, signed: bool, factor: int
    ) -> HandOver:
        wire = getattr(self._machine.types, target)

        def hand_over(array: Any, to: Any) -> None:
            first, validity, values = self._buffers.values(array, width)
            to.integers(name, wire, validity, first, values, width, signed, factor)

        return hand_over

    def _bits(self, name: str) -> HandOver:
        def hand_over(array: Any, to: Any) -> None:
            first, validity = self._buffers.validity(array)
            start = array.offset // 8
            bits = self._buffers.part(array.buffers()[1], start, (first + len(array) + 7) // 8)
            to.bits(name, validity, first, bits)

        return hand_over

    def _spans(self, name: str, target: str) -> HandOver:
        wire = getattr(self._machine.types, target)

        def hand_over(array: Any, to: Any) -> None:
            first, validity = self._buffers.validity(array)
            to.spans(name, wire, validity, first, *self._buffers.offsets(array))

        return hand_over


def _chain(steps: list[Callable[[Any], Any]]) -> Callable[[Any], Any] | None:
    if not steps:
        return None

    def cast(array: Any) -> Any:
        for step in steps:
            array = step(array)
        return array

    return cast


def _is_text(arrow: Any) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))


def _is_list(arrow: Any) -> bool:
    types = pa.types
    return bool(
        types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow)
    )


def _is_view(arrow: Any, name: str) -> bool:
    return str(arrow) == name


def _span_bytes(array: Any) -> int:
    return int(array.nbytes)
