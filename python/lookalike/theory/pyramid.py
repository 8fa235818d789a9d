"""What the Hamming pyramid promises: how often two sets meet in the folded forms of a boolean matrix.

A set is a column. At the level of 2ʲ rows, each element falls on a row at random, and the column is 1 where
one did. Two columns differ in a row if none of the shared elements fell there and one column's own did. So
the chance to agree is known for every level, and a band of r rows agrees with its r-th power.

Very thin and very full columns all look alike. A level is asked only about sets that are expected to fill 20%
to 80% of it; that is two levels or three for each set, and, of two sets of which the larger holds at most
twice as much, always one that both are in. Hence thresholds from .5 on.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError, UnreachableRecallError
from lookalike.theory.banding import FloatArray
from lookalike.theory.ranges import checked_recall, checked_threshold, whole

#: The least and the greatest expected density of a column at a level it is looked at.
SPARSE, DENSE = 0.2, 0.8

#: Below it, two sets may have no level in common.
LEAST_THRESHOLD = 0.5

#: Levels a set can be in: ln .2 / ln .8 = 7.2 lies between 2² and 2³.
MOST_LEVELS = 3


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
        i, a, b = (np.asarray(values, np.float64) for values in (shared, size_a, size_b))
        (first_a, last_a), (first_b, last_b) = levels(a), levels(b)
        first, last = np.maximum(first_a, first_b), np.minimum(last_a, last_b)
        miss = np.ones(np.broadcast_shapes(i.shape, a.shape, b.shape))
        for step in range(MOST_LEVELS):
            level = first.astype(np.float64) + step
            agree = (1 - _differ(i, a - i, b - i, level)) ** self.rows
            miss *= np.where(level <= last, (1 - agree) ** self.bands, 1.0)
        return np.asarray(1 - miss, np.float64)

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
    threshold, recall = checked_threshold(threshold), checked_recall(recall)
    if threshold < LEAST_THRESHOLD:
        raise OptionError(
            f"threshold={threshold:g} is out of range for the pyramid: {LEAST_THRESHOLD:g} or more,"
            " for sets less alike than that may have no density in common; use lsh or an exact join"
        )
    number = whole(sampled)
    if number is None or not 1 <= number <= 4096:
        raise OptionError(f"sampled={sampled!r} is out of range: a whole number of rows from 1 to 4,096")
    sampled = number
    best = 0.0
    for rows in range(sampled, 0, -1):
        cut = PyramidPlan(threshold=threshold, bands=sampled // rows, rows=rows, expected_recall=0.0)
        expected = _least_chance(cut)
        if expected >= recall:
            return PyramidPlan(threshold=threshold, bands=cut.bands, rows=rows, expected_recall=expected)
        best = max(best, expected)
    raise UnreachableRecallError(
        f"{sampled} sampled rows find at most {best:.1%} of pairs at similarity {threshold:g},"
        f" short of recall={recall:g}: sample more, or accept less"
    )


def _differ(shared: FloatArray, only_a: FloatArray, only_b: FloatArray, level: FloatArray) -> FloatArray:
    """The chance that two columns differ in a row of a level."""
    missed = 1 - np.exp2(-level)
    a, b = missed**only_a, missed**only_b
    differ: FloatArray = missed**shared * (a * (1 - b) + b * (1 - a))
    return differ


def _least_chance(cut: PyramidPlan) -> float:
    """The chance of the unluckiest pair at the threshold.

    What counts is where the sizes lie between two powers of two, and how unlike they are: from equal to one
    set within the other.
    """
    phase, unlike = np.meshgrid(np.exp2(np.arange(64) / 64), np.linspace(0, 1, 17))
    a = 4096 * phase
    b = a * cut.threshold**-unlike
    shared = cut.threshold * (a + b) / (1 + cut.threshold)
    return float(cut.chance(shared, a, b).min())
