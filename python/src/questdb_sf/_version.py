"""Whether a jar is of the version of this package: what they say to each other holds within one version only."""

from __future__ import annotations

from typing import Any

from questdb_sf import UNINSTALLED, __version__


def mismatch(library_jar: Any, advice: str) -> str | None:
    """What is to be said of the jar that a JVM loaded; ``None`` where it fits.

    :param library_jar: the Java class ``org.questdbsf.sender.LibraryJar``
    :param advice: what to do, other than to install the Python package of the jar's version
    """
    jar = library_jar.loaded()
    version = str(jar.version())
    if __version__ in (version, UNINSTALLED):
        return None
    return (
        f"the Python package questdb-sf is {__version__}, but the jar is {version}, loaded from {jar.place()}: "
        f"{advice}, or pip install 'questdb-sf=={version}'; then restart Python"
    )
