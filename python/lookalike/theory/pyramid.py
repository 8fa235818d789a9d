"""What the Hamming pyramid promises: how often two sets meet in the folded forms of a boolean matrix.

A set is a column. At the level of 2ʲ rows, each element falls on a row at random, and the column is 1 where
one did. Two columns differ in a row if none of the shared elements fell there and one column's own did.
Levels have orders of their own, so what two columns miss at one says nothing of the next.

Rows of one level are not quite independent: an element falls on one of them, and so on no other. That matters
where few elements differ and a level is large. So what is asked is how many of the sampled rows differ. The
mean and the variance of that number are known, and it is taken to be distributed binomially with both. Which
rows these are is chance, and how often bands meet then is known (`theory.agreeing`). This is within .01 of
what is found where a promise is .85 or more, and within .03 where it is lower.

Very thin and very full columns all look alike. A level is asked only about sets that are expected to fill 20%
to 80% of it; that is two levels or three for each set, and, of two sets of which the larger holds at most
twice as much, always one that both are in. Hence thresholds from .5 on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError, UnreachableRecallError
from lookalike.theory.agreeing import chances_by_agreeing
from lookalike.theory.banding import Banding, FloatArray
from lookalike.theory.ranges import checked_recall, checked_threshold, whole
from lookalike.theory.shares import least_count

#: The least and the greatest expected density of a column at a level it is looked at.
SPARSE, DENSE = 0.2, 0.8

#: Below it, two sets may have no level in common.
LEAST_THRESHOLD = 0.5

#: Levels a set can be in: ln .2 / ln .8 = 7.2 lies between 2² and 2³.
MOST_LEVELS = 3

#: Every sampled row of a level of so few rows has an order, and so a matrix, of its own (as in pyramid.rs).
_FEW_ROWS = 16

#: A plan looks at all small sets: of pairs whose union is at most so large.
_SMALL = 64
#: How many pairs of the largest sets it looks at, and how far from independent the rows of these can be.
_LARGE, _NOT_INDEPENDENT = 64 * 9, 0.05
#: Chances too small to add up to anything, pairs that are looked at at a time, and what rounding may take.
_NO_CHANCE, _AT_ONCE, _ROUNDING = 1e-12, 1 << 13, 1e-9

#: The chance to meet at a level, by shared elements, own ones of either set, and the level.
Meet = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, kw_only=True)
class PyramidPlan:
    """How many bands of how many rows every level is sampled by, and the recall expected at the threshold.

    `expected_recall` is that of the pairs at the threshold that are found least often, whatever their sizes.
    """

    threshold: float
    bands: int
    rows: int
    expected_recall: float

    def chance(self, shared: npt.ArrayLike, size_a: npt.ArrayLike, size_b: npt.ArrayLike) -> FloatArray:
        """The chance that two sets of these sizes that share so much meet in a band of some level."""
        return self._over_levels(shared, size_a, size_b, self._meet)

    def chance_if_independent(
        self, shared: npt.ArrayLike, size_a: npt.ArrayLike, size_b: npt.ArrayLike
    ) -> FloatArray:
        """What the chance would be if rows of a level were independent: about that of large sets."""
        return self._over_levels(shared, size_a, size_b, self._meet_if_independent)

    def _over_levels(
        self, shared: npt.ArrayLike, size_a: npt.ArrayLike, size_b: npt.ArrayLike, meet: Meet
    ) -> FloatArray:
        """The chance to meet at some level, by the chance to meet at one."""
        i, a, b = np.broadcast_arrays(*(np.asarray(given, np.float64) for given in (shared, size_a, size_b)))
        (first_a, last_a), (first_b, last_b) = levels(a), levels(b)
        first, last = np.maximum(first_a, first_b), np.minimum(last_a, last_b)
        miss = np.ones(i.shape)
        for step in range(MOST_LEVELS):
            there = first + step <= last
            level = (first[there] + step).astype(np.float64)
            miss[there] *= 1 - meet(i[there], a[there] - i[there], b[there] - i[there], level)
        return np.asarray(1 - miss, np.float64)

    def _meet_if_independent(
        self, i: FloatArray, a: FloatArray, b: FloatArray, level: FloatArray
    ) -> FloatArray:
        banding = Banding(bands=self.bands, rows=self.rows)
        mean, _ = _rows_that_differ(i, a, b, level, banding.slots)
        return banding.probabilities(1 - mean / banding.slots)

    def _meet(self, i: FloatArray, a: FloatArray, b: FloatArray, level: FloatArray) -> FloatArray:
        """The chance to meet at a level of sets that share `i` elements and have `a` and `b` of their own."""
        banding = Banding(bands=self.bands, rows=self.rows)
        # By how many of the sampled rows differ; where too many do, bands meet with no chance worth counting.
        meet = chances_by_agreeing(banding, banding.slots)[::-1]
        meet = meet[: 1 + np.flatnonzero(meet > _NO_CHANCE)[-1]]
        chance = np.empty(i.shape)
        for at in range(0, len(chance), _AT_ONCE):
            some = slice(at, at + _AT_ONCE)
            mean, variance = _rows_that_differ(i[some], a[some], b[some], level[some], banding.slots)
            chance[some] = _binomial(mean, variance, banding.slots, len(meet)) @ meet
        return chance

    @property
    def stray(self) -> float:
        """The chance that two sets of one size that share nothing meet all the same."""
        sizes = 4096 * np.exp2(np.arange(64) / 64)
        return float(self.chance(0.0, sizes, sizes).mean())

    def to_dict(self) -> dict[str, int | float]:
        """As plain values for JSON; `PyramidPlan(**…)` reads them back."""
        return asdict(self)


def levels(sizes: npt.ArrayLike) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The first and the last level, by the logarithm of its rows, at which sets of these sizes are looked at.

    A set of n elements is expected to fill 1 − (1 − 2⁻ʲ)ⁿ of the 2ʲ rows. An empty set is at no level: its
    first lies over its last.

    Examples
    --------
    >>> [level.tolist() for level in levels([1, 100])]
    [[1, 6], [2, 8]]
    """
    sizes = np.asarray(sizes, np.float64)
    with np.errstate(divide="ignore"):
        first = np.ceil(-np.log2(-np.expm1(np.log(1 - DENSE) / sizes)))
        last = np.floor(-np.log2(-np.expm1(np.log(1 - SPARSE) / sizes)))
    empty = sizes < 1
    return np.where(empty, 1, first).astype(np.uint8), np.where(empty, 0, last).astype(np.uint8)


