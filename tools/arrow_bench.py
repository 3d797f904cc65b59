"""Rows a second of ``questdb_sf.sender.Sender.write`` against the row API of the released client (PyPI ``questdb``).

What each side does:

- Both send the same rows (symbol, long, double, string, timestamp; nulls in all but the timestamp) with the same
  connect string, each through its log on disk in a directory of its own beside the other's, to the same server.
  Settings are the defaults: segments of 4 MiB, ``sf_durability=memory``, which is said explicitly: the log survives the
  process, and neither side forces its frames to the disk (the released client has no other mode).
- Ours: one ``write`` of a ``pyarrow.Table`` of two million rows after the other. The released client's: one
  ``row(...)`` a row, with its values as Python lists and its time objects made beforehand. Symbols and strings are
  plain texts, not dictionary-encoded.
- A round is first one, then the other, timed from the first row until the last is acknowledged; a round of ours has
  eight times as many rows, as it would end too soon to be timed else. Each runs in a process of its own, which stays.
  The rounds before those that count are for the JIT compiler of ours; the released client needs none.
- The server is the same for both. The first reads and acknowledges, and does nothing else: a database on the same
  processors would be what is measured. The second is the test server, QuestDB with its WAL, into a new table a round,
  which is seen to have all rows before the next begins; there the database takes most of the time of either.

Prints a table a server, then one JSON line. ``arrow_vs_released_rows`` is the median of the rounds' ratios with the
first server, ``arrow_vs_released_rows_into_database`` that with the second.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.servers import new_server

BAR = 10.0
TABLE_ROWS = 2_000_000
SYMBOLS = 200
WARM_ROUNDS = 4
TIMES = 8


def table(rows: int) -> Any:
    """The rows as Arrow has them; the same in each process."""
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(7)
    index = np.arange(rows)

    def nulls(every: int, first: int = 0) -> Any:
        return index % every == first

    names = pa.array([f"sensor-{i}" for i in range(SYMBOLS)])
    texts = pa.array([f"reading {i}" for i in range(100_000)])
    return pa.table(
        {
            "symbol": names.take(pa.array(random.integers(0, SYMBOLS, rows), mask=nulls(11))),
            "long": pa.array(random.integers(-(2**40), 2**40, rows), mask=nulls(14)),
            # Never together with the long: the released client leaves out rows that have a time only.
            "double": pa.array(random.random(rows), mask=nulls(14, 7)),
            "string": texts.take(pa.array(random.integers(0, 100_000, rows), mask=nulls(19))),
            "time": pa.array(index + 1_704_067_200_000_000, pa.timestamp("us")),
        }
    )


def arrow_job(conf: str, rows: int) -> Callable[[str], int]:
    """Our side: returns what one round into a table does; that returns the rows written."""
    from questdb_sf.sender import Sender

    data = table(min(rows, TABLE_ROWS))
    sender = Sender(conf)

    def job(name: str) -> int:
        written = 0
        while written < rows:
            written += sender.write(data, table=name, timestamp="time", symbols=["symbol"])
        if not sender.drain(120):
            raise TimeoutError("not acknowledged in time")
        return written

    return job


def released_job(conf: str, rows: int) -> Callable[[str], int]:
    """The released client's row API."""
    import pyarrow as pa
    import questdb

    data = table(min(rows, TABLE_ROWS)).to_pydict()
    micros = table(min(rows, TABLE_ROWS))["time"].cast(pa.int64()).to_pylist()
    times = [questdb.TimestampMicros(value) for value in micros]
    sender = questdb.Sender.from_conf(conf)
    sender.establish()

    def job(name: str) -> int:
        row = sender.row
        columns = (data["symbol"], data["long"], data["double"], data["string"], times)
        for symbol, long, double, string, at in zip(*columns, strict=True):
            row(
                name,
                symbols={"symbol": symbol},
                columns={"long": long, "double": double, "string": string},
                at=at,
            )
        sender.flush()
        if not sender.await_acked_fsn(sender.published_fsn(), 120_000):
            raise TimeoutError("not acknowledged in time")
        return len(times)

    return job


JOBS = {"arrow": arrow_job, "released": released_job}


def contend(which: str, conf: str, rows: int) -> None:
    """A contender's process: a round for each name of a table that comes in, a line of JSON back."""
    job = JOBS[which](conf, rows)
    print("{}", flush=True)
    for line in sys.stdin:
        cpu, started = time.process_time(), time.perf_counter()
        done = job(line.strip())
        seconds = time.perf_counter() - started
        cpu_seconds = time.process_time() - cpu
        print(
            json.dumps({"rows": done, "seconds": seconds, "cpu_seconds": cpu_seconds}), flush=True
        )
    # Nothing is kept, and ends need not be polite here.
    os._exit(0)


