"""Slots read and put right without the JVM: verdicts, repair of every kind of damage, locks, and the command line."""

from __future__ import annotations

import fcntl
import io
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import google_crc32c
import pytest

from harness.server import ServerProcess
from harness.slotfiles import FRAME_BYTES, make_slot, message
from questdb_sf import cli, doctor, slot_commands, slots

NOBODY = 65534
RECORDED = Path(__file__).parents[1] / "jvm/engine/src/test/resources/slots"


def damage(slot: Path, segment_number: int, frame: int) -> None:
    """Turns one byte of a frame's payload over."""
    file = slot / f"sf-{segment_number:016x}.sfa"
    data = bytearray(file.read_bytes())
    data[24 + frame * FRAME_BYTES + FRAME_BYTES - 1] ^= 0xFF
    file.write_bytes(data)


def readable(slot: Path) -> list[int]:
    return [f["tables"][0]["data"][0]["n"] for f in slots.dump(slot, rows=True)]


def run(*arguments: object) -> int:
    return cli.main([str(a) for a in arguments])


@pytest.mark.parametrize("recorded", sorted(RECORDED.glob("*.expect.json")), ids=lambda p: p.name)
def test_recorded_slots_are_read_as_they_were_written(recorded: Path) -> None:
    expected = json.loads(recorded.read_text())
    slot = RECORDED / recorded.name.removesuffix(".expect.json")
    found = {s.file: s for s in slots.inspect(slot).segments}
    for wanted in expected["segments"]:
        got = found[wanted["file"]]
        assert (got.frames, got.valid_end) == (wanted["frame_count"], wanted["end"])
    frames = [frame for wanted in expected["segments"] for frame in wanted["frames"]]
    assert [f["crc32c"] for f in slots.dump(slot)] == [f["crc"] for f in frames]


def test_a_clean_slot_needs_no_repair(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 3), (3, 2), acked=1)
    assert slots.inspect(slot).verdict == slots.CLEAN
    assert slot_commands.repair(slot).given_up == []
    assert readable(slot) == [0, 1, 2, 3, 4]


def test_frames_behind_damage_are_readable_and_repair_keeps_those_before(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 3), (3, 4), (7, 2))
    before = {p.name: p.read_bytes() for p in slot.glob("*.sfa")}
    damage(slot, 1, 1)
    damaged = (slot / f"sf-{1:016x}.sfa").read_bytes()
    report = slots.inspect(slot)
    assert report.verdict == slots.REFUSED
    assert "FSN 4 is damaged" in str(report.reason)
    assert readable(slot) == [0, 1, 2, 3, 5, 6, 7, 8]

    plan = slot_commands.plan_repair(slot)
    assert "2 readable frames with 2 rows" in plan.given_up[0]
    assert (slot / f"sf-{1:016x}.sfa").read_bytes() == damaged, "planning changes nothing"
    assert slot_commands.repair(slot).kept_frames == 4
    assert readable(slot) == [0, 1, 2, 3]
    assert slots.inspect(slot).verdict == slots.CLEAN
    assert (slot / f"sf-{1:016x}.sfa.corrupt").read_bytes() == damaged
    assert (slot / f"sf-{2:016x}.sfa.corrupt").read_bytes() == before[f"sf-{2:016x}.sfa"]


def test_a_missing_segment_a_bad_header_and_frames_twice(tmp_path: Path) -> None:
    gap = make_slot(tmp_path / "gap", (0, 2), (4, 2))
    assert slots.inspect(gap).verdict == slots.REFUSED
    slot_commands.repair(gap)
    assert readable(gap) == [0, 1]

    header = make_slot(tmp_path / "header", (0, 2), (2, 2), (4, 2))
    file = header / f"sf-{1:016x}.sfa"
    file.write_bytes(b"XX" + file.read_bytes()[2:])
    assert readable(header) == [0, 1, 2, 3, 4, 5]
    slot_commands.repair(header)
    assert readable(header) == [0, 1]

    twice = make_slot(tmp_path / "twice", (0, 3), (2, 2))
    slot_commands.repair(twice)
    assert readable(twice) == [0, 1, 2]
    for slot in (gap, header, twice):
        assert slots.inspect(slot).verdict == slots.CLEAN


