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
        """Up to here frames may be missing at the end: somebody says that they were acknowledged."""
        return max(self._by_watermark, -1 if self.witness is None else self.witness.acked)

    @property
    def acked(self) -> int:
        """Up to here frames need not be sent: the lower of the two, as sending again is safe.

        A witness without a watermark may speak of frames that had these FSNs before.
        """
        if self.witness is None:
            return self._by_watermark
        return min(self._by_watermark, self.witness.acked)

    @property
    def witness_is_stale(self) -> bool:
        """Whether a client that knows no witness emptied the slot since, and left it behind.

        Others delete the watermark of a slot that they emptied and begin with a new one, if any, while the engine's
        is forced before the first frame and always written before the witness.

        A power cut may keep the newer witness and lose the newer watermark, as neither is forced when it is written.
        So after one a lower watermark says nothing, and what was forced must be there. A slot that another client
        emptied is not refused by that: it has no watermark, which no power cut takes. One that it began anew is,
        until it is emptied, repaired, or holds as many frames as were forced.
        """
        if self.witness is None or self.watermark is None:
            return self.witness is not None
        return self.witness.same_boot and self.watermark < self.witness.acked

    @property
    def watermark_fault(self) -> str:
        """What is wrong with a watermark that is below the witness."""
        return "missing" if self.watermark is None else f"below what {WITNESS} says"

    @property
    def _by_watermark(self) -> int:
        return -1 if self.watermark is None else self.watermark


@dataclass(frozen=True)
class Missing:
    """Frames that a slot is opened without, and nobody knows whether they arrived; ``why`` is a clause for people."""

    from_fsn: int
    to_fsn: int
    why: str

    def __str__(self) -> str:
        return f"frames {self.from_fsn} to {self.to_fsn} {self.why}"


@dataclass
class Judgement:
    """``kept`` are the segments to send from, by FSN; ``refusal`` says why the slot may not be opened, if so."""

    kept: list[Scanned] = field(default_factory=list)
    acked: int = -1
    refusal: str | None = None
    missing: list[Missing] = field(default_factory=list)

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
    result = Judgement()
    if not framed:
        result.refusal = _end(-1, clues, result.missing)
        return result
    published = framed[-1].last_fsn
    acked = clues.acked
    if acked > published or _head_displaced(framed, clues):
        acked = -1
    kept = [left for left, right in pairwise(framed) if _last_held(left, right) > acked]
    result.kept = kept + framed[-1:]
    result.acked = max(acked, result.kept[0].base_fsn - 1)
    result.refusal = (
        _order(framed)
        or _front(framed, result.kept[0], clues, result.missing)
        or contiguity(result.kept)
        or _end(published, clues, result.missing)
    )
    return result


def _head_displaced(framed: Sequence[Scanned], clues: Clues) -> bool:
    """Whether the oldest segment that is needed should lie among those that are there, and does not.

    A base FSN is wrong, or another client emptied the slot and began anew.
    """
    if clues.witness is None:
        return False
    head = clues.witness.head
    between = framed[0].base_fsn < head <= framed[-1].last_fsn
    return between and all(s.base_fsn != head for s in framed)


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


def _front(
    framed: Sequence[Scanned], first: Scanned, clues: Clues, missing: list[Missing]
) -> str | None:
    """Why the slot may not begin where it does; adds the frames before it that nobody can vouch for.

    Nothing may be missing there but what the watermark releases: that is forced before a segment goes, so that a crash
    leaves none too low. A witness above it may speak of other frames that had these FSNs before.
    """
    released = -1 if clues.watermark is None else clues.watermark
    if first.base_fsn <= released + 1:
        return None
    gap = f"frames {released + 1} to {first.base_fsn - 1} are missing before {first.file}"
    if _witness_is_met(framed, first, clues):
        why = f"are taken for acknowledged, as {WITNESS} says; the watermark is {clues.watermark_fault}"
    elif clues.watermark is not None:
        return f"{gap}: they are above the watermark"
    elif clues.ours:
        return f"{gap}, and no watermark says that they were acknowledged"
    elif clues.set_aside:
        return f"{gap}; they may be in {clues.set_aside[0]}, which was set aside"
    else:
        why = "are taken for acknowledged, as another client made the slot and wrote no watermark"
    missing.append(Missing(released + 1, first.base_fsn - 1, why))
    return None


def _witness_is_met(framed: Sequence[Scanned], first: Scanned, clues: Clues) -> bool:
    """Whether all that the witness says is there: then the watermark beside it is what is wrong."""
    witness = clues.witness
    if witness is None or _head_displaced(framed, clues):
        return False
    return first.base_fsn <= witness.head and witness.all_written <= framed[-1].last_fsn


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


def _end(published: int, clues: Clues, missing: list[Missing]) -> str | None:
    """What was written must be there, or acknowledged: also where the end is torn.

    Only a host that went down loses what was not forced; that is added to what is missing.
    """
    witness = clues.witness
    if witness is None:
        return None
    first = max(published, clues.released) + 1
    if witness.all_written < first:
        return None
    if clues.witness_is_stale:
        why = (
            "are taken for acknowledged, as another client emptied the slot: its watermark is "
            f"{clues.watermark_fault}"
        )
    elif witness.promised >= first:
        how = "written, and the host is up since" if witness.same_boot else "forced to disk"
        return (
            f"frames {first} to {witness.promised} are missing at the end: {WITNESS} says they were {how}. If another "
            "client emptied the slot and began anew, 'questdb-sf slots repair' takes it as it is"
        )
    else:
        why = "were written, not forced to disk, and are lost"
    missing.append(Missing(first, witness.all_written, why))
    return None


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
    return Judgement(held, max(acked, held[0].base_fsn - 1) if held else -1, refusal)
