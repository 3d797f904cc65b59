"""Credentials and TLS: wrong ones are refused before a row is sent, right ones never shown, rotated ones read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.spark import (
    batches_done,
    eventually,
    feed,
    last_execution,
    metric,
    rows,
    sink_metrics,
    sql_tab,
    write_stream,
)

USER, PASSWORD = "loader", "correct-horse-7351"
WRONG = "battery-staple-9462"


def secured(start_server: Any) -> Any:
    return start_server("--user", USER, "--password", PASSWORD)


def basic(server: Any, **more: str) -> dict[str, str]:
    return {
        "addr": server.addr,
        "table": "t",
        "timestamp": "ts",
        "create_table": "true",
        "dedup_keys": "ts,id",
        "username": USER,
        **more,
    }


@pytest.mark.spark
@pytest.mark.parametrize("way", ["option", "connect_string"])
def test_wrong_password(
    spark: Any,
    start_server: Any,
    tmp_path: Path,
    spark_log: Callable[[], str],
    way: str,
) -> None:
    """Refused at the start, with host and status, and the password is in no message, log or plan."""
    server = secured(start_server)
    before = last_execution(spark)
    options = basic(server, password=WRONG)
    if way == "connect_string":
        text = f"ws::addr={server.addr};username={USER};password={WRONG};"
        options = {k: v for k, v in options.items() if k not in ("addr", "username", "password")}
        options["connect_string"] = text
    source = feed(tmp_path / "source", 1)
    with pytest.raises(Exception, match="401") as caught:
        write_stream(
            source.stream(spark), tmp_path / "checkpoint", options, availableNow=True
        ).awaitTermination()
    for word in (server.addr, "username", "password"):
        assert word in str(caught.value), str(caught.value)
    assert server.untouched("t")
    seen = str(caught.value) + spark_log() + json.dumps(sql_tab(spark, after=before))
    assert WRONG not in seen
    batch = spark.range(1).selectExpr("id", "timestamp_micros(id) AS ts").write
    with pytest.raises(Exception, match="401"):
        batch.format("questdb-sf").mode("append").options(**options).save()
    assert WRONG not in spark_log() + json.dumps(sql_tab(spark, after=before))


@pytest.mark.spark
def test_right_password_is_not_shown(
    spark: Any, start_server: Any, tmp_path: Path, spark_log: Callable[[], str]
) -> None:
    """A stream with a password: it is in no log, plan, progress, slot or checkpoint file."""
    server = secured(start_server)
    before = last_execution(spark)
    source = feed(tmp_path / "source", 2)
    slots = tmp_path / "slots"
    options = basic(server, password=PASSWORD, commit_on="store", sf_dir=str(slots))
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", options)
    eventually("two micro-batches", lambda: batches_done(query) == 2)
    assert server.await_count("t", 100) == 100
    progress = json.dumps(query.lastProgress, default=str)
    query.stop()
    shown = spark_log() + progress + json.dumps(sql_tab(spark, after=before))
    assert PASSWORD not in shown
    for path in [*slots.rglob("*"), *(tmp_path / "checkpoint").rglob("*")]:
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), path


@pytest.mark.scripted
def test_token_rotated_in_a_file(spark: Any, tmp_path: Path, start_server: Any) -> None:
    """token=${file:...} is read at each connect: after a rotation the stream goes on, without a restart."""
    server = start_server("--token", "first-token-1")
    token = tmp_path / "token"
    token.write_text("first-token-1\n", encoding="utf-8")
    source = feed(tmp_path / "source", 1)
    options = basic(server, token=f"${{file:{token}}}", reconnect_max_backoff_millis="300")
    del options["username"]
    options |= {"commit_on": "store", "sf_dir": str(tmp_path / "slots")}
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", options)
    eventually("the first micro-batch", lambda: batches_done(query) == 1)
    assert server.await_count("t", 50) == 50
    server.kill()
    source.add(rows(50, 100))
    eventually("one without a server", lambda: batches_done(query) == 2)
    # The new token comes before the server that asks for it, as a careful rotation does.
    token.write_text("second-token-2\n", encoding="utf-8")
    server.change_arguments("--token", "second-token-2")
    server.start()
    assert server.await_count("t", 100) == 100
    source.add(rows(100, 150))
    eventually("one more micro-batch", lambda: batches_done(query) == 3)
    assert server.await_count("t", 150) == 150
    assert metric(query, "failed_slots") == 0, sink_metrics(query)
    query.stop()


def keytool(*arguments: str) -> None:
    subprocess.run(["keytool", *arguments, "-noprompt"], check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a server's key (server.p12) and what trusts it (roots.pem, roots.p12); for 127.0.0.1 only."""
    made = tmp_path_factory.mktemp("tls")
    store = ["-keystore", str(made / "server.p12"), "-storetype", "PKCS12", "-storepass", "secret"]
    keytool(
        *("-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=test"),
        *("-ext", "san=ip:127.0.0.1", "-validity", "7", *store),
    )
    keytool("-exportcert", "-rfc", "-alias", "server", "-file", str(made / "roots.pem"), *store)
    keytool(
        *("-importcert", "-alias", "root", "-file", str(made / "roots.pem")),
        *("-keystore", str(made / "roots.p12"), "-storetype", "PKCS12", "-storepass", "changeit"),
    )
    return made


