"""The parameters that families of projections share, checked."""

from __future__ import annotations

from lookalike.errors import OptionError
from lookalike.theory.ranges import checked_slots


def check_draw(slots: int, seed: int) -> None:
    """Raise unless these are a number of slots and a seed."""
    checked_slots(slots)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise OptionError(f"seed={seed!r} is out of range: a whole number from 0 to 2⁶⁴−1")
