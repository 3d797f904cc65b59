"""Rows a second of ``questdb_sf.sender.Sender.write`` against the row API of the released client (PyPI ``questdb``).

Both send the same rows (symbol, long, double, string, timestamp; nulls in all but the timestamp) with the same connect
string, each through its log on disk, to one server that reads and acknowledges and does nothing else: a database would
be what is measured. Segments have 64 MiB on both sides, where 4 MiB are the default: at hundreds of megabytes a second
making and deleting files is what is measured else (``--keys ""`` shows it).

A round is first one, then the other, timed from the first row until the last is acknowledged. The released client gets
its values as Python lists with its time objects made beforehand, we a ``pyarrow.Table``; symbols and strings are plain
texts. Each runs in a process of its own, which stays, and is warm before it counts.

Prints a table, then one JSON line. ``arrow_vs_released_rows`` is the median of the rounds' ratios.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

BAR = 10.0
TABLE_ROWS = 1_000_000
SYMBOLS = 200
WARM_ROUNDS = 2


def table(rows: int) -> Any:
    """The rows as Arrow has them; the same in each process."""
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(7)
    index = np.arange(rows)

    def nulls(every: int) -> Any:
        return index % every == 0

    names = pa.array([f"sensor-{i}" for i in range(SYMBOLS)])
    texts = pa.array([f"reading {i}" for i in range(100_000)])
    return pa.table(
        {
            "symbol": names.take(pa.array(random.integers(0, SYMBOLS, rows), mask=nulls(11))),
            "long": pa.array(random.integers(-(2**40), 2**40, rows), mask=nulls(13)),
            "double": pa.array(random.random(rows), mask=nulls(17)),
            "string": texts.take(pa.array(random.integers(0, 100_000, rows), mask=nulls(19))),
            "time": pa.array(index + 1_704_067_200_000_000, pa.timestamp("us")),
        }
    )


def arrow_job(conf: str, rows: int) -> Callable[[], int]:
    """Our side: returns what one round does; that returns the rows written."""
    from questdb_sf.sender import Sender

    data = table(TABLE_ROWS)
    sender = Sender(conf)

    def job() -> int:
        written = 0
        while written < rows:
            written += sender.write(data, table="t", timestamp="time", symbols=["symbol"])
        if not sender.drain(120):
            raise TimeoutError("not acknowledged in time")
        return written

    return job


def released_job(conf: str, rows: int) -> Callable[[], int]:
    """The released client's row API."""
    import pyarrow as pa
    import questdb

    data = table(min(rows, TABLE_ROWS)).to_pydict()
    micros = table(min(rows, TABLE_ROWS))["time"].cast(pa.int64()).to_pylist()
    times = [questdb.TimestampMicros(value) for value in micros]
    sender = questdb.Sender.from_conf(conf)
    sender.establish()

    def job() -> int:
        row = sender.row
        columns = (data["symbol"], data["long"], data["double"], data["string"], times)
        for symbol, long, double, string, at in zip(*columns, strict=True):
            row(
                "t",
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
    """A contender's process: a round for each line that comes in, a line of JSON back."""
    job = JOBS[which](conf, rows)
    print("{}", flush=True)
    for _ in sys.stdin:
        cpu, started = time.process_time(), time.perf_counter()
        done = job()
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

    def round(self) -> dict[str, float]:
        """One round."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
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


def compare(rounds: int, rows: int, keys: str, store: Path) -> dict[str, Any]:
    """Runs all rounds and returns what was measured."""
    sink = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("ack_sink.py"))],
        stdout=subprocess.PIPE,
        text=True,
    )
    contenders: list[Contender] = []
    try:
        assert sink.stdout is not None
        port = json.loads(sink.stdout.readline())["port"]
        for which, count in (("arrow", rows * 8), ("released", rows)):
            conf = f"ws::addr=127.0.0.1:{port};sf_dir={store / which};{keys}"
            (store / which).mkdir()
            contenders.append(Contender(which, conf, count))
        ours, theirs = contenders
        ratios = []
        for number in range(-WARM_ROUNDS, rounds):
            one, other = ours.round(), theirs.round()
            mine, others = one["rows"] / one["seconds"], other["rows"] / other["seconds"]
            ratio = mine / others
            if number >= 0:
                ratios.append(ratio)
            name = f"round {number + 1}" if number >= 0 else "warm-up"
            print(
                f"{name:<10}{mine:>14,.0f} rows/s{others:>14,.0f} rows/s{ratio:>8.1f} times",
                file=sys.stderr,
            )
        ours_cpu, theirs_cpu = ours.cpu_nanos(), theirs.cpu_nanos()
        return {
            "arrow_vs_released_rows": round(statistics.median(ratios), 2),
            "bar": BAR,
            "met": statistics.median(ratios) >= BAR,
            "ratios": [round(r, 2) for r in ratios],
            "arrow_rows_per_second": round(ours.per_second()),
            "released_rows_per_second": round(theirs.per_second()),
            "arrow_cpu_nanos_per_row": round(ours_cpu, 1),
            "released_cpu_nanos_per_row": round(theirs_cpu, 1),
            "cpu_ratio": round(theirs_cpu / ours_cpu, 2),
            "keys": keys,
            "cpus": len(os.sched_getaffinity(0)),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        }
    finally:
        for contender in contenders:
            contender.end()
        sink.kill()
        sink.wait()


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
        help="of the released client a round; we write 8 times as many",
    )
    parser.add_argument(
        "--keys",
        default="sf_max_segment_bytes=64m;",
        help="more keys of the connect string, for both",
    )
    parser.add_argument("--out", type=Path, help="also writes the JSON into a file")
    parser.add_argument("--contender", choices=sorted(JOBS), help=argparse.SUPPRESS)
    parser.add_argument("--conf", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.contender:
        contend(chosen.contender, chosen.conf, chosen.rows)
    with tempfile.TemporaryDirectory(dir=Path(__file__).resolve().parents[1] / "build") as store:
        result = json.dumps(compare(chosen.rounds, chosen.rows, chosen.keys, Path(store)))
    if chosen.out:
        chosen.out.write_text(result + "\n", encoding="utf-8")
    print(result)


if __name__ == "__main__":
    main()
