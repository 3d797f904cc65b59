"""Names of columns as QuestDB compares them."""

from __future__ import annotations

from collections.abc import Iterable


def fold(name: str) -> str:
    """Two names are the same column where these are equal: QuestDB folds character by character."""
    return name.lower() if name.isascii() else "".join(c.lower()[:1] for c in name)


def twice(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two of these names that are one column, or None."""
    seen: dict[str, str] = {}
    for name in names:
        folded = fold(name)
        if folded in seen:
            return seen[folded], name
        seen[folded] = name
    return None
