"""A family's collisions seen through ANDs and ORs: the curve by distance, and what can be read off it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.amplification import UNCHANGED, Amplifiable, Amplification, FloatArray
from lookalike.theory.collisions import Collision
from lookalike.theory.quadrature import integral
from lookalike.theory.sensitivity import Sensitivity

FAR = 5.0
"""Where a distance has no upper limit, a look at a threshold goes this many times as far."""


class Areas(NamedTuple):
    """The two areas by which a curve is wrong, in units of distance."""

    false_negatives: float
    """∫₀ᵗ of the chance to be missed: near pairs that never meet, were all distances equally common."""

    false_positives: float
    """∫ₜ of the chance to meet, up to the greatest distance: far pairs looked at in vain."""


@dataclass(frozen=True)
class Cascade(Amplifiable["Cascade"]):
    """What a family becomes by ANDs and ORs, by distance; `family.and_(4).or_(4)` makes one.

    Examples
    --------
    >>> from lookalike.theory.collisions import MinHashCollision
    >>> cascade = Cascade(MinHashCollision()).and_(4).or_(4)
    >>> round(cascade.probability(0.2), 4), round(cascade.probability(0.8), 4)
    (0.8785, 0.0064)
    >>> print(cascade.sensitivity(0.2, 0.8))
    (0.2, 0.8, 0.8784974, 0.0063847)-sensitive
    """

    collision: Collision
    amplification: Amplification = UNCHANGED

    def amplified(self, amplification: Amplification) -> Cascade:
        """More steps after those it has."""
        return Cascade(self.collision, self.amplification.amplified(amplification))

    @property
    def functions(self) -> int:
        """How many functions are asked in all."""
        return self.amplification.functions

    def probability(self, distance: float) -> float:
        """The chance that a pair at this distance is found."""
        return float(self.probabilities(distance))

    def probabilities(self, distances: npt.ArrayLike) -> FloatArray:
        """`probability` of each distance of an array."""
        return self.amplification.both(*self.collision.chances(distances))[0]

    def misses(self, distances: npt.ArrayLike) -> FloatArray:
        """One minus `probabilities`, to the last digits however small."""
        return self.amplification.both(*self.collision.chances(distances))[1]

    def distance(self, probability: float) -> float:
        """The greatest distance at which a pair is found with this probability."""
        return self.collision.distance(self.amplification.inverse(probability))

    def sensitivity(self, d1: float, d2: float) -> Sensitivity:
        """What it promises of pairs within `d1`, and of pairs at least `d2` apart."""
        return Sensitivity(d1, d2, self.probability(d1), self.probability(d2))

    def fixed_point(self) -> float | None:
        """The chance that the steps leave as it is; higher ones are raised, lower ones lowered."""
        return self.amplification.fixed_point()

    def fixed_distance(self) -> float | None:
        """The distance at which one function collides with the chance of the fixed point."""
        chance = self.fixed_point()
        return None if chance is None else self.collision.distance(chance)

    def areas(self, threshold: float, *, furthest: float | None = None) -> Areas:
        """What the curve misses within a threshold and lets through beyond it.

        `furthest` is where the look beyond it ends: without it at the greatest distance there is, or, where
        there is none, at five times the threshold.
        """
        if furthest is None:
            furthest = FAR * threshold if math.isinf(self.collision.limit) else self.collision.limit
        if not 0 <= threshold <= furthest:
            raise OptionError(
                f"threshold={threshold:g} is out of range: from 0 to {furthest:g}, the furthest"
            )
        bends = self.collision.bends
        return Areas(
            integral(self.misses, 0.0, threshold, bends=bends),
            integral(self.probabilities, threshold, furthest, bends=bends),
        )

    def curve(self, points: int = 101, *, furthest: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Evenly spaced distances from 0 to `furthest`, and the chance to be found at each."""
        if points < 2:
            raise OptionError(f"points={points} is out of range: a curve has 2 points or more")
        furthest = self.collision.limit if furthest is None else furthest
        if math.isinf(furthest):
            raise OptionError(f"{self.collision.noun} has no upper limit: say with furthest= where to stop")
        distances = np.linspace(0.0, furthest, points)
        return distances, self.probabilities(distances)

    def __str__(self) -> str:
        return f"{self.collision.family}: {self.amplification}"
