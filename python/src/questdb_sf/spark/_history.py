"""The progress of all queries of the sink, kept for a look at it as a frame."""

from __future__ import annotations

import json
import threading
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any

from questdb_sf.errors import ErrorCode, SetupError
from questdb_sf.spark._counters import _NAMES
from questdb_sf.spark._events import moment
from questdb_sf.spark._session import context_of, is_connect

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import SparkSession


class History:
    """What :func:`history` keeps. Ends by :meth:`remove`, as a context manager, or with its Spark session."""

    def __init__(self, spark: SparkSession, batches: int) -> None:
        from pyspark.sql.streaming import StreamingQueryListener

        self._lock = threading.Lock()
        self._rows: deque[dict[str, Any]] = deque(maxlen=batches)
        keep = self._keep

        class Listener(StreamingQueryListener):  # type: ignore[misc]
            def onQueryStarted(self, event: Any) -> None:  # noqa: N802
                pass

            def onQueryProgress(self, event: Any) -> None:  # noqa: N802
                keep(json.loads(event.progress.json))

            def onQueryIdle(self, event: Any) -> None:  # noqa: N802
                pass

            def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
                pass

        self._listener: Any = Listener()
        self._streams = spark.streams
        self._streams.addListener(self._listener)

    def _keep(self, progress: dict[str, Any]) -> None:
        sink = progress.get("sink") or {}
        metrics = sink.get("metrics") or {}
        if not str(sink.get("description", "")).startswith("questdb-sf["):
            return
        row = {
            "at": moment(progress["timestamp"]),
            "query_id": progress["id"],
            "run_id": progress["runId"],
            "name": progress.get("name"),
            "batch": progress["batchId"],
            "input_rows": progress["numInputRows"],
            "input_rows_per_second": progress.get("inputRowsPerSecond"),
            "batch_millis": (progress.get("durationMs") or {}).get("triggerExecution"),
            **{name: int(metrics.get(name, 0)) for name in _NAMES},
            "health": metrics.get("health"),
            "commit_on": metrics.get("commit_on"),
        }
        with self._lock:
            self._rows.append(row)

    def rows(self) -> list[dict[str, Any]]:
        """One dict a finished micro-batch, oldest first."""
        with self._lock:
            return list(self._rows)

    def frame(self) -> pandas.DataFrame:
        """The same as a pandas frame; counters are those of the query's run up to then."""
        try:
            import pandas
        except ImportError as error:
            raise SetupError(
                ErrorCode.PACKAGE_MISSING,
                "pandas is needed for frame() and not installed: pip install pandas; rows() works without",
            ) from error
        return pandas.DataFrame(self.rows())

    def remove(self) -> None:
        """Keeps no more; what is kept stays. May be called twice.

        Through Spark Connect the last listener of a session must not be removed while an event is on its way: pyspark
        then waits for its own thread, which waits for a lock that it holds. So stop queries after this, not before.
        """
        if self._listener is not None:
            listener, self._listener = self._listener, None
            self._streams.removeListener(listener)

    def __len__(self) -> int:
        with self._lock:
            return len(self._rows)

    def __enter__(self) -> History:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def history(spark: SparkSession, *, batches: int = 10_000) -> History:
    """Keeps the progress of the last ``batches`` micro-batches of all queries of the sink in this session.

    Goes by a ``StreamingQueryListener``, so it works through Spark Connect as well.
    """
    if not is_connect(spark):
        context_of(spark, "history")
    return History(spark, batches)