def test_what_is_missing_before_the_first_segment_is_given_up_alone(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 2), (4, 2), acked=1)
    assert "frames 2 to 3 are missing" in str(slots.inspect(slot).reason)
    slot_commands.repair(slot)
    report = slots.inspect(slot)
    assert (report.verdict, report.acked_fsn, report.published_fsn) == (slots.CLEAN, 3, 5)


def test_damage_in_what_is_acknowledged_leaves_an_empty_slot(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 6), acked=3)
    damage(slot, 0, 2)
    slot_commands.repair(slot)
    report = slots.inspect(slot)
    assert report.verdict == slots.CLEAN
    assert readable(slot) == []
    assert report.published_fsn == -1


def test_any_flipped_byte_can_be_repaired_and_no_good_frame_before_it_is_lost(
    tmp_path: Path,
) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    for n in range(150):
        slot = make_slot(tmp_path / str(n), (0, 3), (3, 3), (6, 3))
        hit = dice.randrange(3)
        file = slot / f"sf-{hit:016x}.sfa"
        data = bytearray(file.read_bytes())
        position = dice.randrange(24 + 3 * FRAME_BYTES)
        data[position] ^= 1 << dice.randrange(8)
        file.write_bytes(data)
        if slots.inspect(slot).verdict != slots.REFUSED:
            continue
        try:
            slot_commands.repair(slot)
        except slot_commands.NotRepairable as error:
            assert "newer format" in str(error)
            continue
        kept = readable(slot)
        assert kept == list(range(kept[0], kept[0] + len(kept))) if kept else True
        if position >= 24:
            assert kept == list(range(hit * 3 + (position - 24) // FRAME_BYTES)), position
        elif position < 8:  # another base FSN may be as good as the right one
            assert kept == (list(range(hit * 3)) if hit else list(range(3, 9))), position
        assert slots.inspect(slot).verdict != slots.REFUSED


def test_a_held_slot_is_not_changed(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 3))
    (slot / ".failed").write_text("because\n")
    damage(slot, 0, 1)
    with (slot / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert slots.inspect(slot).verdict == slots.LIVE
        for change in ("quarantine", "clear-failed"):
            assert run("slots", change, slot) == 2
        assert run("slots", "repair", "--yes", slot) == 2
    assert readable(slot) == [0, 2]
    assert (slot / ".failed").exists()


def test_a_directory_that_is_no_slot_is_not_called_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_slot(tmp_path, (0, 3))
    (tmp_path / "empty").mkdir()
    for command in ("show", "dump"):
        assert run("slots", command, tmp_path / "empty") == 2
        assert "empty is no slot: no lock and no segment is in it\n" in capsys.readouterr().err
        assert run("slots", command, tmp_path) == 2
        assert "it holds slots, such as app-0" in capsys.readouterr().err


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slot = make_slot(tmp_path, (0, 4))
    (slot / ".failed").write_text("frame 2 was refused\n")
    damage(slot, 0, 2)
    assert run("slots", "show", slot) == 1
    saved = tmp_path / "saved.jsonl"
    assert run("slots", "extract", slot, saved) == 1
    assert saved.stat().st_mode & 0o777 == 0o600
    rows = [json.loads(line) for line in saved.read_text().splitlines()]
    assert [r["tables"][0]["data"][0]["n"] for r in rows] == [0, 1, 3]
    assert rows[-1]["fsn"] is None
    assert run("slots", "extract", slot, saved) == 2, "a file that is there is not overwritten"
    assert run("slots", "repair", slot) == 1
    assert "--yes" in capsys.readouterr().err
    assert run("slots", "repair", "--yes", slot) == 0
    assert run("slots", "show", slot) == 0
    assert run("slots", "clear-failed", slot) == 0
    assert not (slot / ".failed").exists()
    assert run("slots", "quarantine", slot) == 0
    assert readable(tmp_path / "app-0.unreplayable-1") == [0, 1]
    assert run("slots", "quarantine", slot) == 2


def test_doctor_names_each_trouble_and_what_to_do(tmp_path: Path) -> None:
    for name in ("refused", "failed", "stranded", "drained"):
        make_slot(tmp_path, (0, 3)).rename(tmp_path / name)
    damage(tmp_path / "refused", 0, 1)
    (tmp_path / "failed/.failed").write_text("too large\n")
    for file in (tmp_path / "stranded").glob("*.sfa"):
        os.utime(file, (0, 0))
    next((tmp_path / "drained").glob("*.sfa")).unlink()
    found = {f.about: f for f in doctor.examine(tmp_path).findings}
    assert found["refused"].level == doctor.ACTION
    assert "slots repair" in found["refused"].todo
    assert "too large" in found["failed"].what
    assert "clear-failed" in found["failed"].todo
    assert "--any-target" in found["stranded"].todo
    assert found["drained"].level == doctor.OK
    assert run("doctor", tmp_path) == 1
    assert run("doctor", tmp_path / "nothing") == 2


@pytest.mark.parametrize("victim", [0, 1, 2])
@pytest.mark.parametrize("left", [None, 0, 24, 4096])
def test_a_segment_that_is_gone_is_refused_and_repair_names_what_is_missing(
    tmp_path: Path, victim: int, left: int | None
) -> None:
    slot = make_slot(tmp_path, (0, 3), (3, 3), (6, 3), acked=1, witness=(1, 0, 8, 8))
    file = slot / f"sf-{victim:016x}.sfa"
    if left is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:24] if left == 24 else bytes(left))
    report = slots.inspect(slot)
    assert (report.verdict, "missing" in str(report.reason)) == (slots.REFUSED, True)
    findings = {f.about: f.what for f in doctor.examine(tmp_path).findings}
    assert "is refused" in findings["app-0"]
    assert slot_commands.repair(slot).given_up
    assert readable(slot) == ([*range(3, 9)] if victim == 0 else [*range(victim * 3)])
    assert slots.inspect(slot).verdict == slots.CLEAN


