"""How often signatures meet in a band, against 1 − (1 − Jʳ)ᵇ.

The number of candidates among N pairs is binomial if slots are independent. For the reference families it
must lie where a binomial variable lies but for one time in 32,000 on either side: |z| < 4, reckoned exactly,
since chances near 0 and 1 have no bell curve.

The default's slots are slightly dependent, the better to estimate: an element comes first in only one slot,
so that agreeing slots are spread more evenly than by chance. A band of many rows agrees a little less often,
bands fail together less often, and the two nearly cancel. What is asked: at most .015 over theory (more to
check, none lost), and not under it where that counts, at chances of .6 and more. Below, where pairs are not
meant to meet, it may be .012 under theory; .0111 was the most measured. Both but for 4σ, σ² = p(1−p)/N, which
is what N pairs cannot tell. That is of bands of up to 20 rows. Wider ones, which only thresholds near 1 ask
for, fall farther behind where they are few; `theory.dependence` says how far, and plans go by it.
"""

from functools import cache

import pytest
from scipy.stats import binom, norm
from tests.statistics import trials

from lookalike.theory import Banding, plan
from lookalike.theory.dependence import least_chance

SIMILARITIES = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9]
BANDINGS = [Banding(b, r) for b, r in [(20, 5), (13, 7), (6, 4), (2, 1), (32, 4), (14, 9), (9, 13), (128, 1)]]
BEYOND_4_SIGMA = norm.sf(4)


def candidates(agree, banding):
    """How many pairs agree in all rows of at least one band."""
    bands = agree[: banding.slots].reshape(banding.bands, banding.rows, -1)
    return int(bands.all(axis=1).any(axis=0).sum())


@pytest.mark.parametrize("kind", ["consecutive", "random"])
@pytest.mark.parametrize(
    ("family", "union", "pairs"), [("khash", 30, 20_000), ("khash", 200, 20_000), ("universal", 60, 8_000)]
)
def test_reference_families_meet_as_theory_says(family, kind, union, pairs):
    for trial in trials.run(family, kind, union, SIMILARITIES, pairs=pairs):
        for banding in BANDINGS:
            p, met = banding.probability(trial.similarity), candidates(trial.agree, banding)
            seen = f"{banding} at J={trial.similarity}: {met} of {pairs} met, {p * pairs:.1f} expected"
            assert binom.cdf(met, pairs, p) > BEYOND_4_SIGMA, seen
            assert binom.sf(met - 1, pairs, p) > BEYOND_4_SIGMA, seen


@cache
def default_trials(kind, union):
    return trials.run("bucketed", kind, union, SIMILARITIES, pairs=40_000)


@pytest.mark.parametrize(
    ("kind", "union"),
    [("consecutive", union) for union in (10, 50, 200, 500)]
    + [("random", union) for union in (20, 100, 300)],
)
def test_the_default_meets_nearly_as_theory_says(kind, union):
    for trial in default_trials(kind, union):
        for banding in BANDINGS:
            p = banding.probability(trial.similarity)
            sigma = (p * (1 - p) / trial.agree.shape[1]) ** 0.5
            over = candidates(trial.agree, banding) / trial.agree.shape[1] - p
            seen = f"{banding} at J={trial.similarity}: {over:+.4f} of {p:.4f}, σ={sigma:.4f}"
            assert over <= 0.015 + 4 * sigma, seen
            assert over >= -4 * sigma - (0 if p >= 0.6 else 0.012), seen


@pytest.mark.parametrize("recall", [0.6, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
def test_planned_bandings_keep_their_promise_at_the_threshold(threshold, recall):
    banding = plan(threshold, recall=recall).banding
    for union in (50, 200):
        (trial,) = (t for t in default_trials("consecutive", union) if t.similarity == threshold)
        pairs = trial.agree.shape[1]
        sigma = (recall * (1 - recall) / pairs) ** 0.5
        assert candidates(trial.agree, banding) / pairs >= recall - 4 * sigma


@cache
def trials_near_one(union):
    return trials.run("bucketed", "consecutive", union, [0.9, 0.95, 0.98, 0.99], pairs=20_000)


def rates_near_one(similarity, banding):
    """The rate of candidates at this similarity, for each of some sizes of unions that can have it."""
    runs = [t for union in (100, 200, 400) for t in trials_near_one(union) if t.similarity == similarity]
    return [candidates(t.agree, banding) / t.agree.shape[1] for t in runs]


@pytest.mark.parametrize(
    ("similarity", "banding"),
    [
        (0.99, Banding(bands=1, rows=115)),
        (0.99, Banding(bands=1, rows=50)),
        (0.98, Banding(bands=2, rows=59)),
        (0.95, Banding(bands=2, rows=42)),
        (0.9, Banding(bands=3, rows=30)),
    ],
)
def test_few_wide_bands_meet_less_often_than_independent_ones_by_what_is_said(similarity, banding):
    p, least = banding.probability(similarity), least_chance(banding, similarity, slots=128)
    sigma = (p * (1 - p) / 20_000) ** 0.5
    measured = min(rates_near_one(similarity, banding))
    assert measured < p - 4 * sigma
    assert least - 4 * sigma <= measured <= least + 4 * sigma + 0.15 * (p - least)


@pytest.mark.parametrize("recall", [0.2, 0.3, 0.5, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("threshold", [0.9, 0.95, 0.98, 0.99])
def test_plans_near_one_keep_their_promise(threshold, recall):
    banding = plan(threshold, recall=recall).banding
    sigma = (recall * (1 - recall) / 20_000) ** 0.5
    assert min(rates_near_one(threshold, banding)) >= recall - 4 * sigma
