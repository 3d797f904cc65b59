"""What ``Sender.write`` was given: the data as an Arrow table, and what was said about its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from questdb_sf.errors import DataError, ErrorCode


@dataclass(frozen=True)
class Wishes:
    """What the caller said about columns."""

    timestamp: str | None
    symbols: Collection[str] | Literal["auto"]
    types: Mapping[str, str]
    zero_for_null: Collection[str]

    def __post_init__(self) -> None:
        if self.symbols != "auto":
            self._check_names("symbols", self.symbols)
        self._check_names("zero_for_null", self.zero_for_null)
        if not isinstance(self.types, Mapping):
            raise _wrong("types", self.types, "give a dict of QuestDB types by column name")
        for name, wish in self.types.items():
            if not isinstance(wish, str):
                raise _wrong(f"types['{name}']", wish, "give the name of a QuestDB type")
        if self.timestamp is not None and not isinstance(self.timestamp, str):
            raise _wrong("timestamp", self.timestamp, "give the name of a column, or None")

    def _check_names(self, what: str, names: Any) -> None:
        # A text is a collection too: of its characters.
        if isinstance(names, str) or not isinstance(names, Collection):
            raise _wrong(what, names, "give a list of column names")

    def symbol(self, name: str, dictionary: bool) -> bool:
        """Whether a column of texts becomes a SYMBOL."""
        return dictionary if isinstance(self.symbols, str) else name in self.symbols


def _wrong(argument: str, given: Any, advice: str) -> DataError:
    return DataError(
        ErrorCode.TYPE_UNSUPPORTED,
        f"write(): {argument} is {given!r} of type {type(given).__name__}; {advice}",
    )


def as_table(data: Any, table: str) -> Any:
    """A pyarrow.Table of what was given, without a copy where that is possible."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns"):
        return _of_pandas(data, table)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    raise TypeError(
        f"write() takes a pyarrow Table or RecordBatch, a pandas DataFrame, or what has __arrow_c_stream__, "
        f"not {type(data).__name__}"
    )


def _of_pandas(frame: Any, table: str) -> Any:
    """An index with a name is data; the numbers that pandas gives to rows by itself are not."""
    index = frame.index
    numbers = index.nlevels == 1 and index.name is None and index.dtype.kind in "iu"
    unnamed = [level for level, name in enumerate(index.names) if name is None]
    if unnamed and not numbers and len(frame):
        kind = index.dtype if index.nlevels == 1 else index.levels[unnamed[0]].dtype
        raise DataError(
            ErrorCode.NAME_INVALID,
            f"table '{table}': the index of the DataFrame (level {unnamed[0]}, of {kind}) has no name; name it to have "
            "it written (frame.rename_axis('name')), or leave it out (frame.reset_index(drop=True))",
        )
    try:
        arrow = pa.Table.from_pandas(frame, preserve_index=not numbers)
    except pa.ArrowException as error:
        raise DataError(
            ErrorCode.TYPE_UNSUPPORTED,
            f"table '{table}': the DataFrame cannot be read as Arrow columns: {error}; give each column values of one "
            "type",
        ) from error
    return arrow.replace_schema_metadata(None)