def plan_pyramid(threshold: float, *, recall: float = 0.95, sampled: int = 100) -> PyramidPlan:
    """Choose how to cut the sampled rows of a level into bands.

    Of the cuts that keep `recall` for every pair at `threshold`, whatever the sizes of its two sets, take the
    one with the longest bands: it lets the fewest dissimilar pairs through.

    Raises
    ------
    UnreachableRecallError
        If so few sampled rows cannot keep it.

    Examples
    --------
    >>> plan = plan_pyramid(0.8)
    >>> plan.bands, plan.rows, round(plan.expected_recall, 3)
    (5, 17, 0.957)
    """
    threshold, recall = checked_threshold(threshold), checked_recall(recall, exact="method='prefix'")
    if threshold < LEAST_THRESHOLD:
        raise OptionError(
            f"threshold={threshold:g} is out of range for the pyramid: {LEAST_THRESHOLD:g} or more,"
            " for sets less alike than that may have no density in common; use lsh or an exact join"
        )
    number = whole(sampled)
    if number is None or not 1 <= number <= 4096:
        raise OptionError(f"sampled={sampled!r} is out of range: a whole number of rows from 1 to 4,096")
    sampled = number
    every = _at_threshold(threshold)
    # Most cuts are turned down by a few pairs, without a look at all of them.
    large, few = (
        [column[pairs] for column in every] for pairs in (slice(-_LARGE, None, 7), slice(None, None, 31))
    )
    best = 0.0
    for rows in range(sampled, 0, -1):
        cut = PyramidPlan(threshold=threshold, bands=sampled // rows, rows=rows, expected_recall=0.0)
        expected = float(cut.chance_if_independent(*large).min())
        if expected >= recall - _NOT_INDEPENDENT:
            expected = float(cut.chance(*few).min())
            if expected >= recall:
                expected = round(float(cut.chance(*every).min()), 9)
        if expected >= recall:
            return replace(cut, expected_recall=expected)
        best = max(best, expected)
    raise UnreachableRecallError(
        f"{sampled} sampled rows find at most {best:.1%} of pairs at similarity {threshold:g},"
        f" short of recall={recall:g}: sample more, or accept less"
    )


def _rows_that_differ(
    shared: FloatArray, only_a: FloatArray, only_b: FloatArray, level: FloatArray, sampled: int
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the number of sampled rows of a level in which two columns differ."""
    rows = np.exp2(level)
    # That one element misses a certain row, and two certain rows of one matrix.
    one, two = 1 - 1 / rows, 1 - 2 / rows
    (a, a_both), (b, b_both) = ((one**own, two**own) for own in (only_a, only_b))
    differ = one**shared * (a * (1 - b) + b * (1 - a))
    # Both rows have elements of one set and none of the other; or one has those of one, one of the other.
    both = b_both * (1 - 2 * a + a_both) + a_both * (1 - 2 * b + b_both) + 2 * (a - a_both) * (b - b_both)
    differ_both = two**shared * np.maximum(both, 0.0)
    # Pairs of sampled rows of one matrix: a small level has several, of which the last is not sampled whole.
    whole, rest = np.divmod(sampled, rows)
    squares = np.where(rows <= _FEW_ROWS, sampled, whole * rows**2 + rest**2)
    variance = sampled * differ - squares * differ**2 + (squares - sampled) * differ_both
    return sampled * differ, variance


def _binomial(mean: FloatArray, variance: FloatArray, most: int, count: int) -> FloatArray:
    """The chances of 0, 1, … `count` − 1, a row for each mean and variance, of at most `most` trials."""
    with np.errstate(divide="ignore", invalid="ignore"):
        trials = np.where(mean > 0, mean / np.clip(1 - variance / mean, mean / most, 1.0), 1.0)
        # As many, or one more: so that the mean is kept.
        fewer = np.floor(trials + _ROUNDING)
        more = np.clip(trials - fewer, 0.0, 1.0)
        hit = np.minimum(mean / trials, 1.0)
        log_hit, log_missed = np.log(hit)[:, None], np.log1p(-hit)[:, None]
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 2)))])
    number = np.arange(count)

    def chances(trials: FloatArray) -> FloatArray:
        left = trials.astype(np.int64)[:, None] - number
        ways = factorials[left + number] - factorials[np.maximum(left, 0)] - factorials[number]
        with np.errstate(invalid="ignore"):
            # What cannot be, 0 · log 0, is no factor.
            powers = np.where(number, number * log_hit, 0.0) + np.where(left, left * log_missed, 0.0)
        return np.asarray(np.where(left >= 0, np.exp(ways + powers), 0.0), np.float64)

    mixed = (1 - more)[:, None] * chances(fewer) + more[:, None] * chances(np.minimum(fewer + 1, most))
    return np.asarray(mixed, np.float64)


@lru_cache(maxsize=8)
def _at_threshold(threshold: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pairs of all kinds at the threshold: what they share, and the sizes of both.

    Of small sets all there are. Of larger ones what counts is where their sizes lie between two powers of
    two, and how unlike they are: from equal to one set within the other. The `_LARGE` largest are last.
    """
    union = np.arange(1, _SMALL + 1)
    shared = np.array([least_count(threshold, size) for size in union.tolist()])
    which, own = np.nonzero(2 * np.arange(_SMALL) <= (union - shared)[:, None])
    small = shared[which], shared[which] + own, union[which] - own
    scale, phase, unlike = np.meshgrid(
        _SMALL * 8.0 ** np.arange(3), np.exp2(np.arange(64) / 64), np.linspace(0, 1, 9), indexing="ij"
    )
    size_a = (scale * phase).ravel()
    size_b = size_a * threshold ** -unlike.ravel()
    large = threshold * (size_a + size_b) / (1 + threshold), size_a, size_b
    together = [
        np.concatenate([some, more]).astype(np.float64) for some, more in zip(small, large, strict=True)
    ]
    return together[0], together[1], together[2]
