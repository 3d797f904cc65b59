"""Sessions: what is said where jar, plugin or handlers cannot be had, and what goes through Spark Connect."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.jars import of_another_version
from harness.server import ServerProcess
from harness.spark import LOG_FORMAT
from questdb_sf import __version__
from questdb_sf.spark import jar_path

pytestmark = pytest.mark.spark
REPOSITORY = Path(__file__).resolve().parents[1]


def ran(source: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python of its own, which has to end well."""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", source, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=850,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done


NO_PLUGIN = """
import sys, warnings
from pyspark.sql import SparkSession
from questdb_sf.spark import configure

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = configure(builder, plugin=False).getOrCreate()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    configure(SparkSession.builder, plugin=False)
    configure(SparkSession.Builder())
for warning in caught:
    print(warning.filename, warning.message)
"""


def test_configure_says_that_a_running_session_stays_without_the_plugin(
    tmp_path: Path,
) -> None:
    said = ran(NO_PLUGIN, folder=tmp_path).stdout.splitlines()
    assert len(said) == 1
    assert said[0].startswith("<string> a Spark session runs already, without spark.plugins=")


NO_JAR = """
from pyspark.sql import SparkSession
from questdb_sf.errors import QuestDBSfError
from questdb_sf.spark import configure, on_error

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
for attempt in (lambda: on_error(spark, print), lambda: configure(SparkSession.builder)):
    try:
        attempt()
    except QuestDBSfError as error:
        print(error)
spark.stop()
try:
    on_error(spark, print)
except QuestDBSfError as error:
    print(error)
"""


def test_a_session_without_the_jar_or_stopped_is_told_what_to_do(
    tmp_path: Path,
) -> None:
    done = ran(NO_JAR, folder=tmp_path).stdout.splitlines()
    assert done[0].startswith("JAR_MISSING: this Spark session has no jar of questdb-sf")
    assert done[1].startswith("SPARK_UNSUPPORTED: a JVM of Spark runs already in this process")
    assert "call configure() before the first session" in done[1]
    assert done[2].startswith("SPARK_UNSUPPORTED: on_error: this Spark session is stopped")


OTHER_JAR = """
import sys
from pyspark.sql import SparkSession
from questdb_sf.errors import QuestDBSfError
from questdb_sf.spark import SinkOptions, configure, on_error

old, new, address, log_settings = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.jars", f"{old},{new}")
    .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile=file:{log_settings}").getOrCreate()
)
builder = configure(SparkSession.Builder(), plugin=False)
print(builder._options)
options = SinkOptions(addr=address, table="other_jar", timestamp="ts", create_table=True)
frame = spark.sql("SELECT id, TIMESTAMP'2024-01-01' AS ts FROM range(3)")
frame.write.format("questdb-sf").options(**options.to_options()).mode("append").save()
for attempt in range(2):
    try:
        on_error(spark, print)
    except QuestDBSfError as error:
        print(error)
"""


def test_a_jar_of_another_version_writes_and_is_refused_by_python(
    server: ServerProcess, tmp_path: Path
) -> None:
    old = of_another_version(jar_path(), tmp_path / "old.jar", "0.0.9")
    log_settings = tmp_path / "log4j2.properties"
    log_settings.write_text(LOG_FORMAT.format(file=tmp_path / "spark.log"))
    jars = str(old), str(jar_path())
    done = ran(OTHER_JAR, *jars, server.addr, str(log_settings), folder=tmp_path)
    built, *refused = done.stdout.splitlines()
    assert built == "{}"  # no second jar
    words = (
        f"the Python package questdb-sf is {__version__}, but the jar is 0.0.9, loaded from {old}: "
    )
    assert len(refused) == 2
    for text in refused:
        assert text.startswith(f"VERSION_MISMATCH: {words}")
        assert "pip install 'questdb-sf==0.0.9'" in text
    assert f"UserWarning: {words}" in done.stderr
    # The sink itself needs no Python, and names both jars when it starts.
    assert server.await_count("other_jar", 3) == 3
    log = (tmp_path / "spark.log").read_text(encoding="utf-8")
    assert f"class path: [0.0.9 ({old}), {__version__} ({jar_path()})]" in log


CONNECT = """
import json, sys, time
from pyspark.sql import SparkSession
from questdb_sf.errors import QuestDBSfError
from questdb_sf.spark import SinkOptions, configure, counters, failure, history, on_error
from harness.spark import ROW, Feed, rows
from pathlib import Path

work, address = Path(sys.argv[1]), sys.argv[2]
spark = configure(SparkSession.builder.remote("local[2]")).getOrCreate()
told = {}
try:
    on_error(spark, print)
except QuestDBSfError as error:
    told["on_error"] = str(error)
source = Feed(work / "feed", ROW)
source.add(rows(0, 25))
options = SinkOptions(addr=address, table="connect", timestamp="ts", create_table=True)
with history(spark) as kept:
    query = (
        source.stream(spark).writeStream.format("questdb-sf").options(**options.to_options())
        .option("checkpointLocation", str(work / "cp")).start()
    )
    query.processAllAvailable()
    told["rows"] = counters(query).rows_written
    deadline = time.monotonic() + 60
    while not len(kept) and time.monotonic() < deadline:
        time.sleep(0.1)
    told["history"] = kept.rows()[0]["rows_written"]
query.stop()
source.add([{"id": -(2**63), "ts": "2024-01-01T00:00:00Z"}])
query = (
    source.stream(spark).writeStream.format("questdb-sf").options(**options.to_options())
    .option("checkpointLocation", str(work / "cp")).start()
)
try:
    query.awaitTermination(120)
except Exception as error:
    told["failure"] = str(failure(error))
print(json.dumps(told))
spark.stop()
"""


def test_connect_has_options_metrics_history_and_errors(
    server: ServerProcess, tmp_path: Path
) -> None:
    pytest.importorskip("grpc")
    started = time.monotonic()
    done = ran(CONNECT, str(tmp_path), server.addr, folder=REPOSITORY)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["on_error"].startswith(
        "SPARK_UNSUPPORTED: on_error does not work through Spark Connect"
    )
    assert "history(spark)" in told["on_error"]
    assert told["rows"] == told["history"] == 25
    assert told["failure"].startswith("VALUE_INVALID: ")
    assert time.monotonic() - started < 850
