"""What tests of all directories share, a plugin of pytest. Servers are processes on ports and roots of their own; see
:mod:`harness.servers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness import servers
from harness.server import ServerProcess

APPLICABLE = {
    "scripted": {"testserver"},
    "full_disk": {"testserver"},
    "real": {"source", "image"},
}
"""Servers that tests with a marker are for."""
NEEDS_SERVER = {"server", "new_server", "applications"}
"""Fixtures that start one."""

if TYPE_CHECKING:
    from harness.driver import Driver
    from harness.spark import Feed

NewServer = Callable[..., ServerProcess]

SHORT_LIVED_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For Spark and servers, which live for seconds here: half of their time went into the compiler for long runs."""


def pytest_configure() -> None:
    """Java programs that tests start take their options from the environment; a JVM within Python does not."""
    os.environ.setdefault("JDK_JAVA_OPTIONS", SHORT_LIVED_JVM)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs a server, and leaves out what the one at hand cannot do."""
    for item in items:
        if NEEDS_SERVER.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.on_server)
        for name, kinds in APPLICABLE.items():
            if item.get_closest_marker(name) and servers.kind() not in kinds:
                reason = f"not applicable: {name}, and the server is {servers.kind()}"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A healthy server for all tests that need no other: use table names of your own, and leave its script alone."""
    with servers.new_server(tmp_path_factory.mktemp("server") / "root") as running:
        yield running


@pytest.fixture
def new_server(tmp_path: Path) -> Iterator[NewServer]:
    """Servers of the test's own that are not started yet."""
    with ExitStack() as stack:

        def make(
            *arguments: str,
            root: Path | None = None,
            port: int | None = None,
            environment: Mapping[str, str] | None = None,
        ) -> ServerProcess:
            server = servers.new_server(
                root or tmp_path / "root", *arguments, port=port, environment=environment
            )
            stack.callback(server.stop)
            return server

        yield make


@pytest.fixture
def start_server(new_server: NewServer) -> NewServer:
    """Servers of the test's own, to be scripted, killed and started again: ``start_server("--token", "t")``."""

    def start(*arguments: str, **where: Any) -> ServerProcess:
        return new_server(*arguments, **where).start()

    return start


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Spark for all tests that need no JVM of their own. ``spark_log`` is what it logs."""
    pytest.importorskip("pyspark")
    from harness.spark import session

    work = tmp_path_factory.mktemp("spark")
    running = session("tests", work)
    running.work = work
    yield running
    running.stop()


@pytest.fixture
def spark_log(spark: Any) -> Callable[[], str]:
    """What the sink and Spark logged since the test began."""
    path: Path = spark.work / "spark.log"
    begin = path.stat().st_size

    def since() -> str:
        with path.open(encoding="utf-8", errors="replace") as log:
            log.seek(begin)
            return log.read()

    return since


@pytest.fixture(autouse=True)
def no_query_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stops what a failed test left running, so that it cannot disturb the next."""
    yield
    if "spark" in request.fixturenames:
        running = request.getfixturevalue("spark")
        for query in running.streams.active:
            query.stop()


@pytest.fixture
def start_driver(tmp_path: Path) -> Iterator[Callable[[Feed], Driver]]:
    """Spark drivers of the test's own, to be killed; each reads a feed."""
    from harness.driver import Driver

    with ExitStack() as stack:

        def make(feed: Feed) -> Driver:
            return stack.enter_context(Driver(tmp_path / "driver", feed))

        yield make
