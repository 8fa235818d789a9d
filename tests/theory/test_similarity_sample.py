"""What a sample of pairs says about all pairs, and what it must not be taken to say."""

import json
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory import Banding, SimilaritySample


def sample(counts, items=1000, **more):
    return SimilaritySample(counts=tuple(counts), items=items, bytes_per_item=1000, **more)


def average_chance(agreeing: int, slots: int, banding: Banding) -> float:
    """E[1 − (1 − Jʳ)ᵇ] over the beta law of J, exactly, by the binomial theorem."""
    total = Fraction(0)
    for j in range(1, banding.bands + 1):
        power = j * banding.rows
        moment = Fraction(1)
        for i in range(1, power + 1):
            moment *= Fraction(agreeing + i, slots + 1 + i)
        total -= (-1) ** j * comb(banding.bands, j) * moment
    return float(total)


@given(st.integers(1, 30), st.integers(1, 6), st.integers(2, 32), st.data())
def test_a_pair_counts_for_no_less_than_its_average_chance(bands, rows, slots, data):
    agreeing = data.draw(st.integers(0, slots))
    counts = [0] * (slots + 1)
    counts[agreeing] = 1
    banding = Banding(bands=bands, rows=rows)
    rate = 2 * sample(counts).candidate_rate(banding) - banding.false_positive_area(
        1.0
    )  # less the unknown pair
    average = average_chance(agreeing, slots, banding)
    assert rate >= average - 1e-12
    if bands == 1:
        assert rate == pytest.approx(average, rel=1e-9, abs=1e-12)


def test_no_agreement_in_128_slots_is_not_taken_for_no_similarity():
    nothing_seen = sample([10**9] + [0] * 128)
    assert nothing_seen.candidate_rate(Banding(bands=1, rows=1)) == pytest.approx(1 / 130, rel=1e-6)
    assert nothing_seen.candidate_rate(Banding(bands=1, rows=3)) == pytest.approx(1 / 374_660, rel=1e-3)


def test_an_empty_sample_knows_nothing_and_assumes_all_similarities_alike():
    banding = Banding(bands=13, rows=7)
    assert sample([0] * 129).candidate_rate(banding) == banding.false_positive_area(1.0)


def test_a_large_sample_of_known_pairs_predicts_how_many_meet():
    rng = np.random.default_rng(1)
    similarity, slots, banding = 0.5, 128, Banding(bands=20, rows=5)
    agreements = rng.binomial(slots, similarity, size=200_000)
    seen = SimilaritySample.from_agreements(agreements, slots=slots, items=1000, bytes_per_item=1)
    predicted = seen.candidate_rate(banding)
    # Above the truth, .470, since 128 slots leave J uncertain, but not far above.
    assert banding.probability(similarity) < predicted < 1.1 * banding.probability(similarity)


def test_pairs_are_counted_within_one_collection_or_between_two():
    one, two = sample([5, 0], items=10), sample([5, 0], items=10, other_items=7)
    assert (one.total_pairs, one.keyed_items) == (45, 10)
    assert (two.total_pairs, two.keyed_items) == (70, 17)
    assert one.pairs == 5
    banding = Banding(bands=1, rows=1)
    assert two.expected_candidates(banding) == pytest.approx(70 * one.candidate_rate(banding))


def test_agreements_are_counted_by_level():
    seen = SimilaritySample.from_agreements(np.array([0, 2, 2, 1]), slots=3, items=9, bytes_per_item=1)
    assert seen.counts == (1, 1, 2, 0)
    none = SimilaritySample.from_agreements([], slots=3, items=9, bytes_per_item=1)
    assert none.counts == (0, 0, 0, 0)


def test_a_sample_round_trips_through_json():
    seen = SimilaritySample(counts=np.array([3, 1, 0]), items=np.int64(7), bytes_per_item=12.5, other_items=3)
    assert SimilaritySample(**json.loads(json.dumps(seen.to_dict()))) == seen


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"counts": (3,)}, r"counts=\(3,\) is not a sample"),
        ({"counts": (3, -1)}, "is not a sample"),
        ({"counts": (-1,) * 129}, "129 in all"),
        ({"items": -1}, "items=-1"),
        ({"bytes_per_item": float("nan")}, "bytes_per_item=nan"),
        ({"other_items": -1}, "other_items=-1"),
    ],
)
def test_impossible_samples_are_refused(wrong, says):
    with pytest.raises(OptionError, match=says):
        SimilaritySample(**{"counts": (3, 1), "items": 5, "bytes_per_item": 1.0, **wrong})


def test_more_agreement_than_slots_is_refused():
    with pytest.raises(OptionError, match="agreements go from 0 to 5: signatures have 4 slots"):
        SimilaritySample.from_agreements([0, 5], slots=4, items=5, bytes_per_item=1)


def test_likely_candidates_have_no_bias_where_expected_ones_err_towards_too_many():
    # A signature of a pair of similarity J agrees in Binomial(n, J) slots.
    slots, banding = 64, Banding(bands=1, rows=3)
    similarity = np.random.default_rng(5).beta(1, 12, 200_000)
    agreements = np.random.default_rng(6).binomial(slots, similarity)
    sample = SimilaritySample.from_agreements(agreements, slots=slots, items=1_000_001, bytes_per_item=1)
    true = sample.total_pairs * float(np.mean(similarity**3))
    assert abs(sample.likely_candidates(banding) / true - 1) < 0.03
    assert sample.expected_candidates(banding) > 1.05 * true


def test_pairs_that_agree_in_too_few_slots_for_a_band_are_no_likely_candidates():
    sample = SimilaritySample.from_agreements([0, 1, 2], slots=16, items=100, bytes_per_item=1)
    assert sample.likely_candidates(Banding(bands=5, rows=3)) == 0
    assert sample.expected_candidates(Banding(bands=5, rows=3)) > 0
    alike = SimilaritySample.from_agreements([16], slots=16, items=100, bytes_per_item=1)
    assert alike.likely_candidates(Banding(bands=5, rows=3)) == alike.total_pairs
