"""How many things a share of them is: as shares compare when they are divided, not as products round.

.07 · 100 is a little over 7 in floating point, and .29 · 100 a little under 29.
"""

from __future__ import annotations


def fewest(share: float, among: int) -> int:
    """The least count that is at least a share of so many things.

    Examples
    --------
    >>> fewest(0.07, 100), fewest(0.071, 100)
    (7, 8)
    """
    count = int(share * among)
    while among and count / among < share:
        count += 1
    while among and count > 0 and (count - 1) / among >= share:
        count -= 1
    return count


def most(share: float, among: int) -> int:
    """The greatest count that is at most a share of so many things.

    Examples
    --------
    >>> most(0.29, 100), most(0.299, 100)
    (29, 29)
    """
    count = int(share * among)
    while among and (count + 1) / among <= share:
        count += 1
    while among and count > 0 and count / among > share:
        count -= 1
    return count
