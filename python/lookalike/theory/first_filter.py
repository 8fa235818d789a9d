"""Candidates dropped by their signatures before anybody looks at the data, and what that loses.

Two signatures of n slots agree in X of them, and X is binomial: n trials that succeed with the similarity. So
a pair at the threshold t may agree in fewer than t·n slots, and who drops every candidate under the threshold
drops half of those. The filter asks for fewer: for as many slots as a pair at the threshold has with a chance
of 1 − LOSS or more. (Slots of the default family vary a little less than independent ones, so a little less
is lost.)
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.theory.banding import FloatArray
from lookalike.theory.recall import RecallEstimate

#: The filter loses at most so many of the pairs at the threshold.
LOSS = 0.001
#: Of what a promise allows to be missed, the filter takes at most this share.
_SHARE = 0.1
#: Chances are computed for similarities in steps of this, each for those down to it.
_STEP = 1e-4


@dataclass(frozen=True, kw_only=True)
class FirstFilter:
    """Which candidates are looked at, by how many of their slots agree.

    Examples
    --------
    >>> first = first_filter(0.8, slots=128, recall=0.95)
    >>> first.least, round(first.margin, 3), round(first.loss, 5)
    (88, 0.113, 0.00089)
    """

    threshold: float
    slots: int

    least: int
    """A candidate is dropped if fewer slots agree."""

    @property
    def at_least(self) -> float:
        """The same as a share of all slots: the least estimate of a candidate that is looked at."""
        return self.least / self.slots

    @property
    def margin(self) -> float:
        """How far the least estimate lies under the threshold."""
        return self.threshold - self.at_least

    @property
    def loss(self) -> float:
        """The share of pairs at the threshold that it drops."""
        return float(1 - self.passing(self.threshold))

    def passing(self, similarities: npt.ArrayLike) -> FloatArray:
        """The chance that pairs of these similarities are looked at, by the binomial law."""
        return 1 - _under(self.slots, self.least, np.asarray(similarities, np.float64))

    def bands_recall(self, recall: float) -> float:
        """What bands must find, so that with this filter behind them the promise is kept.

        A pair that agrees in a whole band agrees in many slots, so who was found passes more often than
        others; as if it were not so, this asks for a little too much.
        """
        return recall / (1 - self.loss)

    def together(self, recall: RecallEstimate, similarities: npt.ArrayLike) -> RecallEstimate:
        """The recall of bands, which found pairs of these similarities, with what the filter lost of them."""
        values = np.asarray(similarities, np.float64)
        if recall.recall is None or not len(values):
            return recall
        # Steps from below: the chance of a pair is never overestimated.
        steps, counts = np.unique(np.floor(values / _STEP).astype(np.int64), return_counts=True)
        chances = self.passing(np.maximum(steps * _STEP, self.threshold))
        share = len(values) / math.fsum(counts / chances)

        def less(part: float | None) -> float | None:
            return None if part is None else part * share

        return replace(
            recall,
            estimated_total=recall.estimated_total / share,
            recall=less(recall.recall),
            low=less(recall.low),
            high=less(recall.high),
            by_law=less(recall.by_law),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, what follows from them included."""
        return {**asdict(self), "at_least": self.at_least, "margin": self.margin, "loss": self.loss}


def first_filter(threshold: float, *, slots: int, recall: float) -> FirstFilter:
    """The filter that loses a thousandth of the pairs at the threshold at most, and less for a high promise.

    It never takes more than a tenth of what a promise allows to be missed.
    """
    allowed = min(LOSS, _SHARE * (1 - recall))
    # Nine digits: logarithms differ in their last bit from machine to machine, and a filter must not.
    under = np.round(np.cumsum(np.exp(_log_chances(slots, np.array([threshold])))[0]), 9)
    # under[k] is the chance that k slots or fewer agree: a pair with `least` passes.
    return FirstFilter(threshold=threshold, slots=slots, least=int(np.searchsorted(under, allowed, "right")))


def _under(slots: int, least: int, similarities: FloatArray) -> FloatArray:
    """The chance that fewer than `least` slots agree."""
    flat = similarities.reshape(-1)
    under = np.empty(len(flat))
    at_once = max(1, (1 << 22) // (slots + 1))
    for start in range(0, len(flat), at_once):
        logs = _log_chances(slots, flat[start : start + at_once])
        under[start : start + at_once] = np.exp(logs[:, :least]).sum(axis=1)
    return np.minimum(under, 1.0).reshape(similarities.shape)


def _log_chances(slots: int, similarities: FloatArray) -> FloatArray:
    """log Pr[X = k] of the binomial law, a row a similarity, a column for each k from 0 to `slots`."""
    agreeing = np.arange(slots + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (
            _log_ways(slots)
            + np.where(agreeing > 0, agreeing * np.log(similarities)[:, np.newaxis], 0.0)
            + np.where(agreeing < slots, (slots - agreeing) * np.log1p(-similarities)[:, np.newaxis], 0.0)
        )
    chances: FloatArray = logs
    return chances


@lru_cache(maxsize=16)
def _log_ways(slots: int) -> FloatArray:
    """log C(n, k) for every k."""
    logs = np.array([math.lgamma(number + 1) for number in range(slots + 1)])
    return np.asarray(logs[-1] - logs - logs[::-1])
