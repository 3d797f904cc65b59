"""A sample of `make torture`: damaged slots read by the engine and by the Python package."""

from __future__ import annotations

from torture.run import GRAVE, torture


def test_no_fault_loses_or_alters_a_frame_in_silence_and_both_readers_agree() -> None:
    counts = torture(each=67)
    assert counts["cases"] > 2_000
    assert counts["recovered"] and counts["torn"] and counts["refused"]
    assert {what: counts[what] for what in GRAVE} == dict.fromkeys(GRAVE, 0)
