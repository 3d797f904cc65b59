"""Servers that are a whole QuestDB: what ``make questdb`` built from its source, and any image of one. Not scripted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from harness.server import REPOSITORY, SMALL_FILES, NotApplicable, ServerProcess

_SETTING_OF = {"--user": "QDB_HTTP_USER", "--password": "QDB_HTTP_PASSWORD"}
"""Options of the test server that QuestDB has a setting for."""


class RealServer(ServerProcess):
    """Settings that the test server takes as options are of its environment."""

    def _real_settings(self) -> dict[str, str]:
        """As ``QDB_...``, with those that the arguments stand for."""
        settings = dict(SMALL_FILES)
        for name, value in self._options():
            if name not in _SETTING_OF:
                raise NotApplicable(f"{name} needs a scriptable server: SERVER=testserver")
            settings[_SETTING_OF[name]] = value
        return settings | self._settings

    def _limit_files(self, size: int) -> None:
        raise NotApplicable("it maps its files, and dies where they cannot grow: SERVER=testserver")


def build_directory() -> Path:
    """What ``make questdb`` built, or where ``QUESTDB_SOURCE_BUILD`` says."""
    named = os.environ.get("QUESTDB_SOURCE_BUILD")
    return Path(named) if named else REPOSITORY / "build/questdb"


class SourceServer(RealServer):
    """The server built from source."""

    def _command(self) -> list[str]:
        program = build_directory() / "questdb"
        if not program.exists():
            raise FileNotFoundError(f"no {program}: run `make questdb SRC=<git repository>`")
        return [str(program), str(self.root), str(self.port)]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self._real_settings()}


class ImageServer(RealServer):
    """A container of the image that ``QUESTDB_IMAGE`` names, its volume is the root; the process is Docker's client."""

    @property
    def _name(self) -> str:
        return f"questdb-sf-{self.port}"

    def _command(self) -> list[str]:
        image = os.environ.get("QUESTDB_IMAGE")
        if not image:
            raise LookupError("SERVER=image needs QUESTDB_IMAGE")
        settings = [f"--env={name}={value}" for name, value in self._real_settings().items()]
        return [
            *("docker", "run", "--rm", "--pull=never", "--name", self._name),
            f"--label=questdb-sf-tests={REPOSITORY}",
            f"--publish=127.0.0.1:{self.port}:9000",
            f"--volume={self.root}:/var/lib/questdb",
            *settings,
            image,
        ]

    def kill(self) -> None:
        """SIGKILL, and waits until it is gone."""
        if self._process is not None:
            self._docker("kill")
        super().stop()

    def pause(self) -> None:
        """Freezes all its processes: connections stay open, nothing answers."""
        self._docker("pause")

    def resume(self) -> None:
        """They go on."""
        self._docker("unpause")

    def _docker(self, what: str) -> None:
        subprocess.run(["docker", what, self._name], check=True, capture_output=True)
