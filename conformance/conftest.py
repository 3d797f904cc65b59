"""The server under test; see :mod:`harness.servers`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness import servers
from harness.server import ServerProcess


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all tests; use table names of your own."""
    with servers.new_server(tmp_path_factory.mktemp("server") / "root") as running:
        yield running
