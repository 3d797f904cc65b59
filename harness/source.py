"""The server that ``make questdb`` built from QuestDB's source: the real endpoint, storage and SQL, no script."""

from __future__ import annotations

import os
from pathlib import Path

from harness.server import REPOSITORY, NeedsTestServer, ServerProcess

_SETTING_OF = {"--user": "QDB_HTTP_USER", "--password": "QDB_HTTP_PASSWORD"}
"""Options of the test server that QuestDB has a setting for."""
_SMALL_FILES = {
    # A file is laid out a page ahead: by default 16 MiB for each column of each partition.
    "QDB_CAIRO_WRITER_DATA_APPEND_PAGE_SIZE": "65536",
    "QDB_CAIRO_WRITER_DATA_INDEX_VALUE_APPEND_PAGE_SIZE": "65536",
    "QDB_CAIRO_WAL_WRITER_DATA_APPEND_PAGE_SIZE": "65536",
    "QDB_CAIRO_SYSTEM_WAL_WRITER_DATA_APPEND_PAGE_SIZE": "65536",
}


def build_directory() -> Path:
    """What ``make questdb`` built, or where ``QUESTDB_SOURCE_BUILD`` says."""
    named = os.environ.get("QUESTDB_SOURCE_BUILD")
    return Path(named) if named else REPOSITORY / "build/questdb"


class SourceServer(ServerProcess):
    """The server built from source. Its files grow in small steps unless the environment says otherwise."""

    def _command(self) -> list[str]:
        program = build_directory() / "questdb"
        if not program.exists():
            raise FileNotFoundError(
                f"there is no {program}: run `make questdb SRC=<git repository>`"
            )
        return [str(program), str(self.root), str(self.port)]

    def _environment(self) -> dict[str, str]:
        settings = {}
        for name, value in self._options():
            if name not in _SETTING_OF:
                raise NeedsTestServer(
                    f"{name} needs the test server: run this with SERVER=testserver"
                )
            settings[_SETTING_OF[name]] = value
        return {**os.environ, **_SMALL_FILES, **settings, **self._settings}
