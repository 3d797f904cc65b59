"""Rows to the engine: what each Python type becomes, and which are refused, with table and column."""

from __future__ import annotations

import ipaddress
import operator
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from questdb_sf._jvm import Jvm
from questdb_sf._names import twice
from questdb_sf.errors import DataError, ErrorCode

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Micros:
    """A time in microseconds since 1970, UTC: a TIMESTAMP."""

    value: int


@dataclass(frozen=True)
class Nanos:
    """A time in nanoseconds since 1970, UTC: a TIMESTAMP_NS."""

    value: int


class _ServerTimestamp(Enum):
    SERVER_TIMESTAMP = "SERVER_TIMESTAMP"


SERVER_TIMESTAMP: Final = _ServerTimestamp.SERVER_TIMESTAMP
"""The time at which the row arrives. Rows that are sent again get another one: they cannot be deduplicated."""

Time = datetime | Micros | Nanos | _ServerTimestamp


def check_table(table: Any) -> None:
    """Refuses what is no name of a table."""
    _check_name("the table's name", table)


def check_columns(table: str, symbols: Any, columns: Any) -> None:
    """Refuses what are no columns, before the row begins.

    The engine takes the first of two values for one column, as QuestDB's own client does.
    """
    for what, given in (("symbols", symbols), ("columns", columns)):
        if not isinstance(given, Mapping):
            raise DataError(
                ErrorCode.TYPE_UNSUPPORTED,
                f"table '{table}': {what} is {_shown(given)}; give a dict of values by column name",
            )
        for name in given:
            _check_name(f"table '{table}': a name in {what}", name)
    same = twice([*symbols, *columns])
    if same is not None:
        raise DataError(
            ErrorCode.NAME_INVALID,
            f"table '{table}': column '{same[1]}' is given twice; names differ by more than case",
        )


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise DataError(ErrorCode.TYPE_UNSUPPORTED, f"{what} is {_shown(name)}; give a str")
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                ErrorCode.NAME_INVALID,
                f"{what} is {name!r}, with half of a surrogate pair at character {error.start}",
            ) from error


class RowCells:
    """Puts Python values into a row of the engine."""

    def __init__(self, machine: Jvm) -> None:
        self._machine = machine

    def fill(
        self, row: Any, table: str, symbols: Mapping[str, Any], columns: Mapping[str, Any], at: Any
    ) -> None:
        """All values of a row, and its end."""
        for name, text in symbols.items():
            if text is not None:
                self._symbol(row, _Place(table, name), text)
        for name, value in columns.items():
            if value is not None:
                self._cell(row, _Place(table, name), value)
        if at is SERVER_TIMESTAMP:
            row.atNow()
        else:
            row.at(*self._time(_Place(table, None), at))

    def _symbol(self, row: Any, place: _Place, text: Any) -> None:
        if not isinstance(text, str):
            raise place.unsupported(f"a symbol is a str, not {_shown(text)}")
        place.text(row.symbol, text)

    def _cell(self, row: Any, place: _Place, value: Any) -> None:
        machine, name = self._machine, place.column
        if isinstance(value, str):
            place.text(row.stringColumn, value)
        elif isinstance(value, bool):
            row.boolColumn(name, value)
        elif isinstance(value, int):
            row.longColumn(name, place.long(value))
        elif isinstance(value, float):
            row.doubleColumn(name, value)
        elif isinstance(value, (datetime, date, Micros, Nanos)):
            if str(value) != "NaT":  # pandas.NaT is a datetime
                row.timestampColumn(name, *self._time(place, value))
        elif isinstance(value, Decimal):
            if not value.is_finite():
                raise place.invalid(f"{value} is no decimal")
            row.decimalColumn(name, machine.big_decimal(str(value)))
        elif isinstance(value, (bytes, bytearray, memoryview)):
            row.binaryColumn(name, machine.jpype.JArray(machine.jpype.JByte)(bytes(value)))
        elif isinstance(value, uuid.UUID):
            high, low = (_signed(half) for half in divmod(value.int, 1 << 64))
            row.uuidColumn(name, machine.uuid(high, low))
        elif isinstance(value, ipaddress.IPv4Address):
            row.ipv4Column(name, int(value))
        elif hasattr(value, "dtype"):
            self._numpy(row, place, value)
        else:
            raise place.unsupported(
                f"{_shown(value)}; the documentation of row() says what it takes"
            )

    def _numpy(self, row: Any, place: _Place, value: Any) -> None:
        if not callable(getattr(value, "mask", callable)):
            # What lies under a mask is some number; numpy.ma.masked itself is 0.0.
            raise place.unsupported(
                "a masked numpy value; give its data with the masked elements filled, or None"
            )
        if value.dtype.kind == "f" and value.dtype.itemsize > 8:
            raise place.unsupported(
                f"a numpy value of {value.dtype}, wider than DOUBLE; convert it to float64"
            )
        if value.shape == () and value.dtype.kind in "biufU":
            self._cell(row, place, value.item())
            return
        if value.shape == () or value.dtype.kind != "f":
            raise place.unsupported(
                f"a numpy value of {value.dtype}; QuestDB keeps arrays of doubles"
            )
        jpype = self._machine.jpype
        flat = jpype.JArray(jpype.JDouble)(value.astype("float64", copy=False).ravel())
        row.doubleArrayColumn(place.column, flat, jpype.JArray(jpype.JInt)(list(value.shape)))

    def _time(self, place: _Place, value: Any) -> tuple[int, Any]:
        units = self._machine.units
        if isinstance(value, Micros):
            return place.long(value.value), units.MICROS
        if isinstance(value, Nanos):
            return place.long(value.value), units.NANOS
        if hasattr(value, "as_unit"):  # pandas.Timestamp: a datetime that knows nanoseconds
            return int(value.as_unit("ns").value), units.NANOS
        if isinstance(value, datetime):
            if value.tzinfo is None:
                value = value.replace(tzinfo=timezone.utc)
            return (value - _EPOCH) // timedelta(microseconds=1), units.MICROS
        if isinstance(value, date):
            return (value - _EPOCH.date()).days * 86_400_000_000, units.MICROS
        raise place.unsupported(
            f"{_shown(value)} is no time; give a datetime, Micros, Nanos or SERVER_TIMESTAMP"
        )


@dataclass(frozen=True)
class _Place:
    """Where a value goes; no column: the designated timestamp."""

    table: str
    column: str | None

    def __str__(self) -> str:
        column = "designated timestamp" if self.column is None else f"column '{self.column}'"
        return f"table '{self.table}', {column}"

    def unsupported(self, why: str) -> DataError:
        return DataError(ErrorCode.TYPE_UNSUPPORTED, f"{self}: {why}")

    def invalid(self, why: str) -> DataError:
        return DataError(ErrorCode.VALUE_INVALID, f"{self}: {why}")

    def text(self, setter: Callable[[str | None, str], Any], text: str) -> None:
        try:
            setter(self.column, text)
        except UnicodeEncodeError as error:
            raise self.invalid(
                f"the text has half of a surrogate pair at character {error.start}"
            ) from error

    def long(self, value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError as error:
            raise self.unsupported(f"{_shown(value)} is no whole number") from error
        if not -(2**63) < number < 2**63:
            raise self.invalid(f"{number} is not between -(2^63 - 1) and 2^63 - 1")
        return number


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} of type {type(value).__name__}"


def _signed(half: int) -> int:
    return half - (1 << 64) if half >> 63 else half
