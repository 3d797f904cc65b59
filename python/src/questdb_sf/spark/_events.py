"""Errors and events of the sink, from all executors, as calls of Python functions."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from questdb_sf.errors import ConfigError, ErrorCode
from questdb_sf.spark._session import connector, context_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EventKind = Literal["started", "error", "health", "table", "ended"]


@dataclass(frozen=True)
class SinkError:
    """A refusal by the server, the end of a connection for good, or a row that cannot be written.

    ``None`` stands for what is not known, such as rows of a frame that an earlier run left in a slot.
    """

    category: str
    """SCHEMA_MISMATCH, PARSE_ERROR, INTERNAL_ERROR, SECURITY_ERROR, WRITE_ERROR, NOT_WRITABLE, DICTIONARY_GAP, UNKNOWN,
    PROTOCOL_VIOLATION, TABLE_MISSING, OUTAGE or LOCAL_FAILURE; for a row that cannot be written the code, such as
    VALUE_INVALID.
    """
    policy: str
    """What was done: HALT, DROP, RETRY or RETRY_OTHER (at another host)."""
    status: int | None
    """Status byte of the server's answer."""
    message: str
    """The server's words, or the sink's."""
    table: str | None
    fsn_range: tuple[int, int] | None
    """First and last frame, by their number in the slot or lane."""
    row_range: tuple[int, int] | None
    """First and last row, counted from 1 in their task; see ``batch`` and ``partition``."""
    query_id: str
    batch: int | None
    """The micro-batch; ``None`` in a batch write."""
    partition: int | None
    executor: str
    """Spark's id of the executor, "driver" in local mode."""
    host: str
    slot: str | None
    """Directory of the slot, or the name of the lane in memory."""
    server: str | None
    """host:port."""
    at: datetime
    dead_letter: str | None
    """Where a dropped frame is kept."""


@dataclass(frozen=True)
class SinkEvent:
    """Something that happened to a query that writes through the sink."""

    kind: EventKind
    """``started`` (the message says what ``commit_on`` survives), ``error``, ``health`` (of an executor), ``table`` (an
    executor saw that one is suspended, or is no longer), ``ended`` (why, and what is still to be delivered).
    """
    at: datetime
    query_id: str
    executor: str | None
    host: str | None
    message: str
    """One line for people."""
    error: SinkError | None
    """For kind ``error``."""


class Registration:
    """A handler that is being called. Ends by :meth:`remove`, as a context manager, or with its Spark session."""

    def __init__(self, registered: Any) -> None:
        self._registered = registered
        self._last: dict[str, Any] = {}

    def remove(self) -> None:
        """No event is delivered any more. A call that is under way is not waited for. May be called twice."""
        if self._registered is None:
            return
        from py4j.protocol import Py4JError, Py4JNetworkError

        try:
            self._last = {name: self._read(name) for name in self._FIGURES}
            self._registered.remove()
        except (Py4JError, Py4JNetworkError, OSError):
            pass  # the JVM is gone, and the handler with it
        self._registered = None

    @property
    def active(self) -> bool:
        """Whether it was not removed."""
        return self._registered is not None

    @property
    def delivered(self) -> int:
        """Events that the handler was called with and returned from."""
        return int(self._read("delivered") or 0)

    @property
    def failed(self) -> int:
        """Events that the handler raised at."""
        return int(self._read("failed") or 0)

    @property
    def dropped(self) -> int:
        """Events that were lost, oldest first, because the handler's queue was full."""
        return int(self._read("dropped") or 0)

    @property
    def waiting(self) -> int:
        """Events in the handler's queue."""
        return int(self._read("waiting") or 0)

    @property
    def last_failure(self) -> str | None:
        """What the handler raised last, as text."""
        text = self._read("lastFailure")
        return None if text is None else str(text)

    def __enter__(self) -> Registration:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={self._read(name)}" for name in self._FIGURES[:4])
        return f"<Registration {'active' if self.active else 'removed'}, {figures}>"

    _FIGURES: ClassVar[tuple[str, ...]] = (
        "delivered",
        "failed",
        "dropped",
        "waiting",
        "lastFailure",
    )

    def _read(self, name: str) -> Any:
        if self._registered is None:
            return self._last.get(name)
        return getattr(self._registered, name)()