def test_a_wrong_base_or_watermark_hides_no_frame(tmp_path: Path) -> None:
    risen = make_slot(tmp_path / "risen", (0, 3), acked=2, witness=(0, 0, 2, 2))
    assert slots.inspect(risen).acked_fsn == 0
    moved = make_slot(tmp_path / "moved", (8, 6), acked=11, witness=(11, 10, 15, 15))
    assert "frames 14 to 15 are missing at the end" in str(slots.inspect(moved).reason)
    slot_commands.repair(moved)
    assert (
        slots.inspect(moved).acked_fsn == 7
    )  # which FSNs are right is not known: all is sent again


def test_an_acknowledged_head_may_be_dropped(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 3), (3, 3), acked=2, witness=(2, 0, 2, 2))
    report = slots.inspect(slot)
    assert (report.verdict, report.acked_fsn, report.published_fsn) == (slots.CLEAN, 2, 5)


@pytest.mark.parametrize("acked", [-1, 4])
def test_a_slot_that_another_client_emptied_is_not_refused(tmp_path: Path, acked: int) -> None:
    """Others do not know ``.witness`` and leave it behind; what they know they delete."""
    slot = make_slot(tmp_path, acked=acked, witness=(acked, 0, 8, 8))
    assert "slots repair" in str(slots.inspect(slot).reason)
    (slot / ".ack-watermark").write_bytes(struct.pack("<4sIq", b"AKW1", 0, 8))
    assert (slots.inspect(slot).verdict, slots.inspect(slot).missing) == (slots.CLEAN, [])
    (slot / ".ack-watermark").unlink()
    report = slots.inspect(slot)
    assert [(m.from_fsn, m.to_fsn) for m in report.missing] == [(acked + 1, 8)]
    (tmp_path / ".questdb-sf").touch()
    told = [f.what for f in doctor.examine(tmp_path).findings if f.about == "app-0"]
    assert "another client emptied the slot" in told[0]
    assert told[-1] == "holds nothing that waits"


