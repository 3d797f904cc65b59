"""What this package raises: one class a family, and stable codes, the same as on the JVM.

Every error is a :class:`QuestDBSfError` with ``code``. Messages say what went wrong, the value, where (table, column,
row, slot, segment, FSN) and what to do next, and never hold a secret.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar


class ErrorCode(str, Enum):
    """Stable codes. Those of the JVM's ``ErrorCode``, in its order, and three that only Python knows."""

    CONFIG_UNKNOWN_KEY = "CONFIG_UNKNOWN_KEY"
    CONFIG_INVALID_VALUE = "CONFIG_INVALID_VALUE"
    CONFIG_CONFLICT = "CONFIG_CONFLICT"
    CONFIG_MISSING = "CONFIG_MISSING"
    SECRET_UNRESOLVED = "SECRET_UNRESOLVED"

    NAME_INVALID = "NAME_INVALID"
    VALUE_INVALID = "VALUE_INVALID"
    TYPE_CONFLICT = "TYPE_CONFLICT"
    TYPE_UNSUPPORTED = "TYPE_UNSUPPORTED"
    FRAME_TOO_LARGE = "FRAME_TOO_LARGE"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    MESSAGE_MALFORMED = "MESSAGE_MALFORMED"
    SYMBOLS_EXHAUSTED = "SYMBOLS_EXHAUSTED"

    SLOT_LOCKED = "SLOT_LOCKED"
    SLOT_REFUSED = "SLOT_REFUSED"
    SLOT_NEWER_FORMAT = "SLOT_NEWER_FORMAT"
    SLOT_FILESYSTEM = "SLOT_FILESYSTEM"
    DISK_FULL = "DISK_FULL"
    DISK_FAILED = "DISK_FAILED"
    BACKPRESSURE_TIMEOUT = "BACKPRESSURE_TIMEOUT"

    CONNECT_FAILED = "CONNECT_FAILED"
    AUTH_FAILED = "AUTH_FAILED"
    DURABLE_ACK_UNAVAILABLE = "DURABLE_ACK_UNAVAILABLE"
    OUTAGE_BUDGET_EXHAUSTED = "OUTAGE_BUDGET_EXHAUSTED"
    SERVER_REJECTED = "SERVER_REJECTED"
    POISON_FRAME = "POISON_FRAME"
    PROTOCOL_VIOLATION = "PROTOCOL_VIOLATION"

    TABLE_MISSING = "TABLE_MISSING"
    TABLE_MISMATCH = "TABLE_MISMATCH"

    SENDER_CLOSED = "SENDER_CLOSED"
    INTERNAL_FAULT = "INTERNAL_FAULT"
    SPARK_UNSUPPORTED = "SPARK_UNSUPPORTED"
    VERSION_MISMATCH = "VERSION_MISMATCH"

    JAR_MISSING = "JAR_MISSING"
    JAVA_MISSING = "JAVA_MISSING"
    PACKAGE_MISSING = "PACKAGE_MISSING"

    def __str__(self) -> str:
        return self.value


class QuestDBSfError(Exception):
    """Any error of this package.

    ``code`` says which, for programs. ``rows_written`` is how many rows of a table that was being written are on their
    way nevertheless, from the first one on; it is ``None`` for errors of anything else.
    """

    codes: ClassVar[frozenset[ErrorCode]] = frozenset()

    def __init__(self, code: ErrorCode, message: str, rows_written: int | None = None) -> None:
        # All arguments go to the base class, so that the error can be pickled.
        super().__init__(code, message, rows_written)
        self.code = code
        self.message = message
        self.rows_written = rows_written

    def __str__(self) -> str:
        written = "" if self.rows_written is None else f" [{self.rows_written} rows were written]"
        return f"{self.code}: {self.message}{written}"


class ConfigError(QuestDBSfError):
    """A setting does not exist, is out of range, is missing, or excludes another one."""

    codes = frozenset(
        {
            ErrorCode.CONFIG_UNKNOWN_KEY,
            ErrorCode.CONFIG_INVALID_VALUE,
            ErrorCode.CONFIG_CONFLICT,
            ErrorCode.CONFIG_MISSING,
            ErrorCode.SECRET_UNRESOLVED,
        }
    )


class DataError(QuestDBSfError):
    """A name, a value or a type that QuestDB cannot hold, or too much of it."""

    codes = frozenset(
        {
            ErrorCode.NAME_INVALID,
            ErrorCode.VALUE_INVALID,
            ErrorCode.TYPE_CONFLICT,
            ErrorCode.TYPE_UNSUPPORTED,
            ErrorCode.FRAME_TOO_LARGE,
            ErrorCode.LIMIT_EXCEEDED,
            ErrorCode.MESSAGE_MALFORMED,
            ErrorCode.SYMBOLS_EXHAUSTED,
        }
    )


class StorageError(QuestDBSfError):
    """The slot cannot be used, the disk failed, or the store stayed full for too long."""

    codes = frozenset(
        {
            ErrorCode.SLOT_LOCKED,
            ErrorCode.SLOT_REFUSED,
            ErrorCode.SLOT_NEWER_FORMAT,
            ErrorCode.SLOT_FILESYSTEM,
            ErrorCode.DISK_FULL,
            ErrorCode.DISK_FAILED,
            ErrorCode.BACKPRESSURE_TIMEOUT,
        }
    )


class DeliveryError(QuestDBSfError):
    """No server could be reached, or it refused what was sent."""

    codes = frozenset(
        {
            ErrorCode.CONNECT_FAILED,
            ErrorCode.AUTH_FAILED,
            ErrorCode.DURABLE_ACK_UNAVAILABLE,
            ErrorCode.OUTAGE_BUDGET_EXHAUSTED,
            ErrorCode.SERVER_REJECTED,
            ErrorCode.POISON_FRAME,
            ErrorCode.PROTOCOL_VIOLATION,
        }
    )


class TableError(QuestDBSfError):
    """The table is not there, or does not fit."""

    codes = frozenset({ErrorCode.TABLE_MISSING, ErrorCode.TABLE_MISMATCH})


class UseError(QuestDBSfError):
    """A use that cannot work, such as of a closed sender; or a fault of this library, which is to be reported."""

    codes = frozenset(
        {ErrorCode.SENDER_CLOSED, ErrorCode.INTERNAL_FAULT, ErrorCode.SPARK_UNSUPPORTED}
    )


class SetupError(QuestDBSfError):
    """Something is not installed, or in another version; the message says what to do."""

    codes = frozenset(
        {
            ErrorCode.VERSION_MISMATCH,
            ErrorCode.JAR_MISSING,
            ErrorCode.JAVA_MISSING,
            ErrorCode.PACKAGE_MISSING,
        }
    )


_FAMILIES = (ConfigError, DataError, StorageError, DeliveryError, TableError, UseError, SetupError)


def error_of(
    code: ErrorCode | str, message: str, rows_written: int | None = None
) -> QuestDBSfError:
    """The error of the class that a code belongs to. A code that is not known here is an INTERNAL_FAULT."""
    try:
        known = ErrorCode(code)
    except ValueError:
        known, message = ErrorCode.INTERNAL_FAULT, f"{code}: {message}"
    # The JVM's messages begin with the code.
    message = message.removeprefix(f"{known}: ")
    family = next(f for f in _FAMILIES if known in f.codes)
    return family(known, message, rows_written)