def encrypted(start_server: Any, certificate: Path) -> Any:
    return start_server(
        *("--tls-keystore", str(certificate / "server.p12"), "--tls-password", "secret"),
        *("--user", USER, "--password", PASSWORD),
    )


@pytest.mark.scripted
@pytest.mark.spark
@pytest.mark.parametrize("roots", ["roots.pem", "roots.p12"])
def test_tls(spark: Any, start_server: Any, certificate: Path, tmp_path: Path, roots: str) -> None:
    """wss:: with roots of one's own, PEM or PKCS12: rows, and the table check over HTTPS, go through."""
    server = encrypted(start_server, certificate)
    text = f"wss::addr={server.addr};tls_roots={certificate / roots};"
    text += "tls_roots_password=changeit;" if roots.endswith("p12") else ""
    options = basic(server, connect_string=text, password=PASSWORD)
    del options["addr"]
    source = feed(tmp_path / "source", 2)
    query = write_stream(source.stream(spark), tmp_path / "checkpoint", options, availableNow=True)
    query.awaitTermination(120)
    assert batches_done(query) == 2
    assert server.await_count("t", 100) == 100
    assert server.sql("SELECT dedup FROM tables() WHERE table_name = 't'") == [[True]]


@pytest.mark.scripted
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ["certif"]),
        ({"tls_roots": "PEM", "addr": "localhost"}, ["localhost"]),
    ],
    ids=["unknown root", "another host name"],
)
def test_tls_that_is_not_trusted(
    spark: Any,
    start_server: Any,
    certificate: Path,
    spark_log: Callable[[], str],
    tmp_path: Path,
    changes: dict[str, str],
    words: list[str],
) -> None:
    """A certificate of an unknown root, and one for another host: no row is sent, and the reason is said."""
    server = encrypted(start_server, certificate)
    options = basic(server, password=PASSWORD, tls="on", reconnect_max_duration_millis="1000")
    if "tls_roots" in changes:
        options["tls_roots"] = str(certificate / "roots.pem")
        options["addr"] = server.addr.replace("127.0.0.1", changes["addr"])
    source = feed(tmp_path / "source", 1)
    with pytest.raises(Exception, match=r"(?i)tls|certif|ssl") as caught:
        write_stream(
            source.stream(spark), tmp_path / "checkpoint", options, availableNow=True
        ).awaitTermination()
    said = str(caught.value) + spark_log()
    for word in words:
        assert word in said, said
    assert server.counters()["rows_received"] == 0