def on_error(
    spark: SparkSession, handler: Callable[[SinkError], object], *, queue: int = 256
) -> Registration:
    """Calls a function for each error of the sink in this application, from all executors.

    With the plugin (:func:`configure` puts it on) and in local mode the call comes at once. Without, an executor's
    errors come with its next finished task; what ended a query is then in the query's exception only.

    The function is called from a thread of this package, one event at a time, with a :class:`SinkError`. It may be slow
    (``queue`` events wait, then the oldest is dropped and counted), raise (counted and logged), and use Spark; queries
    never wait for it. Several functions may be registered. Spark calls back on a port that other processes of this
    machine can reach; only calls with the token of this registration get to the function.
    """
    return _register(spark, "on_error", lambda event: handler(_error(event["error"])), True, queue)


def on_event(
    spark: SparkSession, handler: Callable[[SinkEvent], object], *, queue: int = 256
) -> Registration:
    """As :func:`on_error`, for all events: queries that start and end, changes of health, and errors."""
    return _register(spark, "on_event", lambda event: handler(_event(event)), False, queue)


class _Callback:
    """What the JVM calls; one crossing brings the whole event."""

    def __init__(self, handler: Callable[[dict[str, Any]], object]) -> None:
        self._handler = handler
        self.token = secrets.token_hex(32)
        """Py4J has a token for its port, but its client of Spark's forgets it when the port is set."""

    def onEvent(self, token: str, text: str) -> None:  # noqa: N802 (the name of the Java method)
        """Called for each event."""
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise PermissionError(
                "questdb-sf: an event that does not come from this application's JVM"
            )
        self._handler(json.loads(text))

    class Java:
        """What Py4J looks at."""

        implements: ClassVar[list[str]] = ["org.questdbsf.spark.SfTextHandler"]


def _register(
    spark: SparkSession,
    function: str,
    handler: Callable[[dict[str, Any]], object],
    errors_only: bool,
    queue: int,
) -> Registration:
    if queue < 1:
        raise ConfigError(
            ErrorCode.CONFIG_INVALID_VALUE,
            f"{function}: a queue of {queue} events is too short; give at least 1",
        )
    context = context_of(spark, function)
    handlers = connector(context, "SfHandlers")
    from pyspark.java_gateway import ensure_callback_server_started

    # Shared with pyspark's own listeners, on a port that the system picks. It must never be shut down: Py4J hangs.
    ensure_callback_server_started(context._gateway)
    callback = _Callback(handler)
    return Registration(handlers.addText(callback, callback.token, errors_only, queue))


def _error(raw: dict[str, Any]) -> SinkError:
    return SinkError(
        category=raw["category"],
        policy=raw["policy"],
        status=_known(raw["status"]),
        message=raw["message"],
        table=raw["table"],
        fsn_range=None if raw["from_fsn"] < 0 else (raw["from_fsn"], raw["to_fsn"]),
        row_range=None if raw["from_row"] < 1 else (raw["from_row"], raw["to_row"]),
        query_id=raw["query_id"],
        batch=_known(raw["batch"]),
        partition=_known(raw["partition"]),
        executor=raw["executor"],
        host=raw["host"],
        slot=raw["slot"],
        server=raw["server"],
        at=moment(raw["at"]),
        dead_letter=raw["dead_letter"],
    )


def _event(raw: dict[str, Any]) -> SinkEvent:
    return SinkEvent(
        kind=raw["kind"],
        at=moment(raw["at"]),
        query_id=raw["query_id"],
        executor=raw["executor"],
        host=raw["host"],
        message=raw["message"],
        error=_error(raw["error"]) if raw.get("error") else None,
    )


def _known(number: int) -> int | None:
    return None if number < 0 else number


def moment(text: str) -> datetime:
    """A Java instant or a timestamp of Spark's progress; Python 3.10 reads neither Z nor other than 3 or 6 digits."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return datetime.fromisoformat(f"{whole}.{fraction[:6]:0<6}+00:00")
