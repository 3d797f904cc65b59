"""The session: how the jar and the plugin get on it, and how the JVM behind it is reached."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from questdb_sf import __version__
from questdb_sf._version import mismatch
from questdb_sf.errors import ErrorCode, QuestDBSfError, SetupError, UseError, error_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "questdb-sf"
"""The name for ``format(...)``."""

PLUGIN = "org.questdbsf.spark.SfPlugin"
"""What :func:`configure` adds to ``spark.plugins``."""

_COORDINATES = "org.questdbsf:questdb-sf-bundle"
_SPARK = ((3, 5), (5, 0))
_SPARK_WORDS = "3.5 to 4.3"
_LEAST_JAVA = 17
_ADVICE = (
    f"leave the session one jar of {__version__}, by configure(SparkSession.builder) or --packages "
    f"{_COORDINATES}:{__version__}, and take that one away (look into $SPARK_HOME/jars, spark.jars and "
    "spark.jars.packages)"
)
_CODE = re.compile(r"\b(" + "|".join(code.value for code in ErrorCode) + r"): ([^\n]*)")


def jar_path() -> Path:
    """The connector's jar of this very version, one jar for Spark 3.5 to 4.3.

    Raises :class:`~questdb_sf.errors.SetupError` (``JAR_MISSING``) where the package was installed from a source tree
    in which none was built.
    """
    jar = Path(__file__).parents[1] / "jars" / f"questdb-sf-bundle-{__version__}.jar"
    if not jar.is_file():
        raise SetupError(
            ErrorCode.JAR_MISSING,
            f"cannot find {jar}; install the wheel (pip install 'questdb-sf[spark]'), run `make build` in the source "
            'tree, or use configure(builder, jar="packages")',
        )
    return jar


def configure(
    builder: SparkSession.Builder,
    *,
    jar: Literal["wheel", "packages"] = "wheel",
    plugin: bool = True,
) -> SparkSession.Builder:
    """Puts the sink on a session that is still to be built and returns the builder.

    ``jar="wheel"`` adds the jar in this package to ``spark.jars``; ``jar="packages"`` adds the Maven coordinates of the
    same version to ``spark.jars.packages``, which the cluster downloads. ``plugin`` adds the sink's plugin to
    ``spark.plugins``: executors then tell of errors at once and of counters every few seconds, and the counters are in
    Spark's metrics system. What was set before stays. Call it before ``getOrCreate()``: a running session loads neither
    jars nor plugins; where one runs and lacks them, or has the jar of another version, this warns or raises.
    """
    if jar not in ("wheel", "packages"):
        raise UseError(
            ErrorCode.CONFIG_INVALID_VALUE, f'jar={jar!r} is not known; give "wheel" or "packages"'
        )
    _check_spark()
    remote = _option(builder, "spark.remote") or os.environ.get("SPARK_REMOTE", "")
    if remote.startswith("sc://"):
        raise UseError(
            ErrorCode.SPARK_UNSUPPORTED,
            f"configure() cannot put a jar on the Spark Connect server {remote}: start the server with "
            f"--packages {_COORDINATES}:{__version__} --conf spark.plugins={PLUGIN}. Options, progress metrics and "
            "history() then work from here without configure()",
        )
    if remote or _check_jvm(plugin):
        if jar == "wheel":
            _append(builder, "spark.jars", str(jar_path()))
        else:
            _append(builder, "spark.jars.packages", f"{_COORDINATES}:{__version__}")
    if plugin and not remote:  # pyspark itself overwrites it where it starts the Connect server
        _append(builder, "spark.plugins", PLUGIN)
    return builder


def _append(builder: SparkSession.Builder, key: str, entry: str) -> None:
    present = [part.strip() for part in _option(builder, key).split(",") if part.strip()]
    if entry not in present:
        present.append(entry)
    builder.config(key, ",".join(present))


def _option(builder: SparkSession.Builder, key: str) -> str:
    """What the builder says; under spark-submit, where it says nothing, what was submitted."""
    said = getattr(builder, "_options", {}).get(key)
    if said is None and "PYSPARK_GATEWAY_PORT" in os.environ and key != "spark.remote":
        from pyspark import SparkConf, SparkContext

        SparkContext._ensure_initialized()
        said = SparkConf().get(key)
    return str(said or "")


def _check_spark() -> None:
    try:
        import pyspark
    except ImportError as error:
        raise SetupError(
            ErrorCode.PACKAGE_MISSING,
            "pyspark is not installed: pip install 'questdb-sf[spark]'",
        ) from error
    numbers = re.match(r"(\d+)\.(\d+)", pyspark.__version__)
    found = tuple(int(part) for part in numbers.groups()) if numbers else (0, 0)
    if not _SPARK[0] <= found < _SPARK[1]:
        raise UseError(
            ErrorCode.SPARK_UNSUPPORTED,
            f"pyspark {pyspark.__version__} is installed; this sink works with {_SPARK_WORDS}: "
            "pip install 'pyspark>=3.5.9,<5'",
        )


def _check_jvm(plugin: bool) -> bool:
    """A JVM that runs already must have the jar; else there must be a Java to start.

    False where it has the jar of another version: executors would load that, or ours beside it.
    """
    from pyspark import SparkContext

    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        _check_java()
        return True
    SparkContext._ensure_initialized()
    if _java_class(SparkContext._jvm, "sender.LibraryJar") is None:
        raise UseError(
            ErrorCode.SPARK_UNSUPPORTED,
            "a JVM of Spark runs already in this process, without the sink's jar, and cannot load it any more: call "
            "configure() before the first session of the process, or restart Python (a notebook's kernel); under "
            f"spark-submit give --jars, or --packages {_COORDINATES}:{__version__}",
        )
    running = SparkContext._active_spark_context
    if plugin and running is not None and PLUGIN not in running.getConf().get("spark.plugins", ""):
        warnings.warn(
            f"a Spark session runs already, without spark.plugins={PLUGIN}, and getOrCreate() returns it as it is: "
            "errors and counters of executors then come with what tasks commit, not at once, and are no gauges of "
            "Spark's. Stop it first, call configure() before the first session, or give plugin=False",
            stacklevel=3,
        )
    if (wrong := _mismatch(SparkContext._jvm)) is not None:
        warnings.warn(
            f"{wrong}. The sink works as it is in that jar; on_error, on_event and counters will refuse it",
            stacklevel=3,
        )
    return wrong is None


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    where = f"in JAVA_HOME={home}" if home else "on the path, and JAVA_HOME is not set"
    if java is None:
        raise SetupError(
            ErrorCode.JAVA_MISSING,
            f"there is no java {where}; install a JDK or JRE of {_LEAST_JAVA} or later (for example "
            f"apt-get install openjdk-{_LEAST_JAVA}-jre-headless) and set JAVA_HOME",
        )
    release = Path(java).resolve().parents[1] / "release"
    text = release.read_text(encoding="utf-8", errors="replace") if release.is_file() else ""
    version = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', text)
    if version and int(version[1]) < _LEAST_JAVA:
        raise SetupError(
            ErrorCode.JAVA_MISSING,
            f"{java} is Java {version[1]}; the sink needs {_LEAST_JAVA} or later: set JAVA_HOME to one",
        )


def _java_class(jvm: Any, name: str) -> Any:
    """A public class of the jar by room and name, or None where the JVM has no such jar."""
    from py4j.java_gateway import JavaPackage

    found = jvm.org.questdbsf
    for part in name.split("."):
        found = getattr(found, part)
    return None if isinstance(found, JavaPackage) else found


@lru_cache(maxsize=1)
def _mismatch(jvm: Any) -> str | None:
    """What is to be said of the version of a JVM's jar. Asked once: neither of the two changes."""
    return mismatch(_java_class(jvm, "sender.LibraryJar"), _ADVICE)


