"""questdb-sf: a Spark sink that never loses a row to a QuestDB outage."""

from importlib.metadata import PackageNotFoundError, version

UNINSTALLED = "0+source"
"""The version of a source tree on the path that is not installed."""

try:
    __version__ = version("questdb-sf")
except PackageNotFoundError:
    __version__ = UNINSTALLED

__all__ = ["__version__"]
