"""What tests share. Servers are processes on ports and roots of their own; see :mod:`harness.server`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.server import ServerProcess

StartServer = Callable[..., ServerProcess]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A healthy server for all tests that need no other: use table names of your own, and leave its script alone."""
    with ServerProcess(tmp_path_factory.mktemp("server") / "root") as running:
        yield running


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    """Starts servers of the test's own, to be scripted, killed and started again: ``start_server("--ports", "2")``."""
    with ExitStack() as stack:

        def start(*arguments: str, root: Path | None = None) -> ServerProcess:
            return stack.enter_context(ServerProcess(root or tmp_path / "root", *arguments))

        yield start
