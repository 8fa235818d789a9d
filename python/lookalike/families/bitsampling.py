"""Bit sampling for Hamming distance: two items agree in a slot with probability 1 − d/N."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.families.family import Family
from lookalike.families.parameters import check_bits
from lookalike.keywords import suggesting
from lookalike.measures.bits import as_bits
from lookalike.theory.banding import Banding
from lookalike.theory.collisions import BitSamplingCollision
from lookalike.theory.ranges import checked_seed, whole
from lookalike.types import U32, Bits


@suggesting()
@dataclass(frozen=True, kw_only=True)
class BitSampling(Family):
    """The family that looks at single bits.

    Parameters
    ----------
    bits
        How many bits an item has.
    slots
        Length of a signature. Positions are drawn with replacement, so that slots are independent, as plans
        take them to be.
    seed
        Draws the positions. Signatures of different seeds do not compare.

    Examples
    --------
    >>> family = BitSampling(bits=64, slots=16)
    >>> family.signatures(["0123456789abcdef", "0123456789abcdee"]).width
    16
    >>> family.collision(16)
    0.75
    """

    bits: int
    slots: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", BitSamplingCollision(self.bits).bits)
        check_bits(self.bits)
        slots = whole(self.slots)
        if slots is None or not 1 <= slots <= 1 << 20:
            raise OptionError(f"slots={self.slots!r} is out of range: 1 to 1,048,576")
        object.__setattr__(self, "slots", slots)
        object.__setattr__(self, "seed", checked_seed(self.seed))

    @property
    def law(self) -> BitSamplingCollision:
        """Two items that differ in d of N bits agree in a slot with probability 1 − d/N."""
        return BitSamplingCollision(self.bits)

    @property
    def positions(self) -> U32:
        """Which bit each slot holds."""
        return _core.drawn_positions(self.bits, self.slots, seed=self.seed)

    def signatures(self, items: Any) -> Bits:
        """Sign items: `Bits`, or whatever `as_bits` takes. A slot is a bit, so a signature is bits again."""
        rows = as_bits(items)
        if rows.width != self.bits:
            raise OptionError(f"items of {rows.width} bits cannot be signed: the family is for {self.bits}")
        return Bits(_core.sample_bits(rows.words, self.positions), self.slots)

    def masks(self, banding: Banding) -> _core.BitMasks:
        """Which bits each band looks at: rows share a bucket if they agree in them."""
        offsets = np.arange(banding.bands + 1, dtype=np.int64) * banding.rows
        return _core.BitMasks((self.positions, offsets), words=-(-self.bits // 64))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `BitSampling(**…)` reads them back."""
        return asdict(self)
