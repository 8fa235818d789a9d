"""The ranges of the three numbers every search begins with, and what to say to someone outside them."""

from __future__ import annotations

import numpy as np

from lookalike.errors import OptionError

MOST_SLOTS = 65_536
"""Longer signatures than this are refused: a quarter of a megabyte an item is no longer a sketch of it."""


def checked_threshold(threshold: float | str) -> float:
    """A similarity over 0 and at most 1, or an OptionError that says so."""
    share = _number("threshold", threshold)
    if not 0 < share <= 1:
        raise OptionError(
            f"threshold={share:.12g} is out of range: over 0 and at most 1{_meant('threshold', share)}"
        )
    return share


def checked_recall(recall: float) -> float:
    """A chance over 0 and under 1, or an OptionError that says so."""
    share = _number("recall", recall)
    if share == 1:
        raise OptionError(
            "recall=1 is out of range: over 0 and under 1; bands always miss a few pairs: use recall=0.999"
        )
    if not 0 < share < 1:
        raise OptionError(f"recall={share:g} is out of range: over 0 and under 1{_meant('recall', share)}")
    return share


def checked_slots(slots: int) -> int:
    """A whole number of slots from 1 to `MOST_SLOTS`, or an OptionError that says so."""
    if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or not 1 <= slots <= MOST_SLOTS:
        raise OptionError(f"slots={slots!r} is out of range: a whole number from 1 to {MOST_SLOTS:,}")
    return int(slots)


def _number(name: str, value: float | str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{name}={value!r} is not a number: give one between 0 and 1") from None


def _meant(name: str, share: float) -> str:
    return f"; did you mean {name}={share / 100:g}?" if 2 <= share <= 100 else ""
