"""The Python sender for tests: opens one, writes a table until it is visible, reads by SQL what arrived."""

from __future__ import annotations

import datetime
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from harness.server import ServerProcess
from questdb_sf.sender import (
    Sender,
)

UTC = datetime.timezone.utc
START = 1_704_067_200_000_000
DRAIN_SECONDS = 240


def open_sender(server: ServerProcess, store: Path | None = None, **keys: Any) -> Sender:
    """A sender with keys of the connect string; ``store`` is its ``sf_dir``."""
    if store is not None:
        keys = {"sf_dir": store, **keys}
    return Sender(f"ws::addr={server.addr};" + "".join(f"{k}={v};" for k, v in keys.items()))


def times(rows: int) -> Any:
    """So many designated times, a microsecond apart."""
    return pa.array(np.arange(rows) + START, pa.timestamp("us"))


def write(server: ServerProcess, name: str, columns: dict[str, Any], **options: Any) -> None:
    """One table, acknowledged and visible."""
    table = pa.table(columns)
    options.setdefault("timestamp", "ts")
    if "ts" not in columns:
        table = table.append_column("ts", times(table.num_rows))
    with open_sender(server) as sender:
        assert sender.write(table, table=name, **options) == table.num_rows
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count(name, table.num_rows, 240) == table.num_rows


def read(server: ServerProcess, name: str, what: str = "x") -> list[Any]:
    """One expression over all rows, in the order of their times."""
    return [row[0] for row in server.sql(f"SELECT {what} FROM '{name}' ORDER BY timestamp")]


def column_type(server: ServerProcess, name: str, column: str = "x") -> str:
    """The type of a column by SQL."""
    query = f"SELECT type FROM table_columns('{name}') WHERE \"column\" = '{column}'"
    return str(server.sql(query)[0][0])


def script(source: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Runs Python of its own; what it prints can be read."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def ran(source: str, *arguments: str, seconds: float = 120, **options: Any) -> str:
    """What Python of its own printed; it must end by itself, well and in time."""
    process = script(source, *arguments, **options)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"it did not end within {seconds} s: {out}{err}")
    assert process.returncode == 0, out + err
    return out
