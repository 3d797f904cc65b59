"""A standalone Spark cluster on this machine: a master and workers, each a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from harness.server import free_port


def await_port(port: int, seconds: float = 60) -> None:
    """Until something listens there."""
    deadline = time.monotonic() + seconds
    with socket.socket() as trial:
        while trial.connect_ex(("127.0.0.1", port)) != 0:
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing listens on port {port} after {seconds:.0f} s")
            time.sleep(0.05)


class Standalone:
    """The cluster, from the installed pyspark. Use as a context manager; ``master`` is what a session takes.

    Workers have addresses of their own, so that they are different hosts to Spark.
    """

    def __init__(self, work: Path, workers: int = 2, cores: int = 1) -> None:
        self.master = f"spark://127.0.0.1:{free_port()}"
        self._work = work
        self._workers = workers
        self._cores = cores
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Standalone:
        self._work.mkdir(parents=True, exist_ok=True)
        port = self.master.rpartition(":")[2]
        with (self._work / "cluster.log").open("wb") as log:
            self._start(
                log, "master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0"
            )
            await_port(int(port))  # a worker that is refused tries again only seconds later
            for number in range(self._workers):
                self._start(
                    log,
                    "worker.Worker",
                    *("--host", f"127.0.0.{number + 1}", "--webui-port", "0"),
                    *("--cores", str(self._cores)),
                    *("--memory", "1g", "--work-dir", str(self._work / f"worker-{number}")),
                    self.master,
                )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, log: IO[bytes], name: str, *arguments: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
        self._processes.append(
            subprocess.Popen(
                [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{name}", *arguments],
                cwd=self._work,
                env=environment,
                stdout=log,
                stderr=log,
            )
        )
