"""The fraction of agreeing slots estimates Jaccard similarity: without bias, and as sharply as promised.

Each cell is one family, kind of set, size of the union and similarity J, with N pairs (4,000; the exact
universal family is slow, so it has 32 slots, and fewer pairs where unions are large).

Bias: z = (mean − J) / (s/√N), where s is the standard deviation seen; |z| < 4 is asked. Were there no bias,
one cell in 16,000 would fail by chance, and there are some 240; but the draws are fixed, so that they pass or
fail for good.

Variance: s² against J(1−J)/k, what k independent slots would give; at most 1.1 times that is asked. The
quotient has a standard error of about √(2/N): .022 for 4,000 pairs, so that a family whose slots are
independent, or better, stays under 1.1 by 4.5 standard errors, and one at 1.2 would not. With fewer pairs
four standard errors are allowed.
"""

import numpy as np
import pytest
from tests.statistics import trials

from lookalike import _core

SIMILARITIES = [0.1, 0.3, 0.5, 0.7, 0.9, 0.95]
UNIONS = [10, 30, 100, 300, 1000, 3000, 10_000]


def pairs_of(family, union):
    return {3000: 1000, 10_000: 400}.get(union, 4000) if family == "universal" else 4000


@pytest.mark.parametrize("union", UNIONS)
@pytest.mark.parametrize("kind", ["consecutive", "random"])
@pytest.mark.parametrize("family", ["bucketed", "khash", "universal"])
def test_estimates_are_unbiased_and_sharp(family, kind, union):
    pairs, slots = pairs_of(family, union), 32 if family == "universal" else 128
    allowed = 1 + max(0.1, 4 * (2 / pairs) ** 0.5)
    for trial in trials.run(family, kind, union, SIMILARITIES, pairs=pairs, slots=slots):
        true = trial.similarity
        estimates = trial.agree.mean(axis=0)
        assert len(estimates) == pairs
        z = (estimates.mean() - true) / (estimates.std(ddof=1) / pairs**0.5)
        assert abs(z) < 4, f"bias at J={true}: z={z:.1f}"
        quotient = estimates.var(ddof=1) / (true * (1 - true) / slots)
        assert quotient <= allowed, f"variance at J={true}: {quotient:.3f} of that of independent slots"


def test_the_default_is_sharper_than_independent_slots_where_sets_are_about_as_large_as_signatures():
    (trial,) = trials.run("bucketed", "consecutive", 100, [0.5], pairs=4000)
    quotient = trial.agree.mean(axis=0).var(ddof=1) / (0.25 / 128)
    assert 0.55 < quotient < 0.7


@pytest.mark.parametrize("family", ["bucketed", "khash", "universal"])
def test_every_slot_agrees_as_often_as_sets_are_alike(family):
    # Not only their mean: each of 128 slots, over 16,000 pairs, within 4.5 standard errors.
    (trial,) = trials.run(family, "consecutive", 40, [0.6], pairs=16_000, slots=128)
    error = (0.6 * 0.4 / 16_000) ** 0.5
    assert np.abs(trial.agree.mean(axis=1) - 0.6).max() < 4.5 * error


def test_trials_are_what_signing_both_sets_gives():
    elements = trials.unions("random", 50, 6, seed=3)
    for family in ("bucketed", "khash", "universal"):
        orders = _core.Orders(family, slots=32, seed=3)
        (agree,) = trials.agreements(family, elements, [20], 32, 3)
        for row, seen in zip(elements, agree.T, strict=True):
            # 50 in all, 20 shared: 35 to the left, 35 to the right.
            sets = np.concatenate([row[:35], row[15:]]), np.array([0, 35, 70])
            left, right = _core.sign_sets(sets, orders, threads=1)[0]
            assert np.array_equal(left == right, seen)
