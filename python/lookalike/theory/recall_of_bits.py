"""The recall of the draw at hand for bands of dealt bits, from the bits in which found pairs differ.

As in `recall_of_draw`, found pairs tell how many were missed. Of bits more is known: a pair is found by a
band that holds none of the bits in which it differs. So pairs that differ in the same bits, a *kind*, share
their outcome for certain, and kinds are seen.

    kinds    A kind that makes up a fiftieth of the pairs or more was found or lost as a whole. Those that
             were found show nothing of those that were lost, so these are as many as the law says: a kind
             that is missed with chance u and found with f stands for u / f kinds of its size. How many pairs
             that may be is a sum of Poisson numbers of kinds, counted out exactly.
    others   The near-miss estimate: a pair that exactly one band found resembles those that none found.
             Bands of one shuffle share no bit, so the law's odds of one band depend on how many others
             agreed, and are those of `dealing.few_agree`; the multiplier of each band's odds is fitted to
             the pairs that one or two other bands found. A bit in which nearly all of them differ spoils the
             same bands for all: the law is that of what is left of each shuffle.

Time: linear in the distinct differences, times the bands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lookalike.theory import dealing
from lookalike.theory.banding import Banding
from lookalike.theory.recall import RecallEstimate
from lookalike.theory.recall_of_draw import FEW, TOLERANCE, ZONE, gamma_quantile

_Floats = npt.NDArray[np.float64]
_Whole = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]

#: The least share of all pairs that differ in the same bits for these to be a kind, and the least number.
_KIND, _LEAST_KIND = 0.02, 3
#: The share of the other pairs that differ in a bit for that to be a bit that they share.
_SHARED = 0.9
#: Steps of the fixed point of the odds' multipliers.
_STEPS = 15
#: How much more often than bands that share no bit those of several shuffles agree alike.
_OVERLAP = 1.2
#: Odds beyond which a band is taken to agree for certain, and under which never.
_CERTAIN, _NEVER = 2.0**10, 2.0**-24
#: What is missed is known to no more than a quarter, however many pairs there are: the fit is a model.
_MODEL = 0.25
_NORMAL_975, _NORMAL_900 = 1.959964, 1.281552
#: The pairs nearest to the threshold judge the promise: so many if there are.
_ENOUGH = 300
#: Where a promise may be broken by this much, bands are added until the chance of that is under the other.
_SURELY, _UNLUCKY = 0.02, 0.01
#: Parts of all pairs in which lost kinds are counted, and of how many kinds' worth at most.
_CELLS, _MOST_LOST = 256, 4


@dataclass(frozen=True, kw_only=True, eq=False)
class BitsDraw:
    """What the differences of found pairs tell of the draw that found them.

    Parameters
    ----------
    bits
        How many bits an item has.
    bandings
        The bands of every draw.
    bands
        Which bits each of them looks at: a row a band, a column a bit.
    differs
        The distinct differences of found pairs: a row a difference, a column a bit.
    counts
        How many found pairs differ so.
    met
        In which bands such pairs agree, one at least: a row a difference, a column a band.
    """

    bits: int
    bandings: Sequence[Banding]
    bands: _Bools
    differs: _Bools
    counts: _Whole
    met: _Bools

    @cached_property
    def apart(self) -> _Whole:
        """How many bits each difference has."""
        apart: _Whole = self.differs.sum(axis=1, dtype=np.int64)
        return apart

    @cached_property
    def pairs(self) -> int:
        """How many pairs were looked at."""
        return int(self.counts.sum())

    def estimate(self, found: int | None = None) -> RecallEstimate:
        """The recall of this draw, with an interval that is never of zero width.

        `found` says how many pairs there are where those looked at are a sample of them.
        """
        found = self.pairs if found is None else found
        if not self.pairs:
            return RecallEstimate(found=0, estimated_total=0.0, recall=None, low=None, high=None)
        times = found / self.pairs
        lost = times * self.missed
        least, most = (times * bound for bound in self.bounds)
        return RecallEstimate(
            found=found,
            estimated_total=_rounded(found + lost),
            recall=_rounded(found / (found + lost)),
            low=_rounded(found / (found + max(1.0, most))),
            high=_rounded(found / (found + least)),
            by_law=_rounded(found / (found + times * self.missed_by_law)),
            hard=self.hard,
            few=self.pairs < FEW,
        )

    @cached_property
    def hard(self) -> bool:
        """Whether most pairs are of kinds, so large and so likely lost that it is a matter of luck."""
        if 2 * self.counts[self._kinds].sum() <= self.pairs:
            return False
        return bool(self._lost_kinds(1 - _UNLUCKY) > _SURELY * self.pairs)

    @cached_property
    def missed(self) -> float:
        """How many pairs every band missed."""
        return self.missed_by_law if self.pairs < FEW else self._kinds_missed + self._others.missed

    @cached_property
    def missed_by_law(self) -> float:
        """How many pairs there were for each found one, less itself, by the law of all draws."""
        return math.fsum(self.counts * self._odds_to_miss)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The 95% interval of how many pairs were missed."""
        least, most = self._others.bounds
        kinds, others = self._kinds_missed, self._others.missed
        # Whatever happens to one of them, all of the others may be found.
        above = math.hypot(most - others, max(0.0, (1 + _MODEL) * self._lost_kinds(0.975) - kinds))
        fewest = least + self._lost_kinds(0.025)
        return math.floor(_rounded(fewest)), max(1.0, math.ceil(_rounded(kinds + others + above)))

    def bands_to_add(self, *, radius: int, promised: float, rows: int) -> int:
        """How many bands of so many rows to add from a fresh seed, 0 if this draw keeps the promise."""
        near = self._near_threshold(radius)
        if near is None or not near._falls_short(promised, 1.0):
            return 0
        most = sum(banding.bands for banding in self.bandings)
        step = math.ceil(most / 3)
        for bands in range(step, most + 1, step):
            # What these miss too of what is missed now.
            missed = dealing.chances(self.bits, [Banding(bands=bands, rows=rows)], [radius])[1]
            if not near._falls_short(promised, float(missed[0, 0])):
                return bands
        return most

    def none_near_threshold(self, radius: int) -> bool:
        """Whether no pair was found near the threshold, for better or worse."""
        return not (self.counts[self.apart >= radius - max(1, radius // 4)]).any()

    def _falls_short(self, promised: float, share: float) -> bool:
        """Whether the promise is broken, or may well be, if so large a share of what is missed stays so."""
        pairs, others = self.pairs, self._others
        kinds = share * self._kinds_missed
        lost = share * others.missed
        if _rounded(pairs / (pairs + kinds + lost)) < promised - TOLERANCE:
            return True
        surely = lost + share * _NORMAL_900 * others.deviation
        unlucky = self._lost_kinds(1 - _UNLUCKY, share)
        return _rounded(pairs / (pairs + max(kinds + surely, lost + unlucky))) < promised - _SURELY

    def _near_threshold(self, radius: int) -> BitsDraw | None:
        """The found pairs nearest to the threshold, if there are enough of them to judge by."""
        near, distance = self, radius + 1
        while distance > 0:
            distance -= 1
            near = self._of(self.apart >= distance)
            if near.pairs >= _ENOUGH:
                break
        return near if near.pairs >= ZONE else None

    def _of(self, chosen: _Bools) -> BitsDraw:
        return BitsDraw(
            bits=self.bits,
            bandings=self.bandings,
            bands=self.bands,
            differs=self.differs[chosen],
            counts=self.counts[chosen],
            met=self.met[chosen],
        )

    @cached_property
    def _few(self) -> _Floats:
        """The law's chances to agree in no band, in one, in two …, of each difference."""
        distances, place = np.unique(self.apart, return_inverse=True)
        few = np.zeros((len(distances), dealing.FEW + 1))
        few[:, 0] = 1
        for banding in self.bandings:
            few = dealing.together(few, dealing.few_agree(self.bits, banding, distances))
        return few[place]

    @cached_property
    def _odds_to_miss(self) -> _Floats:
        missed = self._few[:, 0]
        return missed / np.maximum(1 - missed, 1e-9)

    @cached_property
    def _kinds(self) -> _Bools:
        """Which differences are kinds."""
        kinds: _Bools = self.counts >= max(_LEAST_KIND, _KIND * self.pairs)
        return kinds

    @cached_property
    def _kinds_missed(self) -> float:
        return math.fsum((self.counts * self._odds_to_miss)[self._kinds])

    def _lost_kinds(self, quantile: float, share: float = 1.0) -> float:
        """How many pairs of lost kinds there are, at most with this chance, if a share of them stays lost."""
        sizes, odds = self.counts[self._kinds], share * self._odds_to_miss[self._kinds]
        if not len(sizes):
            return 0.0
        unit = max(1.0, float(sizes.sum()) / _CELLS)
        cells = np.zeros(_MOST_LOST * _CELLS)
        cells[0] = 1
        for size, mean in zip(sizes.tolist(), odds.tolist(), strict=True):
            step = max(1, round(size / unit))
            spread, term = np.zeros_like(cells), math.exp(-mean)
            for number in range(math.ceil(len(cells) / step)):
                spread[number * step :] += term * cells[: len(cells) - number * step]
                term *= mean / (number + 1)
                if term < 1e-9:
                    break
            cells = spread
        return unit * int(np.searchsorted(np.cumsum(cells), min(quantile, 1 - 1e-6)))

    @cached_property
    def _others(self) -> _Others:
        chosen = ~self._kinds
        few: _Floats = self._few[chosen]
        able = np.full(len(few), len(self.bands))
        shared = self._shared
        if shared.any():
            differs: _Bools = self.differs[chosen]
            alike: _Bools = np.logical_and.reduce(differs[:, shared], axis=1)
            few[alike] = self._few_given(shared, self.apart[chosen][alike])
            able[alike] = np.count_nonzero(~self.bands[:, shared].any(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            after = np.arange(dealing.FEW)
            odds = (after + 1) * few[:, 1:] / (np.maximum(able[:, None] - after, 1) * few[:, :-1])
        odds = np.where(few[:, :-1] > 0, odds.clip(_NEVER, _CERTAIN), _CERTAIN)
        return _Others(
            counts=self.counts[chosen],
            met=self.met[chosen],
            odds=odds,
            sure=few[:, 0] == 0,
            able=int(able.min(initial=len(self.bands))),
        )

    @cached_property
    def _shared(self) -> _Bools:
        """The bits in which nearly all of the others differ, so that bands with such a bit find none."""
        chosen = ~self._kinds
        counts = self.counts[chosen]
        shared: _Bools = counts @ self.differs[chosen] >= max(1.0, _SHARED * float(counts.sum()))
        return shared

    def _few_given(self, shared: _Bools, apart: _Whole) -> _Floats:
        """The law's chances, as of `_few`, of differences in the shared bits and in any others.

        What is left of a shuffle are the bands without a shared bit.
        """
        bits = self.bits - int(shared.sum())
        able: _Bools = np.logical_not(np.logical_or.reduce(self.bands[:, shared], axis=1))
        distances, place = np.unique(apart - int(shared.sum()), return_inverse=True)
        few = np.zeros((len(distances), dealing.FEW + 1))
        few[:, 0] = 1
        first = 0
        for banding in self.bandings:
            at_once = self.bits // banding.rows
            for start in range(first, first + banding.bands, at_once):
                left = int(able[start : min(start + at_once, first + banding.bands)].sum())
                if left:
                    of_shuffle = dealing.few_agree(bits, Banding(bands=left, rows=banding.rows), distances)
                    few = dealing.together(few, of_shuffle)
            first += banding.bands
        return few[place]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Others:
    """The near-miss estimate of pairs that are of no kind."""

    counts: _Whole
    met: _Bools
    #: The law's odds of one band where 0, 1, 2 others agreed.
    odds: _Floats
    #: Whether the law misses none such.
    sure: _Bools
    #: How many bands may agree, but for pairs without the bits that nearly all share.
    able: int

    @cached_property
    def missed(self) -> float:
        return math.fsum(self.counts * self._stands_for)

    @cached_property
    def deviation(self) -> float:
        return math.sqrt((self.variance + self.missed + self._step**2) * self._shared)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        if not len(self.counts):
            return 0.0, 0.0
        missed, step, shared = self.missed, self._step, self._shared
        variance = self.variance * shared
        upper = missed + step
        most = gamma_quantile(
            upper, variance + step**2 * shared + upper * shared + (_MODEL * upper) ** 2, _NORMAL_975
        )
        least = gamma_quantile(missed, variance + missed * shared + (_MODEL * missed) ** 2, -_NORMAL_975)
        return least, most

    @property
    def _shared(self) -> float:
        """Pairs that share their outcome count for so many fewer."""
        return 1 + max(0.0, self.alike) * float(self.counts.sum())

    @cached_property
    def _agreed(self) -> _Whole:
        agreed: _Whole = self.met.sum(axis=1, dtype=np.int64)
        return agreed

    @cached_property
    def _stands_for(self) -> _Floats:
        """For how many missed pairs each pair stands."""
        once = (self._agreed == 1) & ~self.sure
        return np.where(once, 1 / (self.odds[:, 0] * self._fit[0].sum()), 0.0)

    @cached_property
    def _step(self) -> float:
        # The estimate cannot see less than what a pair found once would stand for.
        unsure = self.odds[~self.sure, 0]
        return float(1 / (unsure.min() * self._fit[0].sum())) if len(unsure) else 0.0

    @cached_property
    def _asked(self) -> tuple[_Bools, _Whole, _Bools]:
        """Of the pairs that few bands found: which one or two other bands found, by band; how many; which."""
        few = self._agreed <= 3
        met = self.met[few]
        others: _Whole = self._agreed[few][:, None] - met
        return (others == 1) | (others == 2), others, few

    @cached_property
    def _fit(self) -> tuple[_Floats, _Floats]:
        """The multiplier of the odds of each band, and how much is known of it."""
        asked, others, few = self._asked
        met, counts, odds = self.met[few], self.counts[few].astype(np.float64), self.odds[few]
        # By how many others agreed and by odds, so many pairs.
        distinct, place = np.unique(odds, axis=0, return_inverse=True)
        place = place.reshape(-1)
        groups = []
        for after in (1, 2):
            for level in range(len(distinct)):
                rows = place == level
                number = counts[rows] @ (asked[rows] & (others[rows] == after))
                groups.append((float(distinct[level, after]), number))
        found = counts @ (asked & met)
        usual = float(np.median(np.repeat(self.odds[:, 1], self.counts))) if len(self.counts) else 1.0
        usual = max(usual, _NEVER)
        found = found + usual / (1 + usual)
        multipliers = np.ones(self.met.shape[1])
        for _ in range(_STEPS):
            expected = usual / (1 + multipliers * usual)
            for odd, number in groups:
                expected = expected + number * odd / (1 + multipliers * odd)
            multipliers = found / expected
        chance = usual * multipliers / (1 + usual * multipliers)
        information = chance * (1 - chance)
        for odd, number in groups:
            chance = odd * multipliers / (1 + odd * multipliers)
            information = information + number * chance * (1 - chance)
        return multipliers, information

    @cached_property
    def variance(self) -> float:
        """The variance of `missed`: the sum of the squared influences of all pairs."""
        multipliers, information = self._fit
        asked, others, few = self._asked
        met, odds = self.met[few], self.odds[few]
        weights = multipliers / (np.maximum(information, 1e-12) * multipliers.sum())
        scaled = np.take_along_axis(odds, np.clip(others, 1, 2), axis=1) * multipliers
        score = ((met - scaled / (1 + scaled)) * asked * weights).sum(axis=1)
        influence = self._stands_for[few] - self.missed * score
        return math.fsum(self.counts[few] * influence**2)

    @cached_property
    def alike(self) -> float:
        """How much more often two pairs carry the same mask than bands that agree at their rates."""
        pairs = int(self.counts.sum())
        if pairs < 2:
            return 0.0
        packed = np.packbits(self.met, axis=1)
        _, place = np.unique(packed, axis=0, return_inverse=True)
        carried = np.bincount(place.reshape(-1), weights=self.counts)
        same = float((carried * (carried - 1)).sum()) / (pairs * (pairs - 1))
        # Two masks of as many bands, any equally likely; bands of several shuffles have bits in common.
        agreed = np.bincount(self._agreed, weights=self.counts)[: self.able + 1] / pairs
        ways = np.array([math.comb(self.able, number) for number in range(len(agreed))], np.float64)
        return same - _OVERLAP * float((agreed**2 / ways).sum())


def _rounded(value: float) -> float:
    """Nine digits, on which all machines agree."""
    return float(f"{value:.8e}")
