"""Collisions of every family: known answers, limits, inverses, and integrals they must equal."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from lookalike.errors import ArtefactError, OptionError
from lookalike.theory import Cascade
from lookalike.theory.collisions import (
    KINDS,
    BitSamplingCollision,
    CauchyCollision,
    CoveringCollision,
    DealtBandsCollision,
    DealtBitsCollision,
    GaussianCollision,
    HyperplaneCollision,
    MinHashCollision,
    RangeCollision,
    SignsCollision,
    UnaryCollision,
    WeightedMinHashCollision,
    collision_from_dict,
)

EVERY = [
    MinHashCollision(),
    WeightedMinHashCollision(),
    HyperplaneCollision(),
    SignsCollision(),
    BitSamplingCollision(64),
    DealtBitsCollision(64),
    DealtBandsCollision(64, bands=7, rows=12),
    CoveringCollision(64, 5, 2),
    UnaryCollision(12.5),
    GaussianCollision(3.0),
    CauchyCollision(0.5),
    RangeCollision(7.0, 1.0),
]
every = pytest.mark.parametrize("collision", EVERY, ids=lambda collision: collision.family)


def far(collision):
    return min(collision.limit, 50.0)


def test_every_kind_is_tested_here():
    assert {collision.family for collision in EVERY} == set(KINDS)


def test_projections_collide_as_known_at_half_and_twice_the_width():
    assert f"{GaussianCollision(1).probability(1 / 2):.4f}" == "0.6095"
    assert f"{GaussianCollision(1).probability(2):.4f}" == "0.1954"
    assert f"{GaussianCollision(8).probability(4):.4f}" == "0.6095"
    promised = Cascade(GaussianCollision(1)).sensitivity(1 / 2, 2)
    assert promised.p1 >= 1 / 2
    assert promised.p2 <= 1 / 3


def test_bits_hyperplanes_and_sets_collide_as_known():
    assert BitSamplingCollision(30).probability(10) == pytest.approx(2 / 3)
    assert HyperplaneCollision().probability(45) == 0.75
    assert MinHashCollision().probability(0.25) == 0.75
    assert UnaryCollision(100).probability(20) == 0.8


@pytest.mark.parametrize(
    ("collision", "density"),
    [(GaussianCollision(2.0), stats.norm.pdf), (CauchyCollision(2.0), stats.cauchy.pdf)],
)
@pytest.mark.parametrize("distance", [0.1, 0.9, 2.0, 7.0, 60.0])
def test_projections_collide_as_often_as_an_integral_over_the_projected_difference(
    collision, density, distance
):
    """A difference of x is not cut by a random offset with probability 1 − x/width."""
    width = collision.width

    def uncut(x):
        return 2 * density(x / distance) / distance * (1 - x / width)

    truth, _ = integrate.quad(uncut, 0, width, epsabs=1e-13, points=[min(distance, width / 2)])
    assert collision.probability(distance) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize(("margin", "copied"), [(0, 0), (1.5, 1), (1.5, 2), (3.5, 2)])
def test_ranges_collide_as_often_as_points_that_share_a_range(margin, copied):
    """Counted over a fine grid of places: ranges of 7, copies within the margin of an edge."""
    width, reach = 7.0, margin * copied
    places = (np.arange(20_000) + 0.5) / 20_000 * width
    for difference in (0.0, 0.5, 2.0, 4.0, 8.0, 12.0, 15.0):
        one, other = places, places + difference
        own = margin if copied >= 1 else 0
        others = margin if copied == 2 else 0
        meet = np.floor((one + own) / width) >= np.floor((other - others) / width)
        assert RangeCollision(width, reach).probability(difference) == pytest.approx(meet.mean(), abs=1e-3)


def test_signs_are_only_about_right_where_one_coordinate_outweighs_the_others():
    """All four normals of ±1 put (2, 1) and (1, 0) on one side, although they are 27° apart."""
    normals = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    assert (np.sign(normals @ [2, 1]) == np.sign(normals @ [1, 0])).all()
    # Sixteen comparable coordinates, all normals: the approximation is good to a hundredth or two.
    rng = np.random.default_rng(5)
    normals = (np.arange(1 << 16)[:, np.newaxis] >> np.arange(16)) % 2 * 2 - 1
    x, y = rng.normal(size=(2, 16))
    angle = math.degrees(math.acos(x @ y / math.sqrt((x @ x) * (y @ y))))
    agree = ((normals @ x >= 0) == (normals @ y >= 0)).mean()
    assert agree == pytest.approx(SignsCollision().probability(angle), abs=0.02)


@every
@given(st.data())
def test_collisions_fall_with_distance_and_add_up_with_what_differs(collision, data):
    one, other = sorted(data.draw(st.tuples(*[st.floats(0, far(collision))] * 2)))
    near, apart = collision.probability(one), collision.probability(other)
    assert 0 <= apart <= near * (1 + 1e-12) <= 1 + 1e-12
    agree, differ = collision.chances([one, other])
    assert (agree + differ).tolist() == pytest.approx([1, 1])


@every
def test_what_is_equal_always_collides(collision):
    agree, differ = collision.chances(0)
    assert (float(agree), float(differ)) == (1.0, 0.0)


@every
@given(st.floats(0.01, 0.99))
def test_the_inverse_gives_the_distance_of_a_chance(collision, probability):
    assert collision.probability(collision.distance(probability)) == pytest.approx(probability, rel=1e-9)


@every
def test_the_inverse_has_its_ends(collision):
    certain = {"ranges": "reach", "covering": "radius"}.get(collision.family)
    within = 0 if certain is None else getattr(collision, certain)
    if collision.family == "dealt-bands":
        # Fewer differences than a shuffle has bands.
        within = collision.bits // collision.rows - 1
    assert collision.distance(1) == pytest.approx(within)
    assert collision.distance(0) == collision.limit
    with pytest.raises(OptionError, match="not a probability"):
        collision.distance(1.5)


@pytest.mark.parametrize("kind", [GaussianCollision, CauchyCollision])
def test_projections_keep_their_digits_near_and_far(kind):
    collision = kind(1.0)
    near, very_near = collision.chances([1e-6, 1e-9])[1]
    # For tiny distances what differs is nearly in proportion to the distance (of Cauchy but for a logarithm).
    assert 300 < near / very_near < 1001
    distant, very_distant = collision.probabilities([1e6, 1e9])
    assert distant / very_distant == pytest.approx(1000, rel=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("kind", "density"), [(GaussianCollision, 1 / math.sqrt(2 * math.pi)), (CauchyCollision, 1 / math.pi)]
)
def test_projections_fall_in_proportion_as_far_as_numbers_go(kind, density):
    # Of a bucket far narrower than the distance: its width times the density of the line's law at 0.
    distances = np.logspace(5, 300, 60)
    np.testing.assert_allclose(kind(1.0).probabilities(distances) * distances, density, rtol=1e-5)
    agree, differ = kind(1e-300).chances([1e10, 1e300])
    assert np.all(agree < 1e-300)
    assert differ.tolist() == [1, 1]


@every
@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf])
def test_what_is_not_a_distance_is_refused(collision, wrong):
    with pytest.raises(OptionError, match=f"is not {collision.noun}"):
        collision.probability(wrong)


def test_distances_over_the_greatest_are_refused_with_the_range():
    with pytest.raises(OptionError, match="200 is not an angle: they lie from 0 to 180"):
        HyperplaneCollision().probability(200)
    with pytest.raises(OptionError, match="they lie from 0 to 64"):
        BitSamplingCollision(64).probability(65)


@every
def test_collisions_round_trip_through_json(collision):
    assert collision_from_dict(json.loads(json.dumps(collision.to_dict()))) == collision


@pytest.mark.parametrize("damaged", [{}, {"family": "tarot"}, {"family": "gaussian"}])
def test_a_damaged_collision_is_not_read(damaged):
    with pytest.raises(ArtefactError, match="not a stored collision"):
        collision_from_dict(damaged)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: GaussianCollision(0), "width=0 is out of range"),
        (lambda: CauchyCollision("wide"), "width='wide' is not a number"),
        (lambda: UnaryCollision(-1), "extent=-1 is out of range"),
        (lambda: BitSamplingCollision(0), "bits=0 is out of range"),
        (lambda: BitSamplingCollision(2.5), "bits=2.5 is out of range"),
        (lambda: DealtBandsCollision(8, bands=2, rows=9), "rows=9 is out of range: a band of 8 bits"),
        (lambda: DealtBandsCollision(8, bands=0, rows=4), "bands=0 is out of range"),
        (lambda: RangeCollision(2, 3), "reach=3 is out of range"),
    ],
)
def test_parameters_out_of_range_are_refused(make, says):
    with pytest.raises(OptionError, match=says):
        make()
