"""The Java virtual machine in this process: started once, when the first sender is opened.

The only module that imports JPype. It holds the engine's classes, runs its calls so that Ctrl-C ends them, and turns
its exceptions into those of :mod:`questdb_sf.errors`.
"""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from questdb_sf import __version__
from questdb_sf._version import mismatch
from questdb_sf.errors import ErrorCode, QuestDBSfError, SetupError, UseError, error_of

T = TypeVar("T")

LOG = logging.getLogger(__name__)

_LEAST_JAVA = 17
_ADVICE = (
    f"let QUESTDB_SF_STANDALONE_JAR name questdb-sf-standalone-{__version__}.jar, or unset it, which takes the "
    "package's own; in a Java virtual machine that was started elsewhere, take the jar off its class path"
)
_OPENS = ("java.nio", "sun.nio.ch", "jdk.internal.misc")


class Closeable(Protocol):
    """What is closed when the interpreter ends."""

    def close(self) -> None:
        """Closes it."""


def jar_path() -> Path:
    """The engine's jar of this very version: ``QUESTDB_SF_STANDALONE_JAR``, or the one in the package."""
    named = os.environ.get("QUESTDB_SF_STANDALONE_JAR")
    jar = (
        Path(named)
        if named
        else Path(__file__).parent / "jars" / f"questdb-sf-standalone-{__version__}.jar"
    )
    if not jar.is_file():
        raise SetupError(
            ErrorCode.JAR_MISSING,
            f"cannot find {jar}; install the wheel (pip install 'questdb-sf[jpype,arrow]'), or run `make build` in the "
            "source tree",
        )
    return jar


def missing(package: str, extra: str) -> SetupError:
    """The error for an optional package that is not installed."""
    return SetupError(
        ErrorCode.PACKAGE_MISSING,
        f"the Python package {package} is needed for this and not installed: pip install 'questdb-sf[{extra}]'",
    )


class Jvm:
    """The running engine. One a process; see :func:`jvm`."""

    def __init__(self) -> None:
        try:
            import jpype
            import jpype.config
            import jpype.nio
        except ImportError as error:
            raise missing("jpype1", "jpype") from error
        self.jpype = jpype
        self._pid = os.getpid()
        self._open: weakref.WeakSet[Closeable] = weakref.WeakSet()
        _start(jpype)
        try:
            self.system = jpype.JClass("java.lang.System")
            _check_version(str(self.system.getProperty("java.specification.version")))
            wrong = mismatch(jpype.JClass("org.questdbsf.sender.LibraryJar"), _ADVICE)
            if wrong is not None:
                raise SetupError(ErrorCode.VERSION_MISMATCH, wrong)
            self.sf_exception = jpype.JClass("org.questdbsf.error.SfException")
            self.interrupted = jpype.JClass("java.lang.InterruptedException")
            self.thread = jpype.JClass("java.lang.Thread")
            self.sender = jpype.JClass("org.questdbsf.sender.Sender")
            self.sender_config = jpype.JClass("org.questdbsf.sender.SenderConfig")
            self.arrow_writer = jpype.JClass("org.questdbsf.arrow.ArrowWriter")
            self.types = jpype.JClass("org.questdbsf.qwp.QwpType")
            self.units = jpype.JClass("java.time.temporal.ChronoUnit")
            self.big_decimal = jpype.JClass("java.math.BigDecimal")
            self.uuid = jpype.JClass("java.util.UUID")
            self.empty_buffer = jpype.JClass("java.nio.ByteBuffer").allocate(0)
        except TypeError as error:
            raise SetupError(
                ErrorCode.JAR_MISSING,
                f"the Java virtual machine of this process does not find the engine's classes of {jar_path()}: {error}",
            ) from error
        self._worker = _Worker(self)
        # After JPype's own, so it runs before it: senders end while there still is a machine.
        atexit.register(self._close_all)
        os.register_at_fork(after_in_child=self._leave_parents_machine)

    def _leave_parents_machine(self) -> None:
        """JPype would end the machine at the child's end, and wait for threads that are not there."""
        self.jpype.config.onexit = False

    @property
    def is_parents(self) -> bool:
        """Whether this process is a fork of the one in which the machine runs."""
        return os.getpid() != self._pid

    def check_process(self) -> None:
        """A fork has the parent's memory and none of its threads: nothing of the machine works there."""
        if self.is_parents:
            raise UseError(
                ErrorCode.SENDER_CLOSED,
                "a Java virtual machine does not survive fork(); open the sender in the new process, and start that "
                "with the method 'spawn'",
            )

    def opened(self, sender: Closeable) -> None:
        """Remembers what must be closed at the end."""
        self._open.add(sender)

    def _close_all(self) -> None:
        if self.is_parents:
            return
        for sender in list(self._open):
            try:
                sender.close()
            except QuestDBSfError as error:
                LOG.warning("a sender closed at the end of the interpreter: %s", error)

    def direct(self, buffer: Any) -> Any:
        """The memory of an object with the buffer protocol as a direct ByteBuffer; not copied, not kept alive."""
        if len(buffer) == 0:
            return self.empty_buffer
        return self.jpype.nio.convertToDirectBuffer(buffer)

    def call(self, job: Callable[[], T]) -> T:
        """Runs a call that may wait. Ctrl-C ends it, and is raised here when it has ended."""
        self.check_process()
        if threading.current_thread() is threading.main_thread():
            return self._worker.run(job)
        return self.translated(job)

    def translated(self, job: Callable[[], T]) -> T:
        """Runs a call; what it throws becomes an error of this package."""
        try:
            return job()
        except self.jpype.JException as thrown:
            raise self.error(thrown) from thrown

    def error(self, thrown: Any) -> BaseException:
        """What a Java exception is here."""
        if isinstance(thrown, self.sf_exception):
            return error_of(str(thrown.code().name()), str(thrown.getMessage()))
        if isinstance(thrown, self.interrupted):
            return KeyboardInterrupt()
        return error_of(ErrorCode.INTERNAL_FAULT, f"{thrown.toString()}; please report it")


