"""Threshold and recall in, a banding and a number of probes out: fewer tables, each looked at more often.

A table that is looked at in T buckets finds an item more often than one that is looked at in its own alone,
so fewer tables keep the same promise, and fewer functions have to be computed; in exchange there are more
keys, and more items that only share a bucket. Which is cheaper depends on how long vectors are and on how far
apart. What is found is known exactly (`multiprobe`), what is looked at in vain is bounded from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lookalike.errors import UnreachableRecallError
from lookalike.theory.banding import Banding, FloatArray
from lookalike.theory.collisions import Collision
from lookalike.theory.costs import (
    seconds_for_keys,
    seconds_for_probes,
    seconds_for_vector_checks,
    seconds_for_vector_slots,
)
from lookalike.theory.distances import DistanceSample
from lookalike.theory.multiprobe import checked_probes, found, most_probes, set_chances
from lookalike.theory.planning import families_for, fewest_bands, rounded
from lookalike.theory.plans import Plan, at_threshold, percent
from lookalike.theory.quadrature import nodes
from lookalike.theory.ranges import checked_recall, checked_slots
from lookalike.theory.thresholds import Written, scale_of
from lookalike.wording import several

#: How many probes are tried where the number is left to the plan.
TRIED = (2, 4, 8, 16, 32)
#: Rows of a table that are tried: all of the small numbers, and some of the great ones.
_ROWS = (*range(1, 17), *range(18, 33, 2), *range(36, 65, 4))
#: On either side of the threshold, at how many points the curve is computed; between them it is a line.
_POINTS = 49


@dataclass(frozen=True, kw_only=True)
class ProbedPlan(Plan):
    """A plan whose tables are looked at in several buckets each. `cascade` is that of one bucket alone."""

    probes: int

    def probabilities(self, values: npt.ArrayLike) -> FloatArray:
        """The chance that a pair is found, for values of the measure; beyond the curve's end, that there."""
        points, chances = _curve(
            self.collision,
            self.banding.rows,
            self.probes,
            self.scale.distance(self.threshold),
            self.scale.furthest(self.threshold, self.collision),
        )
        asked = self.scale.distances(np.asarray(values, dtype=np.float64))
        return _together(self.banding.bands, np.interp(asked, points, chances))

    def __str__(self) -> str:
        first, *others = super().__str__().split("\n")
        return "\n".join([f"{first}, {several(self.probes, 'bucket')} a band", *others])


