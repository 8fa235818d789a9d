"""The account after a run: how many pairs there probably were, judged by those that were found.

A pair of similarity J had a known chance P(J) to be found, so each found pair stands for 1/P(J) pairs: itself
and those like it that never met (Horvitz and Thompson). No truth is needed, only the exact similarities of
the verified pairs.

Two things it does not see. Pairs lost in giant buckets, where only leaders are compared, are counted apart.
And pairs that share an item are not found independently, so where clusters are large the interval is too
narrow.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

_NORMAL_95 = 1.959964


class Found(Protocol):
    """A banding of MinHash signatures, or a plan by any measure: what knows the chance to be found."""

    def probabilities(self, values: npt.ArrayLike, /) -> npt.NDArray[np.float64]:
        """The chance that a pair is found, by its similarity."""


@dataclass(frozen=True, kw_only=True)
class RecallEstimate:
    """How much of what there was a run found; `recall`, `low` and `high` are None if nobody can tell."""

    found: int
    """Verified pairs at or over the threshold."""

    estimated_total: float
    """How many such pairs there probably were."""

    recall: float | None
    """`found` of `estimated_total`."""

    low: float | None
    """Lower end of the 95% interval of `recall`."""

    high: float | None
    """Upper end of the 95% interval of `recall`."""

    by_law: float | None = None
    """What it would be in the mean of all draws of hash functions; None where nothing else is known."""

    hard: bool = False
    """Whether whole kinds of pairs were found or lost together: the draw then shows little of what it
    missed."""

    few: bool = False
    """Whether too few pairs were found to tell."""

    @classmethod
    def certain(cls, found: int) -> Self:
        """Of a road that misses nothing."""
        return cls(found=found, estimated_total=float(found), recall=1.0, low=1.0, high=1.0)

    @classmethod
    def unknown(cls, found: int) -> Self:
        """Of a road that was told to leave something out: nobody knows how many pairs that cost."""
        return cls(found=found, estimated_total=float(found), recall=None, low=None, high=None)

    def to_dict(self) -> dict[str, int | float | bool | None]:
        """As plain values for JSON; `RecallEstimate(**…)` reads them back."""
        return asdict(self)


def estimate_recall(similarities: npt.ArrayLike, banding: Found, threshold: float) -> RecallEstimate:
    """Estimate the recall of a run from the exact similarities of the pairs it found.

    Pairs under `threshold` are left out. `banding` may be a plan, of any measure. The interval comes from the
    variance of the estimated total, Σ (1 − P) / P², as if pairs were found independently. A run that found
    nothing cannot tell whether there was nothing to find: its recall is None.

    Examples
    --------
    >>> from lookalike.theory import Banding
    >>> estimate = estimate_recall([0.8] * 93 + [0.95] * 20, Banding(bands=13, rows=7), threshold=0.8)
    >>> print(f"{estimate.found} of {estimate.estimated_total:.0f}: {estimate.recall:.2f}")
    113 of 118: 0.96
    """
    values = np.asarray(similarities, dtype=np.float64)
    # Similarities are ratios and repeat; sorted and summed exactly, their order cannot change the answer.
    distinct, repeats = np.unique(values[values >= threshold], return_counts=True)
    return recall_from_chances(banding.probabilities(distinct), repeats)


def recall_from_chances(
    chances: npt.ArrayLike, repeats: npt.ArrayLike = 1, *, missed: float = 0.0, missed_spread: float = 0.0
) -> RecallEstimate:
    """Estimate the recall of a run from the chances that its pairs had to be found.

    `repeats` says how many pairs had each chance. Chances are summed exactly, so their order does not matter.
    `missed` pairs are known from elsewhere to have had no chance, give or take `missed_spread`.

    Examples
    --------
    >>> recall_from_chances([0.5, 1.0]).estimated_total
    3.0
    """
    chance = np.asarray(chances, dtype=np.float64)
    repeats = np.broadcast_to(np.asarray(repeats), chance.shape)
    found = int(repeats.sum())
    if found == 0 and not missed:
        return RecallEstimate(found=0, estimated_total=0.0, recall=None, low=None, high=None)
    total = math.fsum(repeats / chance) + missed
    by_chance = math.fsum(repeats * (1 - chance) / chance**2)
    spread = math.hypot(_NORMAL_95 * math.sqrt(by_chance), missed_spread)
    return RecallEstimate(
        found=found,
        estimated_total=total,
        recall=found / total,
        low=found / (total + spread),
        # There were at least the pairs that were found.
        high=found / max(float(found), total - spread),
    )
