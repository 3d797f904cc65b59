"""The sink for PySpark users: puts the jar that belongs to this package on a session.

Imports the standard library and pyspark only, and starts no JVM. ::

    from pyspark.sql import SparkSession
    from questdb_sf.spark import configure

    spark = configure(SparkSession.builder).getOrCreate()
    stream.writeStream.format("questdb-sf").option("addr", "localhost:9000")...
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from questdb_sf import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class JarMissing(RuntimeError):
    """The package holds no jar: it was installed from a source tree in which none was built."""


def jar_path() -> Path:
    """The connector's jar of this very version, one jar for Spark 3.5 to 4.3. Raises :class:`JarMissing`."""
    jar = Path(__file__).parent / "jars" / f"questdb-sf-bundle-{__version__}.jar"
    if not jar.is_file():
        raise JarMissing(
            f"Cannot find {jar}. Install the wheel (pip install questdb-sf), or run `make build` in the source tree."
        )
    return jar


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Adds the jar to a session that is still to be built and returns the builder.

    Jars that were set before stay. Call it before ``getOrCreate()``: a running session does not load new jars.
    """
    jar = str(jar_path())
    present = str(getattr(builder, "_options", {}).get("spark.jars") or "")
    jars = [entry for entry in present.split(",") if entry]
    if jar not in jars:
        jars.append(jar)
    return builder.config("spark.jars", ",".join(jars))
