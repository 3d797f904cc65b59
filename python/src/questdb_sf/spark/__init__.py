"""The sink for PySpark users: the jar on the session, typed options, errors, counters and history.

Imports the standard library only, pyspark where it is used, and starts no JVM. ::

    from pyspark.sql import SparkSession
    from questdb_sf.spark import SinkOptions, configure, on_error

    spark = configure(SparkSession.builder).getOrCreate()
    on_error(spark, print)
    options = SinkOptions(addr="localhost:9000", table="trips", timestamp="ts", symbols=["city"])
    stream.writeStream.format("questdb-sf").options(**options.to_options())...
"""

from questdb_sf.spark._counters import Counters, ExecutorCounters, counters, watch
from questdb_sf.spark._events import Registration, SinkError, SinkEvent, on_error, on_event
from questdb_sf.spark._history import History, history
from questdb_sf.spark._options import SinkOptions
from questdb_sf.spark._session import FORMAT, PLUGIN, configure, failure, jar_path

__all__ = [
    "FORMAT",
    "PLUGIN",
    "Counters",
    "ExecutorCounters",
    "History",
    "Registration",
    "SinkError",
    "SinkEvent",
    "SinkOptions",
    "configure",
    "counters",
    "failure",
    "history",
    "jar_path",
    "on_error",
    "on_event",
    "watch",
]
