"""The faults that ``make selftest`` plants, and the proofs that have to fail with each.

A fault is a piece of text that stands once in a source file and what takes its place; where it is not found, the code
has changed and the list has to follow.
"""

from __future__ import annotations

from dataclasses import dataclass

from integration.kill_run import Blow, Plan

SENDER = "jvm/engine/src/main/java/org/questdbsf/sender"
SLOT = "jvm/engine/src/main/java/org/questdbsf/slot"


@dataclass(frozen=True)
class Demo:
    """``demo/run.py``."""


@dataclass(frozen=True)
class Scenario:
    """One scenario of ``make integration``."""

    name: str
    commit_on: str


@dataclass(frozen=True)
class Drops:
    """The first rounds of ``make drops`` with a seed."""

    rounds: int
    seed: int


@dataclass(frozen=True)
class JUnit:
    """Test classes of the engine; one of them has to fail."""

    classes: tuple[str, ...]


Proof = Plan | Scenario | Demo | Drops | JUnit


@dataclass(frozen=True)
class Fault:
    """One fault: in ``file``, ``old`` becomes ``new``. Every one of its proofs has to fail."""

    name: str
    file: str
    old: str
    new: str
    proofs: tuple[Proof, ...]


def kill(scenario: str, mode: str, cut: float = 0, pause: float = 0, more: int = 0) -> Plan:
    """A kill run at a moment that is chosen so that there is something to lose."""
    blow = Blow(after=5, wait=0.1, cut=cut, heal=0.5, pause=pause, down=0.2, more=more)
    return Plan(scenario, mode, 0, 0, (blow,), 0)


# Frames that were sent while the server was stopped die with it.
SERVER_KILLED = kill("server", "ack", pause=1.0)
SERVER_KILLED_LATE = kill("server", "store", pause=0.5, more=4)
# What was written while the server was out of reach is in the slots only.
DRIVER_KILLED = kill("driver", "store", cut=0.5, more=3)
EXECUTOR_KILLED = kill("executor", "store", cut=0.5, more=3)
CONTAINER_KILLED = Scenario("sigkill", "ack")
CONTAINER_KILLED_LATE = Scenario("sigkill", "store")
SPARK_KILLED = Scenario("spark_killed_in_outage", "store")
# Servers throw away acknowledged rows in these rounds.
TABLES_DROPPED = Drops(rounds=12, seed=1)

