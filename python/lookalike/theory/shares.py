"""How many of so many a share is, where the product of floats may be one off: .07 · 100 is over 7."""

from __future__ import annotations

import math


def least_count(share: float, of: int) -> int:
    """The least number that is at least this share of so many (one or more).

    Examples
    --------
    >>> least_count(0.07, 100), math.ceil(0.07 * 100)
    (7, 8)
    """
    near = math.ceil(share * of)
    return next(count for count in (near - 1, near, near + 1) if count / of >= share)


def most_count(share: float, of: int) -> int:
    """The greatest number that is at most this share of so many (one or more).

    Examples
    --------
    >>> most_count(0.29, 100), math.floor(0.29 * 100)
    (29, 28)
    """
    near = math.floor(share * of)
    return next(count for count in (near + 1, near, near - 1) if count / of <= share)
