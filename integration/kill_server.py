"""What a kill run does to the server besides killing it, and what it may ask of it.

The test server can be told to stay out of reach and to acknowledge late, and it says what it has not acknowledged. Any
other server is frozen instead, acknowledges as it likes, and says nothing.
"""

from __future__ import annotations

from typing import Protocol

from harness import servers
from harness.server import ServerProcess


class Reach(Protocol):
    """Whether the sink can reach the server, and what waits there."""

    def cut(self) -> None:
        """The server is out of reach from now on."""

    def heal(self) -> None:
        """It is within reach, as at the start of a run."""

    def rows_unacked(self) -> int | None:
        """Rows that it took and did not acknowledge on connections that are open; None where it does not say."""

    def rows_unacked_when_killed(self) -> int | None:
        """The same as of its last end."""


class _Scripted:
    def __init__(self, server: ServerProcess, ack_delay_millis: int) -> None:
        self._server = server
        self._ack_delay_millis = ack_delay_millis

    def cut(self) -> None:
        self._server.script(drop_after_messages=0, refuse_status=503)

    def heal(self) -> None:
        self._server.script(reset=True, ack_delay_millis=self._ack_delay_millis)

    def rows_unacked(self) -> int:
        return int(self._server.counters()["rows_unacked"])

    def rows_unacked_when_killed(self) -> int:
        return int(self._server.counters()["rows_unacked_at_last_stop"])


class _Frozen:
    def __init__(self, server: ServerProcess) -> None:
        self._server = server

    def cut(self) -> None:
        self._server.pause()

    def heal(self) -> None:
        self._server.resume()

    def rows_unacked(self) -> None:
        return None

    def rows_unacked_when_killed(self) -> None:
        return None


def reach(server: ServerProcess, ack_delay_millis: int) -> Reach:
    """For the server at hand; only the test server keeps to the delay."""
    return _Scripted(server, ack_delay_millis) if servers.scriptable() else _Frozen(server)
