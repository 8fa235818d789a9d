"""The recall of the draw at hand: simulated draws whose truth is known, and the formula written out pair by
pair."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from lookalike.theory import plan
from lookalike.theory.hits import Hits, level_of, odds_of
from lookalike.theory.recall_of_draw import FEW, ROUNDS, Draw

#: What pairs have in common: how many differ by the same footer, one of so many; the others by one of their
#: own.
MIXTURES = {
    "each its own": (0, 0.0),
    "one footer": (1, 1.0),
    "three footers": (3, 1.0),
    "half with one footer": (1, 0.5),
    "thirty footers": (30, 1.0),
}


@dataclass(frozen=True)
class Drawn:
    """One draw of hash functions: the law's chance of each pair to agree in a band, and where it did."""

    chances: np.ndarray
    agreed: np.ndarray
    threshold_chance: float

    @property
    def hits(self) -> Hits:
        return Hits.of(self.chances, words(self.agreed), bands=self.agreed.shape[1])

    @property
    def truth(self) -> float:
        return float(self.agreed.any(axis=1).mean())


def words(agreed: np.ndarray) -> np.ndarray:
    """A mask a row, in words of 64 bits."""
    packed = np.packbits(agreed, axis=1, bitorder="little")
    padded = np.zeros((len(packed), -(-agreed.shape[1] // 64) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64)


def draw(
    seed: int,
    *,
    threshold: float,
    kinds: int,
    alike: float,
    pairs: int,
    spread: float = 0.0,
    base: int = 200,
    added: int = 0,
) -> Drawn:
    """Pairs of `base` elements, of which one side has more; pairs of a kind have the same ones more.

    A slot agrees unless the least hash of what one side has more is under the least of all the rest. Bands
    may be `added` to those of the plan.
    """
    rng = np.random.default_rng(seed)
    banding = plan(threshold).banding
    similarity = threshold + spread * rng.random(pairs)
    more = base / similarity - base
    kind = np.where(rng.random(pairs) < alike, rng.integers(max(kinds, 1), size=pairs), -1)
    shape = (banding.bands + added, banding.rows)
    # The least of m uniform numbers is 1 − u^(1/m); a kind has its u in common.
    common = rng.random((max(kinds, 1), *shape))
    u = np.where((kind >= 0)[:, None, None], common[kind], rng.random((pairs, *shape)))
    least_more, least_rest = u ** (1 / more)[:, None, None], rng.random((pairs, *shape)) ** (1 / base)
    return Drawn(similarity**banding.rows, (least_rest > least_more).all(axis=2), threshold**banding.rows)


def whole_kinds(seed: int, *, kinds: int, pairs: int, bands: int = 13, chance: float = 0.21) -> Drawn:
    """Pairs of kinds that each band either finds whole or not at all."""
    agreed = (np.random.default_rng(seed).random((kinds, bands)) < chance)[np.arange(pairs) % kinds]
    return Drawn(np.full(pairs, chance), agreed, chance)


def to_add(drawn: Drawn, *, bands: int | None = None, promised: float = 0.95) -> int:
    """How many bands are added to the first ones, or to all."""
    hits = Hits.of(drawn.chances, words(drawn.agreed[:, :bands]), bands=bands or drawn.agreed.shape[1])
    return Draw(hits=hits).bands_to_add(at_threshold=drawn.threshold_chance, promised=promised)


def by_hand(chances: np.ndarray, agreed: np.ndarray) -> tuple[float, float]:
    """Missed pairs and the variance of that, by the formulas written out over all pairs and bands."""
    chances, agreed = chances[agreed.any(axis=1)], agreed[agreed.any(axis=1)]
    odds = odds_of(np.array([level_of(chance) for chance in chances]))
    times = agreed.sum(axis=1)
    others = times[:, None] - agreed
    asked = (others == 1) | (others == 2)
    usual = np.sort(odds)[math.ceil(len(odds) / 2) - 1]
    found = (asked & agreed).sum(axis=0) + usual / (1 + usual)
    m = np.ones(agreed.shape[1])
    for _ in range(15):
        expected = (asked * odds[:, None] / (1 + m * odds[:, None])).sum(axis=0) + usual / (1 + m * usual)
        m = found / expected
    chance = m * odds[:, None] / (1 + m * odds[:, None])
    pseudo = m * usual / (1 + m * usual)
    information = (asked * chance * (1 - chance)).sum(axis=0) + pseudo * (1 - pseudo)
    once = (times == 1) / (odds * m.sum())
    influence = once - once.sum() * (m * asked * (agreed - chance) / (information * m.sum())).sum(axis=1)
    return float(once.sum()), float((influence**2).sum())


@pytest.mark.parametrize("mixture", MIXTURES)
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_the_counts_by_level_and_mask_give_what_the_formulas_give_pair_by_pair(mixture, threshold):
    kinds, alike = MIXTURES[mixture]
    drawn = draw(3, threshold=threshold, kinds=kinds, alike=alike, pairs=400, spread=0.15)
    told = Draw(hits=drawn.hits)
    missed, variance = by_hand(drawn.chances, drawn.agreed)
    assert told.near_missed == pytest.approx(missed, rel=1e-9)
    assert told.variance == pytest.approx(variance, rel=1e-9)


def test_with_one_footer_the_recall_of_the_draw_is_told_where_the_law_errs():
    errors, of_law = [], []
    for seed in range(20):
        drawn = draw(seed, threshold=0.8, kinds=1, alike=1.0, pairs=2000)
        estimate = Draw(hits=drawn.hits).estimate()
        errors.append(abs(estimate.recall - drawn.truth))
        of_law.append(abs(estimate.by_law - drawn.truth))
    assert max(errors) < 0.03
    assert max(of_law) > 0.05


@pytest.mark.parametrize("mixture", MIXTURES)
def test_the_interval_covers_the_truth(mixture):
    # 60 draws of which 95% are to be covered: 52 or fewer are once in 300 where it is 93%.
    kinds, alike = MIXTURES[mixture]
    covered = 0
    for seed in range(60):
        drawn = draw(100 + seed, threshold=0.6, kinds=kinds, alike=alike, pairs=500, spread=0.1 * (seed % 2))
        estimate = Draw(hits=drawn.hits).estimate()
        assert estimate.low < estimate.high
        covered += estimate.low <= drawn.truth <= estimate.high
    assert covered > 52


@pytest.mark.parametrize("threshold", [0.5, 0.8])
@pytest.mark.parametrize(("pairs", "draws", "at_most"), [(300, 100, 13), (1000, 60, 5)])
def test_few_ordinary_runs_get_bands_even_where_the_law_gives_just_what_is_promised(
    threshold, pairs, draws, at_most
):
    # 5% of such runs at 300 pairs, and 2% at 1,000: more than this are once in a thousand.
    promised = float(plan(threshold).probabilities([threshold])[0])
    added = 0
    for seed in range(draws):
        drawn = draw(200 + seed, threshold=threshold, kinds=0, alike=0.0, pairs=pairs)
        added += to_add(drawn, promised=promised) > 0
    assert added <= at_most


@pytest.mark.parametrize("threshold", [0.5, 0.8])
@pytest.mark.parametrize("kinds", [1, 3])
def test_hardly_an_unlucky_run_of_pairs_with_few_footers_is_left_alone(threshold, kinds):
    unlucky = left = 0
    for seed in range(80):
        drawn = draw(300 + seed, threshold=threshold, kinds=kinds, alike=1.0, pairs=1000)
        unlucky += drawn.truth < 0.93
        left += drawn.truth < 0.93 and not to_add(drawn)
    assert unlucky >= 8
    # .3% of all are left.
    assert left <= 2


def test_once_bands_were_added_hardly_a_run_gets_more():
    again = first = 0
    for seed in range(60):
        drawn = draw(500 + seed, threshold=0.8, kinds=3, alike=1.0, pairs=1000, added=8)
        bands = drawn.agreed.shape[1]
        if added := to_add(drawn, bands=bands - 8):
            first += 1
            again += to_add(drawn, bands=min(bands, bands - 8 + added)) > 0
    assert first >= 20
    assert again <= 4


def test_runs_of_kinds_that_are_found_or_lost_as_one_end_with_enough_bands():
    # Four kinds: one of them is lost in 17% of draws of 13 bands, and in .9% of 26.
    for seed in range(20):
        drawn = whole_kinds(seed, kinds=4, pairs=900, bands=26)
        assert to_add(drawn, bands=13) == 13
        assert to_add(drawn) == 0
    # Thirty kinds: three or more are lost in a sixth of the draws of 13 bands.
    short = 0
    for seed in range(40):
        drawn = whole_kinds(seed, kinds=30, pairs=900, bands=39)
        bands = 13
        for _ in range(ROUNDS):
            bands = min(39, bands + to_add(drawn, bands=bands))
        short += drawn.agreed[:, :bands].any(axis=1).mean() < 0.93
    assert short <= 2


@pytest.mark.parametrize("kinds", [4, 10, 30, 100])
def test_the_interval_reckons_with_kinds_that_were_lost(kinds):
    # 95% are to be covered, of 80: 69 or fewer are once in 300 where it is 93%.
    covered = 0
    for seed in range(80):
        drawn = whole_kinds(100 + seed, kinds=kinds, pairs=500)
        estimate = Draw(hits=drawn.hits).estimate()
        covered += estimate.low <= drawn.truth <= estimate.high
    assert covered > 69


@pytest.mark.parametrize("mixture", MIXTURES)
def test_how_evident_it_is_that_pairs_differ_alike_is_what_the_formula_gives_pair_by_pair(mixture):
    kinds, alike = MIXTURES[mixture]
    drawn = draw(4, threshold=0.7, kinds=kinds, alike=alike, pairs=120, spread=0.1)
    hits = drawn.hits
    off = []
    met = drawn.agreed.any(axis=1)
    odds = odds_of(np.array([level_of(chance) for chance in drawn.chances]))
    for band in range(hits.bands):
        found = expected = variance = 0.0
        for pair in np.flatnonzero(met):
            if np.delete(drawn.agreed[pair], band).any():
                q = odds[pair] / (1 + odds[pair])
                found += drawn.agreed[pair, band]
                expected += q
                variance += q * (1 - q)
        off.append((found - expected) ** 2 / variance)
    deviations = (sum(off) - hits.bands) / math.sqrt(2 * hits.bands)
    assert Draw(hits=hits).evident == pytest.approx(min(1.0, max(0.0, (deviations + 1) / 4)))


def test_pairs_that_differ_each_in_its_own_way_are_told_by_the_law_and_others_by_near_misses():
    ordinary = [
        Draw(hits=draw(seed, threshold=0.8, kinds=0, alike=0.0, pairs=500).hits).evident for seed in range(20)
    ]
    footers = [Draw(hits=draw(seed, threshold=0.8, kinds=3, alike=1.0, pairs=500).hits) for seed in range(20)]
    assert sum(ordinary) / 20 < 0.4
    for told in footers:
        assert told.evident == 1
        assert told.missed == told.near_missed


def test_kinds_that_are_found_or_lost_as_one_are_hard_and_get_as_many_bands_again():
    told = Draw(hits=whole_kinds(5, kinds=10, pairs=2000).hits)
    assert told.hard
    assert told.bands_to_add(at_threshold=0.21, promised=0.95) == 13
    estimate = told.estimate()
    assert estimate.recall == estimate.by_law
    # A kind that was lost is within the interval.
    assert estimate.low < 0.9
    assert estimate.high == 1


def test_parts_add_up_to_the_same_in_any_order():
    drawn = draw(7, threshold=0.7, kinds=3, alike=0.6, pairs=900, spread=0.2)
    whole = drawn.hits
    order = np.random.default_rng(1).permutation(900)
    parts = [
        Hits.of(drawn.chances[part], words(drawn.agreed[part]), bands=whole.bands)
        for part in np.split(order, 9)
    ]
    summed = parts[4]
    for at in (8, 0, 3, 1, 2, 7, 6, 5):
        summed = parts[at] + summed
    for name in ("levels", "masks", "counts"):
        assert np.array_equal(getattr(summed, name), getattr(whole, name))
    assert Draw(hits=summed).estimate() == Draw(hits=whole).estimate()


def test_a_sample_of_the_pairs_stands_for_all():
    drawn = draw(8, threshold=0.7, kinds=1, alike=1.0, pairs=800)
    estimate = Draw(hits=drawn.hits).estimate()
    of_more = Draw(hits=drawn.hits).estimate(found=10 * drawn.hits.pairs)
    assert of_more.found == 10 * estimate.found
    assert of_more.recall == pytest.approx(estimate.recall)
    assert (of_more.low, of_more.high) == pytest.approx((estimate.low, estimate.high))


def test_what_is_known_from_elsewhere_to_be_missed_counts_too():
    drawn = draw(9, threshold=0.7, kinds=0, alike=0.0, pairs=500)
    alone = Draw(hits=drawn.hits).estimate()
    more = Draw(hits=drawn.hits).estimate(missed=100.0, missed_spread=30.0)
    assert more.estimated_total == pytest.approx(alone.estimated_total + 100)
    assert more.low < more.recall < more.high < alone.high


def test_too_few_pairs_go_by_the_law_and_none_tell_nothing():
    few = Draw(
        hits=Hits.of([0.21] * (FEW - 1), words(np.eye(13, dtype=np.bool_)[: FEW - 1]), bands=13)
    ).estimate()
    assert few.few
    assert few.recall == few.by_law == pytest.approx(1 - 0.79**13, abs=0.003)
    assert few.low < few.recall <= few.high
    none = Draw(hits=Hits.of([], np.empty((0, 1), np.uint64), bands=13)).estimate()
    assert (none.found, none.recall, none.low, none.high) == (0, None, None, None)


@pytest.mark.parametrize("bands", [1, 2, 64, 65, 200])
def test_any_number_of_bands_will_do(bands):
    rng = np.random.default_rng(bands)
    chance = 1 - 0.05 ** (1 / bands)
    agreed = rng.random((600, bands)) < chance
    told = Draw(hits=Hits.of(np.full(600, chance), words(agreed), bands=bands))
    assert (told.hits.agreed * told.hits.counts).sum() == agreed.sum()
    estimate = told.estimate()
    truth = agreed.any(axis=1).mean()
    assert estimate.low <= truth <= estimate.high


def test_pairs_that_every_band_finds_leave_an_interval_that_is_not_of_zero_width():
    told = Draw(hits=Hits.of(np.full(50, 0.999), words(np.ones((50, 13), np.bool_)), bands=13))
    estimate = told.estimate()
    assert estimate.recall == pytest.approx(1.0)
    assert estimate.low < 1.0


def test_the_interval_of_one_band_covers_the_truth_of_pairs_that_differ_alike():
    covered = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        # Pairs at .99 that differ by one footer, and one band of five slots.
        lost = (rng.random(5) < 0.01).any()
        agreed = np.full((300, 1), not lost)
        agreed[rng.random(300) < 0.3] = True
        chances = np.full(300, 0.99**5)
        estimate = Draw(hits=Hits.of(chances, words(agreed), bands=1)).estimate()
        assert estimate.by_law == pytest.approx(0.951, abs=0.003)
        covered += estimate.low <= agreed.mean() <= estimate.high
    assert covered >= 38


@pytest.mark.parametrize(("pairs", "promised", "found"), [(400, 0.6, 91), (150, 0.8, 71), (110, 0.95, 85)])
def test_a_draw_so_unlucky_that_it_found_few_of_many_pairs_gets_bands(pairs, promised, found):
    # Every band finds so many fewer than the law says that all together find so few.
    banding = plan(0.8, recall=promised).banding
    share = 1 - (1 - found / pairs) ** (1 / banding.bands)
    agreed = np.random.default_rng(1).random((pairs, banding.bands)) < share
    chance = 0.8**banding.rows
    told = Draw(hits=Hits.of(np.full(pairs, chance), words(agreed), bands=banding.bands))
    assert told.hits.pairs < 100
    assert told.bands_to_add(at_threshold=chance, promised=promised)
