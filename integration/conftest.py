"""What the scenarios share: one Spark, and a report that the table of ``make integration`` is made from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPORT = Path(
    os.environ.get("QUESTDB_SF_REPORT")
    or Path(__file__).resolve().parents[1] / "build/integration.json"
)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Spark for all scenarios; its log is ``spark.log`` in its work directory."""
    from harness.spark import session

    running = session(
        "integration",
        tmp_path_factory.mktemp("spark"),
        cores=4,
        settings={
            # Two tasks a micro-batch, although its file is small.
            "spark.sql.files.minPartitionNum": "2",
            "spark.sql.files.openCostInBytes": "1",
            # The sink's counters come with progress, also where no rows come any more.
            "spark.sql.streaming.noDataProgressEventInterval": "1s",
        },
    )
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def no_query_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stops what a failed scenario left running."""
    yield
    if "spark" in request.fixturenames:
        for query in request.getfixturevalue("spark").streams.active:
            query.stop()


@pytest.fixture(scope="session")
def report() -> list[dict[str, Any]]:
    """One line a scenario that was begun."""
    return []


@pytest.fixture
def line(
    request: pytest.FixtureRequest, report: list[dict[str, Any]], commit_on: str
) -> Iterator[dict[str, Any]]:
    """The line of this scenario, for its counts; the file is written after each."""
    fault = request.node.callspec.params.get("fault")
    name = fault.__name__ if fault else request.node.originalname.removeprefix("test_")
    counts: dict[str, Any] = {"scenario": name, "commit_on": commit_on}
    report.append(counts)
    yield counts
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1), encoding="utf-8")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Whether it passed, into its line."""
    outcome = yield
    result = outcome.get_result()  # type: ignore[attr-defined]
    counts = getattr(item, "funcargs", {}).get("line")
    if result.when == "call" and counts is not None:
        counts["passed"] = result.passed
        counts["seconds"] = round(result.duration, 1)