class Contender:
    """One process; see :func:`contend`."""

    def __init__(self, which: str, conf: str, rows: int) -> None:
        self.rounds: list[dict[str, float]] = []
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--contender", which, "--conf", conf, "--rows", str(rows)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._read()

    def _read(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a contender ended before its time")
        return dict(json.loads(line))

    def round(self, name: str) -> dict[str, float]:
        """One round into a table."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        self.rounds.append(self._read())
        return self.rounds[-1]

    def per_second(self) -> float:
        """Median of the rows a second of the rounds that count."""
        return statistics.median(r["rows"] / r["seconds"] for r in self.rounds[WARM_ROUNDS:])

    def cpu_nanos(self) -> float:
        """Median of the processor time a row, over all threads."""
        return statistics.median(
            1e9 * r["cpu_seconds"] / r["rows"] for r in self.rounds[WARM_ROUNDS:]
        )

    def end(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()


@dataclass(frozen=True)
class Server:
    """Where the rows go, and what is done when a round into a table has ended."""

    addr: str
    settle: Callable[[str, float], None]


@contextmanager
def sink() -> Iterator[Server]:
    """The server that only acknowledges."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("ack_sink.py"))],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        yield Server(f"127.0.0.1:{port}", lambda name, rows: None)
    finally:
        process.kill()
        process.wait()


@contextmanager
def database(root: Path) -> Iterator[Server]:
    """The test server."""
    with new_server(root) as server:

        def settle(name: str, rows: float) -> None:
            found = server.await_count(name, int(rows))
            if found != rows:
                raise SystemExit(f"{found} of {rows:.0f} rows are in the table {name}")
            server.sql(f"DROP TABLE '{name}'")

        yield Server(server.addr, settle)


def compare(server: Server, rounds: int, rows: int, keys: str, store: Path) -> dict[str, Any]:
    """Runs all rounds against a server and returns what was measured."""
    contenders: list[Contender] = []
    try:
        for which, count in (("arrow", rows * TIMES), ("released", rows)):
            conf = f"ws::addr={server.addr};sf_dir={store / which};{keys}"
            (store / which).mkdir(parents=True)
            contenders.append(Contender(which, conf, count))
        ours, theirs = contenders
        ratios = []
        for number in range(-WARM_ROUNDS, rounds):
            speeds = []
            for which, contender in (("arrow", ours), ("released", theirs)):
                name = f"{which}_{number + WARM_ROUNDS}"
                done = contender.round(name)
                speeds.append(done["rows"] / done["seconds"])
                server.settle(name, done["rows"])
            ratio = speeds[0] / speeds[1]
            if number >= 0:
                ratios.append(ratio)
            called = f"round {number + 1}" if number >= 0 else "warm-up"
            print(
                f"{called:<10}{speeds[0]:>14,.0f} rows/s{speeds[1]:>14,.0f} rows/s{ratio:>8.1f} times",
                file=sys.stderr,
            )
        ours_cpu, theirs_cpu = ours.cpu_nanos(), theirs.cpu_nanos()
        return {
            "ratio": round(statistics.median(ratios), 2),
            "ratios": [round(r, 2) for r in ratios],
            "arrow_rows_per_second": round(ours.per_second()),
            "released_rows_per_second": round(theirs.per_second()),
            "arrow_cpu_nanos_per_row": round(ours_cpu, 1),
            "released_cpu_nanos_per_row": round(theirs_cpu, 1),
            "cpu_ratio": round(theirs_cpu / ours_cpu, 2),
        }
    finally:
        for contender in contenders:
            contender.end()


def measure(rounds: int, rows: int, keys: str, store: Path) -> dict[str, Any]:
    """Both servers."""
    print("arrow and released, to a server that only acknowledges", file=sys.stderr)
    with sink() as server:
        result = compare(server, rounds, rows, keys, store / "sink")
    print("arrow and released, into the database of the test server", file=sys.stderr)
    with database(store / "server") as server:
        into_database = compare(server, min(rounds, 5), rows // 2, keys, store / "database")
    return {
        "arrow_vs_released_rows": result.pop("ratio"),
        "bar": BAR,
        **result,
        "arrow_vs_released_rows_into_database": into_database.pop("ratio"),
        "into_database": into_database,
        "keys": keys,
        "released_version": version("questdb"),
        "cpus": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--rows",
        type=int,
        default=500_000,
        help=f"of the released client a round; we write {TIMES} times as many",
    )
    parser.add_argument(
        "--keys",
        default="sf_durability=memory;",
        help="keys of the connect string, for both",
    )
    parser.add_argument("--out", type=Path, help="also writes the JSON into a file")
    parser.add_argument("--contender", choices=sorted(JOBS), help=argparse.SUPPRESS)
    parser.add_argument("--conf", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.contender:
        contend(chosen.contender, chosen.conf, chosen.rows)
    with tempfile.TemporaryDirectory(dir=Path(__file__).resolve().parents[1] / "build") as store:
        result = json.dumps(measure(chosen.rounds, chosen.rows, chosen.keys, Path(store)))
    if chosen.out:
        chosen.out.write_text(result + "\n", encoding="utf-8")
    print(result)


if __name__ == "__main__":
    main()
