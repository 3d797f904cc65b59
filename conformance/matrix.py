"""What a server does with every wire type in every type of column: the record, and how it is made.

``matrix.tsv`` was recorded on QuestDB 9.4.4-SNAPSHOT, built from source (development tree of July 2026), on 2026-11-28.
A line is one value in one column: wire type, value, column, status of the reply, and the answer: what SQL shows
afterwards where the value was taken, otherwise the text of the refusal. Values and answers that SQL shows are JSON.

``python -m conformance.matrix PORT`` sends the same values to another server and prints what that one does. To try one
more value, add a line that has it and record anew.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.connection import Connection, Reply, Status
from conformance.wire import Wire, column, designated, message, table
from harness.server import QuestDb

RECORD = Path(__file__).with_name("matrix.tsv")

COLUMNS = {
    "BOOLEAN": "BOOLEAN",
    "BYTE": "BYTE",
    "SHORT": "SHORT",
    "CHAR": "CHAR",
    "INT": "INT",
    "LONG": "LONG",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "IPV4": "IPV4",
    "DATE": "DATE",
    "TS_US": "TIMESTAMP",
    "TS_NS": "TIMESTAMP_NS",
    "STRING": "STRING",
    "VARCHAR": "VARCHAR",
    "SYMBOL": "SYMBOL",
    "UUID": "UUID",
    "LONG256": "LONG256",
    "GEO5b": "GEOHASH(1c)",
    "GEO20b": "GEOHASH(4c)",
    "GEO60b": "GEOHASH(12c)",
    "BINARY": "BINARY",
    "DBL1": "DOUBLE[]",
    "DBL2": "DOUBLE[][]",
    "DEC8": "DECIMAL(2,0)",
    "DEC16": "DECIMAL(4,2)",
    "DEC32": "DECIMAL(9,2)",
    "DEC64": "DECIMAL(18,2)",
    "DEC128": "DECIMAL(38,2)",
    "DEC256": "DECIMAL(76,2)",
}
"""Columns of the record, with their SQL types."""

_SHOWN = {
    "FLOAT": "FLOAT::double",  # all its digits; versions print a FLOAT differently
    "BINARY": "base64(BINARY, 100)",
}

_DECIMALS = (Wire.DECIMAL64, Wire.DECIMAL128, Wire.DECIMAL256)


@dataclass(frozen=True)
class Cell:
    """One value in one column, and what came of it."""

    wire: str
    value: str
    column: str
    status: str
    answer: str


def read(path: Path = RECORD) -> list[Cell]:
    """The record."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Cell(*line.split("\t")) for line in lines[1:]]


class Prober:
    """Puts values into columns of a server and looks at what becomes of them; a table for each column."""

    def __init__(self, server: QuestDb) -> None:
        self._server = server
        self._connection: Connection | None = None
        self._times = itertools.count(1)
        for name, sql_type in COLUMNS.items():
            server.sql(f"DROP TABLE IF EXISTS {_table(name)}")
            server.sql(
                f"CREATE TABLE {_table(name)} ({name} {sql_type}, ts TIMESTAMP)"
                " TIMESTAMP(ts) PARTITION BY DAY WAL"
            )

    def cells(self, wire: Wire, values: list[str], name: str) -> list[Cell]:
        """Sends each value in a frame of its own; ``values`` are JSON."""
        first, replies = next(self._times), []
        times = [next(self._times) for _ in values]
        for at, value in zip(times, values, strict=True):
            replies.append(self._ask(_frame(wire, json.loads(value), name, at)))
        shown = self._shown(name, first) if any(reply.ok for reply in replies) else {}
        return [
            Cell(
                wire.name,
                value,
                name,
                Status(reply.status).name,
                json.dumps(shown[at], ensure_ascii=False) if reply.ok else reply.text,
            )
            for at, value, reply in zip(times, values, replies, strict=True)
        ]

    def close(self) -> None:
        """Drops the tables."""
        if self._connection:
            self._connection.close()
        for name in COLUMNS:
            self._server.sql(f"DROP TABLE {_table(name)}")

    def _ask(self, frame: bytes) -> Reply:
        if not self._connection:
            self._connection = Connection(self._server.port)
        reply = self._connection.ask(frame)
        if not reply.ok:
            self._connection.close()
            self._connection = None
        return reply

    def _shown(self, name: str, first: int) -> dict[int, Any]:
        """What SQL shows of the rows since ``first``, by time."""
        self._server.sql(f"SELECT wait_wal_table('{_table(name)}')")
        rows = self._server.sql(
            f"SELECT ts::long, {_SHOWN.get(name, name)} FROM {_table(name)} WHERE ts >= {first}"
        )
        return dict(rows)


def _table(name: str) -> str:
    return f"matrix_{name.lower()}"


def _frame(wire: Wire, value: Any, name: str, at: int) -> bytes:
    symbols: list[str] = []
    scale, precision = 0, 20
    if value is None:
        pass
    elif wire is Wire.SYMBOL:
        symbols, value = [value], 0
    elif wire is Wire.UUID:
        value = uuid.UUID(value)
    elif wire is Wire.GEOHASH:
        value, precision = int(value, 2), len(value)
    elif wire in _DECIMALS:
        value, scale = int(value.replace(".", "")), len(value.partition(".")[2])
    values = column(name, wire, [value], scale=scale, precision=precision)
    return message(table(_table(name), values, designated(at)), symbols=symbols)


@contextlib.contextmanager
def prober(server: QuestDb) -> Iterator[Prober]:
    """A prober whose tables are dropped in the end."""
    with contextlib.closing(Prober(server)) as made:
        yield made


def main(port: int) -> None:
    """Prints a record of the server at this port."""
    server = QuestDb()
    server.port = port
    values: dict[str, list[str]] = {}
    for cell in read():
        known = values.setdefault(cell.wire, [])
        if cell.value not in known:
            known.append(cell.value)
    print("wire", "value", "column", "status", "answer", sep="\t")
    with prober(server) as made:
        for wire in Wire:
            found = [made.cells(wire, values[wire.name], name) for name in COLUMNS]
            for cell in itertools.chain.from_iterable(zip(*found, strict=True)):
                print(cell.wire, cell.value, cell.column, cell.status, cell.answer, sep="\t")


if __name__ == "__main__":
    main(int(sys.argv[1]))
