"""What may be done with a slot, judged from the scans of its files: the rules of the engine's ``SlotJudge``.

Touches no file. `make torture` compares the two on damaged slots; a rule that changes here changes there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from questdb_sf._side_files import MANIFEST, WITNESS, Witness

_GENERATION = re.compile(r"sf-([0-9a-f]{16})\.sfa")


class Scanned(Protocol):
    """What a scan says of a segment file."""

    file: str
    base_fsn: int
    frames: int
    valid_end: int
    torn_bytes: int
    flagged: bool
    fault: str | None
    hole: str | None

    @property
    def last_fsn(self) -> int:
        """FSN of the last frame; base - 1 where there is none."""


@dataclass(frozen=True)
class Clues:
    """What is beside the segments; ``ours``: this project's engine made the slot; ``set_aside``: damaged segments."""

    watermark: int | None
    witness: Witness | None
    ours: bool
    set_aside: Sequence[str]

    @property
    def released(self) -> int:
        """Up to here frames may be missing: somebody says that they were acknowledged."""
        return max(self._said(), default=-1)

    @property
    def acked(self) -> int:
        """Up to here frames need not be sent: the lower of two witnesses, as sending again is safe."""
        return min(self._said(), default=-1)

    def _said(self) -> list[int]:
        by_witness = None if self.witness is None else self.witness.acked
        return [fsn for fsn in (self.watermark, by_witness) if fsn is not None]


@dataclass
class Judgement:
    """``kept`` are the segments to send from, by FSN; ``refusal`` says why the slot may not be opened, if so."""

    kept: list[Scanned] = field(default_factory=list)
    acked: int = -1
    assumed: int = 0
    refusal: str | None = None

    @property
    def published(self) -> int:
        """FSN of the newest frame, -1 where there is none."""
        return self.kept[-1].last_fsn if self.kept else -1


def judge(segments: Sequence[Scanned], clues: Clues) -> Judgement:
    """Judges a slot without a manifest."""
    for segment in segments:
        if segment.fault or segment.hole:
            return Judgement(refusal=f"{segment.file} {segment.fault or segment.hole}")
    framed = sorted(
        (s for s in segments if s.frames or s.torn_bytes), key=lambda s: (s.base_fsn, s.file)
    )
    if not framed:
        return Judgement(refusal=_end(-1, 0, clues))
    published = framed[-1].last_fsn
    acked = clues.acked if clues.acked <= published else -1
    kept = [left for left, right in pairwise(framed) if _last_held(left, right) > acked]
    kept += framed[-1:]
    lowest = kept[0].base_fsn
    front, assumed = _front(kept, clues)
    refusal = (
        _order(framed) or front or contiguity(kept) or _end(published, framed[-1].torn_bytes, clues)
    )
    return Judgement(kept, max(acked, lowest - 1), assumed, refusal)


def _last_held(segment: Scanned, following: Scanned) -> int:
    """Highest FSN that a segment held: where its end is torn, up to the one behind it."""
    torn_up_to = following.base_fsn - 1 if segment.torn_bytes else -1
    return max(segment.last_fsn, torn_up_to)


def _order(framed: Sequence[Scanned]) -> str | None:
    """Segments are made in the order of their frames, so a base FSN out of it is wrong."""
    for before, after in pairwise(framed):
        if generation(before) > generation(after):
            return (
                f"{before.file} begins with FSN {before.base_fsn}, but {after.file}, which is older, with FSN "
                f"{after.base_fsn}: one of the two headers is wrong"
            )
    return None


def generation(segment: Scanned) -> int:
    """The number in a segment's name, -1 where it has none."""
    named = _GENERATION.fullmatch(segment.file)
    return int(named[1], 16) if named else -1


def _front(kept: Sequence[Scanned], clues: Clues) -> tuple[str | None, int]:
    """Why the slot may not begin where it does, and for how many frames before it nobody can vouch."""
    first = kept[0]
    if clues.witness is not None:
        return _head(clues.witness, kept, clues.released), 0
    released = clues.released
    if first.base_fsn <= released + 1:
        return None, 0
    missing = f"frames {released + 1} to {first.base_fsn - 1} are missing before {first.file}"
    if clues.watermark is not None:
        return f"{missing}: they are above the watermark", 0
    if clues.ours:
        return f"{missing}, and no watermark says that they were acknowledged", 0
    if clues.set_aside:
        return f"{missing}; they may be in {clues.set_aside[0]}, which was set aside", 0
    return None, first.base_fsn


def _head(witness: Witness, kept: Sequence[Scanned], released: int) -> str | None:
    first = kept[0]
    if witness.head > kept[-1].last_fsn or any(s.base_fsn == witness.head for s in kept):
        return None
    if witness.head < first.base_fsn <= released + 1:
        return None  # all that was in it is acknowledged
    return (
        f"the oldest segment that is needed begins with FSN {witness.head}, as {WITNESS} says, and is missing; "
        f"{first.file} begins with FSN {first.base_fsn}"
    )


def contiguity(kept: Sequence[Scanned]) -> str | None:
    """Why segments do not follow each other without a gap, or None."""
    for left, right in pairwise(kept):
        expected = left.last_fsn + 1
        if right.base_fsn != expected:
            where = f" and is damaged from offset {left.valid_end}" if left.torn_bytes else ""
            what = (
                f"frames {expected} to {right.base_fsn - 1} are missing"
                if right.base_fsn > expected
                else f"frames {right.base_fsn} to {expected - 1} are there twice"
            )
            return (
                f"{left.file} ends with FSN {expected - 1}{where}, but {right.file} begins with FSN "
                f"{right.base_fsn}: {what}"
            )
    return None


def _end(published: int, torn_bytes: int, clues: Clues) -> str | None:
    """What was written must be there, or acknowledged, or in the torn end."""
    if clues.witness is None:
        return None
    known = max(published, clues.witness.acked)
    if clues.witness.promised <= known or torn_bytes:
        return None
    return f"frames {known + 1} to {clues.witness.promised} are missing at the end: {WITNESS} says they were written"


def judge_manifest(
    segments: Sequence[Scanned], manifest: tuple[int, int] | None, watermark: int | None
) -> Judgement:
    """Judges a slot of the layout with a manifest, which other clients write and the engine leaves alone."""
    for segment in segments:
        if segment.fault:
            return Judgement(refusal=f"{segment.file} {segment.fault}")
    held = sorted((s for s in segments if s.frames), key=lambda s: (s.base_fsn, s.file))
    refusal = None
    if manifest is not None:
        head, active = manifest
        bases = {s.base_fsn for s in segments if s.valid_end}
        residue = head == active and active not in bases and not held
        if not residue and (head not in bases or active not in bases):
            lost = head if head not in bases else active
            refusal = f"the segment with base FSN {lost}, named by {MANIFEST}, is missing"
        held = [s for s in held if s.base_fsn >= head] if refusal is None else held
        beyond = [s for s in held if s.base_fsn > active]
        if refusal is None and beyond:
            refusal = f"{beyond[0].file} holds frames beyond the active segment of {MANIFEST}"
    elif any(s.flagged for s in segments):
        refusal = f"a segment requires {MANIFEST}, which is missing or damaged"
    acked = -1
    if watermark is not None and held and watermark <= held[-1].last_fsn:
        acked = watermark
    held = [s for s in held if s.last_fsn > acked] or held[-1:]
    holes = [f"{s.file} {s.hole}" for s in held if s.hole]
    refusal = refusal or (holes[0] if holes else contiguity(held))
    return Judgement(held, max(acked, held[0].base_fsn - 1) if held else -1, 0, refusal)
