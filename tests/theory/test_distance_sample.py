"""Samples of distances: how they are counted, and what they make a plan expect."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory import Banding, DistanceSample
from lookalike.theory.collisions import DealtBitsCollision, GaussianCollision, HyperplaneCollision


def sample(distances, *, items=1000, **more):
    return DistanceSample.from_distances(distances, items=items, values_per_item=128, **more)


@given(st.lists(st.just(0.0) | st.floats(1e-200, 1e6), max_size=40))
def test_distances_are_counted_to_three_digits_and_never_rounded_up(distances):
    counted = sample(distances)
    assert counted.pairs == len(distances)
    assert list(counted.levels) == sorted(set(counted.levels))
    spread = np.repeat(counted.levels, counted.counts)
    for exact, level in zip(sorted(distances), spread, strict=True):
        assert level <= exact * (1 + 1e-12)
        assert level >= exact * 0.99 * (1 - 1e-12)


@pytest.mark.parametrize("collision", [HyperplaneCollision(), GaussianCollision(30.0)])
def test_candidates_are_the_sampled_pairs_and_one_unknown_scaled_up(collision):
    banding = Banding(bands=10, rows=8)
    distances = [10.0, 40.0, 40.0, 90.0]
    counted = sample(distances)
    seen = sum(banding.probability(collision.probability(distance)) for distance in distances)
    far = 90.0 if np.isinf(collision.limit) else collision.limit
    even = np.linspace(0, far, 100_001)
    unknown = float(np.mean(banding.probabilities(collision.probabilities(even))))
    expected = counted.candidates(collision)(banding)
    assert expected == pytest.approx(1000 * 999 / 2 * (seen + unknown) / 5, rel=1e-3)


def test_two_collections_have_a_pair_for_each_of_each():
    counted = sample([90.0], other_items=500)
    assert (counted.total_pairs, counted.keyed_items) == (500_000, 1500)


def test_an_empty_sample_and_one_of_copies_expect_the_worst():
    banding = Banding(bands=2, rows=4)
    assert sample([]).candidates(GaussianCollision(1.0))(banding) == pytest.approx(499_500)
    assert sample([0.0]).candidates(GaussianCollision(1.0))(banding) == pytest.approx(499_500)


def test_a_sample_round_trips_through_json():
    counted = sample([1.0, 2.5, 2.5])
    assert DistanceSample(**json.loads(json.dumps(counted.to_dict()))) == counted


def test_a_distance_next_to_nothing_is_nothing():
    assert sample([5e-324]).levels == (0.0,)


@pytest.mark.parametrize("wrong", [[-1.0], [float("nan")], [float("inf")]])
def test_what_is_no_distance_is_refused(wrong):
    with pytest.raises(OptionError, match="numbers of 0 or more"):
        sample(wrong)


def test_levels_need_their_counts():
    with pytest.raises(OptionError, match="not a sample"):
        DistanceSample(levels=(1.0, 2.0), counts=(1,), items=5, values_per_item=3)
    with pytest.raises(OptionError, match="0 or more"):
        DistanceSample(levels=(), counts=(), items=-5, values_per_item=3)


def test_likely_meetings_count_a_pair_in_every_band_in_which_it_meets():
    levels, counts, banding = (3.0, 20.0), (2, 98), Banding(bands=6, rows=10)
    sample = DistanceSample(levels=levels, counts=counts, items=1_001, values_per_item=1)
    # A band is 10 of 64 bits, none twice, and a pair agrees in the bits in which it does not differ.
    one = [math.comb(64 - int(apart), 10) / math.comb(64, 10) for apart in levels]
    expected = sample.total_pairs * 6 * np.dot(counts, one) / 100
    assert sample.likely_meetings(banding, DealtBitsCollision(64)) == pytest.approx(expected)
    assert sample.likely_candidates(banding, DealtBitsCollision(64)) < expected
    far = HyperplaneCollision().probability(20.0) ** 10
    near = HyperplaneCollision().probability(3.0) ** 10
    angles = sample.likely_candidates(banding, HyperplaneCollision())
    met = (2 * (1 - (1 - near) ** 6) + 98 * (1 - (1 - far) ** 6)) / 100
    assert angles == pytest.approx(sample.total_pairs * met)
