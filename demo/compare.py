"""What arrived, against what was sent: row by row and column by column, over SQL."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pandas as pd
import requests
from flights import COLUMNS, KEYS


@dataclass(frozen=True)
class Difference:
    """Counts of what does not agree; all zero when the table holds exactly the source."""

    missing_keys: int
    unknown_keys: int
    duplicates: int
    differing_values: int


def fetch(http: str, table: str) -> pd.DataFrame:
    """The whole table as a frame with the types of the source."""
    columns = ", ".join(f'"{name}"' for name in COLUMNS)
    answer = requests.get(
        f"{http}/exp", params={"query": f"SELECT {columns} FROM {table}"}, timeout=120
    )
    answer.raise_for_status()
    frame = pd.read_csv(
        io.StringIO(answer.text),
        dtype={n: "Int32" if k == "INT" else "str" for n, k in COLUMNS.items()},
        keep_default_na=False,
        na_values={n: [""] for n in COLUMNS},
    )
    frame["time_hour"] = pd.to_datetime(frame["time_hour"], utc=True)
    return frame


def compare(source: pd.DataFrame, arrived: pd.DataFrame) -> Difference:
    """Joins both on the keys; a key that is there twice counts as a duplicate, its first row is compared."""
    duplicated = arrived.duplicated(KEYS)
    left = source.set_index(KEYS).sort_index()
    right = arrived[~duplicated].set_index(KEYS).sort_index()
    common = left.index.intersection(right.index)
    left_rows, right_rows = left.loc[common], right.loc[common]
    differing = 0
    for name in left.columns:
        a, b = left_rows[name], right_rows[name]
        equal = (a == b).fillna(False).astype(bool) | (a.isna() & b.isna())
        differing += int((~equal).sum())
    return Difference(
        missing_keys=len(left.index.difference(right.index)),
        unknown_keys=len(right.index.difference(left.index)),
        duplicates=int(duplicated.sum()),
        differing_values=differing,
    )
