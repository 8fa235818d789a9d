"""Random numbers that are the same on every machine and with every NumPy.

NumPy promises the raw stream of a bit generator for good, but not what its distributions make of it. So
everything here is integer arithmetic on that raw stream, and what follows from it uses only operations that
IEEE 754 rounds in one way (sums, products, square roots): no logarithm and no exponential, whose last bit
depends on the C library.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Twelve uniform variables of 16 bits have a sum of variance 2^32 (Irwin and Hall), near enough to a normal
# one.
_SUMMANDS = 12
_SUM_MEAN = _SUMMANDS * 65_535 // 2


class Draws:
    """A seeded stream of random integers."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def raw(self, size: int) -> NDArray[np.uint64]:
        """Return `size` integers, uniform over 64 bits."""
        return self._bits.random_raw(size)

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        """Return `size` integers in [0, bound), for a bound under 2^31.

        The upper 32 bits are scaled, not reduced by a remainder: no value is off its share by more than
        bound/2^32.
        """
        return ((self.raw(size) >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)).astype(np.int64)

    def one(self, bound: int) -> int:
        """Return one integer in [0, bound)."""
        return (int(self._bits.random_raw()) >> 32) * bound >> 32

    def bell(self, size: int) -> NDArray[np.int64]:
        """Return `size` roughly normal integers of mean 0 and standard deviation 2^16."""
        parts = self.raw(size * _SUMMANDS // 4).view(np.uint16).reshape(size, _SUMMANDS)
        sums: NDArray[np.int64] = parts.sum(axis=1, dtype=np.int64)
        return sums - _SUM_MEAN

    def order(self, size: int) -> NDArray[np.int64]:
        """Return a random order of 0 … size − 1."""
        return np.argsort(self.raw(size), kind="stable")
