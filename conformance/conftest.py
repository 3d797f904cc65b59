"""The server under test: the one at ``SERVER_ADDR`` (127.0.0.1:PORT), otherwise the test server."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from harness.server import QuestDb, ServerProcess


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuestDb]:
    """One server for all tests; use table names of your own."""
    running = QuestDb()
    if address := os.environ.get("SERVER_ADDR"):
        running.port = int(address.rpartition(":")[2])
        yield running
        return
    with ServerProcess(tmp_path_factory.mktemp("server") / "root") as process:
        yield process
