"""Bands of bits keep their promise by the draw at hand: a tenth of what `draws_of_bits` runs."""

from functools import cache

import numpy as np
import pytest
from tests.statistics.draws_of_bits import COLLECTIONS, SHAPES, runs


@cache
def some(name, pairs=1000):
    """Two runs a shape."""
    return [one for width, distance in SHAPES for one in runs(name, width, distance, range(2), pairs=pairs)]


def test_of_pairs_that_differ_alike_no_more_are_lost_than_promised():
    every = [one for name in COLLECTIONS for one in some(name)]
    # Two in a hundred are allowed; of 110 runs one more is no surprise.
    assert sum(one.short for one in every) <= 3
    assert np.mean([one.covered for one in every]) >= 0.93


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_interval_holds_the_truth_in_every_kind_of_collection(name):
    assert np.mean([one.covered for one in some(name)]) >= 0.8


def test_ordinary_runs_get_no_more_bands():
    assert np.mean([one.added > 0 for one in some("own")]) < 0.1


def test_one_shared_bit_is_measured_and_not_only_reckoned_with():
    ordinary = [one for one in some("one bit shared") if not one.added]
    errors = [abs(one.recall - one.found) for one in ordinary]
    assert max(errors) < 0.04
    assert all(one.low < one.high for one in ordinary)
