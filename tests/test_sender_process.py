"""The engine in this process: what it brings with it, what it misses, and how it ends with the interpreter."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from harness.jars import of_another_version
from harness.sending import (
    ran,
    script,
)
from harness.server import ServerProcess, free_port
from questdb_sf import __version__
from questdb_sf._jvm import jar_path
from questdb_sf.errors import (
    QuestDBSfError,
    SetupError,
)

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")


def test_imports_bring_nothing_with_them() -> None:
    out = ran(
        """
        import sys
        import questdb_sf, questdb_sf.spark, questdb_sf.errors, questdb_sf.sender
        print([m for m in sys.modules if m.split(".")[0] in ("jpype", "_jpype", "pyarrow", "numpy", "pandas", "py4j")])
        """
    )
    assert out.strip() == "[]"


@pytest.mark.parametrize(
    ("prepare", "code", "words"),
    [
        (
            "os.environ['QUESTDB_SF_STANDALONE_JAR'] = '/no/such.jar'",
            "JAR_MISSING",
            "make build",
        ),
        (
            "sys.modules['jpype'] = None",
            "PACKAGE_MISSING",
            "pip install 'questdb-sf[jpype]'",
        ),
        (
            "import jpype; jpype.startJVM = lambda *a, **k: (_ for _ in ()).throw(jpype.JVMNotFoundException('none'))",
            "JAVA_MISSING",
            "JAVA_HOME",
        ),
        (
            "from questdb_sf import _jvm; _jvm._LEAST_JAVA = 99",
            "JAVA_MISSING",
            "99 or newer",
        ),
    ],
    ids=["jar", "jpype", "java", "old java"],
)
def test_what_is_missing_is_said(prepare: str, code: str, words: str) -> None:
    out = ran(
        f"""
        import os, sys
        {prepare}
        from questdb_sf.sender import Sender
        from questdb_sf.errors import SetupError
        try:
            Sender("ws::addr=localhost:1;")
        except SetupError as error:
            print(error.code, error)
        """
    )
    assert out.startswith(code)
    assert words in out


def test_a_jar_of_another_version_is_refused(tmp_path: Path) -> None:
    old = of_another_version(jar_path(), tmp_path / "old.jar", "0.0.9")
    out = ran(
        """
        from questdb_sf.sender import Sender
        from questdb_sf.errors import SetupError
        for attempt in range(2):
            try:
                Sender("ws::addr=localhost:1;")
            except SetupError as error:
                print(error)
        """,
        env={**os.environ, "QUESTDB_SF_STANDALONE_JAR": str(old)},
    )
    words = (
        f"the Python package questdb-sf is {__version__}, but the jar is 0.0.9, loaded from {old}: "
    )
    assert [line.startswith(f"VERSION_MISMATCH: {words}") for line in out.splitlines()] == [
        True,
        True,
    ]
    assert "QUESTDB_SF_STANDALONE_JAR" in out


def test_rows_need_no_pyarrow(server: ServerProcess) -> None:
    out = ran(
        """
        import sys
        sys.modules["pyarrow"] = None
        from questdb_sf.errors import SetupError
        from questdb_sf.sender import Sender, Micros
        with Sender(sys.argv[1]) as sender:
            sender.row("no_arrow", columns={"x": 1}, at=Micros(1))
            print(sender.drain(100))
            try:
                sender.write(None, table="t", timestamp=None)
            except SetupError as error:
                print(error)
        """,
        f"ws::addr={server.addr};",
    )
    assert out.startswith("True\nPACKAGE_MISSING: the Python package pyarrow is needed")
    assert "questdb-sf[arrow]" in out


def test_the_interpreter_ends_with_a_sender_open(server: ServerProcess) -> None:
    out = ran(
        """
        import sys
        from questdb_sf.sender import Sender, Micros
        sender = Sender(sys.argv[1])
        sender.row("left_open", columns={"x": 1}, at=Micros(1))
        print("end")
        """,
        f"ws::addr={server.addr};close_flush_timeout_millis=60000;",
    )
    assert out == "end\n"
    assert server.await_count("left_open", 1) == 1


def test_the_interpreter_ends_while_nobody_answers(tmp_path: Path) -> None:
    started = time.monotonic()
    out = ran(
        """
        import sys
        from questdb_sf.sender import Sender, Micros
        sender = Sender(sys.argv[1], on_error=print)
        sender.row("unsent", columns={"x": 1}, at=Micros(1))
        print(sender.flush())
        """,
        f"ws::addr=127.0.0.1:{free_port()};sf_dir={tmp_path};initial_connect_retry=async;"
        "close_flush_timeout_millis=500;",
    )
    assert out == "0\n"
    assert time.monotonic() - started < 60
    assert list((tmp_path / "default").glob("*.sfa"))


def test_ctrl_c_ends_a_wait(tmp_path: Path) -> None:
    process = script(
        """
        import sys
        from questdb_sf.sender import Sender, Micros
        with Sender(sys.argv[1]) as sender:
            sender.row("unsent", columns={"x": 1}, at=Micros(1))
            sender.flush()
            print("waiting", flush=True)
            try:
                sender.drain(600)
            except KeyboardInterrupt:
                print("interrupted", sender.flush(), flush=True)
        """,
        f"ws::addr=127.0.0.1:{free_port()};sf_dir={tmp_path};initial_connect_retry=async;"
        "close_flush_timeout_millis=0;",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted 0\n", err
    assert process.returncode == 0, err


def test_signals_stay_pythons(server: ServerProcess) -> None:
    out = ran(
        """
        import os, signal, sys, time
        from questdb_sf.sender import Sender
        signal.signal(signal.SIGTERM, lambda *_: print("mine"))
        with Sender(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
        """,
        f"ws::addr={server.addr};",
    )
    assert out == "mine\n"


def test_a_fork_says_that_it_cannot(server: ServerProcess) -> None:
    out = ran(
        """
        import os, sys
        from questdb_sf.errors import UseError
        from questdb_sf.sender import Sender
        with Sender(sys.argv[1]) as sender:
            if os.fork() == 0:
                try:
                    sender.flush()
                except UseError as error:
                    print(error, flush=True)
                os._exit(0)
            os.wait()
            print(sender.flush())
        """,
        f"ws::addr={server.addr};",
    )
    assert "spawn" in out
    assert out.endswith("-1\n")


def test_a_machine_that_is_running_already_is_used(server: ServerProcess) -> None:
    out = ran(
        """
        import sys
        import jpype
        jpype.startJVM()
        from questdb_sf.sender import Sender, Micros
        with Sender(sys.argv[1]) as sender:
            sender.row("guest", columns={"x": 1}, at=Micros(1))
            print(sender.drain(100))
        """,
        f"ws::addr={server.addr};",
    )
    assert out.endswith("True\n")


def test_beside_pyspark_in_one_process(server: ServerProcess, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    out = ran(
        """
        import sys
        from pyspark.sql import SparkSession
        import pyarrow as pa
        from questdb_sf.sender import Sender
        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        assert spark.range(100).count() == 100
        with Sender(sys.argv[1]) as sender:
            table = pa.Table.from_pandas(spark.range(1000).toPandas())
            sender.write(table, table="beside", timestamp=None)
            assert spark.range(100).count() == 100
            assert sender.drain(200)
            spark.stop()
            sender.write(table, table="beside", timestamp=None)
            assert sender.drain(200)
        print("end")
        """,
        f"ws::addr={server.addr};",
        seconds=240,
        cwd=tmp_path,
    )
    assert out.endswith("end\n")
    assert server.await_count("beside", 2000) == 2000


def test_setup_errors_are_errors_of_this_package() -> None:
    assert issubclass(SetupError, QuestDBSfError)


@pytest.mark.parametrize("leave", ["sys.exit(3)", "os._exit(3)", "raise SystemExit(3)"])
def test_a_forked_child_ends_by_itself_and_the_parent_goes_on(
    server: ServerProcess, leave: str
) -> None:
    name = f"forked_{abs(hash(leave))}"
    out = ran(
        f"""
        import os, sys
        from questdb_sf.errors import QuestDBSfError
        from questdb_sf.sender import Micros, Sender

        with Sender(sys.argv[1]) as sender:
            sender.row("{name}", columns={{"x": 1}}, at=Micros(1))
            child = os.fork()
            if child == 0:
                for call in (sender.flush, sender.counters, lambda: sender.state):
                    try:
                        call()
                    except QuestDBSfError as error:
                        print(error.code, flush=True)
                sender.close()
                {leave}
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            sender.row("{name}", columns={{"x": 2}}, at=Micros(2))
            print(sender.drain(60), sender.counters().rows_written)
        """,
        f"ws::addr={server.addr};",
    )
    assert out.split() == [*["SENDER_CLOSED"] * 3, "3", "True", "2"]
    assert server.await_count(name, 2) == 2


def test_a_child_forked_while_another_thread_writes_is_not_kept_by_its_lock(
    server: ServerProcess,
) -> None:
    out = ran(
        """
        import os, sys, threading
        from questdb_sf.errors import QuestDBSfError
        from questdb_sf.sender import Micros, Sender

        sender = Sender(sys.argv[1])
        held, done = threading.Event(), threading.Event()

        def hold():
            with sender._lock:
                held.set()
                done.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            try:
                sender.row("t", columns={"x": 1}, at=Micros(1))
            except QuestDBSfError as error:
                print(error.code, flush=True)
            sender.close()
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        done.set()
        thread.join()
        sender.close()
        """,
        f"ws::addr={server.addr};",
    )
    assert out.split() == ["SENDER_CLOSED", "0"]
