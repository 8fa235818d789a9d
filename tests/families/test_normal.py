"""Normal numbers by Box and Muller (SPEC M19), with a mean and a covariance, and directions from them."""

import math

import numpy as np
import pytest

from lookalike.errors import OptionError
from lookalike.families.teaching.normal import (
    affine,
    box_muller,
    by_latitude_and_longitude,
    directions,
    standard_normals,
)

COUNT = 200_000


def below(x):
    """The chance that a standard normal number is under x."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


def test_known_numbers():
    # The squared radius is −2 ln(1 − U): 2 for U = 1 − 1/e. The angle is 2πV.
    u = 1 - 1 / math.e
    for v, x, y in [(0, math.sqrt(2), 0), (0.25, 0, math.sqrt(2)), (0.5, -math.sqrt(2), 0), (0.125, 1, 1)]:
        assert box_muller(u, v) == pytest.approx((x, y), abs=1e-12)
    assert box_muller(0.0, 0.3) == (0, 0)


def test_the_largest_uniform_number_is_still_finite():
    x, _ = box_muller(math.nextafter(1, 0), 0)
    assert x == pytest.approx(math.sqrt(2 * 53 * math.log(2)))


def test_both_numbers_are_normal_and_independent():
    source = np.random.default_rng(1)
    x, y = box_muller(source.random(COUNT), source.random(COUNT))
    # Kolmogorov and Smirnov: over 1.95/√n once in a thousand times.
    most = 1.95 / math.sqrt(COUNT)
    for numbers in (x, y, (x + y) / math.sqrt(2), (x - 2 * y) / math.sqrt(5)):
        ordered = np.sort(numbers)
        expected = np.array([below(value) for value in ordered[:: COUNT // 1000]])
        assert np.abs(expected - np.arange(0, COUNT, COUNT // 1000) / COUNT).max() < most
    # Independent: of 4 × 4 cells of equal chance each has a sixteenth (χ² of 15 is over 37.7 once in 1,000).
    edges = [-0.6744897501960817, 0.0, 0.6744897501960817]
    counts = np.bincount(4 * np.searchsorted(edges, x) + np.searchsorted(edges, y), minlength=16)
    assert ((counts - COUNT / 16) ** 2 / (COUNT / 16)).sum() < 37.7


def test_a_count_that_is_odd_is_kept():
    source = np.random.default_rng(0)
    assert standard_normals(7, source).shape == (7,)
    assert standard_normals(0, source).shape == (0,)


def test_an_affine_map_gives_the_mean_and_the_covariance():
    mean, covariance = np.array([3.0, -1.0, 0.5]), np.array([[4.0, 1.2, 0], [1.2, 1.0, 0], [0, 0, 0.25]])
    rows = affine(standard_normals(3 * COUNT, np.random.default_rng(2)).reshape(COUNT, 3), mean, covariance)
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(rows.mean(axis=0) - mean) < 4 * deviation / math.sqrt(COUNT)).all()
    measured = np.cov(rows.T)
    assert (np.abs(measured - covariance) < 4 * np.outer(deviation, deviation) * math.sqrt(2 / COUNT)).all()


def test_an_affine_map_of_unit_vectors_is_the_triangle_of_cholesky():
    covariance = np.array([[4.0, 2.0], [2.0, 2.0]])
    triangle = affine(np.eye(2), [0, 0], covariance).T
    assert triangle.tolist() == [[2, 0], [1, 1]]
    assert (triangle @ triangle.T == covariance).all()


def test_directions_from_normal_numbers_are_even_and_those_by_latitude_and_longitude_are_not():
    """A cap of 30° about a pole has (1 − cos 30°)/2 of the sphere; by an even latitude it gets a sixth."""
    cap = (1 - math.cos(math.radians(30))) / 2
    even = directions(COUNT, 3, np.random.default_rng(3))
    crowded = by_latitude_and_longitude(COUNT, np.random.default_rng(4))
    for rows in (even, crowded):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)
    for axis in np.eye(3):
        share = np.mean(even @ axis > math.cos(math.radians(30)))
        assert abs(share - cap) < 4 * math.sqrt(cap * (1 - cap) / COUNT)
    share = np.mean(crowded[:, 2] > math.cos(math.radians(30)))
    assert abs(share - 1 / 6) < 4 * math.sqrt(5 / 36 / COUNT)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: box_muller(1.0, 0.5), "u is out of range: uniform numbers lie from 0 to under 1"),
        (lambda: box_muller(0.5, [-0.1]), "v is out of range"),
        (lambda: box_muller(math.nan, 0.5), "u is out of range"),
        (lambda: affine([[1, 2]], [0], [[1]]), "do not go together"),
        (lambda: affine([[1, 2]], [0, 0], [[1, 2], [2, 1]]), "covariance is none"),
        (lambda: affine([[1, 2]], [0, 0], [[1, 0.5], [0, 1]]), "covariance is none"),
    ],
)
def test_what_makes_no_normal_numbers_is_refused(call, said):
    with pytest.raises(OptionError, match=said):
        call()
