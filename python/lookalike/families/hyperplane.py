"""Hyperplanes for vectors by angle: two lie on the same side of a random one with chance 1 − θ/180°."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.families.family import Family
from lookalike.keywords import suggesting
from lookalike.measures.vectors import as_vectors
from lookalike.theory.collisions import HyperplaneCollision, SignsCollision
from lookalike.theory.ranges import checked_seed, checked_slots
from lookalike.types import Bools


@suggesting()
@dataclass(frozen=True, kw_only=True)
class Hyperplane(Family):
    """Random hyperplanes through the origin; a slot is the side on which a vector lies.

    K of them cut space into cones: vectors of one direction share all sides, whatever their lengths. What
    lies on a hyperplane is on its upper side, so a vector of zeros is on the upper side of all.

    Parameters
    ----------
    slots
        How many hyperplanes.
    seed
        Draws them. Signatures of different seeds do not compare.
    signs
        Normals of ±1 instead of Gaussian ones. The sketch that hardware without multipliers likes; agreement
        is 1 − θ/180° only about, and only where many coordinates share a vector's length.

    Examples
    --------
    >>> sides = Hyperplane(slots=2000).signatures([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])
    >>> float((sides[0] == sides[1]).mean().round(2)), int((sides[0] == sides[2]).sum())
    (0.75, 0)
    >>> Hyperplane().collision(45)
    0.75
    """

    slots: int = 1024
    seed: int = 0
    signs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", checked_slots(self.slots))
        object.__setattr__(self, "seed", checked_seed(self.seed))

    @property
    def law(self) -> HyperplaneCollision:
        """One minus the angle's share of 180 degrees."""
        return SignsCollision() if self.signs else HyperplaneCollision()

    def signatures(self, items: Any, *, threads: int | None = None, path: str | None = None) -> Bools:
        """The sides on which vectors lie: a matrix of booleans, one row an item; `np.packbits` packs it."""
        vectors = as_vectors(items)
        drawn = self.drawn(vectors.dimensions)
        return drawn.sides(vectors.values, threads=checked_threads(threads), path=path).view(np.bool_)

    def drawn(self, dimensions: int, *, first: int = 0) -> _core.Projections:
        """The kernel's form of the hyperplanes, for vectors of so many coordinates; those from `first` on."""
        return _drawn(self, dimensions, first)


@lru_cache(maxsize=4)
def _drawn(family: Hyperplane, dimensions: int, first: int) -> _core.Projections:
    kind = "signs" if family.signs else "hyperplanes"
    return _core.Projections(kind, dimensions=dimensions, slots=family.slots, seed=family.seed, first=first)
