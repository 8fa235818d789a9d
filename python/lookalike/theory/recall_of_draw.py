"""The recall of the draw at hand, from the bands that found pairs met in.

The law P = 1 − (1 − q)ᵇ is the mean over all draws of hash functions. Pairs that differ alike, as pages with
one footer do, share one outcome, so a single draw may be far from it. But every band is a draw of its own.
Pairs that were nearly missed, because one or two bands alone found them, resemble those that were missed, and
show how each band of this draw treats such pairs:

    odds     band k agrees with odds m_k · o, where o = q / (1 − q) are the law's. The m_k are fitted to the
             pairs that one or two *other* bands found, and to one pseudo pair that follows the law.
    missed   a pair misses all bands with 1 / (o · Σ m_k) times the chance that exactly one finds it. So each
             pair that exactly one band found stands for so many that were missed (the near-miss estimate).
    hard     where two found pairs carry the same mask more often than independent bands could explain, whole
             kinds of pairs are found or lost together. Then the fit says little: the law's estimate is given,
             with an interval that reckons with a lost kind.

The interval is that of a gamma distribution, whose variance is the sum of squared influences of the pairs,
made wider where pairs share their outcome. Time and memory: linear in the rows of `Hits`, and levels times
bands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.theory.hits import Hits, level_of
from lookalike.theory.recall import RecallEstimate

_Floats = npt.NDArray[np.float64]

#: Steps of the fixed point of the odds' multipliers.
_STEPS = 15
#: Two pairs may carry the same mask so much more often than independent bands explain; and so much for each
#: pair.
_TOO_ALIKE, _TOO_ALIKE_BY_CHANCE = 0.04, 2.0
#: What is missed is known to no more than a quarter, however many pairs there are: the fit is a model.
_MODEL = 0.25
_NORMAL_975 = 1.959964
#: With fewer pairs than this nothing can be told of a draw.
FEW = 10
#: The promise is judged by the pairs nearest to the threshold: by so many if there are, and not by fewer than
#: `ZONE`, since chance alone would often let those fall short.
_ENOUGH, ZONE = 300, 100
#: Pairs are near it whose law's chance is up to so many times that of a pair at the threshold: the first that
#: serves.
_ZONES = (1.15, 1.25, 1.4, 1.7, 2.2, 2.8)
#: A promise is kept if the recall falls short of it by no more than the first of these, and if it surely does
#: not by more than the second.
TOLERANCE, _SURELY = 0.01, 0.02
_SURE = 1.28
#: Bands from a fresh seed are added so many times at most.
ROUNDS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Draw:
    """What found pairs tell of the draw that found them.

    Parameters
    ----------
    hits
        The pairs, by their law's chance and their mask; those under the threshold left out.
    """

    hits: Hits

    def estimate(
        self, *, found: int | None = None, missed: float = 0.0, missed_spread: float = 0.0
    ) -> RecallEstimate:
        """The recall of this draw, with an interval that is never of zero width.

        `found` says how many pairs there are where `hits` are a sample of them. `missed` pairs are known from
        elsewhere to have had no chance, give or take `missed_spread`.
        """
        counted = self.hits.pairs
        found = counted if found is None else found
        if not counted:
            return RecallEstimate(
                found=found, estimated_total=found + missed, recall=None, low=None, high=None
            )
        times = found / counted
        lost = times * (self.missed_by_law if self.follows_law else self.missed)
        least, most = (times * bound for bound in self.bounds)
        total = found + lost + missed
        low = found + lost + missed + math.hypot(max(0.0, most - lost), missed_spread)
        high = found + max(0.0, lost + missed - math.hypot(max(0.0, lost - least), missed_spread))
        return RecallEstimate(
            found=found,
            estimated_total=_rounded(total),
            recall=_rounded(found / total),
            low=_rounded(found / low),
            high=_rounded(found / high),
            by_law=_rounded(found / (found + times * self.missed_by_law)),
            hard=self.hard,
            few=counted < FEW,
        )

    @property
    def follows_law(self) -> bool:
        """Whether the law's estimate is given, since the pairs are too few to tell, or too hard."""
        return self.hits.pairs < FEW or self.hard

    @cached_property
    def missed(self) -> float:
        """The near-miss estimate of how many pairs every band missed."""
        once = self.hits.agreed == 1
        return math.fsum(self.hits.counts[once] / (self.hits.odds[once] * self._odds_of_all))

    @cached_property
    def missed_by_law(self) -> float:
        """How many pairs there were for each found one, less itself, by the law of all draws."""
        # (1 − q)ᵇ / (1 − (1 − q)ᵇ), and 1 − q = 1 / (1 + o).
        log_missed = -self.hits.bands * np.log1p(self.hits.odds)
        return math.fsum(self.hits.counts * np.exp(log_missed) / -np.expm1(log_missed))

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The 95% interval of how many pairs were missed, in whole pairs."""
        pairs = self.hits.pairs
        if self.hard:
            kinds = _mean_of_poisson_at_most(self.missed_by_law / pairs / self.alike)
            return 0.0, math.ceil(self.alike * pairs * max(1.0, kinds))
        # Pairs that share their outcome count for so many fewer.
        shared = 1 + max(0.0, self.alike) * pairs
        missed, step = self.missed, self._step
        variance = self.variance * shared
        upper = missed + step
        most = _gamma(
            upper, variance + step**2 * shared + upper * shared + (_MODEL * upper) ** 2, _NORMAL_975
        )
        least = _gamma(missed, variance + missed * shared + (_MODEL * missed) ** 2, -_NORMAL_975)
        return math.floor(_rounded(least)), max(1.0, math.ceil(_rounded(most)))

    @cached_property
    def hard(self) -> bool:
        """Whether whole kinds of pairs are found or lost together."""
        pairs = self.hits.pairs
        return pairs > 1 and _rounded(self.alike) > _TOO_ALIKE + _TOO_ALIKE_BY_CHANCE / pairs

    @cached_property
    def alike(self) -> float:
        """How much more often two found pairs carry the same mask than independent bands would have it."""
        pairs = self.hits.pairs
        if pairs < 2:
            return 0.0
        same = self.hits.same_mask() / (pairs * (pairs - 1))
        return same - max(self._same_by_rates(), self._same_by_law())

    def bands_to_add(self, *, at_threshold: float, promised: float) -> int:
        """How many bands to add from a fresh seed, 0 if this draw keeps the promise.

        Parameters
        ----------
        at_threshold
            The law's chance that a pair exactly at the threshold agrees in one band.
        promised
            The recall that is promised of such pairs.
        """
        near = self._near_threshold(at_threshold)
        if near is None:
            return 0
        found, lost = near.hits.pairs, near.missed_by_law if near.hard else near.missed
        recall = found / (found + lost)
        surely = found / (found + lost + _SURE * math.sqrt(near.variance + lost + near._step**2))
        short = _rounded(recall) < promised - TOLERANCE or _rounded(surely) < promised - _SURELY
        if not near.hard and not short:
            return 0
        bands = self.hits.bands
        if near.hard:
            return bands
        # Enough to make up for twice what is missing.
        wanted = math.log(2 * (1 - recall) / (1 - promised)) / -math.log1p(-at_threshold) if recall < 1 else 0
        return max(math.ceil(bands / 3), math.ceil(_rounded(wanted)))

    def none_near_threshold(self, at_threshold: float) -> bool:
        """Whether no pair was found near the threshold, for better or worse."""
        least, beyond = level_of(at_threshold) - 1, level_of(min(1.0, at_threshold * _ZONES[-1]))
        return self.hits.within(least, beyond + 1).pairs == 0

    def _near_threshold(self, at_threshold: float) -> Draw | None:
        """The found pairs nearest to the threshold, if there are enough of them to judge by."""
        least = level_of(at_threshold) - 1
        near = self.hits
        for times in _ZONES:
            near = self.hits.within(least, level_of(min(1.0, at_threshold * times)) + 1)
            if near.pairs >= _ENOUGH:
                break
        return Draw(hits=near) if near.pairs >= ZONE else None

    @cached_property
    def variance(self) -> float:
        """The variance of `missed`: the sum of the squared influences of all pairs."""
        hits, (multipliers, information) = self.hits, self._fit
        few = (hits.agreed >= 1) & (hits.agreed <= 3)
        agreed, counts, odds = hits.agreed[few], hits.counts[few], hits.odds[few]
        members = hits.members(few)
        weights = multipliers / (information * multipliers.sum())
        # What a band that did not agree takes away, by level; and what those that did add, by row.
        levels, place = np.unique(odds, return_inverse=True)
        chance = levels[:, None] * multipliers / (1 + levels[:, None] * multipliers)
        all_bands = (chance @ weights)[place]
        own = (members * weights).sum(axis=1)
        own_chance = (members * chance[place] * weights).sum(axis=1)
        score = np.select(
            [agreed == 1, agreed == 2, agreed == 3],
            [own_chance - all_bands, own - all_bands, own - own_chance],
        )
        influence = np.where(agreed == 1, 1 / (odds * self._odds_of_all), 0.0) - self.missed * score
        return math.fsum(counts * influence**2)

    @cached_property
    def _step(self) -> float:
        """What a pair found once stands for, at most: the estimate cannot see less."""
        return float((1 / (self.hits.odds * self._odds_of_all)).max(initial=0.0))

    @property
    def _odds_of_all(self) -> float:
        """How much the bands find together, in bands that follow the law."""
        return float(self._fit[0].sum())

    @cached_property
    def _fit(self) -> tuple[_Floats, _Floats]:
        """The multiplier of the odds of each band, and how much is known of it."""
        hits = self.hits
        levels, place = np.unique(hits.levels, return_inverse=True)
        odds = np.zeros(len(levels))
        odds[place] = hits.odds
        # Pairs of each level that one or two other bands found, for each band: those it found too, and all.
        found = np.zeros(hits.bands)
        asked = np.zeros((hits.bands, len(levels)))
        for agreed in (1, 2, 3):
            rows = hits.agreed == agreed
            counts = hits.counts[rows].astype(np.float64)
            members = hits.members(rows) * counts[:, None]
            by_level = np.zeros((len(levels), hits.bands))
            np.add.at(by_level, place[rows], members)
            if agreed < 3:
                asked += np.bincount(place[rows], weights=counts, minlength=len(levels))
            asked += {1: -1, 2: 0, 3: 1}[agreed] * by_level.T
            if agreed > 1:
                found += by_level.sum(axis=0)
        usual = _median(odds, np.bincount(place, weights=hits.counts))
        found += usual / (1 + usual)
        multipliers = np.ones(hits.bands)
        for _ in range(_STEPS):
            expected = (asked * odds / (1 + multipliers[:, None] * odds)).sum(axis=1)
            multipliers = found / (expected + usual / (1 + multipliers * usual))
        chance = multipliers[:, None] * odds / (1 + multipliers[:, None] * odds)
        by_law = usual * multipliers / (1 + usual * multipliers)
        information = (asked * chance * (1 - chance)).sum(axis=1) + by_law * (1 - by_law)
        return multipliers, information

    def _same_by_rates(self) -> float:
        """How often two found pairs would carry the same mask, if bands agreed at their own rates."""
        members, counts = self.hits.members(), self.hits.counts[:, None].astype(np.float64)
        others = self.hits.agreed[:, None] - members >= 1
        asked = (others * counts).sum(axis=0)
        rates = (members * others * counts).sum(axis=0) / np.maximum(asked, 1)
        missed = np.prod(1 - rates)
        if missed == 1:
            return 0.0
        return float((np.prod(rates**2 + (1 - rates) ** 2) - missed**2) / (1 - missed) ** 2)

    def _same_by_law(self) -> float:
        """How often they would by the law, given how near the threshold each of them is."""
        levels, place = np.unique(self.hits.odds, return_inverse=True)
        share = np.bincount(place, weights=self.hits.counts) / self.hits.pairs
        agree = levels / (1 + levels)
        both = np.multiply.outer(agree, agree)
        neither = np.multiply.outer(1 - agree, 1 - agree)
        bands = self.hits.bands
        found = -np.expm1(bands * np.log1p(-agree))
        same = ((both + neither) ** bands - neither**bands) / np.multiply.outer(found, found)
        return float(share @ same @ share)


def _gamma(mean: float, variance: float, deviations: float) -> float:
    """The quantile of a gamma distribution, after Wilson and Hilferty."""
    if mean <= 0:
        return 0.0
    spread = variance / (9 * mean**2)
    return float(mean * max(0.0, 1 - spread + deviations * math.sqrt(spread)) ** 3)


def _mean_of_poisson_at_most(mean: float) -> int:
    """The least number that a Poisson number of this mean exceeds in at most 2.5% of cases."""
    term = total = math.exp(-mean)
    number = 0
    while total < 0.975:
        number += 1
        term *= mean / number
        total += term
    return number


def _median(values: _Floats, weights: npt.NDArray[Any]) -> float:
    """The middle of sorted values that occur so often."""
    reached = np.cumsum(weights)
    return float(values[np.searchsorted(reached, reached[-1] / 2)])


def _rounded(value: float) -> float:
    """Nine digits, on which all machines agree."""
    return float(f"{value:.8e}")
