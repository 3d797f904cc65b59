"""Slots read and put right without the JVM: verdicts, repair of every kind of damage, locks, and the command line."""

from __future__ import annotations

import fcntl
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from harness.server import ServerProcess
from harness.slotfiles import FRAME_BYTES, make_slot
from questdb_sf import cli, doctor, slot_commands, slots

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
    assert "FSN 2 to 3 are missing" in str(slots.inspect(slot).reason)
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
