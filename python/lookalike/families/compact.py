"""Compact signatures: a few bits of every slot, and estimates corrected for slots that agree by chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.ranges import whole
from lookalike.types import F64, I64, U8, U32, Signatures
from lookalike.wording import agreeing, several

#: More bits would tell no more: a slot has 32, and at 16 only one pair of slots in 65,536 agrees by chance.
_MOST_BITS = 16
#: About so many bits are unpacked at a time.
_AT_ONCE = 1 << 23


@dataclass(frozen=True, eq=False, repr=False)
class CompactSignatures:
    """MinHash signatures of `bits` bits a slot instead of 32; `of` makes them.

    128 slots take 16 bytes with 1 bit each, 64 with 4, and 96 with 6, instead of 512. Slots that differ agree
    in b bits all the same with a chance of C = 2⁻ᵇ. So of two items that agree in a share E of their slots
    the similarity is estimated as (E − C) / (1 − C): right on average, as the estimate of full signatures is.
    It varies more (`standard_error`), and of items that share nothing it may be a little under 0.

    Attributes
    ----------
    packed
        A matrix of bytes, one row an item: slot after slot, the highest bit of a slot first. `np.save` keeps
        it, and `CompactSignatures(packed, slots=…, bits=…)` reads it back. Those of other seeds or numbers of
        bits do not compare.

    Examples
    --------
    >>> from lookalike import MinHash
    >>> full = MinHash(slots=128).signatures([range(100), range(20, 120), range(500, 600)])
    >>> compact = CompactSignatures.of(full, bits=6)
    >>> compact
    CompactSignatures(3 of 128 slots of 6 bits: 96 bytes each)
    >>> abs(compact.similarity(0, 1) - 80 / 120) < 0.15, abs(compact.similarity(0, 2)) < 0.05
    (True, True)
    """

    packed: U8
    slots: int
    bits: int

    def __post_init__(self) -> None:
        if not 1 <= (whole(self.bits) or 0) <= _MOST_BITS:
            raise OptionError(f"bits={self.bits!r} is out of range: a whole number from 1 to {_MOST_BITS}")
        if (whole(self.slots) or 0) < 1:
            raise OptionError(f"slots={self.slots!r} is out of range: a whole number, 1 or more")
        width = -(-self.slots * self.bits // 8)
        packed = np.asarray(self.packed)
        if packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != width:
            raise OptionError(
                f"{self.slots:,} slots of {self.bits} bits are rows of {width:,} bytes (uint8), not"
                f" {packed.dtype} of shape {packed.shape}: give slots and bits as they were made"
            )

    @classmethod
    def of(cls, signatures: Signatures, *, bits: int = 4) -> Self:
        """Keep so many bits, from 1 to 16, of every slot."""
        if not isinstance(signatures, Signatures):
            raise OptionError(f"{signatures!r:.40} is no signatures: give what MinHash().signatures made")
        if not 1 <= (whole(bits) or 0) <= _MOST_BITS:
            raise OptionError(f"bits={bits!r} is out of range: a whole number from 1 to {_MOST_BITS}")
        rows, slots = signatures.slots.shape
        packed = np.empty((rows, -(-slots * bits // 8)), np.uint8)
        shifts = np.arange(bits - 1, -1, -1, dtype=np.uint32)
        step = max(1, _AT_ONCE // max(1, slots * bits))
        for start in range(0, rows, step):
            codes = _mixed(signatures.slots[start : start + step]) >> np.uint32(32 - bits)
            single = (codes[:, :, np.newaxis] >> shifts & 1).astype(np.uint8)
            packed[start : start + step] = np.packbits(single.reshape(len(codes), -1), axis=1)
        return cls(packed, slots, bits)

    def __len__(self) -> int:
        return len(self.packed)

    def __repr__(self) -> str:
        of = f"{self.slots:,} slots of {self.bits} bit{'' if self.bits == 1 else 's'}"
        return f"CompactSignatures({len(self):,} of {of}: {self.packed.shape[1]:,} bytes each)"

    @property
    def by_chance(self) -> float:
        """C: how often two slots that differ agree all the same, 2⁻ᵇ."""
        return float(0.5**self.bits)

    def similarity(self, a: int, b: int) -> float:
        """The estimated Jaccard similarity of two rows."""
        return float(self.similarities([a], [b])[0])

    def similarities(self, a: npt.ArrayLike, b: npt.ArrayLike) -> F64:
        """The estimated Jaccard similarity of rows `a[i]` and `b[i]`."""
        first, second = (self._rows(rows) for rows in (a, b))
        if len(first) != len(second):
            given = f"{several(len(first), 'row')} and {several(len(second), 'row')}"
            raise OptionError(f"{given} make no pairs: give as many of both")
        agree = np.empty(len(first), np.int64)
        step = max(1, _AT_ONCE // (8 * self.packed.shape[1]))
        for start in range(0, len(first), step):
            of = slice(start, start + step)
            unlike = np.unpackbits(self.packed[first[of]] ^ self.packed[second[of]], axis=1)
            single = unlike[:, : self.slots * self.bits].reshape(-1, self.slots, self.bits)
            agree[of] = self.slots - np.count_nonzero(single.any(axis=2), axis=1)
        share, chance = agree / self.slots, self.by_chance
        estimates: F64 = (share - chance) / (1 - chance)
        return estimates

    def standard_error(self, similarity: float) -> float:
        """How far an estimate of this similarity is off, typically: √(E(1 − E)/slots) / (1 − C)."""
        if not 0 <= similarity <= 1:
            raise OptionError(f"{similarity:g} is not a similarity: similarities lie from 0 to 1")
        agree = self.by_chance + (1 - self.by_chance) * similarity
        return sqrt(agree * (1 - agree) / self.slots) / (1 - self.by_chance)

    def _rows(self, rows: npt.ArrayLike) -> I64:
        numbers = np.asarray(rows)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise OptionError("rows are a list of row numbers")
        if len(numbers) and not -len(self) <= numbers.min() <= numbers.max() < len(self):
            held = f"there {agreeing(len(self), 'is', 'are')} {several(len(self), 'row')}"
            raise OptionError(f"{held}: row numbers lie from 0 to {len(self) - 1:,}")
        return numbers.astype(np.int64)


def _mixed(slots: U32) -> U32:
    """Every slot with its bits mixed by Murmur's finalizer: a one-to-one map, so equal slots alone are equal.

    The bits of a slot are not even by themselves: it is the least of many hashes.
    """
    mixed = slots.astype(np.uint32)
    mixed ^= mixed >> np.uint32(16)
    mixed *= np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    return mixed
