"""A table of what each job costs against its floor in the same JMH run, then the same as one JSON line."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cost:
    """One measured job: nanoseconds and allocated bytes an operation, waits for room in the run."""

    nanos: float
    error: float
    allocated: float
    waits: float


def read(path: Path) -> dict[tuple[str, ...], Cost]:
    """All results of a run, by class, method and parameters."""
    costs = {}
    for result in json.loads(path.read_text(encoding="utf-8")):
        name = tuple(result["benchmark"].split(".")[-2:])
        parameters = tuple(str(v) for _, v in sorted(result.get("params", {}).items()))
        secondary: dict[str, Any] = result["secondaryMetrics"]
        costs[name + parameters] = Cost(
            result["primaryMetric"]["score"],
            float(result["primaryMetric"]["scoreError"]),
            secondary.get("gc.alloc.rate.norm", secondary.get("·gc.alloc.rate.norm", {})).get(
                "score", 0
            ),
            secondary.get("waits", {}).get("score", 0),
        )
    return costs


def floor_of(job: tuple[str, ...]) -> tuple[str, ...]:
    """The floor that belongs to a job."""
    kind, _, *parameters = job
    return ("AppendFloorBench" if kind == "AppendBench" else kind, "floor", *parameters)


def main(path: Path, arrow: Path, looks: Path) -> None:
    """Prints both, what :mod:`arrow_bench` wrote, and how often lanes look at tables."""
    costs = read(path)
    lines = []
    for job, cost in costs.items():
        floor = costs.get(floor_of(job))
        if job[1] == "floor" or floor is None:
            continue
        lines.append(
            {
                "job": " ".join(job[1:]),
                "nanos": round(cost.nanos, 2),
                "floor_nanos": round(floor.nanos, 2),
                "times_floor": round(cost.nanos / floor.nanos, 2),
                "allocated_bytes": round(cost.allocated, 3),
                "waits": round(cost.waits),
            }
        )
    head = ("job", "nanos", "floor_nanos", "times_floor", "allocated_bytes", "waits")
    print(
        "".join(f"{name:>16}" if name != "job" else f"{name:<24}" for name in head), file=sys.stderr
    )
    for line in lines:
        cells = (f"{line[n]:>16}" if n != "job" else f"{line[n]:<24}" for n in head)
        print("".join(cells), file=sys.stderr)
    rows = json.loads(arrow.read_text(encoding="utf-8"))
    into = rows["into_database"]
    for what, kind, ratio in (
        ("to a server that only acknowledges", rows, rows["arrow_vs_released_rows"]),
        ("into a database here", into, rows["arrow_vs_released_rows_into_database"]),
    ):
        print(
            f"Arrow tables {what}: {kind['arrow_rows_per_second']:,} rows/s, the released client's rows "
            f"{kind['released_rows_per_second']:,} rows/s: {ratio} times "
            f"(processor time a row: {kind['cpu_ratio']} times)",
            file=sys.stderr,
        )
    print(f"bar: {rows['bar']} times to the server that only acknowledges", file=sys.stderr)
    per_second: dict[str, dict[str, float]] = json.loads(looks.read_text(encoding="utf-8"))[
        "looks_per_second"
    ]
    for load, rates in per_second.items():
        print(
            f"looks at tables, {load}: {rates['lanes_1']} queries a second by one lane, "
            f"{rates['lanes_64']} by 64: {rates['ratio']} times",
            file=sys.stderr,
        )
    print(
        json.dumps(
            {
                "results": lines,
                "jmh": str(path),
                "arrow_vs_released_rows": rows["arrow_vs_released_rows"],
                "arrow": rows,
                "looks_per_second": per_second,
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
