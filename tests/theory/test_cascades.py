"""Families seen through ANDs and ORs, what they promise, and where they are wrong."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import integrate

from lookalike.errors import OptionError
from lookalike.theory import Banding, Cascade, Sensitivity
from lookalike.theory.collisions import (
    BitSamplingCollision,
    CauchyCollision,
    CoveringCollision,
    DealtBandsCollision,
    GaussianCollision,
    HyperplaneCollision,
    MinHashCollision,
    RangeCollision,
)

FAMILIES = [
    MinHashCollision(),
    HyperplaneCollision(),
    BitSamplingCollision(64),
    DealtBandsCollision(64, bands=5, rows=12),
    GaussianCollision(2.0),
    CauchyCollision(2.0),
    RangeCollision(4.0, 1.0),
]
families = st.sampled_from(FAMILIES)
ways = st.integers(1, 30)


def test_a_cascade_of_256_functions_in_both_orders():
    """OR-AND first and AND-OR on top, and the other way round, each to its last printed digit."""
    family = Sensitivity(0.2, 0.8, 0.8, 0.2)
    one = family.or_(4).and_(4).and_(4).or_(4)
    assert f"{one.p1:.7f}" == "0.9999996"
    assert f"{one.p2:.7f}" == "0.0008715"
    assert (one.d1, one.d2) == (0.2, 0.8)
    other = family.and_(4).or_(4).or_(4).and_(4)
    assert f"{other.p1:.7f}" == "0.9991285"
    assert f"{other.p2:.1e}" == "4.1e-07"
    assert Cascade(MinHashCollision()).or_(4).and_(4).and_(4).or_(4).functions == 256


def test_a_cascade_of_sets_promises_what_its_sensitivity_amplified_promises():
    cascade = Cascade(MinHashCollision()).and_(4).or_(4)
    by_hand = Cascade(MinHashCollision()).sensitivity(0.2, 0.8).and_(4).or_(4)
    promised = cascade.sensitivity(0.2, 0.8)
    assert (promised.p1, promised.p2) == pytest.approx((by_hand.p1, by_hand.p2))
    assert str(promised) == "(0.2, 0.8, 0.8784974, 0.0063847)-sensitive"


@given(families, ways, ways, st.floats(0, 1))
def test_an_and_of_rows_and_an_or_of_bands_is_a_banding(family, rows, bands, share):
    distance = share * min(family.limit, 20)
    cascade = Cascade(family).and_(rows).or_(bands)
    banding = Banding(bands=bands, rows=rows)
    assert cascade.probability(distance) == pytest.approx(
        banding.probability(family.probability(distance)), rel=1e-9, abs=1e-300
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.family)
@given(ways, ways, st.floats(0.05, 0.95))
# The corner at 5 lies just before a quarter of the way from 2.671875 to 12.
@example(rows=1, bands=1, share=0.22265625)
@settings(max_examples=15, deadline=None)
def test_areas_are_what_quadrature_says(family, rows, bands, share):
    limit = min(family.limit, 12.0)
    threshold = share * limit
    cascade = Cascade(family).and_(rows).or_(bands)
    areas = cascade.areas(threshold, furthest=limit)
    kinks = [1.0, 5.0] if family.family == "ranges" else []

    def area(curve, low, high):
        inside = [kink for kink in kinks if low < kink < high]
        middle = cascade.distance(0.5)
        points = sorted([*inside, *([middle] if low < middle < high else [])])
        return integrate.quad(curve, low, high, epsabs=1e-11, limit=400, points=points or None)[0]

    missed = area(lambda d: float(cascade.misses(d)), 0, threshold)
    passed = area(cascade.probability, threshold, limit)
    assert areas.false_negatives == pytest.approx(missed, rel=1e-7, abs=1e-9 * limit)
    assert areas.false_positives == pytest.approx(passed, rel=1e-7, abs=1e-9 * limit)


@given(ways, st.floats(0, 12))
def test_areas_of_lines_with_corners_are_those_of_triangles(bands, threshold):
    """Of one function: a straight line from 1 at the reach to 0 at the end of the range."""
    areas = Cascade(RangeCollision(4.0, 1.0)).or_(bands).areas(threshold, furthest=12)
    # ∫ xᵇ from 0 is xᵇ⁺¹ / (b + 1); x is how much of the line has gone by.
    gone = min(max(threshold - 1, 0) / 4, 1)
    missed = 4 * gone ** (bands + 1) / (bands + 1)
    assert areas.false_negatives == pytest.approx(missed + max(threshold - 5, 0), rel=1e-11, abs=1e-14)
    passed = 4 * (1 - gone) - 4 * (1 - gone ** (bands + 1)) / (bands + 1)
    assert areas.false_positives == pytest.approx(passed + max(1 - threshold, 0), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("threshold", [0, 2.5, 3, 3.004, 9.996, 40])
def test_areas_of_masks_are_those_of_lines_between_whole_distances(threshold):
    law = CoveringCollision(40, 3)
    areas = Cascade(law).areas(threshold)
    edges = np.unique([0, threshold, *range(41)])
    chances = law.probabilities(edges)
    lines = np.diff(edges) * (chances[1:] + chances[:-1]) / 2
    within = edges[1:] <= threshold
    assert areas.false_positives == pytest.approx(lines[~within].sum(), rel=1e-11)
    assert areas.false_negatives == pytest.approx(threshold - lines[within].sum(), rel=1e-9, abs=1e-13)


@given(ways, ways, st.floats(0.01, 0.99))
def test_areas_of_sets_are_those_of_the_closed_form(rows, bands, threshold):
    areas = Cascade(MinHashCollision()).and_(rows).or_(bands).areas(threshold)
    banding = Banding(bands=bands, rows=rows)
    assert areas.false_negatives == pytest.approx(
        banding.false_negative_area(1 - threshold), rel=1e-9, abs=1e-14
    )
    assert areas.false_positives == pytest.approx(
        banding.false_positive_area(1 - threshold), rel=1e-9, abs=1e-14
    )


def test_where_distances_have_no_end_areas_go_five_times_as_far():
    cascade = Cascade(GaussianCollision(2.0)).and_(3).or_(5)
    assert cascade.areas(1.5) == cascade.areas(1.5, furthest=7.5)
    with pytest.raises(OptionError, match="from 0 to 1, the furthest"):
        cascade.areas(1.5, furthest=1)


@given(families, ways, ways, st.floats(0.01, 0.99))
def test_the_distance_of_a_chance_is_where_the_curve_has_it(family, rows, bands, probability):
    cascade = Cascade(family).and_(rows).or_(bands)
    assert cascade.probability(cascade.distance(probability)) == pytest.approx(probability, rel=1e-6)


def test_the_fixed_point_as_a_distance():
    cascade = Cascade(HyperplaneCollision()).and_(4).or_(4)
    assert cascade.fixed_distance() == pytest.approx(180 * (1 - cascade.fixed_point()))
    assert cascade.probability(cascade.fixed_distance()) == pytest.approx(cascade.fixed_point())
    assert Cascade(HyperplaneCollision()).and_(4).fixed_distance() is None


def test_a_curve_by_distance():
    distances, chances = Cascade(BitSamplingCollision(8)).and_(2).curve(points=9)
    assert distances.tolist() == list(range(9))
    assert chances.tolist() == pytest.approx([(1 - d / 8) ** 2 for d in range(9)])
    with pytest.raises(OptionError, match="an L2 distance has no upper limit"):
        Cascade(GaussianCollision(1)).curve()
    with pytest.raises(OptionError, match="points=1"):
        Cascade(BitSamplingCollision(8)).curve(points=1)


def test_what_a_cascade_is_called():
    assert str(Cascade(HyperplaneCollision()).and_(8).or_(3)) == "hyperplanes: 8-way AND then 3-way OR"


def test_rho_of_sampled_bits():
    """r = N/3 and c = 2."""
    promised = Cascade(BitSamplingCollision(300)).sensitivity(100, 200)
    assert (promised.p1, promised.p2) == pytest.approx((2 / 3, 1 / 3))
    assert f"{promised.rho:.3f}" == "0.369"


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.integers(1, 20))
def test_an_and_leaves_rho_as_it_is(one, other, ways):
    p2, p1 = sorted((one, other))
    promised = Sensitivity(1, 2, p1, p2)
    assert promised.and_(ways).rho == pytest.approx(promised.rho)
    assert 0 <= promised.rho <= 1


def test_rho_at_its_ends():
    assert Sensitivity(1, 2, 1.0, 0.5).rho == 0
    assert Sensitivity(1, 2, 0.5, 0.0).rho == 0
    assert Sensitivity(1, 2, 1.0, 1.0).rho == 1
    assert Sensitivity(1, 2, 0.0, 0.0).rho == 1


@pytest.mark.parametrize("wrong", [(2, 1, 0.9, 0.1), (1, 1, 0.9, 0.1), (-1, 1, 0.9, 0.1)])
def test_near_is_nearer_than_far(wrong):
    with pytest.raises(OptionError, match="near and far distance"):
        Sensitivity(*wrong)


@pytest.mark.parametrize("wrong", [(1, 2, 0.1, 0.9), (1, 2, 1.1, 0.9), (1, 2, 0.5, -0.1)])
def test_near_pairs_agree_no_less_often_than_far_ones(wrong):
    with pytest.raises(OptionError, match="chances of near and far pairs"):
        Sensitivity(*wrong)
