"""The Python reading of the wire format against bytes that the released client wrote, and against damage."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from questdb_sf import frames

RECORDED = sorted(
    (Path(__file__).parents[1] / "jvm/engine/src/test/resources/frames").glob("*.json")
)


def plain(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def test_all_recordings_are_here() -> None:
    assert len(RECORDED) == 26


@pytest.mark.parametrize("recording", RECORDED, ids=lambda p: p.stem)
def test_recorded_frames_decode_to_their_rows(recording: Path) -> None:
    recorded = json.loads(recording.read_text())
    symbols: list[str] = []
    for text, expected in zip(recorded["frames_hex"], recorded["decoded"], strict=True):
        decoded = frames.decode(bytes.fromhex(text), symbols)
        assert decoded.flags == expected["flags"]
        for table, wanted in zip(decoded.to_json()["tables"], expected["tables"], strict=True):
            assert table["table"] == wanted["table"]
            assert [(c["name"], c["type"]) for c in table["columns"]] == [
                (c["name"], c["type"]) for c in wanted["schema"]
            ]
            assert table["data"] == [{k: plain(v) for k, v in r.items()} for r in wanted["data"]]


@pytest.mark.parametrize("recording", RECORDED, ids=lambda p: p.stem)
def test_each_truncation_is_refused_with_an_offset(recording: Path) -> None:
    message = bytes.fromhex(json.loads(recording.read_text())["frames_hex"][0])
    for length in range(len(message)):
        with pytest.raises(frames.MalformedMessage):
            frames.decode(message[:length])


def test_each_flipped_byte_is_refused_or_still_a_message() -> None:
    message = bytes.fromhex(json.loads(RECORDED[-1].read_text())["frames_hex"][0])
    for position in range(len(message)):
        damaged = bytearray(message)
        damaged[position] ^= 0xFF
        with contextlib.suppress(frames.MalformedMessage):  # the only error allowed
            frames.decode(bytes(damaged))


@pytest.mark.parametrize(
    ("body", "values"),
    [
        (
            "01 e8 03 00 00 00 00 00 00 d0 07 00 00 00 00 00 00 52 c4 06",
            [1000, 2000, 3000, 4010, 5000],
        ),
        ("00 0a 00 00 00 00 00 00 00 14 00 00 00 00 00 00 00", [10, 20]),
        ("01 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 6f bb 00 00 00", [0, 1, 3000]),
    ],
)
def test_gorilla_timestamps(body: str, values: list[int]) -> None:
    table = (
        bytes.fromhex("00 00 01 67") + bytes([len(values)]) + bytes.fromhex("01 00 0a 00 " + body)
    )
    message = bytes.fromhex("51 57 50 31 01 0c 01 00") + len(table).to_bytes(4, "little") + table
    data = frames.decode(message).tables[0].data
    assert [row[frames.DESIGNATED] for row in data] == values


def test_a_symbol_without_its_dictionary_keeps_its_id() -> None:
    message_b = (
        "5157503101080100 1b000000 0201 0441504143 0174010201 7309000a 0002 0000093d0000000000"
    )
    row = frames.decode(bytes.fromhex(message_b)).tables[0].data[0]
    assert row["s"] == "APAC"
    again = bytearray(bytes.fromhex(message_b))
    again[-10] = 1  # refers to id 1, which an earlier message defined
    assert frames.decode(bytes(again)).tables[0].data[0]["s"] == {"id": 1}


def test_a_hostile_dictionary_start_takes_no_memory() -> None:
    body = bytes.fromhex("ffffffffffffffff7f 00")
    message = bytes.fromhex("51575031 01080000") + len(body).to_bytes(4, "little") + body
    with pytest.raises(frames.MalformedMessage, match="offset 12"):
        frames.decode(message)
