"""Which bands the pairs that a run found met in, as whole numbers that add up.

A pair that was found has the law's chance `q` to agree in one band, and a mask: the bands it did agree in.
What a run can tell of its own draw is how often each chance came with each mask (`recall_of_draw`). So that
is all that is kept, in order: parts of a run add up to the same counts, whichever way they are cut and added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

#: Levels of odds to a doubling: a level's odds are within 1.1% of those of its pairs.
_LEVELS_A_DOUBLING = 32
#: The odds q / (1 − q) that are told apart, as powers of two: a pair with more is never missed, and one with
#: less never found.
_LEAST_ODDS, _MOST_ODDS = -24, 10
_EDGES = 2.0 ** (
    np.arange(_LEAST_ODDS * _LEVELS_A_DOUBLING, _MOST_ODDS * _LEVELS_A_DOUBLING) / _LEVELS_A_DOUBLING
)

_Whole = npt.NDArray[np.int64]
_Words = npt.NDArray[np.uint64]
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Hits:
    """How many found pairs have each level of odds and each mask; rows are sorted and differ.

    Parameters
    ----------
    bands
        How many bands there are.
    levels
        The level of odds of each row, from 0.
    masks
        The bands of each row, in words of 64 bits: band k is bit k % 64 of word k // 64. No mask is empty.
    counts
        How many pairs have both.
    """

    bands: int
    levels: _Whole
    masks: _Words
    counts: _Whole

    @staticmethod
    def of(chances: npt.ArrayLike, masks: _Words, *, bands: int) -> Hits:
        """Count pairs, of each of which the law's chance to agree in one band is given.

        A pair that agreed in no band is left out: it was not found by bands.

        Examples
        --------
        >>> hits = Hits.of([0.2, 0.2, 0.9], np.array([[0b1], [0b1], [0b11]], np.uint64), bands=2)
        >>> hits.counts.tolist(), hits.agreed.tolist()
        ([2, 1], [1, 2])
        """
        met = masks.any(axis=1)
        # To nine digits, on which all machines agree.
        chance = np.round(np.asarray(chances, np.float64), 9)[met]
        with np.errstate(divide="ignore"):
            levels = np.searchsorted(_EDGES, chance / (1 - chance), side="right")
        return _counted(bands, levels, masks[met], np.ones(len(levels), np.int64))

    def __add__(self, other: Hits) -> Hits:
        """The counts of both parts."""
        return _counted(
            self.bands,
            np.concatenate([self.levels, other.levels]),
            np.concatenate([self.masks, other.masks]),
            np.concatenate([self.counts, other.counts]),
        )

    def within(self, least: int, beyond: int) -> Hits:
        """Those of some levels."""
        chosen = (self.levels >= least) & (self.levels < beyond)
        return Hits(
            bands=self.bands,
            levels=self.levels[chosen],
            masks=self.masks[chosen],
            counts=self.counts[chosen],
        )

    @cached_property
    def pairs(self) -> int:
        """How many pairs were counted."""
        return int(self.counts.sum())

    @cached_property
    def agreed(self) -> _Whole:
        """In how many bands the pairs of each row agreed."""
        return np.bincount(self.met[0], minlength=len(self.counts))

    @cached_property
    def odds(self) -> _Floats:
        """The law's odds of one band, of each row."""
        return odds_of(self.levels)

    @cached_property
    def met(self) -> tuple[_Whole, _Whole]:
        """Every row with each of its bands, in order: the rows, and the bands."""
        octets = np.ascontiguousarray(self.masks, "<u8").view(np.uint8)
        # Most of them are empty where there are many bands.
        filled = np.flatnonzero(octets)
        which, bit = np.divmod(
            np.flatnonzero(np.unpackbits(octets.reshape(-1)[filled], bitorder="little")), 8
        )
        row, octet = np.divmod(filled[which], octets.shape[1])
        return row, 8 * octet + bit

    @cached_property
    def by_level(self) -> tuple[_Floats, _Whole]:
        """The odds of the levels that occur, and which of them each row has."""
        fresh = np.ones(len(self.levels), np.bool_)
        fresh[1:] = self.levels[1:] != self.levels[:-1]
        return odds_of(self.levels[fresh]), np.cumsum(fresh) - 1

    def same_mask(self) -> int:
        """How many ordered pairs of pairs carry the same mask."""
        order = np.lexsort(self.masks.T)
        masks, counts = self.masks[order], self.counts[order]
        fresh = np.ones(len(masks), np.bool_)
        fresh[1:] = (masks[1:] != masks[:-1]).any(axis=1)
        carried = np.add.reduceat(counts, np.flatnonzero(fresh)) if len(counts) else counts
        return int((carried * (carried - 1)).sum())


def level_of(chance: float) -> int:
    """The level of a chance to agree in one band."""
    chance = round(chance, 9)
    return int(np.searchsorted(_EDGES, chance / (1 - chance) if chance < 1 else np.inf, side="right"))


def odds_of(levels: _Whole) -> _Floats:
    """The odds that stand for a level: those of its middle."""
    odds: _Floats = 2.0 ** (_LEAST_ODDS + (levels - 0.5) / _LEVELS_A_DOUBLING)
    return odds


def _counted(bands: int, levels: _Whole, masks: _Words, counts: _Whole) -> Hits:
    order = np.lexsort((*masks.T, levels))
    levels, masks, counts = levels[order], masks[order], counts[order]
    fresh = np.ones(len(levels), np.bool_)
    fresh[1:] = (levels[1:] != levels[:-1]) | (masks[1:] != masks[:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    return Hits(
        bands=bands,
        levels=levels[starts].astype(np.int64),
        masks=masks[starts],
        counts=np.add.reduceat(counts, starts) if len(starts) else counts,
    )
