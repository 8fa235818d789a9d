"""Projections for vectors by L2: near vectors fall into the same bucket of a random line."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.families.projections import Projected
from lookalike.keywords import suggesting
from lookalike.theory.collisions import GaussianCollision


@suggesting()
@dataclass(frozen=True, kw_only=True)
class Euclidean(Projected):
    """Gaussian projections; a slot is the bucket of a random line in which a vector lies.

    Parameters
    ----------
    width
        Of a bucket. At half of it two vectors share a bucket with chance .6095, at twice of it with .1954.
    slots
        How many lines.
    seed
        Draws them. Signatures of different seeds or widths do not compare.

    Examples
    --------
    >>> buckets = Euclidean(width=2.0, slots=2000).signatures([[0.0, 0.0], [1.0, 0.0]])
    >>> float((buckets[0] == buckets[1]).mean().round(1))
    0.6
    >>> print(Euclidean(width=1).sensitivity(0.5, 2))
    (0.5, 2, 0.6095484, 0.1954171)-sensitive
    """

    width: float
    slots: int = 256
    seed: int = 0

    kind = "gaussian"

    @property
    def law(self) -> GaussianCollision:
        """How often two vectors share a bucket, by L2 distance."""
        return GaussianCollision(self.width)
