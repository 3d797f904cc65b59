"""`tools/audit.py`: what it asks about, and the status it exits with."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[1]
NETTY = "pkg:maven/io.netty/netty-handler@"

Answer = Callable[[list[str]], tuple[int, Any]]


class Osv:
    """Answers as the test says, in the form that OSV documents."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer: Answer = lambda purls: (200, {"results": [{} for _ in purls]})
        osv = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                osv.asked = [query["package"]["purl"] for query in body["queries"]]
                status, reply = osv.answer(osv.asked)
                self.send_response(status if self.path == "/v1/querybatch" else 404)
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)

    def audit(self) -> subprocess.CompletedProcess[str]:
        return audit(f"http://127.0.0.1:{self.server.server_port}")


def audit(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPO / "tools/audit.py", "--osv", url],
        check=False,
        capture_output=True,
        text=True,
        env={"no_proxy": "*"},
    )


@pytest.fixture
def osv() -> Iterator[Osv]:
    made = Osv()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_every_library_is_asked_for_once_and_nothing_known_is_0(osv: Osv) -> None:
    said = osv.audit()
    assert said.returncode == 0, said
    for library in ("io.netty/netty-handler", "net.java.dev.jna/jna", "org.slf4j/slf4j-api"):
        assert sum(f"/{library}@" in purl for purl in osv.asked) == 1, library
    assert said.stdout == f"{len(osv.asked)} libraries checked, 0 with known vulnerabilities\n"


def test_what_is_known_is_told_by_library_and_is_1(osv: Osv) -> None:
    osv.answer = lambda purls: (
        200,
        {
            "results": [
                {"vulns": [{"id": "GHSA-1"}, {"id": "CVE-2"}]} if purl.startswith(NETTY) else {}
                for purl in purls
            ]
        },
    )
    said = osv.audit()
    assert said.returncode == 1, said
    first, last = said.stdout.splitlines()
    assert first.startswith(NETTY)
    assert first.endswith(": GHSA-1, CVE-2")
    assert last.endswith("1 with known vulnerabilities")


@pytest.mark.parametrize(
    "answer",
    [(503, {}), (200, {}), (200, []), (200, {"results": []}), (200, {"results": [None] * 99})],
    ids=str,
)
def test_an_answer_that_says_nothing_is_not_checked_and_3(
    osv: Osv, answer: tuple[int, Any]
) -> None:
    osv.answer = lambda purls: answer
    said = osv.audit()
    assert (said.returncode, said.stdout[:13]) == (3, "not checked: "), said


def test_nobody_there_is_not_checked_and_3(osv: Osv) -> None:
    gone = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    gone.server_close()
    said = audit(f"http://127.0.0.1:{gone.server_port}")
    assert (said.returncode, said.stdout[:13]) == (3, "not checked: "), said
