"""The ranges of the three numbers every search begins with, and what to say to someone outside them."""

from __future__ import annotations

import operator

import numpy as np

from lookalike.errors import OptionError
from lookalike.wording import pointed

MOST_SLOTS = 65_536
"""Longer signatures than this are refused: a quarter of a megabyte an item is no longer a sketch of it."""


#: Methods that have no use for a promise.
_MISS_NOTHING = ("prefix", "divide", "exact", "pieces", "covering")


def checked_threshold(threshold: float | str) -> float:
    """A similarity over 0 and at most 1, or an OptionError that says so."""
    share = _number("threshold", threshold)
    if not 0 < share <= 1:
        raise OptionError(
            f"threshold={share:.12g} is out of range: over 0 and at most 1{_meant('threshold', share)}"
        )
    return share


def checked_recall(recall: float, *, exact: str = "method='exact'", method: str | None = None) -> float:
    """A chance over 0 and under 1, or an OptionError that says so.

    To somebody who asks for every pair it names the `exact` road, unless that is the `method` asked for.
    """
    share = _number("recall", recall)
    if share == 1:
        if method in _MISS_NOTHING:
            raise OptionError(f"recall=1 is what method={method!r} has in any case: leave out recall")
        raise OptionError(
            f"recall=1 is more than bands can promise, which always miss a few pairs: {exact} "
            "finds every pair; or use recall=0.999"
        )
    if not 0 < share < 1:
        meant = _meant("recall", share) if share < 100 else ""
        raise OptionError(f"recall={share:g} is out of range: over 0 and under 1{meant}")
    return share


def checked_slots(slots: int) -> int:
    """A whole number of slots from 1 to `MOST_SLOTS`, or an OptionError that says so."""
    number = whole(slots)
    if number is None or not 1 <= number <= MOST_SLOTS:
        raise OptionError(f"slots={slots!r} is out of range: a whole number from 1 to {MOST_SLOTS:,}")
    return number


def checked_seed(seed: int) -> int:
    """A seed of 64 bits, or an OptionError that says so."""
    number = whole(seed)
    if number is None or not 0 <= number < 2**64:
        raise OptionError(f"seed={seed!r} is out of range: a whole number from 0 to 2⁶⁴−1")
    return number


def whole(value: object) -> int | None:
    """A whole number of any kind, NumPy's among them, as Python's own; None of anything else.

    NumPy's would print as np.int64(13) and cannot be written as JSON. True and False are no numbers here.

    Examples
    --------
    >>> whole(np.int64(13)), whole(13.0), whole(True), whole(np.True_)
    (13, None, None, None)
    """
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _number(name: str, value: float | str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        number = pointed(value) if isinstance(value, str) else None
        advice = "give one between 0 and 1" if number is None else f"write {number}, with a point"
        raise OptionError(f"{name}={value!r:.40} is not a number: {advice}") from None


def _meant(name: str, share: float) -> str:
    return f"; did you mean {name}={share / 100:g}?" if 2 <= share <= 100 else ""