@dataclass(frozen=True)
class _Widened(Banding):
    """Bands of which so many buckets are looked at: the chance to meet is this at most.

    No bucket is likelier than one's own, up to distances at which a slot rather differs than agrees.
    """

    probes: int

    def _log_miss(self, similarities: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            missed = np.log1p(-np.minimum(1.0, self.probes * similarities**self.rows))
        return np.asarray(self.bands * missed)

    def false_positive_area(self, threshold: float) -> float:
        points, weights = nodes(0.0, threshold)
        return float(weights @ self.probabilities(points))


def plan_probes(
    threshold: Written,
    *,
    measure: str,
    distances: DistanceSample,
    recall: float = 0.95,
    slots: int = 4096,
    probes: int | Sequence[int] = TRIED,
    collision: Collision | None = None,
) -> ProbedPlan:
    """Choose a banding whose bands are looked at in `probes` buckets each, or in one of several numbers.

    Of those that find a pair exactly at `threshold` with probability at least `recall`, the one expected to
    cost least by a sample of the data's distances; among equals, the one of fewest slots.

    Raises
    ------
    UnreachableRecallError
        If no banding of `slots` slots is sensitive enough.

    Examples
    --------
    >>> near, far = [10.0] * 10, [80.0, 90.0, 100.0] * 50_000
    >>> sample = DistanceSample.from_distances(near + far, items=100_000, values_per_item=64)
    >>> for probes in (2, 16):
    ...     print(probes, plan_probes("20deg", measure="angle", probes=probes, distances=sample).banding)
    2 Banding(bands=22, rows=22)
    16 Banding(bands=6, rows=22)
    """
    scale = scale_of(measure)
    threshold = scale.read(threshold)
    recall, slots = checked_recall(recall), checked_slots(slots)
    numbers = sorted({checked_probes(number) for number in _several(probes)})
    distance = scale.distance(threshold)
    best: tuple[tuple[float, int, int], _Chosen] | None = None
    # Half of the widths will do: costs change little from one to the next.
    for family in families_for(measure, distance, None, collision)[::2]:
        candidates = distances.candidates(family)
        for banding, number, chance in _worthwhile(distance, family, recall, slots, numbers):
            expected = candidates(_Widened(banding.bands, banding.rows, number))
            cost = _cost(banding, number, expected, distances)
            key = rounded(cost), banding.slots, number
            if best is None or key < best[0]:
                best = key, _Chosen(family, banding, number, chance, expected, cost)
    if best is None:
        raise UnreachableRecallError(
            f"no tables of {several(slots, 'slot')}, looked at in {' or '.join(map(str, numbers))} buckets"
            f" each, find {percent(recall, 2)} of pairs {at_threshold(scale, threshold)}: use more slots,"
            f" {scale.more_alike} the threshold, or accept a lower recall"
        )
    chosen = best[1]
    missed, passed = _areas(chosen, distance, scale.furthest(threshold, chosen.family))
    return ProbedPlan(
        threshold=threshold,
        recall=recall,
        slots=slots,
        banding=chosen.banding,
        reached=float(_together(chosen.banding.bands, chosen.chance)),
        false_negatives=missed,
        false_positives=passed,
        expected_candidates=distances.likely_candidates(
            _Widened(chosen.banding.bands, chosen.banding.rows, chosen.probes), chosen.family
        ),
        expected_cost=chosen.cost,
        measure=measure,
        collision=chosen.family,
        probes=chosen.probes,
    )


class _Chosen(NamedTuple):
    """A banding of a family's functions, its probes, what one band finds, and what it is expected to cost."""

    family: Collision
    banding: Banding
    probes: int
    chance: float
    candidates: float
    cost: float


def _several(probes: int | Sequence[int]) -> Sequence[int]:
    return probes if isinstance(probes, Sequence) else [probes]


def _worthwhile(
    distance: float, family: Collision, recall: float, slots: int, numbers: Sequence[int]
) -> Iterator[tuple[Banding, int, float]]:
    """For each number of rows and of probes the fewest bands that reach `recall`, and what one band finds."""
    for rows in _ROWS:
        if family.most_rows is not None and rows > family.most_rows:
            return
        most = most_probes(family, rows)
        within = [number for number in numbers if number <= most]
        if not within:
            continue
        chances = np.minimum(1.0, np.cumsum(set_chances(family, distance, rows=rows, probes=within[-1])))
        reached = False
        for number in within:
            chance = float(chances[number - 1])
            bands = fewest_bands(chance, recall, 1, most=slots // rows)
            if bands is not None:
                reached = True
                yield Banding(bands=bands, rows=rows), number, chance
        if not reached and within == list(numbers):
            return  # more rows need at least as many bands, so more slots still


def _cost(banding: Banding, probes: int, candidates: float, sample: DistanceSample) -> float:
    """Expected seconds: rows are signed and have a key a band; those that look have as many as probes more.

    In one collection every row looks, and of two the rows of the smaller one.
    """
    looking = sample.items if sample.other_items is None else min(sample.items, sample.other_items)
    homes = sample.items if sample.other_items is None else max(sample.items, sample.other_items)
    return (
        seconds_for_vector_slots(sample.keyed_items, banding.slots, sample.values_per_item)
        + seconds_for_keys(homes, banding.bands)
        + seconds_for_probes(looking, banding.bands * probes)
        + seconds_for_vector_checks(candidates, sample.values_per_item)
    )


def _areas(chosen: _Chosen, distance: float, furthest: float) -> tuple[float, float]:
    """What is missed within the threshold and passed beyond it, in units of distance."""
    points, chances = _curve(chosen.family, chosen.banding.rows, chosen.probes, distance, furthest)
    found_at = _together(chosen.banding.bands, chances)
    within = points <= distance
    return (
        float(np.trapezoid(1 - found_at[within], points[within])),
        float(np.trapezoid(found_at[points >= distance], points[points >= distance])),
    )


def _together(bands: int, chances: npt.ArrayLike) -> FloatArray:
    """The chance to be found in some band, from that of one."""
    return Banding(bands=bands, rows=1).probabilities(chances)


@lru_cache(maxsize=64)
def _curve(
    family: Collision, rows: int, probes: int, distance: float, furthest: float
) -> tuple[FloatArray, FloatArray]:
    """Distances up to the furthest, the threshold among them, and what one band finds there."""
    points = np.unique(
        np.concatenate([np.linspace(0, distance, _POINTS), np.linspace(distance, furthest, _POINTS)])
    )
    return points, found(family, points, rows=rows, probes=probes)
