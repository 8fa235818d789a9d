"""A collection whose near pairs are known, and in how many ways they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

#: The families of hash functions, whose runs are pooled.
Family = Literal["MinHash", "weighted MinHash", "hyperplanes", "sampled bits", "lines, L2", "lines, L1"]

#: Distances, cosines and angles are planted so much inside of the threshold, as a part of it, so that
#: rounding to 32 bits leaves them there. No other pair may be so near to it.
HAIR = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class Planted:
    """Items, and their near pairs as rows (a, b) with a < b: those at the threshold, and nearer ones."""

    items: Any
    at: I64
    nearer: I64

    @staticmethod
    def in_halves(items: Any, pairs: int, *, nearer: int = 0) -> Planted:
        """Of row i in the first half and row i in the second; the last `nearer` of them are nearer."""
        first = np.arange(pairs + nearer)
        both = np.stack([first, first + pairs + nearer], axis=1)
        return Planted(items=items, at=both[:pairs], nearer=both[pairs:])


@dataclass(frozen=True, kw_only=True)
class Collection:
    """What is planted, and how it is searched.

    Parameters
    ----------
    name
        What it is called.
    family, measure, threshold
        Whose draws it judges, and what is asked for.
    groups, share
        The pairs differ in so many ways, this share of them; all others each in a way of its own.
    pairs
        How many pairs are at the threshold.
    plant
        Makes it from random numbers; its own name is their seed, so the data are always the same.
    """

    name: str
    family: Family
    measure: str
    threshold: float | str
    groups: int
    share: float = 1.0
    pairs: int
    plant: Callable[[np.random.Generator], Planted]

    @property
    def ordinary(self) -> bool:
        """Whether all its pairs differ in ways of their own."""
        return self.groups == 0

    def planted(self) -> Planted:
        """The items and their near pairs."""
        made = self.plant(np.random.default_rng(list(self.name.encode())))
        if len(made.at) != self.pairs:
            raise AssertionError(f"{self.name}: {len(made.at)} pairs at the threshold, not {self.pairs}")
        return made


def groups_of(rng: np.random.Generator, pairs: int, groups: int, share: float) -> I64:
    """The group of each pair, or -1 of one that differs in a way of its own."""
    if not groups:
        return np.full(pairs, -1)
    alike = rng.permutation(pairs) < round(share * pairs)
    return np.where(alike, np.arange(pairs) % groups, -1)