@pytest.mark.parametrize("watermark", [None, -1, 0, 3])
@pytest.mark.parametrize("witness", [(-1, 0, 8, 8), (4, 3, 8, 8), (4, 5, 8, 8), (8, 9, 8, 8)])
def test_a_slot_that_another_client_began_anew_is_sent_whole(
    tmp_path: Path, witness: tuple[int, int, int, int], watermark: int | None
) -> None:
    """The FSNs of the witness are those of other frames."""
    done = -1 if watermark is None else watermark
    long = slots.inspect(make_slot(tmp_path / "long", (0, 12), acked=watermark, witness=witness))
    assert (long.verdict, long.missing) == (slots.CLEAN, [])
    assert long.acked_fsn <= done
    short = slots.inspect(make_slot(tmp_path / "short", (0, 4), acked=watermark, witness=witness))
    if short.verdict == slots.REFUSED:
        assert done >= witness[0]
        assert "slots repair" in str(short.reason)
        slot_commands.repair(tmp_path / "short/app-0")
        short = slots.inspect(tmp_path / "short/app-0")
    assert (short.verdict, short.acked_fsn <= done, short.published_fsn) == (slots.CLEAN, True, 3)


@pytest.mark.parametrize("watermark", [None, 5])
@pytest.mark.parametrize(
    "witness", [(500, 400, 500, 500), (21, 21, 30, 30), (22, 20, 23, 23), (22, 22, 23, 23)]
)
def test_a_stale_witness_hides_no_missing_front(
    tmp_path: Path, witness: tuple[int, int, int, int], watermark: int | None
) -> None:
    """Its frames had the same FSNs, and are others than those that are missing."""
    slot = make_slot(tmp_path, (21, 3), acked=watermark, witness=witness)
    first = 0 if watermark is None else watermark + 1
    for _ in range(2):
        assert f"frames {first} to 20 are missing" in str(slots.inspect(slot).reason)
        another_boot(slot)
    findings = {f.about: f.what for f in doctor.examine(tmp_path).findings}
    assert "is refused" in findings["app-0"]
    assert slot_commands.repair(slot).given_up
    assert (slots.inspect(slot).verdict, len(readable(slot))) == (slots.CLEAN, 3)


@pytest.mark.parametrize("watermark", [None, 3])
def test_a_front_that_only_the_witness_releases_is_named(
    tmp_path: Path, watermark: int | None
) -> None:
    """What is there is all that the witness speaks of, so only the watermark is wrong."""
    slot = make_slot(tmp_path, (6, 3), acked=watermark, witness=(7, 6, 8, 8))
    report = slots.inspect(slot)
    assert (report.verdict, report.acked_fsn, report.published_fsn) == (slots.CLEAN, 5, 8)
    first = 0 if watermark is None else watermark + 1
    assert [(m.from_fsn, m.to_fsn) for m in report.missing] == [(first, 5)]
    told = [f.what for f in doctor.examine(tmp_path).findings if f.about == "app-0"]
    assert told[0].startswith(f"frames {first} to 5 are taken for acknowledged, as .witness says")


def test_a_watermark_that_a_power_cut_left_behind_softens_no_promise(tmp_path: Path) -> None:
    """Neither file is forced when it is written, so the newer witness may survive alone."""
    forced = make_slot(tmp_path / "forced", (0, 3), acked=0, witness=(1, 0, 8, 8))
    another_boot(forced)
    reason = str(slots.inspect(forced).reason)
    assert "frames 3 to 8 are missing at the end" in reason
    assert "forced to disk" in reason and "slots repair" in reason
    unforced = make_slot(tmp_path / "unforced", (0, 3), acked=0, witness=(1, 0, 8, 2))
    another_boot(unforced)
    told = [str(m) for m in slots.inspect(unforced).missing]
    assert told == ["frames 3 to 8 were written, not forced to disk, and are lost"]
    (forced / f"sf-{0:016x}.sfa").unlink()  # another client sends all there is
    (forced / ".ack-watermark").unlink()
    assert "another client emptied the slot" in str(slots.inspect(forced).missing[0])


