"""How far apart the pairs of a collection are, from the exact distances of a few of them.

For vectors and bits a distance costs no more than an agreement of signatures, so a sample holds distances; it
serves every family of that measure and every width of a projection alike. As in `sample`, what a
small sample cannot contain must not be taken for absent: to the sampled pairs one is added of which nothing
is known, its distance anything up to the greatest there is (or, where there is none, that was seen).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory import dealing
from lookalike.theory.banding import Banding
from lookalike.theory.collected import Collected
from lookalike.theory.collisions import Collision, DealtBitsCollision, LinearCollision
from lookalike.theory.quadrature import nodes


@dataclass(frozen=True, kw_only=True)
class DistanceSample(Collected):
    """Distances of sampled pairs, each with how often it came, and the size of the collection they stand for.

    Parameters
    ----------
    levels, counts
        Distances as the family knows them (of cosines: degrees), and how many pairs had each.
    items
        Items of the collection the pairs were drawn from, each pair equally likely.
    values_per_item
        Coordinates of a vector, elements of a sparse one, or words of 64 bits: what a check has to read.
    other_items
        Items of the second collection, when pairs go from one collection to another.
    """

    levels: tuple[float, ...]
    counts: tuple[int, ...]
    items: int
    values_per_item: float
    other_items: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(float(level) for level in self.levels))
        object.__setattr__(self, "counts", tuple(int(count) for count in self.counts))
        if (
            len(self.levels) != len(self.counts)
            or any(not 0 <= level < math.inf for level in self.levels)
            or any(count < 1 for count in self.counts)
        ):
            raise OptionError(
                "levels and counts are not a sample: distances of 0 or more, and for each a count of pairs"
            )
        if not self.items >= 0 or not self.values_per_item >= 0 or not (self.other_items or 0) >= 0:
            raise OptionError("items, other_items and values_per_item of a sample are 0 or more")

    @classmethod
    def from_distances(
        cls,
        distances: npt.ArrayLike,
        *,
        items: int,
        values_per_item: float,
        other_items: int | None = None,
    ) -> Self:
        """Count the distances of sampled pairs, to three digits.

        They are rounded down, so that estimates of candidates err towards too many.

        Examples
        --------
        >>> sample = DistanceSample.from_distances([12.345, 0, 12.349], items=10, values_per_item=128)
        >>> sample.levels, sample.counts
        ((0.0, 12.3), (1, 2))
        """
        values = np.asarray(distances, dtype=np.float64).ravel()
        if values.size and not (np.all(values >= 0) and np.all(np.isfinite(values))):
            raise OptionError("distances of a sample are numbers of 0 or more")
        # Under 1e-300 there is no power of ten to count in: such a distance is none.
        powers = np.floor(np.log10(np.maximum(values, 1e-298))) - 2
        rounded = np.floor(values / 10.0**powers) * 10.0**powers
        # 123 · 0.1 would print as 12.300000000000001, and 0.1 · 10 differ from 1 as a level.
        distinct, repeats = np.unique(rounded, return_counts=True)
        levels, place = np.unique([float(f"{value:.3g}") for value in distinct], return_inverse=True)
        counts = np.bincount(place, repeats, minlength=len(levels)).astype(np.int64)
        return cls(
            levels=tuple(levels.tolist()),
            counts=tuple(counts.tolist()),
            items=items,
            values_per_item=values_per_item,
            other_items=other_items,
        )

    @property
    def pairs(self) -> int:
        """How many pairs were sampled."""
        return sum(self.counts)

    def candidates(self, collision: Collision) -> Callable[[Banding], float]:
        """For a family, how many pairs each banding of it is expected to look at; errs towards too many."""
        if isinstance(collision, DealtBitsCollision):
            return lambda banding: self.candidates_of_dealt(collision, [banding])[0]
        # One function for all bandings: collisions are the same for all of them, and may be costly.
        agreements = collision.probabilities(np.minimum(self.levels, collision.limit))
        counts = np.asarray(self.counts, dtype=np.float64)
        unknown = _anywhere(collision, max(self.levels, default=0.0))

        def expected(banding: Banding) -> float:
            seen = float(counts @ banding.probabilities(agreements))
            return self.total_pairs * (seen + unknown(banding)) / (self.pairs + 1)

        return expected

    def candidates_of_dealt(self, collision: DealtBitsCollision, bandings: Sequence[Banding]) -> list[float]:
        """How many pairs each of some bandings is expected to look at; together they cost less to tell."""
        # Of no pair a part of a bit differs.
        levels = np.floor(np.minimum(self.levels, collision.limit))
        met = dealing.chances(collision.bits, bandings, levels)[0]
        unknown = _anywhere(collision, max(self.levels, default=0.0))
        return [
            self.total_pairs
            * (float(chances @ np.asarray(self.counts, np.float64)) + unknown(banding))
            / (self.pairs + 1)
            for banding, chances in zip(bandings, met, strict=True)
        ]

    def likely_candidates(self, banding: Banding, collision: Collision) -> float:
        """How many pairs a banding of a family will probably look at: what was seen, and nothing else."""
        seen = float(np.asarray(self.counts, dtype=np.float64) @ self._met(banding, collision))
        return self.total_pairs * seen / max(1, self.pairs)

    def likely_meetings(self, banding: Banding, collision: Collision) -> float:
        """The same, where a pair counts in every band in which it meets."""
        one = Banding(bands=1, rows=banding.rows)
        return banding.bands * self.likely_candidates(one, collision)

    def _met(self, banding: Banding, collision: Collision) -> npt.NDArray[np.float64]:
        """The chance of each sampled distance to meet."""
        if isinstance(collision, DealtBitsCollision):
            # Of no pair a part of a bit differs.
            levels = np.floor(np.minimum(self.levels, collision.limit))
            chances: npt.NDArray[np.float64] = dealing.chances(collision.bits, [banding], levels)[0][0]
            return chances
        return banding.probabilities(collision.probabilities(np.minimum(self.levels, collision.limit)))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `DistanceSample(**…)` reads them back."""
        return {
            "levels": list(self.levels),
            "counts": list(self.counts),
            "items": self.items,
            "values_per_item": self.values_per_item,
            "other_items": self.other_items,
        }


def _anywhere(collision: Collision, greatest_seen: float) -> Callable[[Banding], float]:
    """The chance to be found of a pair that may be at any distance there is."""
    if isinstance(collision, LinearCollision):
        return lambda banding: banding.false_positive_area(1.0)
    if greatest_seen == 0:
        return lambda banding: 1.0
    points, weights = nodes(0.0, greatest_seen)
    agreements = collision.probabilities(points)
    return lambda banding: float(weights @ banding.probabilities(agreements)) / greatest_seen
