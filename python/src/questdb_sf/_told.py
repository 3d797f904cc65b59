"""What a sender tells of itself: counters, its state, and refusals; and how each is read from the engine's objects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class StateKind(str, Enum):
    """How a sender does, from best to worst."""

    OK = "OK"
    BACKPRESSURE = "BACKPRESSURE"
    UNANSWERED = "UNANSWERED"
    """Connected; frames were sent, and none has been acknowledged for 5 seconds or more."""
    REJECTING = "REJECTING"
    RECONNECTING = "RECONNECTING"
    FAILED = "FAILED"


@dataclass(frozen=True)
class State:
    """How a sender does at one moment."""

    kind: StateKind
    since: datetime
    cause: str | None
    """What happened last that was not right."""
    host: str | None
    """host:port of the server connected, or tried last."""
    attempts: int
    """Attempts to connect since the connection was lost."""


@dataclass(frozen=True)
class Counters:
    """What a sender did so far, and what it holds; taken at one moment, but for a row or a frame."""

    rows_written: int
    bytes_written: int
    frames_written: int
    frames_sent: int
    frames_acked: int
    frames_replayed: int
    acks_rejected: int
    """Acknowledgements that did not account for their rows; the frames were sent again."""
    frames_dropped: int
    frames_missing: int
    """Frames that its slot lacked when it was opened; nobody knows whether they arrived."""
    rows_dropped: int
    reconnect_attempts: int
    reconnects_succeeded: int
    server_errors: int
    error_notifications_dropped: int
    error_notifications_delivered: int
    ack_latency_p50_millis: int
    ack_latency_p99_millis: int
    ack_latency_max_millis: int
    backpressure_stalls: int
    """How often a call had to wait for room."""
    bytes_used: int
    """Bytes of the store in use."""
    oldest_unacked_millis: int
    published_fsn: int
    """Number of the newest frame, −1 when there is none."""
    acked_fsn: int
    """The highest number acknowledged, −1 when there is none."""
    handler_failures: int
    """How often the error handler raised an exception."""

    @property
    def unacked_frames(self) -> int:
        """Frames that the server has not acknowledged."""
        return self.published_fsn - self.acked_fsn


@dataclass(frozen=True)
class ErrorEvent:
    """One refusal by the server, or the end of a sender."""

    category: str
    """SCHEMA_MISMATCH, PARSE_ERROR, WRITE_ERROR, SECURITY_ERROR, INTERNAL_ERROR, …"""
    policy: str
    """What was done about it: HALT, DROP, RETRY, RETRY_OTHER."""
    status: int
    """Status byte of the server, −1 where the error was made here."""
    message_sequence: int
    from_fsn: int
    to_fsn: int
    """First and last frame it is about; ``to_fsn`` is lower where it is about none."""
    table: str | None
    rows: int
    """Rows in the refused frame, 0 where that is not known."""
    message: str
    endpoint: str | None
    at: datetime
    dead_letter: str | None
    """Where the dropped frame was kept."""


def counters_of(sender: Any, handler_failures: int) -> Counters:
    """Of a sender of the engine."""
    snapshot = sender.counters().snapshot()
    done = {str(entry.getKey()): int(entry.getValue()) for entry in snapshot.entrySet()}
    return Counters(
        **done,
        backpressure_stalls=int(sender.backpressureStalls()),
        bytes_used=int(sender.bytesUsed()),
        oldest_unacked_millis=int(sender.oldestUnackedMillis()),
        published_fsn=int(sender.publishedFsn()),
        acked_fsn=int(sender.ackedFsn()),
        handler_failures=handler_failures,
    )


def state_of(now: Any) -> State:
    """Of a state of the engine."""
    return State(
        StateKind(str(now.kind().name())),
        _datetime(now.since()),
        _text(now.cause()),
        _text(now.host()),
        int(now.attempts()),
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _datetime(instant: Any) -> datetime:
    micros = int(instant.getNano()) // 1_000
    return _EPOCH + timedelta(seconds=int(instant.getEpochSecond()), microseconds=micros)


def event_of(error: Any) -> ErrorEvent:
    """Of an error of the engine."""
    return ErrorEvent(
        category=str(error.category().name()),
        policy=str(error.policy().name()),
        status=int(error.status()),
        message_sequence=int(error.messageSequence()),
        from_fsn=int(error.fromFsn()),
        to_fsn=int(error.toFsn()),
        table=_text(error.table()),
        rows=int(error.rows()),
        message=str(error.message()),
        endpoint=_text(error.endpoint()),
        at=_datetime(error.at()),
        dead_letter=_text(error.deadLetter()),
    )
