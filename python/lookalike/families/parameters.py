"""How many bits an item may have."""

from __future__ import annotations

from lookalike.errors import OptionError

#: Kernels number the bits of an item by 32 bits.
_MOST_BITS = 2**32 - 1


def check_bits(bits: int) -> None:
    """Raise unless kernels can number so many bits; whoever calls knows that it is a number of them."""
    if bits > _MOST_BITS:
        raise OptionError(f"bits={bits!r} is out of range: an item has up to {_MOST_BITS:,}")
