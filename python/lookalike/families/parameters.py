"""The parameters that families of projections and of bits share, checked."""

from __future__ import annotations

from lookalike.errors import OptionError
from lookalike.theory.ranges import checked_slots

#: Kernels number the bits of an item by 32 bits.
_MOST_BITS = 2**32 - 1


def check_bits(bits: int) -> None:
    """Raise unless kernels can number so many bits; whoever calls knows that it is a number of them."""
    if bits > _MOST_BITS:
        raise OptionError(f"bits={bits!r} is out of range: an item has up to {_MOST_BITS:,}")


def check_draw(slots: int, seed: int) -> None:
    """Raise unless these are a number of slots and a seed."""
    checked_slots(slots)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise OptionError(f"seed={seed!r} is out of range: a whole number from 0 to 2⁶⁴−1")
