"""`questdb_sf.spark` without Spark: options in the JVM's words, what configure() says, what an import brings in."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

from questdb_sf import __version__
from questdb_sf.errors import ErrorCode, QuestDBSfError, SetupError, UseError
from questdb_sf.spark import PLUGIN, Counters, SinkOptions, configure, failure, jar_path
from questdb_sf.spark._counters import ExecutorCounters, of_json, render, render_html
from questdb_sf.spark._events import moment
from questdb_sf.spark._options import table, tables

BASE: dict[str, Any] = {"addr": "h:9000", "table": "t", "timestamp": "ts"}


class Builder:
    """As much of SparkSession.Builder as configure() needs."""

    def __init__(self, **options: str) -> None:
        self._options: dict[str, Any] = {
            name.replace("_", "."): value for name, value in options.items()
        }

    def config(self, key: str, value: str) -> Builder:
        self._options[key] = value
        return self


def test_import_brings_in_the_standard_library_only_and_starts_no_java() -> None:
    code = (
        "import sys, subprocess\n"
        "def no(*a, **k): raise AssertionError('a process was started')\n"
        "subprocess.Popen.__init__ = no\n"
        "before = set(sys.modules)\n"
        "import questdb_sf.spark\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "known = {n for n in new if n in sys.stdlib_module_names or n.startswith('_sysconfigdata')}\n"
        "print(sorted(new - known))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert done.strip() in ("['questdb_sf']", "['pyspark', 'questdb_sf']")


def test_options_are_typed_and_become_text() -> None:
    options = SinkOptions(
        **BASE,
        symbols=["city", "zone"],
        create_table=True,
        dedup_keys="ts, city",
        frame_bytes="512k",
        max_lanes=3,
        sf_dir=Path("/data/slots"),
        commit_on="store",
        sf_sync_interval_millis=100,
        sf_durability="PERIODIC",  # type: ignore[arg-type]
    )
    assert options.to_options() == {
        **BASE,
        "symbols": "city,zone",
        "create_table": "on",
        "dedup_keys": "ts,city",
        "frame_bytes": "512k",
        "max_lanes": "3",
        "sf_dir": "/data/slots",
        "commit_on": "store",
        "sf_sync_interval_millis": "100",
        "sf_durability": "periodic",
    }
    assert options.symbols == ("city", "zone")
    assert options.create_table is True
    assert options == SinkOptions.of(options.to_options())
    assert hash(options) == hash(SinkOptions.of(options.to_options()))
    assert replace(options, max_lanes=4).max_lanes == 4
    with pytest.raises(FrozenInstanceError):
        options.max_lanes = 5  # type: ignore[misc]


def test_repr_shows_references_and_no_secret() -> None:
    literal = SinkOptions(**BASE, token="geheim")
    assert "geheim" not in repr(literal)
    assert "token='***'" in repr(literal)
    reference = SinkOptions(**BASE, token="${env:TOKEN}")
    assert "token='${env:TOKEN}'" in repr(reference)
    whole = SinkOptions(connect_string="ws::addr=h;token=geheim;", table="t")
    assert "geheim" not in repr(whole)
    assert literal.to_options()["token"] == "geheim"


def test_options_from_the_environment() -> None:
    environment = {
        "QUESTDB_SINK_ADDR": "a:1,b:2",
        "QUESTDB_SINK_TABLE": "t",
        "QUESTDB_SINK_USER": "u",
        "QUESTDB_SINK_PASS": "p",
        "QUESTDB_SINK_TTL": "",
        "OTHER": "x",
    }
    options = SinkOptions.from_env(environ=environment)
    assert options.to_options() == {
        "addr": "a:1,b:2",
        "table": "t",
        "username": "u",
        "password": "p",
    }
    with pytest.raises(QuestDBSfError, match="did you mean table") as caught:
        SinkOptions.from_env(environ={**environment, "QUESTDB_SINK_TABEL": "t"})
    assert caught.value.code == ErrorCode.CONFIG_UNKNOWN_KEY


def test_each_field_is_documented_in_the_source() -> None:
    source = (Path(jar_path()).parents[1] / "spark/_fields.py").read_text(encoding="utf-8")
    for option in tables()["options"]:
        assert f"\n    {option['key']}: " in source
        assert option["doc"].split(" ")[0] in source
    assert set(table()) == set(SinkOptions.__dataclass_fields__)


# What is wrong, with one mistake each; the JVM's verdict on the same is compared in test_spark_handlers.
WRONG: list[dict[str, str]] = [
    {"table": "t"},
    {"addr": "h"},
    {"addr": "h", "table": "t", "table_column": "c"},
    {**BASE, "server_timestamp": "on"},
    {**BASE, "sf_dir": "/x"},
    {**BASE, "commit_on": "store"},
    {**BASE, "commit_on": "never"},
    {**BASE, "tls": "perhaps"},
    {**BASE, "tls": ""},
    {**BASE, "symbols": "a,,b"},
    {**BASE, "max_lanes": "0"},
    {**BASE, "max_lanes": "many"},
    {**BASE, "max_lanes": "4097"},
    {**BASE, "frame_bytes": "1"},
    {**BASE, "frame_bytes": "2x"},
    {**BASE, "frame_rows": "1000001"},
    {**BASE, "sf_max_total_bytes": "9999999999g"},
    {**BASE, "ack_timeout_millis": "0"},
    {**BASE, "ack_timeout_millis": "-1"},
    {**BASE, "drain_on_stop_millis": "1.5"},
    {**BASE, "token": "${vault:x}"},
    {**BASE, "token": "${env:}"},
    {**BASE, "ntz_zone": "Europe/Pari"},
    {**BASE, "ttl": "1 DAY"},
    {**BASE, "partition_by": "DAY"},
    {**BASE, "target_id": "x"},
    {**BASE, "sf_durability": "flush"},
    {**BASE, "sf_durability": "append"},
    {**BASE, "on_row_error": "dead_letter"},
    {**BASE, "on_write_error": "drop"},
    {**BASE, "on_server_error": "drop"},
    {**BASE, "on_schema_error": "retry"},
    {**BASE, "adr": "h"},
    {**BASE, "completely_other": "x"},
    {"connect_string": "ws::addr=h;table=t;sf_dir=/x;"},
    {"connect_string": "ws::addr=h;"},
    {"connect_string": "ws::table=t;"},
]

RIGHT: list[dict[str, str]] = [
    BASE,
    {**BASE, "TABLE": "t"},
    {**BASE, "commit_on": "ACK", "tls": "TRUE", "ntz_zone": "+02:00"},
    {**BASE, "ntz_zone": "Europe/Paris", "frame_bytes": "1MB", "sf_max_total_bytes": "64m"},
    {**BASE, "commit_on": "store", "sf_dir": "/x", "sf_durability": "flush", "sf_max_bytes": "1m"},
    {**BASE, "on_schema_error": "drop", "dead_letter_dir": "/d"},
    {**BASE, "on_missing_table": "create", "ttl": "1 DAY"},
    {"connect_string": "wss::addr=h;table=a;;b;commit_on=ack;"},
    {"connect_string": "${env:ANYTHING}", "table": "t"},
]


@pytest.mark.parametrize("options", WRONG, ids=lambda o: json.dumps(o)[:60])
def test_what_is_wrong_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(QuestDBSfError) as caught:
        SinkOptions.of(options)
    assert caught.value.message.endswith(".")


@pytest.mark.parametrize("options", RIGHT, ids=lambda o: json.dumps(o)[:60])
def test_what_is_right_is_taken(options: dict[str, str]) -> None:
    assert SinkOptions.of(options).to_options()


def test_configure_appends_to_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setattr("questdb_sf.spark._session._check_jvm", lambda plugin: True)
    builder = Builder(spark_jars="/a.jar", spark_plugins="com.example.Other")
    assert configure(builder) is builder
    configure(builder)
    assert builder._options["spark.jars"] == f"/a.jar,{jar_path()}"
    assert builder._options["spark.plugins"] == f"com.example.Other,{PLUGIN}"
    packages = Builder()
    configure(packages, jar="packages", plugin=False)
    assert packages._options == {
        "spark.jars.packages": f"org.questdbsf:questdb-sf-bundle:{__version__}"
    }
    with pytest.raises(UseError, match='give "wheel" or "packages"'):
        configure(Builder(), jar="maven")  # type: ignore[arg-type]


def test_configure_for_connect_says_what_the_server_needs() -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(UseError, match=f"--packages .*:{__version__} --conf spark.plugins="):
        configure(Builder(spark_remote="sc://host"))
    local = configure(Builder(spark_remote="local[2]"))
    assert set(local._options) == {"spark.remote", "spark.jars"}


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from pyspark import SparkContext

    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match="there is no java in JAVA_HOME") as caught:
        configure(Builder())
    assert caught.value.code == ErrorCode.JAVA_MISSING
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin/java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_402"\n')
    with pytest.raises(SetupError, match="is Java 8; the sink needs 17"):
        configure(Builder())
    monkeypatch.setattr("pyspark.__version__", "3.4.4")
    with pytest.raises(UseError, match=r"pyspark 3\.4\.4 is installed; this sink works with 3\.5"):
        configure(Builder())
    monkeypatch.setattr("pyspark.__version__", "4.3.0")
    monkeypatch.setattr("questdb_sf.spark._session.__version__", "9.9.9")
    with pytest.raises(SetupError, match=r"questdb-sf-bundle-9\.9\.9\.jar") as missing:
        jar_path()
    assert missing.value.code == ErrorCode.JAR_MISSING


def test_failure_finds_the_code_in_what_spark_says() -> None:
    text = (
        "Job aborted due to stage failure: Lost task 0.2: org.questdbsf.error.SfException: SERVER_REJECTED: "
        "sender 'lane-1' stopped: SCHEMA_MISMATCH, table 't': no such column\n\tat org.questdbsf..."
    )
    found = failure(RuntimeError(text))
    assert found is not None
    assert found.code == ErrorCode.SERVER_REJECTED
    assert found.message.startswith("sender 'lane-1' stopped")
    assert "\n" not in found.message
    assert failure(RuntimeError("division by zero: TABLE: x")) is None


def test_counters_are_a_table() -> None:
    names = [metric["key"] for metric in tables()["metrics"]]
    assert set(names) == set(ExecutorCounters.__dataclass_fields__) - {"host", "health"}
    raw = {
        "total": dict.fromkeys(names, 5) | {"rows_written": 12345},
        "executors": {
            "1": dict.fromkeys(names, 2) | {"host": "a", "health": "ok"},
            "2": dict.fromkeys(names, 3) | {"host": "b", "health": "failed <script>"},
        },
        "health": "failed <script> since now",
        "commit_on": "ack",
        "undelivered_rows_by_slot": {"a:/x": 3},
    }
    before = Counters(at=moment("2024-01-01T00:00:00Z"))
    now = replace(of_json(raw), at=moment("2024-01-01T00:00:05.000Z"))
    text = render(now, before)
    assert "12,345" in text
    assert "2,469" in text  # a second
    assert "executor 2" in text
    assert now.executors["2"].host == "b"
    assert "<script>" not in render_html(now)
    assert "&lt;script&gt;" in now._repr_html_()


def test_moments_of_java_are_read() -> None:
    assert moment("2024-01-01T00:00:00Z").isoformat() == "2024-01-01T00:00:00+00:00"
    assert moment("2024-01-01T00:00:00.5Z").microsecond == 500_000
    assert moment("2024-01-01T00:00:00.123456789Z").microsecond == 123_456
