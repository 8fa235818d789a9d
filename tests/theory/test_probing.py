"""Multi-probe, against tables drawn at random."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory.collisions import (
    BitSamplingCollision,
    CauchyCollision,
    GaussianCollision,
    HyperplaneCollision,
)
from lookalike.theory.probing import neighbours, probed


def z(hits, chance):
    return (hits.mean() - chance) / math.sqrt(chance * (1 - chance) / hits.size)


@pytest.mark.parametrize("kind", [GaussianCollision, CauchyCollision])
@pytest.mark.parametrize("distance", [0.3, 1.0, 4.0])
def test_points_lie_in_adjacent_buckets_as_often_as_said(kind, distance):
    rng = np.random.default_rng(11)
    draw = rng.standard_normal if kind is GaussianCollision else rng.standard_cauchy
    projected = distance * draw(200_000)
    apart = np.floor(rng.random(projected.size) + projected / 2.0)
    same, beside, ways = neighbours(kind(2.0), distance)
    assert ways == 2
    assert abs(z(apart == 0, same)) < 4
    assert abs(z(np.abs(apart) == 1, beside)) < 4


def test_bits_that_differ_in_up_to_two_places_are_found_by_137_probes():
    rng = np.random.default_rng(3)
    differing = (rng.random((100_000, 16)) < 20 / 180).sum(axis=1)
    for most, probes in enumerate((1, 17, 137)):
        assert abs(z(differing <= most, probed(HyperplaneCollision(), 20, rows=16, probes=probes))) < 4


@given(st.floats(0, 170), st.integers(1, 20), st.integers(1, 500), st.integers(1, 500))
def test_more_probes_never_find_less(distance, rows, one, other):
    few, many = sorted((one, other))
    found = [probed(HyperplaneCollision(), distance, rows=rows, probes=probes) for probes in (few, many)]
    assert 0 <= found[0] <= found[1] * (1 + 1e-12) <= 1 + 1e-9


def test_one_probe_is_the_table_itself_and_all_of_them_everything():
    law = HyperplaneCollision()
    assert probed(law, 30, rows=10, probes=1) == pytest.approx(law.probability(30) ** 10)
    assert probed(law, 30, rows=10, probes=2**10) == pytest.approx(1)
    assert probed(law, 30, rows=10, probes=2**20) == pytest.approx(1)


def test_what_has_no_neighbours_is_refused():
    with pytest.raises(OptionError, match="bit-sampling have no neighbours"):
        probed(BitSamplingCollision(64), 3, rows=8, probes=10)
    with pytest.raises(OptionError, match="probes=0"):
        probed(HyperplaneCollision(), 3, rows=8, probes=0)
