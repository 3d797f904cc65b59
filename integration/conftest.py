"""What the scenarios share: one Spark, and a report that the last line of ``make integration`` is made from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPORT = Path(__file__).resolve().parents[1] / "build/integration.json"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Spark for all scenarios; its log is ``spark.log`` in its work directory."""
    from harness.spark import session

    running = session("integration", tmp_path_factory.mktemp("spark"), cores=4)
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
def report() -> Iterator[list[dict[str, Any]]]:
    """Counts of each scenario, for the table at the end."""
    results: list[dict[str, Any]] = []
    yield results
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(results), encoding="utf-8")
