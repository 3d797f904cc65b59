"""Counters and gauges of a query, typed; as a table for terminals and notebooks."""

from __future__ import annotations

import html
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from questdb_sf.errors import ErrorCode, UseError
from questdb_sf.spark._fields import MetricFields
from questdb_sf.spark._options import tables
from questdb_sf.spark._session import connector, is_connect

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

_NAMES = tuple(item.name for item in fields(MetricFields))
_MAX_COLUMNS = 8
_HEALTH_WIDTH = 60


@dataclass(frozen=True, kw_only=True)
class ExecutorCounters(MetricFields):
    """What one executor counted. ``undelivered_rows`` is known by slot only, see :class:`Counters`."""

    host: str = ""
    health: str = "ok"


@dataclass(frozen=True, kw_only=True)
class Counters(MetricFields):
    """Counters and gauges of one query at one moment; totals, and by executor in ``executors``.

    Printed, or as the last line of a notebook's cell, it is a table.
    """

    health: str = "ok"
    """``ok``, or what the executor that does worst says."""
    commit_on: str | None = None
    executors: Mapping[str, ExecutorCounters] = field(default_factory=dict)
    """By Spark's id; empty where only the query's progress is to be had (Spark Connect)."""
    undelivered_rows_by_slot: Mapping[str, int] = field(default_factory=dict)
    """Committed rows that are not known to be acknowledged, by host and slot."""
    at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))

    def __str__(self) -> str:
        return render(self)

    def _repr_html_(self) -> str:
        return render_html(self)


def counters(query: StreamingQuery) -> Counters:
    """What a query counted so far: total, and by executor.

    In local mode it is of this moment; with the plugin a few seconds old; without it as of the last finished tasks.
    Through Spark Connect it is the total in the query's last progress.
    """
    if is_connect(query):
        return _of_progress(query)
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None:
        raise UseError(
            ErrorCode.SPARK_UNSUPPORTED,
            "counters: the Spark session of this query is stopped; while it runs, history(spark) keeps the counters "
            "of each micro-batch",
        )
    text = connector(context, "SfQueries").counters(str(query.id))
    return _of_progress(query) if text is None else of_json(json.loads(text))


def of_json(raw: dict[str, Any]) -> Counters:
    """From what the JVM writes."""
    executors = {
        name: ExecutorCounters(
            host=one["host"], health=one["health"], **{key: one.get(key, 0) for key in _NAMES}
        )
        for name, one in raw["executors"].items()
    }
    total: dict[str, Any] = {key: raw["total"].get(key, 0) for key in _NAMES}
    return Counters(
        **total,
        health=raw["health"],
        commit_on=raw["commit_on"],
        executors=executors,
        undelivered_rows_by_slot=raw["undelivered_rows_by_slot"],
    )


def progress_of(query: StreamingQuery) -> dict[str, Any] | None:
    """The last progress as a dict, whatever this version of pyspark makes of it."""
    progress = query.lastProgress
    if progress is None or isinstance(progress, dict):
        return progress
    return dict(json.loads(progress.json))


def _of_progress(query: StreamingQuery) -> Counters:
    progress = progress_of(query)
    if progress is None:
        return Counters()
    sink = progress.get("sink") or {}
    metrics = sink.get("metrics") or {}
    if not metrics:
        raise UseError(
            ErrorCode.SPARK_UNSUPPORTED,
            f"query {query.id} does not write through questdb-sf but to {sink.get('description')}; it has no counters",
        )
    total: dict[str, Any] = {key: int(metrics.get(key, 0)) for key in _NAMES}
    return Counters(
        **total,
        health=metrics.get("health", "ok"),
        commit_on=metrics.get("commit_on"),
    )


def watch(
    query: StreamingQuery,
    *,
    every: float = 1.0,
    seconds: float | None = None,
    file: TextIO | None = None,
) -> Counters:
    """Shows the counters of a query as a live table, in a terminal or a notebook, and returns the last ones.

    Goes on until the query ends, for ``seconds`` at most; Ctrl-C (in a notebook: interrupt) ends it as well, the query
    goes on. ``file`` is where a terminal's table goes, by default standard output; where that is no terminal each table
    is printed below the last.
    """
    show = _Notebook() if file is None and _in_notebook() else _Terminal(file or sys.stdout)
    deadline = None if seconds is None else time.monotonic() + seconds
    before: Counters | None = None
    now = counters(query)
    try:
        while True:
            show(now, before)
            left = every if deadline is None else min(every, deadline - time.monotonic())
            if left <= 0 or query.awaitTermination(left):
                break
            before, now = now, counters(query)
    except KeyboardInterrupt:
        pass
    now = counters(query)
    show(now, before)
    return now


class _Terminal:
    """Draws over what it drew before."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lines = 0

    def __call__(self, now: Counters, before: Counters | None) -> None:
        text = render(now, before)
        up = f"\x1b[{self._lines}A\x1b[J" if self._lines and self._file.isatty() else ""
        self._file.write(f"{up}{text}\n")
        self._file.flush()
        self._lines = text.count("\n") + 1


class _Notebook:
    """Updates one output cell."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML(""), display_id=True)

    def __call__(self, now: Counters, before: Counters | None) -> None:
        self._handle.update(self._html(render_html(now, before)))


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def render(now: Counters, before: Counters | None = None) -> str:
    """The table as text. With an earlier snapshot counters have a rate."""
    head, rows = _cells(now, before)
    table = [head, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    return "\n".join([_title(now), *lines])


def render_html(now: Counters, before: Counters | None = None) -> str:
    """The table as HTML; every text in it is escaped."""
    head, rows = _cells(now, before)
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{html.escape(_title(now))}</caption>"
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


def _title(now: Counters) -> str:
    commit = f", commit_on={now.commit_on}" if now.commit_on else ""
    health = now.health if len(now.health) <= _HEALTH_WIDTH else now.health[:_HEALTH_WIDTH] + "…"
    return f"questdb-sf {now.at:%H:%M:%S} UTC{commit}, health: {health}"


def _cells(now: Counters, before: Counters | None) -> tuple[list[str], list[list[str]]]:
    shown = dict(list(now.executors.items())[:_MAX_COLUMNS]) if len(now.executors) > 1 else {}
    head = ["metric", "total", "per second", *(f"executor {name}" for name in shown)]
    passed = (now.at - before.at).total_seconds() if before else 0.0
    rows = []
    for name in _NAMES:
        value = getattr(now, name)
        rate = ""
        if before and passed > 0 and name in _rated():
            rate = f"{(value - getattr(before, name)) / passed:,.0f}"
        each = [
            "" if name == "undelivered_rows" else f"{getattr(one, name):,}"
            for one in shown.values()
        ]
        rows.append([name, f"{value:,}", rate, *each])
    return head, rows


@cache
def _rated() -> frozenset[str]:
    return frozenset(one["key"] for one in tables()["metrics"] if one["kind"] == "COUNTER")