def is_connect(of_session: Any) -> bool:
    """Whether an object of pyspark (a session, a query) is of Spark Connect."""
    return type(of_session).__module__.startswith("pyspark.sql.connect.")


def context_of(spark: Any, function: str) -> Any:
    """The running SparkContext of a session, or an error that says why there is none."""
    if is_connect(spark):
        raise UseError(
            ErrorCode.SPARK_UNSUPPORTED,
            f"{function} does not work through Spark Connect, which has no way for calls from the server. Use "
            "history(spark) and counters(query), which go by the query's progress, and failure(query) for the error "
            f"that ended a query; or call {function} in the process that runs the driver",
        )
    context = spark.sparkContext
    if context._jsc is None or context._jsc.sc().isStopped():
        raise UseError(
            ErrorCode.SPARK_UNSUPPORTED,
            f"{function}: this Spark session is stopped; make a new one with "
            "configure(SparkSession.builder).getOrCreate()",
        )
    return context


def connector(context: Any, name: str) -> Any:
    """A public class of the connector in the JVM of a context."""
    found = _java_class(context._jvm, f"spark.{name}")
    if found is None:
        raise SetupError(
            ErrorCode.JAR_MISSING,
            "this Spark session has no jar of questdb-sf: build it with configure(SparkSession.builder).getOrCreate() "
            "in a new Python process",
        )
    if (wrong := _mismatch(context._jvm)) is not None:
        raise SetupError(ErrorCode.VERSION_MISMATCH, wrong)
    return found


def failure(query_or_error: Any) -> QuestDBSfError | None:
    """The sink's error in what ended a query or a write, with its code; ``None`` where there is none.

    Takes a ``StreamingQuery`` or an exception that Spark raised. Works through Spark Connect as well: Spark carries the
    text.
    """
    error = query_or_error
    if not isinstance(error, BaseException):
        error = query_or_error.exception()
    found = _CODE.search(str(error)) if error is not None else None
    return error_of(found[1], found[2]) if found else None
