"""Which QuestDB everything here runs against: ``SERVER`` in the environment says it.

``testserver``, the default, is the project's own; ``source`` is what ``make questdb`` built from QuestDB's source;
``image`` is a container of the image that ``QUESTDB_IMAGE`` names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.server import ServerProcess
from harness.source import ImageServer, SourceServer
from harness.testserver import TestServer

_KINDS: dict[str, type[ServerProcess]] = {
    "testserver": TestServer,
    "source": SourceServer,
    "image": ImageServer,
}


def kind() -> str:
    """The name of the server that was chosen."""
    named = os.environ.get("SERVER") or "testserver"
    if named not in _KINDS:
        raise ValueError(f"SERVER={named}: it is one of {', '.join(_KINDS)}")
    return named


def scriptable() -> bool:
    """Whether it can be told how to behave, and says what it counted."""
    return kind() == "testserver"


def new_server(
    root: Path,
    *arguments: str,
    port: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> ServerProcess:
    """A server that is not started yet; see :class:`harness.server.ServerProcess`."""
    return _KINDS[kind()](root, *arguments, port=port, environment=environment)
