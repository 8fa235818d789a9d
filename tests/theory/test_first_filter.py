"""The filter by signatures before the data is looked at (SPEC M10): binomial chances, and what it loses."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from lookalike.theory.first_filter import LOSS, FirstFilter, first_filter
from lookalike.theory.recall import RecallEstimate


def under(slots, least, similarity):
    """The chance that fewer slots agree, in whole numbers."""
    p = Fraction(similarity)
    return float(sum(comb(slots, k) * p**k * (1 - p) ** (slots - k) for k in range(least)))


@pytest.mark.parametrize("slots", [1, 7, 64, 128, 300])
@pytest.mark.parametrize("similarity", [0.05, 0.5, 0.8, 0.97, 1.0])
def test_chances_are_those_of_the_binomial_law(slots, similarity):
    for least in {0, 1, slots // 2, slots - 1, slots}:
        passing = FirstFilter(threshold=0.5, slots=slots, least=least).passing(similarity)
        assert float(passing) == pytest.approx(1 - under(slots, least, similarity), abs=1e-12)


@pytest.mark.parametrize("slots", [1, 16, 128, 512])
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("recall", [0.5, 0.95, 0.999])
def test_the_filter_asks_for_as_many_slots_as_its_loss_allows(slots, threshold, recall):
    chosen = first_filter(threshold, slots=slots, recall=recall)
    allowed = min(LOSS, (1 - recall) / 10)
    assert under(slots, chosen.least, threshold) <= allowed + 1e-9
    assert chosen.loss == pytest.approx(under(slots, chosen.least, threshold), abs=1e-12)
    if chosen.least < slots:
        assert under(slots, chosen.least + 1, threshold) > allowed - 1e-9
    assert chosen.margin == pytest.approx(threshold - chosen.least / slots)


def test_only_equal_signatures_pass_at_a_threshold_of_one():
    assert first_filter(1.0, slots=128, recall=0.95).least == 128
    assert first_filter(1.0, slots=128, recall=0.95).loss == 0


def test_bands_make_up_for_what_the_filter_loses():
    chosen = first_filter(0.8, slots=128, recall=0.95)
    assert chosen.bands_recall(0.95) * (1 - chosen.loss) == pytest.approx(0.95)


def test_what_the_filter_loses_is_multiplied_into_the_recall():
    chosen = first_filter(0.8, slots=64, recall=0.5)
    bands = RecallEstimate(found=3, estimated_total=4.0, recall=0.75, low=0.6, high=0.9, by_law=0.8)
    similarities = [0.8, 0.8, 0.9]
    both = chosen.together(bands, similarities)
    share = 3 / sum(1 / (1 - under(64, chosen.least, similarity)) for similarity in similarities)
    assert 0.999 < share < 1
    for name in ("recall", "low", "high", "by_law"):
        assert getattr(both, name) == pytest.approx(share * getattr(bands, name), abs=1e-6)
    assert both.estimated_total == pytest.approx(4 / share, abs=1e-5)
    assert both.found == 3


def test_nothing_found_tells_nothing():
    nothing = RecallEstimate(found=0, estimated_total=0.0, recall=None, low=None, high=None)
    assert first_filter(0.8, slots=64, recall=0.9).together(nothing, np.empty(0)) == nothing