def test_what_a_torn_end_lacks_is_damage_unless_the_host_went_down(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 3), acked=-1, witness=(-1, 0, 2, 0))
    damage(slot, 0, 2)
    report = slots.inspect(slot)
    assert report.verdict == slots.REFUSED
    assert "frames 2 to 2 are missing at the end" in str(report.reason)
    another_boot(slot)
    report = slots.inspect(slot)
    assert (report.verdict, report.published_fsn) == (slots.TORN, 1)
    told = [f.what for f in doctor.examine(tmp_path).findings if f.about == "app-0"]
    assert told[0] == "frames 2 to 2 were written, not forced to disk, and are lost"
    damage(slot, 0, 0)
    file = slot / f"sf-{0:016x}.sfa"
    file.write_bytes(file.read_bytes()[: 24 + FRAME_BYTES].ljust(4096, b"\0"))
    assert "says they were forced to disk" in str(slots.inspect(slot).reason)


def another_boot(slot: Path) -> None:
    """The host went down and came up since the witness was written."""
    body = bytearray((slot / ".witness").read_bytes()[:-4])
    body[40:48] = struct.pack("<q", 1)
    (slot / ".witness").write_bytes(body + struct.pack("<I", google_crc32c.value(bytes(body))))


def test_a_damaged_first_frame_is_not_an_empty_slot(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 3), (3, 3))
    damage(slot, 0, 0)
    assert slots.inspect(slot).verdict == slots.REFUSED
    assert "is refused" in {f.about: f.what for f in doctor.examine(tmp_path).findings}["app-0"]
    slot_commands.repair(slot)
    assert readable(slot) == []


def test_the_front_may_lack_only_in_slots_of_others_and_doctor_says_so(tmp_path: Path) -> None:
    make_slot(tmp_path, (4, 2))
    found = [f.what for f in doctor.examine(tmp_path).findings if f.about == "app-0"]
    assert "frames 0 to 3 are taken for acknowledged" in found[0]
    (tmp_path / "app-0/.target").write_text("format=1\n")
    assert slots.inspect(tmp_path / "app-0").verdict == slots.REFUSED


@pytest.mark.parametrize("name", ["sf-0000000000000001.sfa", ".ack-watermark", ".witness", ".lock"])
def test_what_is_no_file_is_named_and_hides_nothing(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = make_slot(tmp_path, (0, 3)).rename(tmp_path / "odd")
    (odd / name).unlink(missing_ok=True)
    os.mkfifo(odd / name)
    make_slot(tmp_path, (0, 3))
    os.mkfifo(tmp_path / "app-0/.target")
    verdicts = {r.slot: r.verdict for r in slots.list_slots(tmp_path)}
    assert verdicts == {"app-0": slots.CLEAN, "odd": slots.UNREADABLE}
    assert run("slots", "list", tmp_path) == 2
    assert run("slots", "repair", "--yes", odd) == 2
    assert run("doctor", tmp_path) == 1
    assert "not a regular file" in capsys.readouterr().out


def test_a_directory_that_may_not_be_read_hides_no_slot() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        make_slot(Path(place), (0, 3))
        closed = Path(place, "backup")
        closed.mkdir(mode=0o000)
        root = os.geteuid() == 0
        if root:  # root may read everything, nobody may not
            Path(place).chmod(0o755)
            Path(place, "app-0").chmod(0o755)
            for file in Path(place, "app-0").iterdir():
                os.chown(file, NOBODY, -1)
            os.seteuid(NOBODY)
        try:
            verdicts = {r.slot: r.verdict for r in slots.list_slots(place)}
            findings = {f.about: f for f in doctor.examine(place).findings}
        finally:
            if root:
                os.seteuid(0)
            closed.chmod(0o700)
    assert verdicts == {"app-0": slots.CLEAN, "backup": slots.UNREADABLE}
    assert "Permission denied" in findings["backup"].what


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize(
    "name", ["sf-0000000000000000.sfa", ".ack-watermark", ".witness", ".lock", ".lock.pid"]
)
def test_a_file_of_another_user_is_not_opened(tmp_path: Path, name: str) -> None:
    slot = make_slot(tmp_path, (0, 3), acked=0, witness=(0, 0, 2, 2))
    (slot / ".lock.pid").write_text("1\n")
    os.chown(slot / name, NOBODY, -1)
    report = slots.inspect(slot)
    assert report.verdict == slots.UNREADABLE
    assert f"{name} belongs to user id {NOBODY}" in str(report.reason)
    with pytest.raises(OSError, match="belongs to user id"):
        slot_commands.repair(slot)


def test_a_hole_of_terabytes_is_not_read(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 3))
    os.truncate(slot / f"sf-{0:016x}.sfa", 4 << 40)
    assert "larger than a segment can be" in str(slots.inspect(slot).reason)


