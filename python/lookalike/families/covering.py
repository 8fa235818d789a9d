"""Covering masks for Hamming distance: whatever is within the radius agrees under one, so none is missed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.errors import OptionError
from lookalike.families.family import Family
from lookalike.families.parameters import check_bits
from lookalike.keywords import suggesting
from lookalike.measures.bits import as_bits
from lookalike.theory.collisions import CoveringCollision
from lookalike.theory.ranges import checked_seed
from lookalike.types import I64, U32, U64


@suggesting()
@dataclass(frozen=True)
class Covering(Family):
    """The family without false negatives: masks, under one of which any two near items agree.

    Pagh's: every position has a random vector of radius + 1 bits, and every vector v a mask of the positions
    whose vectors share an odd number of bits with it. Items that differ in `radius` positions or less agree
    under some mask for certain; those that differ in d, under each with a chance of about 2⁻ᵈ, wherever the
    bits lie in which they differ.

    Parameters
    ----------
    bits
        How many bits an item has.
    radius
        The most bits in which near items differ.
    parts
        Cut the positions into so many parts, among which the radius is shared out. One part has
        2^(radius + 1) − 1 masks of half of the bits; radius + 1 parts are a mask each, of as few bits.
    seed
        Draws the vectors. Signatures of different seeds do not compare.

    Examples
    --------
    >>> family = Covering(64, 3)
    >>> keys = family.signatures(["0123456789abcdef", "0123456789abcde8"])
    >>> keys.shape, bool((keys[0] == keys[1]).any())
    ((2, 15), True)
    >>> family.collision(3), round(family.collision(16), 5)
    (1.0, 8e-05)
    >>> print(family.sensitivity(3, 12))
    (3, 12, 1, 0.0015999)-sensitive
    """

    bits: int
    radius: int
    parts: int = field(default=1, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        law = CoveringCollision(self.bits, self.radius, self.parts)
        for name in ("bits", "radius", "parts"):
            object.__setattr__(self, name, getattr(law, name))
        check_bits(self.bits)
        object.__setattr__(self, "seed", checked_seed(self.seed))

    @property
    def law(self) -> CoveringCollision:
        """1 within the radius, and beyond it the chance that random vectors do not span their space."""
        return CoveringCollision(self.bits, self.radius, self.parts)

    @property
    def slots(self) -> int:
        """How many masks, and keys of an item, there are."""
        return self.law.masks

    @property
    def positions(self) -> tuple[U32, I64]:
        """The bits that each mask looks at, one mask after the other, and where each begins."""
        return _core.covering_positions(self.bits, self.radius, parts=self.parts, seed=self.seed)

    def meetings(self, distance: float) -> float:
        """Under how many masks two items at this distance agree, on average over seeds."""
        return float(self.law.meetings(distance))

    def signatures(self, items: Any, *, threads: int | None = None) -> U64:
        """A key by every mask, the same for items that agree under it: a matrix of uint64, a row an item."""
        rows = as_bits(items)
        if rows.width != self.bits:
            raise OptionError(f"items of {rows.width} bits cannot be signed: the family is for {self.bits}")
        return self.masks().sign(rows.words, threads=checked_threads(threads))

    def masks(self) -> _core.BitMasks:
        """The kernel's form of the masks."""
        return _masks(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `Covering(**…)` reads them back."""
        return asdict(self)


@lru_cache(maxsize=4)
def _masks(family: Covering) -> _core.BitMasks:
    return _core.BitMasks(family.positions, words=-(-family.bits // 64))