def _start(jpype: Any) -> None:
    jar = jar_path()
    if jpype.isJVMStarted():
        # Somebody else's machine: classes can be added, options cannot.
        jpype.addClassPath(str(jar))
        return
    options = [
        # Signals stay Python's: without this Ctrl-C and SIGTERM would end the process past all handlers.
        "-Xrs",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-Dio.netty.tryReflectionSetAccessible=true",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENS),
        *os.environ.get("QUESTDB_SF_JVM_OPTIONS", "").split(),
    ]
    try:
        jpype.startJVM(*options, classpath=[str(jar)], convertStrings=False)
    except Exception as error:
        raise SetupError(
            ErrorCode.JAVA_MISSING,
            f"no Java virtual machine could be started ({error}); install Java {_LEAST_JAVA} or newer and set "
            "JAVA_HOME to it",
        ) from error


def _check_version(version: str) -> None:
    if int(version.partition(".")[0]) < _LEAST_JAVA:
        raise SetupError(
            ErrorCode.JAVA_MISSING,
            f"Java {version} was found, {_LEAST_JAVA} or newer is needed; install it, and set JAVA_HOME to it",
        )


class _Job:
    """A call on its way through the worker."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.done = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None


class _Worker:
    """A thread for the main thread's calls: Python delivers signals only where no foreign code runs."""

    def __init__(self, machine: Jvm) -> None:
        self._machine = machine
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._java_thread: Any = None
        threading.Thread(target=self._work, name="questdb-sf-calls", daemon=True).start()

    def _work(self) -> None:
        self._java_thread = self._machine.thread.currentThread()
        while True:
            job = self._jobs.get()
            # An interrupt that came too late for the last job.
            self._machine.thread.interrupted()
            try:
                job.result = self._machine.translated(job.call)
            except BaseException as error:
                job.error = error
            job.done.set()
            del job

    def run(self, call: Callable[[], T]) -> T:
        job = _Job(call)
        self._jobs.put(job)
        try:
            job.done.wait()
        except BaseException:
            self._java_thread.interrupt()
            job.done.wait()
            raise
        if job.error is not None:
            raise job.error
        result: T = job.result
        return result


class _Holder:
    """The one machine of this process."""

    lock = threading.Lock()
    machine: Jvm | None = None


def jvm() -> Jvm:
    """The machine, started if it is not; raises :class:`~questdb_sf.errors.SetupError` where that cannot be."""
    with _Holder.lock:
        if _Holder.machine is None:
            _Holder.machine = Jvm()
        _Holder.machine.check_process()
        return _Holder.machine