def test_slots_that_this_version_does_not_send_are_not_called_sound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slot = make_slot(tmp_path, (0, 3))
    payload = bytearray(message(3))
    payload[12] = 7  # its dictionary begins behind the symbols of other frames
    file = slot / f"sf-{0:016x}.sfa"
    covered = struct.pack("<I", len(payload)) + payload
    data = bytearray(file.read_bytes())
    end = 24 + 3 * FRAME_BYTES
    data[end : end + FRAME_BYTES] = struct.pack("<I", google_crc32c.value(covered)) + covered
    file.write_bytes(data)
    assert "needs symbols" in str(slots.inspect(slot).newer)
    assert run("slots", "verify", tmp_path) == 1
    assert "newer: app-0: frame 3 needs symbols" in capsys.readouterr().out
    finding = next(f for f in doctor.examine(tmp_path).findings if f.about == "app-0")
    assert "the program that wrote it" in finding.todo
    assert "slots drain" not in finding.todo


def test_extract_reads_frames_whose_columns_bring_their_symbols(tmp_path: Path) -> None:
    slot = make_slot(tmp_path, (0, 1))
    payload = bytes.fromhex(
        "51575031010001003800000001740203017309017805000a0002026262027a30"
        "000100000000000000000001000000000000000000401e18240a060001401e18240a0600"
    )
    covered = struct.pack("<I", len(payload)) + payload
    head = struct.pack("<4sBBHqq", b"SF01", 1, 0, 0, 0, 0)
    body = head + struct.pack("<I", google_crc32c.value(covered)) + covered
    (slot / f"sf-{0:016x}.sfa").write_bytes(body.ljust(4096, b"\0"))
    out = io.StringIO()
    assert slot_commands.extract(slot, out) == (1, 2)
    rows = json.loads(out.getvalue())["tables"][0]["data"]
    assert [(row["s"], row["x"]) for row in rows] == [("bb", 0), ("z0", 1)]


def test_doctor_says_when_a_directory_is_no_sf_dir(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o777)
    (tmp_path / "something").mkdir()
    assert run("doctor", tmp_path) == 2
    assert "is no sf_dir" in capsys.readouterr().err
    make_slot(tmp_path, (0, 3))
    run("doctor", tmp_path)
    assert "chmod" not in capsys.readouterr().out, "another client's directory"
    (tmp_path / ".questdb-sf").touch()
    run("doctor", tmp_path)
    assert f"chmod o= {tmp_path}" in capsys.readouterr().out


def test_drain_sends_a_repaired_slot_and_refuses_it_before(
    tmp_path: Path, server: ServerProcess
) -> None:
    slot = make_slot(tmp_path, (0, 3))
    damage(slot, 0, 1)

    def drain(*more: str) -> tuple[int, dict]:
        done = subprocess.run(
            [sys.executable, "-m", "questdb_sf.cli", "slots", "drain", str(slot), *more],
            env={**os.environ, "QDB_CLIENT_CONF": f"ws::addr={server.addr};sf_min_free_bytes=0;"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, json.loads(done.stdout.splitlines()[-1])

    status, answer = drain()
    assert (status, answer["code"]) == (1, "SLOT_REFUSED")  # no .target
    status, answer = drain("--any-target")
    assert (status, answer["code"]) == (1, "SLOT_REFUSED")
    assert "slots repair" in answer["error"]
    slot_commands.repair(slot)
    status, answer = drain("--any-target")
    assert (status, answer["drained"]) == (0, True)
    assert server.await_count("t", 1) >= 1
    assert not list(slot.glob("*.sfa"))
