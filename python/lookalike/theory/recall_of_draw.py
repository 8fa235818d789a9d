"""The recall of the draw at hand, from the bands that found pairs met in.

The law P = 1 − (1 − q)ᵇ is the mean over all draws of hash functions. Pairs that differ alike, as pages with
one footer do, share one outcome, so a single draw may be far from it. But every band is a draw of its own.
Pairs that were nearly missed, because one or two bands alone found them, resemble those that were missed, and
show how each band of this draw treats such pairs:

    odds     band k agrees with odds m_k · o, where o = q / (1 − q) are the law's. The m_k are fitted to the
             pairs that one or two *other* bands found, and to one pseudo pair that follows the law.
    missed   a pair misses all bands with 1 / (o · Σ m_k) times the chance that exactly one finds it. So each
             pair that exactly one band found stands for so many that were missed (the near-miss estimate).
    evident  where the bands found about as many pairs as the law expects of each, nothing shows that pairs
             differ alike. Pairs that differ each in its own way follow the law, and the fit would only add
             noise. So the estimate goes from the law's to the near-miss one as the evidence grows.
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
#: From so much on, the interval of the fit reckons with lost kinds too. With 30 and 100 kinds that bands find
#: whole or not at all, it covered the truth in 86% and 92% of 160 simulated runs without, and in 97% of 480
#: with it.
_KINDS = 0.006
#: What is missed is known to no more than a quarter, however many pairs there are: the fit is a model.
_MODEL = 0.25
_NORMAL_975 = 1.959964
#: With fewer pairs than this nothing can be told of a draw.
FEW = 10
#: How far the bands' counts are from the law's is a chi-square number. Up to the first of these deviations
#: from its mean nothing is evident, and from the second on that pairs differ alike. Chosen with `_SURE` on
#: 28,000 simulated draws (bandings of thresholds .5 to .9, 110 to 3,000 pairs at the threshold, 17 mixtures).
_EVIDENT = (-1.0, 3.0)
#: The promise is judged by the pairs nearest to the threshold, found or missed: by so many if there are, and
#: not by fewer than `ZONE`, since chance alone would often let those fall short.
_ENOUGH, ZONE = 300, 100
#: Pairs are near it whose law's chance is up to so many times that of a pair at the threshold: the first that
#: serves.
_ZONES = (1.15, 1.25, 1.4, 1.7, 2.2, 2.8)
#: A promise is kept if the recall falls short of it by no more than the first of these, and if it surely does
#: not by more than the second.
TOLERANCE, _SURELY = 0.01, 0.02
#: How sure that is to be where pairs evidently differ alike, in deviations; nothing is asked where nothing is
#: evident. Of the draws named above with 1 to 5 footers, .3% found under .93 and got no bands (1.4% with 1.28
#: in all draws and nothing ever evident); of those with 30 or 100 kinds that bands find whole or not at all
#: 1.3% (13%). Of other draws, of pairs that differ each in its own way, 5% got bands at 300 pairs and 3% at
#: 1,000 where the law gives .95 exactly (44%, 6%), and 4% and 1% where it gives .953 (33%, 2%).
_SURE = 1.64
#: Bands find whole kinds often enough if no more than 1% of draws fall short.
_KINDS_SURE = 0.99
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
        """How many pairs every band missed: by the law, or as far as evident by the near-miss estimate."""
        return self.evident * self.near_missed + (1 - self.evident) * self.missed_by_law

    @cached_property
    def near_missed(self) -> float:
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
            # Kinds differ in size.
            most = (1 + _MODEL) * max(math.ceil(_rounded(self.alike * pairs)), self._most_of_kinds)
            return 0.0, math.ceil(most)
        # Pairs that share their outcome count for so many fewer.
        shared = 1 + max(0.0, self.alike) * pairs
        missed, step = self.missed, self._step
        variance = self.variance * shared
        upper = missed + step
        most = gamma_quantile(
            upper, variance + step**2 * shared + upper * shared + (_MODEL * upper) ** 2, _NORMAL_975
        )
        least = gamma_quantile(missed, variance + missed * shared + (_MODEL * missed) ** 2, -_NORMAL_975)
        kinds = self._most_of_kinds if _rounded(self.alike) > _KINDS + 0.5 / pairs else 0
        if self.hits.bands == 1:
            # No other band shows what this one missed, nor that pairs differ alike: all of them may.
            lost = _poisson_at_most(self.missed_by_law / pairs, 0.975)
            least, kinds = 0.0, math.ceil((1 + _MODEL) * lost * pairs)
        return math.floor(_rounded(least)), max(1, math.ceil(_rounded(most)), kinds)

    @property
    def _most_of_kinds(self) -> int:
        """How many pairs are lost at most, if it is whole kinds that bands find or lose."""
        pairs = self.hits.pairs
        kinds = _poisson_at_most(self.missed_by_law / pairs / self.alike, 0.975)
        return math.ceil(_rounded(self.alike * pairs * kinds))

    @cached_property
    def evident(self) -> float:
        """How evident it is that bands treat pairs alike, from 0 to 1.

        Each band is asked about the pairs that other bands found, and the law says how many of them it finds.
        """
        chance = self.hits.odds / (1 + self.hits.odds)
        off = self._found_too - self._asked(self.hits.counts * chance)
        variance = self._asked(self.hits.counts * chance * (1 - chance))
        # Less is what rounding leaves of a band that was asked about nothing.
        told = variance > 1e-9
        degrees = int(told.sum())
        if degrees < 2:
            return 0.0
        deviations = (math.fsum(off[told] ** 2 / variance[told]) - degrees) / math.sqrt(2 * degrees)
        nothing, surely = _EVIDENT
        return min(1.0, max(0.0, (deviations - nothing) / (surely - nothing)))

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
        bands = self.hits.bands
        if near.hard:
            return 0 if near._kinds_are_found(promised) else bands
        found, lost = near.hits.pairs, near.missed
        recall = found / (found + lost)
        surely = found / (found + lost + near.evident * _SURE * near._deviation)
        if _rounded(recall) >= promised - TOLERANCE and _rounded(surely) >= promised - _SURELY:
            return 0
        # Enough to make up for twice what is missing.
        wanted = math.log(2 * (1 - recall) / (1 - promised)) / -math.log1p(-at_threshold) if recall < 1 else 0
        return max(math.ceil(bands / 3), math.ceil(_rounded(wanted)))

    def none_near_threshold(self, at_threshold: float) -> bool:
        """Whether no pair was found near the threshold, for better or worse."""
        least, beyond = level_of(at_threshold) - 1, level_of(min(1.0, at_threshold * _ZONES[-1]))
        return self.hits.within(least, beyond + 1).pairs == 0

    def _near_threshold(self, at_threshold: float) -> Draw | None:
        """The found pairs nearest to the threshold, if with those missed they are enough to judge by.

        The fewer an unlucky draw found, the more it needs bands.
        """
        least = level_of(at_threshold) - 1
        near = self
        for times in _ZONES:
            near = Draw(hits=self.hits.within(least, level_of(min(1.0, at_threshold * times)) + 1))
            if near._in_all >= _ENOUGH:
                break
        return near if near.hits.pairs >= FEW and near._in_all >= ZONE else None

    @property
    def _in_all(self) -> float:
        """How many pairs there are, found or missed."""
        return _rounded(self.hits.pairs + self.missed) if self.hits.pairs else 0.0

    def _kinds_are_found(self, promised: float) -> bool:
        """Whether hardly a draw of so many bands would lose so many kinds that the promise is broken."""
        kinds = 1 / self.alike
        lost = _poisson_at_most(kinds * self.missed_by_law / self.hits.pairs, _KINDS_SURE)
        return lost <= _rounded(kinds * (1 - promised + _SURELY))

    @property
    def _deviation(self) -> float:
        """The standard deviation of `missed`, where pairs evidently differ alike."""
        # Pairs that share their outcome count for so many fewer, and are found or lost by the law.
        shared = self.evident * max(0.0, self.alike) * self.hits.pairs
        own = self.evident**2 * (self.variance + self._step**2) + self.missed
        return math.sqrt(
            own * (1 + shared) + shared * self.missed_by_law + (self.evident * _MODEL * self.missed) ** 2
        )

    @cached_property
    def variance(self) -> float:
        """The variance of `near_missed`: the sum of the squared influences of all pairs."""
        hits, (multipliers, information) = self.hits, self._fit
        few = hits.agreed <= 3
        agreed, counts, odds = hits.agreed[few], hits.counts[few], hits.odds[few]
        weights = multipliers / (information * multipliers.sum())
        # What a band that did not agree takes away, by level; and what those that did add, by row.
        levels, level = hits.by_level
        chance = levels[:, None] * multipliers / (1 + levels[:, None] * multipliers)
        all_bands = (chance @ weights)[level[few]]
        row, band = hits.met
        own = _summed(row, weights[band], len(few))[few]
        own_chance = _summed(row, (chance * weights)[level[row], band], len(few))[few]
        score = np.select(
            [agreed == 1, agreed == 2, agreed == 3],
            [own_chance - all_bands, own - all_bands, own - own_chance],
        )
        influence = np.where(agreed == 1, 1 / (odds * self._odds_of_all), 0.0) - self.near_missed * score
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
        odds, level = hits.by_level
        row, band = hits.met
        agreed, counts = hits.agreed, hits.counts.astype(np.float64)
        # Pairs of each level that one or two other bands found, for each band: those it found too, and all.
        several = (agreed[row] == 2) | (agreed[row] == 3)
        found = _summed(band[several], counts[row[several]], hits.bands)
        asked = np.tile(_summed(level[agreed < 3], counts[agreed < 3], len(odds)), (hits.bands, 1))
        for times, change in ((1, -1.0), (3, 1.0)):
            of = agreed[row] == times
            place = band[of] * len(odds) + level[row[of]]
            asked += change * _summed(place, counts[row[of]], asked.size).reshape(asked.shape)
        usual = _median(odds, _summed(level, counts, len(odds)))
        found += usual / (1 + usual)
        multipliers = np.ones(hits.bands)
        for _ in range(_STEPS):
            expected = (asked * odds / (1 + multipliers[:, None] * odds)).sum(axis=1)
            multipliers = found / (expected + usual / (1 + multipliers * usual))
        chance = multipliers[:, None] * odds / (1 + multipliers[:, None] * odds)
        by_law = usual * multipliers / (1 + usual * multipliers)
        information = (asked * chance * (1 - chance)).sum(axis=1) + by_law * (1 - by_law)
        return multipliers, information

    @cached_property
    def _found_too(self) -> _Floats:
        """How many pairs that other bands found each band found too."""
        row, band = self.hits.met
        too = self.hits.agreed[row] > 1
        return _summed(band[too], self.hits.counts[row[too]], self.hits.bands)

    def _asked(self, weights: _Floats) -> _Floats:
        """The sum over the pairs that other bands found, for each band."""
        row, band = self.hits.met
        alone = self.hits.agreed[row] == 1
        return math.fsum(weights) - _summed(band[alone], weights[row[alone]], self.hits.bands)

    def _same_by_rates(self) -> float:
        """How often two found pairs would carry the same mask, if bands agreed at their own rates."""
        asked = self._asked(self.hits.counts.astype(np.float64))
        rates = self._found_too / np.maximum(asked, 1)
        missed = np.prod(1 - rates)
        if missed == 1:
            return 0.0
        return float((np.prod(rates**2 + (1 - rates) ** 2) - missed**2) / (1 - missed) ** 2)

    def _same_by_law(self) -> float:
        """How often they would by the law, given how near the threshold each of them is."""
        levels, level = self.hits.by_level
        share = _summed(level, self.hits.counts, len(levels)) / self.hits.pairs
        agree = levels / (1 + levels)
        both = np.multiply.outer(agree, agree)
        neither = np.multiply.outer(1 - agree, 1 - agree)
        bands = self.hits.bands
        found = -np.expm1(bands * np.log1p(-agree))
        same = ((both + neither) ** bands - neither**bands) / np.multiply.outer(found, found)
        return float(share @ same @ share)


#: Less than this is no part of a pair, and its square no number.
_NOTHING = 1e-100


def gamma_quantile(mean: float, variance: float, deviations: float) -> float:
    """The quantile of a gamma distribution, after Wilson and Hilferty."""
    if mean < _NOTHING:
        return 0.0
    spread = variance / (9 * mean**2)
    return float(mean * max(0.0, 1 - spread + deviations * math.sqrt(spread)) ** 3)


def _poisson_at_most(mean: float, surely: float) -> int:
    """The least number that a Poisson number of this mean does not exceed, so surely."""
    if mean > 500:
        # The first term would be 0; so many are nearly normal.
        return math.ceil(mean + 3 * math.sqrt(mean))
    term = total = math.exp(-mean)
    number = 0
    while total < surely:
        number += 1
        term *= mean / number
        total += term
    return number


def _summed(places: npt.NDArray[np.int64], weights: npt.NDArray[Any], many: int) -> _Floats:
    """The sum of the weights of each of so many places, in the order given."""
    return np.bincount(places, weights, many).astype(np.float64)


def _median(values: _Floats, weights: npt.NDArray[Any]) -> float:
    """The middle of sorted values that occur so often."""
    reached = np.cumsum(weights)
    return float(values[np.searchsorted(reached, reached[-1] / 2)])


def _rounded(value: float) -> float:
    """Nine digits, on which all machines agree."""
    return float(f"{value:.8e}")
