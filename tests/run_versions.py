"""One jar on every Spark: 100,000 rows of many types, by batch and by stream, written and read back by SQL.

`make test-versions` runs it. Each version is the one in ``build/venvs/VERSION``, with the wheel in it. The jar must be
the same file everywhere. What QuestDB holds afterwards is compared with what was written, value by value.

People read the table on standard error; standard output says ``N passed, N failed`` and ends with one JSON line.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import decimal
import hashlib
import json
import math
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import requests

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.server import ServerProcess
from harness.servers import new_server

REPOSITORY = Path(__file__).resolve().parents[1]
VERSIONS = ("3.5", "4.0", "4.1", "4.2", "4.3")
ROWS = 100_000
FILES = 5
LIMIT_SECONDS = 420
UTC = datetime.timezone.utc
START = datetime.datetime(2024, 1, 1, tzinfo=UTC)
# 38 digits and some, so that arithmetic here is exact.
decimal.getcontext().prec = 60


@dataclass(frozen=True)
class Column:
    """A column of the source and what is in its rows.

    ``shown`` of a value that was written, not null, must equal ``read`` of what SQL shows.
    """

    name: str
    arrow: pa.DataType
    value: Callable[[int], Any]
    shown: Callable[[Any], Any] = lambda value: value
    read: Callable[[Any], Any] = lambda value: value
    select: str = ""
    target: str = ""
    has_null: bool = True

    def at(self, row: int) -> Any:
        """The value of a row; every seventh is null, for each column another seventh."""
        gap = self.has_null and (row + len(self.name)) % 7 == 0
        return None if gap else self.value(row)


def as_time(fraction: int) -> Callable[[Any], str]:
    """How SQL shows a time with so many digits behind the second."""
    return lambda value: value.strftime("%Y-%m-%dT%H:%M:%S.%f")[: 20 + fraction] + "Z"


def narrow(value: float | None) -> float | None:
    """A FLOAT as SQL shows it, with only the digits that tell it from its neighbours."""
    return None if value is None else float(struct.unpack("f", struct.pack("f", value))[0])


def text(row: int) -> str:
    """Texts of every length up to 40, not only ASCII."""
    return ("aü€😀 zß" * 6)[: row % 40]


COLUMNS = [
    Column("id", pa.int64(), lambda i: i, has_null=False),
    Column("boolean", pa.bool_(), lambda i: i % 3 == 0, has_null=False),
    Column("tiny", pa.int8(), lambda i: i % 256 - 128),
    Column("small", pa.int16(), lambda i: i % 65536 - 32768),
    Column("whole", pa.int32(), lambda i: i * 20_011 % 2**31),
    Column("big", pa.int64(), lambda i: (-1) ** i * (2**62 + i)),
    Column("single", pa.float32(), lambda i: (i - 50_000) / 1024, read=narrow),
    Column("real", pa.float64(), lambda i: math.ldexp(i + 1, i % 200 - 100)),
    Column("price", pa.decimal128(10, 2), lambda i: Decimal(i - 50_000).scaleb(-2), str),
    Column("amount", pa.decimal128(38, 10), lambda i: Decimal(10**27 + i).scaleb(-10), str),
    Column("word", pa.string(), text),
    Column("kind", pa.string(), lambda i: f"kind {i % 97}", target="SYMBOL"),
    Column("letter", pa.string(), lambda i: chr(0x41 + i % 26), target="CHAR", has_null=False),
    Column(
        "bytes",
        pa.binary(),
        lambda i: i.to_bytes(4, "big") * (i % 5),
        lambda value: base64.b64encode(value).decode(),
        select="base64(bytes, 100)",
    ),
    Column(
        "moment",
        pa.timestamp("us", tz="UTC"),
        lambda i: START - datetime.timedelta(days=20_000) + datetime.timedelta(microseconds=i * 7),
        as_time(6),
    ),
    Column(
        "wall",
        pa.timestamp("us"),
        lambda i: datetime.datetime(2024, 7, 1) + datetime.timedelta(seconds=i, microseconds=i),
        as_time(6),
    ),
    Column(
        "day",
        pa.date32(),
        lambda i: datetime.date(1950, 1, 1) + datetime.timedelta(days=i % 40_000),
        lambda value: f"{value.isoformat()}T00:00:00.000000Z",
    ),
    Column("series", pa.list_(pa.float64()), lambda i: [i / 4, -1.5, float(i)][: i % 4]),
    Column(
        "device", pa.string(), lambda i: str(uuid.UUID(int=(i + 1) * 0x1_0000_0001)), target="UUID"
    ),
    Column("host", pa.string(), lambda i: f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}", target="IPV4"),
    Column(
        "hash",
        pa.string(),
        lambda i: hex((i + 1) * (2**200 + 1)),
        lambda value: int(value, 16),
        lambda value: int(value, 16) if value else None,
        target="LONG256",
    ),
    Column("place", pa.string(), lambda i: f"u33d{i % 10}b", target="GEOHASH(6c)"),
    Column(
        "ts",
        pa.timestamp("us", tz="UTC"),
        lambda i: START + datetime.timedelta(milliseconds=i),
        as_time(6),
        has_null=False,
    ),
]


@dataclass
class Outcome:
    """What one version did."""

    version: str
    spark: str = ""
    jar: str = ""
    rows: dict[str, int] = field(default_factory=dict)
    differing: dict[str, int] = field(default_factory=dict)
    seconds: float = 0
    refusals: int = 0
    problems: list[str] = field(default_factory=list)


def main() -> int:
    """Runs the chosen versions, one after the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("versions", nargs="*", help=f"of {', '.join(VERSIONS)}; all by default")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.write:
        write(json.loads(chosen.write))
        return 0
    unknown = set(chosen.versions) - set(VERSIONS)
    if unknown:
        parser.error(f"no such version: {', '.join(sorted(unknown))}")
    started = time.monotonic()
    work = Path(tempfile.mkdtemp(prefix="questdb-sf-versions-"))
    try:
        outcomes = run(chosen.versions or VERSIONS, chosen.rows, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return report(outcomes, chosen.rows, time.monotonic() - started)


def run(versions: list[str] | tuple[str, ...], total: int, work: Path) -> list[Outcome]:
    """One server and one set of files for all versions; tables by version."""
    make_files(work / "source", total)
    outcomes = []
    with new_server(work / "root") as server:
        for version in versions:
            say(f"Spark {version}: {total:,} rows by batch and by stream")
            outcome = Outcome(version)
            started = time.monotonic()
            try:
                one(outcome, server, total, work)
            except Exception as error:
                outcome.problems.append(f"{type(error).__name__}: {error}")
            outcome.seconds = time.monotonic() - started
            outcomes.append(outcome)
    return outcomes


def make_files(directory: Path, total: int) -> None:
    """The source: Parquet files, which every version of Spark reads alike."""
    directory.mkdir(parents=True)
    step = -(-total // FILES)
    for number, first in enumerate(range(0, total, step)):
        numbers = range(first, min(total, first + step))
        arrays = [pa.array([c.at(i) for i in numbers], type=c.arrow) for c in COLUMNS]
        table = pa.Table.from_arrays(arrays, names=[c.name for c in COLUMNS])
        pq.write_table(table, directory / f"part-{number}.parquet")


def one(outcome: Outcome, server: ServerProcess, total: int, work: Path) -> None:
    """Writes with one version, in its own Python, and compares both tables."""
    python = REPOSITORY / "build/venvs" / outcome.version / "bin/python"
    if not python.exists():
        raise FileNotFoundError(f"{python} is missing: run `make test-versions`")
    home = work / outcome.version
    home.mkdir()
    name = outcome.version.replace(".", "_")
    tables = {"batch": f"batch_{name}", "stream": f"stream_{name}"}
    task = {"source": str(work / "source"), "work": str(home), "addr": server.addr, **tables}
    task["refused"] = f"refused_{name}"
    written = subprocess.run(
        [python, __file__, "--write", json.dumps(task)],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if written.returncode:
        raise RuntimeError(f"exit status {written.returncode}: {written.stderr[-3000:]}")
    said = json.loads(written.stdout.splitlines()[-1])
    outcome.spark, outcome.jar = said["spark"], said["jar"]
    if not outcome.spark.startswith(outcome.version + "."):
        outcome.problems.append(f"that was Spark {outcome.spark}")
    outcome.refusals = said["refusals"]
    if said["refusals"] != 1 or said["counted"] != total:
        outcome.problems.append(f"handlers and counters: {said}")
    for way, table in tables.items():
        server.await_count(table, total)
        outcome.rows[way] = server.count(table)
        found = list(differences(server, table, total))
        outcome.differing[way] = len(found)
        if outcome.rows[way] != total:
            outcome.problems.append(f"{way}: {outcome.rows[way]} rows instead of {total}")
        outcome.problems += [f"{way}: {difference}" for difference in found[:5]]


def write(task: dict[str, str]) -> None:
    """In the Python of one version: the batch write and the stream; prints what was used."""
    import pyspark

    from harness.spark import eventually, finish, session, write_stream
    from questdb_sf.spark import counters, jar_path, on_error

    spark = session("versions", Path(task["work"]), cores=2)
    errors: list[Any] = []
    on_error(spark, errors.append)
    frame = spark.read.parquet(task["source"])
    options = {
        "addr": task["addr"],
        "timestamp": "ts",
        "create_table": "true",
        "column_types": ", ".join(f"{c.name} {c.target}" for c in COLUMNS if c.target),
    }
    writer = frame.write.format("questdb-sf").mode("append").options(**options)
    writer.option("table", task["batch"]).save()
    stream = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1)
    query = write_stream(
        stream.parquet(task["source"]),
        Path(task["work"]) / "checkpoint",
        {**options, "table": task["stream"]},
        availableNow=True,
    )
    finish(query, LIMIT_SECONDS)
    counted = counters(query).rows_written
    # The first frame for this table is refused once: a handler is to be told, with the rows.
    nack = {"status": 9, "message": "not now", "table": task["refused"], "times": 1}
    script = f"http://{task['addr']}/qwp/script"
    requests.post(script, json={"nack": nack}, timeout=30).raise_for_status()
    few = spark.range(10).selectExpr("id", "timestamp_seconds(id) AS ts").coalesce(1)
    few.write.format("questdb-sf").mode("append").options(
        addr=task["addr"], table=task["refused"], timestamp="ts", create_table="true"
    ).save()
    told = eventually("a handler is told", lambda: list(errors))
    right = [e for e in told if (e.table, e.row_range) == (task["refused"], (1, 10))]
    spark.stop()
    jar = hashlib.sha256(jar_path().read_bytes()).hexdigest()
    said = {"spark": pyspark.__version__, "jar": jar, "refusals": len(right), "counted": counted}
    print(json.dumps(said))


def differences(server: ServerProcess, table: str, total: int) -> Iterator[str]:
    """Every value that is not what was written, and rows that are missing or there twice."""
    select = ", ".join(column.select or f'"{column.name}"' for column in COLUMNS)
    step = 20_000
    for first in range(0, total, step):
        rows = server.sql(
            f"SELECT {select} FROM '{table}' WHERE id >= {first} AND id < {first + step} ORDER BY id"
        )
        wanted_rows = min(total, first + step) - first
        if [row[0] for row in rows] != list(range(first, first + wanted_rows)):
            yield f"{table}: rows {first} to {first + wanted_rows - 1} are not there once each"
            continue
        for row, values in enumerate(rows, first):
            for column, value in zip(COLUMNS, values, strict=True):
                written = column.at(row)
                wanted = None if written is None else column.shown(written)
                if column.read(value) != wanted:
                    yield f"row {row}, column {column.name}: wrote {wanted!r}, read {value!r}"


def report(outcomes: list[Outcome], total: int, seconds: float) -> int:
    """Table, JSON line, and the line that says passed and failed."""
    jars = {outcome.jar for outcome in outcomes if outcome.jar}
    say(f"{'Spark':8} {'release':9} {'batch':>9} {'stream':>9} {'differing':>9} {'seconds':>8}")
    for outcome in outcomes:
        say(
            f"{outcome.version:8} {outcome.spark or '-':9} {outcome.rows.get('batch', 0):>9,} "
            f"{outcome.rows.get('stream', 0):>9,} {sum(outcome.differing.values()):>9} "
            f"{outcome.seconds:>8.1f}"
        )
        for problem in outcome.problems:
            say(f"    {problem}")
    say(f"one jar: {'yes' if len(jars) == 1 else 'NO'} ({', '.join(sorted(j[:12] for j in jars))})")
    failed = sum(1 for outcome in outcomes if outcome.problems) + (len(jars) != 1)
    passed = len(outcomes) + 1 - failed
    line = {
        "versions": {o.version: o.spark for o in outcomes},
        "rows": total,
        "columns": len(COLUMNS),
        "rows_read_back": {o.version: o.rows for o in outcomes},
        "differing": sum(sum(o.differing.values()) for o in outcomes),
        "jars": len(jars),
        "refusals_in_handlers": {o.version: o.refusals for o in outcomes},
        "failed": failed,
        "seconds": round(seconds, 1),
    }
    print(f"{passed} passed, {failed} failed")
    print(json.dumps(line))
    return 1 if failed else 0


def say(line: str) -> None:
    """Progress, for people."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
