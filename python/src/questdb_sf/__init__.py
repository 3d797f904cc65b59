"""questdb-sf: a Spark sink that never loses a row to a QuestDB outage."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("questdb-sf")
except PackageNotFoundError:  # a source tree on the path, not installed
    __version__ = "0+source"

__all__ = ["__version__"]
