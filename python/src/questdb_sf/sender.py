"""Rows and Arrow tables to QuestDB from this process, through the engine's store and forward; no Spark.

The engine runs in a Java virtual machine inside this process (JPype), which is started with the first sender. ::

    from questdb_sf.sender import Sender

    with Sender("ws::addr=localhost:9000;sf_dir=/var/lib/app/sf;sender_id=app") as sender:
        sender.write(table, table="trades", timestamp="time", symbols=["side"])
        sender.row("trades", symbols={"side": "buy"}, columns={"price": 3.5}, at=datetime.now(timezone.utc))
        sender.flush()

With ``sf_dir`` everything that :meth:`Sender.flush` returned for outlives this process, and is sent by the next sender
of the same ``sender_id``. Needs Java 17 and ``pip install 'questdb-sf[jpype,arrow]'``.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from questdb_sf._jvm import Jvm, jvm
from questdb_sf._rows import (
    SERVER_TIMESTAMP,
    Micros,
    Nanos,
    RowCells,
    Time,
    check_columns,
    check_table,
)
from questdb_sf._told import Counters, ErrorEvent, State, StateKind, counters_of, event_of, state_of
from questdb_sf.errors import ErrorCode, QuestDBSfError, UseError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "SERVER_TIMESTAMP",
    "Counters",
    "ErrorEvent",
    "ErrorHandler",
    "Micros",
    "Nanos",
    "Sender",
    "State",
    "StateKind",
]

LOG = logging.getLogger(__name__)

ErrorHandler = Callable[[ErrorEvent], None]


class Sender:
    """A sender, open from its construction to :meth:`close`; also a context manager.

    ``connect_string`` is ``ws::`` or ``wss::`` and the keys of the engine, ``key=value;`` each. ``on_error`` is called
    with an :class:`ErrorEvent` for each refusal, one at a time, on a thread of its own: it may be slow (what does not
    fit ``error_inbox_capacity`` meanwhile is dropped, oldest first, and counted), and what it raises is logged and
    counted. Without it errors go to the log.

    All methods may be called from any thread; writing calls wait for each other. Ctrl-C ends a call that waits.
    """

    def __init__(self, connect_string: str, *, on_error: ErrorHandler | None = None) -> None:
        self._jvm: Jvm = jvm()
        self._lock = threading.RLock()
        self._closed = False
        self._rows_gathered = False
        self._handler_failures = 0
        self._cells = RowCells(self._jvm)
        self._writer: Any = None
        self._sender: Any = self._jvm.call(lambda: self._open(connect_string, on_error))
        self._jvm.opened(self)

    def _open(self, connect_string: str, on_error: ErrorHandler | None) -> Any:
        config = self._jvm.sender_config.parse(connect_string)
        builder = self._jvm.sender.builder(config)
        if on_error is not None:
            builder.errorHandler(self._java_handler(on_error))
        return builder.build()

    def _java_handler(self, handler: ErrorHandler) -> Any:
        def on_error(error: Any) -> None:
            try:
                handler(event_of(error))
            except Exception:
                self._handler_failures += 1
                LOG.exception("the error handler raised an exception; error: %s", error.describe())

        return self._jvm.jpype.JProxy(
            "org.questdbsf.sender.SenderErrorHandler", dict={"onError": on_error}
        )

    # Writing.

    def row(
        self,
        table: str,
        *,
        symbols: Mapping[str, str | None] | None = None,
        columns: Mapping[str, Any] | None = None,
        at: Time,
    ) -> None:
        """Adds one row; it is sent with others, as the ``auto_flush`` keys say, or by :meth:`flush`.

        ``columns`` takes bool, int (LONG), float, str (VARCHAR), datetime, :class:`Micros`, :class:`Nanos`, date
        (TIMESTAMP at midnight), Decimal, bytes, UUID, IPv4Address, numpy arrays of floats, and None. A datetime without
        a zone is read as UTC. For many rows :meth:`write` is much faster.

        Raises :class:`~questdb_sf.errors.DataError` for a value that QuestDB cannot hold; nothing of the row stays.
        Whether the table takes the types of the columns unchanged is looked at before the row is sent: where it does
        not, nothing more is sent, and this or a later call raises ``TABLE_MISMATCH``.
        """
        with self._writing():
            check_table(table)
            check_columns(table, symbols or {}, columns or {})
            try:
                self._jvm.translated(
                    lambda: self._cells.fill(
                        self._sender.table(table), table, symbols or {}, columns or {}, at
                    )
                )
            except BaseException:
                self._sender.cancelRow()
                raise
            # Auto-flush is here: the row is kept whatever happens.
            self._rows_gathered = True

    def write(
        self,
        data: pa.Table | pa.RecordBatch | pd.DataFrame,
        *,
        table: str,
        timestamp: str | None,
        symbols: Collection[str] | Literal["auto"] = "auto",
        types: Mapping[str, str] | None = None,
        zero_for_null: Collection[str] = (),
    ) -> int:
        """Writes all rows of a table, column by column; returns how many.

        They are in the store when this returns, in frames of at most ``frame_rows`` rows and about ``frame_bytes``;
        :meth:`flush` makes sure of the disk, :meth:`drain` of the server.

        :param data: pyarrow Table or RecordBatch, pandas DataFrame (a named index becomes columns, an index of integers
            without a name is left out, any other must be named), or anything with ``__arrow_c_stream__``
        :param table: name of the table
        :param timestamp: column with the designated timestamp, without nulls; ``None`` lets the server give its own
        :param symbols: columns of texts that become SYMBOL; ``"auto"``: those that are dictionary-encoded
        :param types: QuestDB types of columns by name where it is not the usual one, such as
            ``{"id": "UUID", "flags": "SHORT", "day": "DATE"}``
        :param zero_for_null: columns of booleans or integers whose nulls become false or 0; QuestDB has no null in
            BOOLEAN, BYTE and SHORT, and without this a null there is an error

        Raises :class:`~questdb_sf.errors.DataError` for a type that QuestDB does not have (before anything is written)
        or a value that it cannot hold; ``rows_written`` of it says how many rows from the first one on were written
        nevertheless, so ``data.slice(error.rows_written)`` is the rest.
        """
        from questdb_sf import _arrow

        with self._writing():
            check_table(table)
            wishes = _arrow.Wishes(timestamp, symbols, types or {}, zero_for_null)
            whole = _arrow.as_table(data, table)
            plan = _arrow.TablePlan(self._jvm, table, whole.schema, wishes)
            if self._rows_gathered:
                # What was written before stays before.
                self.flush()
            if self._writer is None:
                self._writer = self._jvm.arrow_writer(self._sender)
            written = 0
            for batch in plan.batches(whole):
                written += self._write_batch(plan, batch, table, written)
            return written

    def _write_batch(self, plan: Any, batch: Any, table: str, before: int) -> int:
        target = self._jvm.translated(lambda: self._writer.batch(table, batch.num_rows, before))
        alive = plan.hand_over(batch, target)
        try:
            self._jvm.call(target.write)
        except QuestDBSfError as error:
            raise type(error)(
                error.code, error.message, before + int(target.published())
            ) from error
        finally:
            del alive
        return int(batch.num_rows)

    def flush(self) -> int:
        """Puts all rows into the store, on disk with ``sf_durability=flush``.

        Returns the number (FSN) of the newest frame, −1 when there is none.
        """
        with self._writing():
            newest = int(self._jvm.call(self._sender.flush))
            self._rows_gathered = False
            return newest

    def drain(self, timeout: float) -> bool:
        """Flushes and waits until everything is acknowledged or dropped; False after ``timeout`` seconds.

        With ``sf_dir`` frames whose rows do not fit the table, and rows that have become too large for a frame, are
        kept in ``sf_dir/.rejected``; they are in no table and not waited for: compare ``counters().rows_dropped``, or
        give an error handler. Without ``sf_dir``, or with ``on_server_error=halt``, nothing is dropped and this raises.
        """
        newest = self.flush()
        millis = max(0, math.ceil(timeout * 1_000))
        return bool(self._jvm.call(lambda: self._sender.awaitAcked(newest, millis)))

    # Looking.

    def counters(self) -> Counters:
        """What was done so far."""
        self._jvm.check_process()
        return counters_of(self._sender, self._handler_failures)

    @property
    def state(self) -> State:
        """How it does."""
        self._jvm.check_process()
        return state_of(self._sender.state())

    @property
    def name(self) -> str:
        """Name of the slot."""
        self._jvm.check_process()
        return str(self._sender.name())

    # The end.

    def close(self) -> None:
        """Sends what is left, waits for acknowledgements up to ``close_flush_timeout_millis``, and ends.

        Raises the error that ended the sender, if nobody was told of it. With ``sf_dir`` what is not acknowledged stays
        for the next sender of the same ``sender_id``. A second call does nothing, nor does one in a forked child: the
        sender is its parent's.
        """
        if self._jvm.is_parents:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._jvm.call(self._sender.close)

    def __enter__(self) -> Sender:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.close()
        except QuestDBSfError as second:
            # The first error is the one to be seen.
            LOG.warning("while the sender was closed after an error: %s", second)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        # First: in a forked child nobody would give the lock back that another thread held.
        self._jvm.check_process()
        with self._lock:
            if self._closed:
                raise UseError(ErrorCode.SENDER_CLOSED, "the sender is closed; open another one")
            yield
