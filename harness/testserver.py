"""The project's test server: QuestDB 9.3.4 with a QWP endpoint of our own in front, which can be told how to behave."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from harness.server import REPOSITORY, ServerProcess


def jar() -> Path:
    """The runnable jar: in the build tree, or where ``QUESTDB_SF_TESTSERVER_JAR`` says."""
    named = os.environ.get("QUESTDB_SF_TESTSERVER_JAR")
    if named:
        return Path(named)
    found = sorted((REPOSITORY / "jvm/testserver/build/libs").glob("*-all.jar"))
    if not found:
        raise FileNotFoundError("no test server jar in jvm/testserver/build/libs: run `make build`")
    return found[-1]


class TestServer(ServerProcess):
    """Real storage and SQL; how frames are answered can be scripted."""

    __test__ = False  # pytest takes the name for that of a class of tests

    def _command(self) -> list[str]:
        java = ["java", "-Xmx1g", "-jar", str(jar())]
        return [*java, "--root", str(self.root), "--port", str(self.port), *self._arguments]

    def version(self) -> str:
        """Of the QuestDB in it, which does not say when it is embedded."""
        build = (REPOSITORY / "gradle.properties").read_text(encoding="utf-8")
        (version,) = re.findall(r"^questdbVersion=(\S+)$", build, re.MULTILINE)
        return str(version)

    def untouched(self, table: str) -> bool:
        """Whether nothing was sent for a table."""
        return table not in self.counters()["tables"] and super().untouched(table)

    def counters(self) -> dict[str, Any]:
        """What the server counted; what concerns rows is kept on disk and survives a kill."""
        answer = self._request("GET", "/qwp/counters", 10)
        answer.raise_for_status()
        return dict(answer.json())

    def script(self, **changes: Any) -> None:
        """Changes how the server behaves from now on."""
        answer = self._request("POST", "/qwp/script", 10, json=changes)
        answer.raise_for_status()
