"""The account of a run, on runs whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.theory import Banding, RecallEstimate, estimate_recall
from lookalike.theory.recall import recall_from_chances

BANDING = Banding(bands=13, rows=7)


def test_each_found_pair_stands_for_one_over_its_chance():
    estimate = estimate_recall([0.8, 0.8, 0.9], BANDING, 0.8)
    total = 2 / BANDING.probability(0.8) + 1 / BANDING.probability(0.9)
    assert estimate.found == 3
    assert estimate.estimated_total == pytest.approx(total)
    assert estimate.recall == pytest.approx(3 / total)


def test_nothing_found_is_no_recall_at_all():
    nothing = RecallEstimate(found=0, estimated_total=0.0, recall=None, low=None, high=None)
    assert estimate_recall([], BANDING, 0.8) == nothing
    assert estimate_recall([0.5, 0.79], BANDING, 0.8) == nothing


def test_pairs_that_cannot_be_missed_leave_no_doubt():
    estimate = estimate_recall(np.ones(10), BANDING, 0.8)
    assert (estimate.recall, estimate.low, estimate.high) == (1.0, 1.0, 1.0)


def test_pairs_known_to_be_missed_count_as_much_as_found_ones():
    # Four found at even odds stand for eight; two more had no chance.
    estimate = recall_from_chances([0.5] * 4, missed=2.0)
    assert (estimate.found, estimate.estimated_total, estimate.recall) == (4, 10.0, 0.4)
    surer = recall_from_chances([1.0] * 4, missed=2.0)
    assert (surer.low, surer.recall, surer.high) == (4 / 6, 4 / 6, 4 / 6)
    # The missed ones give or take one: from five pairs to seven.
    doubtful = recall_from_chances([1.0] * 4, missed=2.0, missed_spread=1.0)
    assert (doubtful.low, doubtful.high) == (4 / 7, 4 / 5)
    assert recall_from_chances([], missed=3.0).recall == 0


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(7)
    truth = rng.uniform(0.6, 1.0, size=400)
    chance = BANDING.probabilities(truth)
    held, bias = 0, []
    trials = 2000
    for _ in range(trials):
        found = truth[rng.random(truth.size) < chance]
        estimate = estimate_recall(found, BANDING, 0.6)
        recall = found.size / truth.size
        held += estimate.low <= recall <= estimate.high
        bias.append(estimate.estimated_total - truth.size)
    assert 0.93 <= held / trials <= 0.97
    assert abs(np.mean(bias)) < 4 * np.std(bias) / np.sqrt(trials)


@given(st.lists(st.floats(0.5, 1), min_size=1, max_size=60), st.randoms())
def test_the_order_of_pairs_changes_nothing(similarities, random):
    shuffled = random.sample(similarities, len(similarities))
    assert estimate_recall(similarities, BANDING, 0.5) == estimate_recall(shuffled, BANDING, 0.5)


@given(st.lists(st.floats(0.5, 1), min_size=1, max_size=60))
def test_the_interval_surrounds_the_estimate(similarities):
    estimate = estimate_recall(similarities, BANDING, 0.5)
    assert 0 < estimate.low <= estimate.recall <= estimate.high * (1 + 1e-12) <= 1 + 1e-12
    assert RecallEstimate(**estimate.to_dict()) == estimate