FAULTS = (
    Fault(
        "a frame is left out at a reconnect",
        f"{SENDER}/FrameShipper.java",
        "inFlight.begin(ring.ackedFsn() + 1);",
        "inFlight.begin(ring.ackedFsn() + (highestSent > ring.ackedFsn() ? 2 : 1));",
        (SERVER_KILLED, CONTAINER_KILLED),
    ),
    Fault(
        "a frame counts as acknowledged when it is sent",
        f"{SENDER}/FrameShipper.java",
        "    silence.sent(now);\n",
        "    silence.sent(now);\n    ring.acknowledge(fsn);\n",
        (SERVER_KILLED_LATE, CONTAINER_KILLED_LATE),
    ),
    Fault(
        "the watermark is written before the acknowledgement",
        f"{SLOT}/RingUpkeep.java",
        "Marks marks = state.marks(state.ackedFsn);\n    if (marks.equals(written)",
        "Marks marks = state.marks(state.publishedFsn());\n    if (marks.equals(written)",
        (DRIVER_KILLED, SPARK_KILLED),
    ),
    Fault(
        "recovery forgets the last frame",
        f"{SLOT}/SlotJudge.java",
        "long published = framed.get(framed.size() - 1).scan().lastFsn();",
        "long published = framed.get(framed.size() - 1).scan().lastFsn() - 1;",
        (EXECUTOR_KILLED,),
    ),
    Fault(
        "a byte of a replayed frame is altered",
        f"{SENDER}/FrameShipper.java",
        "      message.writerIndex(message.writerIndex() + length);\n",
        "      if (fsn <= highestSent) {\n        message.array()[offset + length - 8] ^= 1;\n      }\n"
        "      message.writerIndex(message.writerIndex() + length);\n",
        (Demo(),),
    ),
    Fault(
        "an acknowledgement counts for one frame too many",
        f"{SENDER}/AckTracker.java",
        "long fsn = setup.plan().boundary(inFlight.fsnOf(sequence));\n      if",
        "long fsn = setup.plan().boundary(inFlight.fsnOf(sequence)) + 1;\n      if",
        (JUnit(("org.questdbsf.sender.RandomScriptTest",)),),
    ),
    Fault(
        "the dictionary is not sent again on a new connection",
        f"{SENDER}/FrameShipper.java",
        "if (catchUp != null && inFlight.fresh()) {",
        "if (catchUp != null && inFlight.fresh() && highestSent < 0) {",
        (JUnit(("org.questdbsf.sender.CutsTest",)),),
    ),
    Fault(
        "the CRC is not checked where a frame is read",
        f"{SLOT}/RingReader.java",
        "good = (int) crc.getValue() == expectedCrc;",
        "good = true;",
        (JUnit(("org.questdbsf.slot.SlotTest",)),),
    ),
    Fault(
        "the CRC is not checked where a segment is scanned",
        f"{SLOT}/SegmentScanner.java",
        "return (int) crc.getValue() == expected ? length : 0;",
        "return length;",
        (JUnit(("org.questdbsf.slot.SegmentScannerTest",)),),
    ),
    Fault(
        "torn bytes are not zeroed",
        f"{SLOT}/SlotRecovery.java",
        "if (last.scan().tornBytes() > 0) {",
        "if (last.scan().tornBytes() < 0) {",
        (JUnit(("org.questdbsf.slot.SlotRecoveryTest",)),),
    ),
    Fault(
        "frames are not forced",
        f"{SLOT}/RingUpkeep.java",
        "          storage.force(at);\n",
        "          storage.usableBytes();\n",
        (JUnit(("org.questdbsf.slot.DiskFaultTest",)),),
    ),
    Fault(
        "names of new segments are not forced",
        f"{SLOT}/RingUpkeep.java",
        "if (!namesDirty || forceNames()) {",
        "if (!namesDirty || storage.durable()) {",
        (JUnit(("org.questdbsf.slot.DiskFaultTest",)),),
    ),
    Fault(
        "a segment is unlinked before the watermark is forced",
        f"{SLOT}/RingUpkeep.java",
        "if (storage.durable() && !forceMarks(acked)) {",
        "if (storage.durable() && state.diskFailed()) {",
        (JUnit(("org.questdbsf.slot.DiskFaultTest",)),),
    ),
    Fault(
        "an OK settles whatever it numbers",
        f"{SENDER}/AckTracker.java",
        "OkAudit.Verdict verdict = audit.judge(ok.sequence(), tables, now);",
        "OkAudit.Verdict verdict = OkAudit.Verdict.PROVEN;",
        (TABLES_DROPPED, JUnit(("org.questdbsf.sender.AckAuditTest",))),
    ),
    Fault(
        "what an OK does not account for counts all the same",
        f"{SENDER}/AckRejections.java",
        "    setup.counters().acksRejected.increment();\n",
        "    setup.counters().acksRejected.increment();\n    setup.ring().acknowledge(last);\n",
        (TABLES_DROPPED,),
    ),
    Fault(
        "an OK of several frames needs one transaction",
        f"{SENDER}/OkAudit.java",
        "long least = table.transaction + table.commits;",
        "long least = table.transaction + 1;",
        (JUnit(("org.questdbsf.sender.AckAuditTest", "org.questdbsf.sender.OkAuditTest")),),
    ),
    Fault(
        "an OK that may be of another table counts without a look",
        f"{SENDER}/AckTracker.java",
        "if (setup.gate().identifiesTables(link.connection().endpoint())) {",
        "if (durable) {",
        (JUnit(("org.questdbsf.sender.AckAuditTest",)),),
    ),
    Fault(
        "a replaced table is written to through the old connection",
        f"{SENDER}/FrameShipper.java",
        "        case REPLACED -> {\n",
        "        case REPLACED -> {\n          if (again) {\n            acks.sameTables(asked);\n"
        "            return null;\n          }\n",
        (JUnit(("org.questdbsf.sender.TableReplacedTest",)),),
    ),
)
