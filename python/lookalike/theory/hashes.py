"""How often a hash takes two shingles for one.

Shingles are compared by their hashes. Two different shingles get the same n-bit hash with probability 2⁻ⁿ,
and between two documents every shingle of the one may be mistaken for every shingle of the other.
"""

from __future__ import annotations

import math

from lookalike.errors import OptionError


def false_shared_shingle(shingles_a: int, shingles_b: int, bits: int) -> float:
    """The chance that two sets without a common shingle share a hash all the same.

    It is at most 1 − (1 − 2⁻ⁿ)^(a·b), which is what is returned; the exact chance is lower only because
    hashes may also coincide within one set, and equal if either set has a single shingle.

    Examples
    --------
    Of couples of documents of a thousand shingles, one in 4,295 with hashes of 4 bytes; hardly any with 8.

    >>> f"{false_shared_shingle(1000, 1000, bits=32):.6f}"
    '0.000233'
    >>> f"{false_shared_shingle(1000, 1000, bits=64):.0e}"
    '5e-14'
    """
    for name, value in (("shingles_a", shingles_a), ("shingles_b", shingles_b)):
        if value < 0:
            raise OptionError(f"{name}={value} is out of range: a set has 0 shingles or more")
    if not 1 <= bits <= 128:
        raise OptionError(f"bits={bits} is out of range: hashes have from 1 to 128 bits, shingles 32 or 64")
    # 0.0 − x, not −x: no chance at all is 0.0, not -0.0.
    return 0.0 - math.expm1(shingles_a * shingles_b * math.log1p(-(2.0**-bits)))
