"""Hyperplanes and projections: shapes, seeds, prefixes, refusals, and unary numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import lookalike as la
from lookalike import _core
from lookalike.errors import LookalikeError, OptionError, SourceError

FAMILIES = [
    lambda **given: la.Hyperplane(**given),
    lambda **given: la.Hyperplane(signs=True, **given),
    lambda **given: la.Euclidean(width=0.7, **given),
    lambda **given: la.L1(width=0.7, **given),
]


def some(rows=9, dimensions=5, kind=np.float64):
    return np.random.default_rng(rows).normal(size=(rows, dimensions)).astype(kind)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_longer_signature_begins_with_the_shorter_one(family):
    long, short = family(slots=70).signatures(some()), family(slots=33).signatures(some())
    assert long.shape == (9, 70)
    np.testing.assert_array_equal(long[:, :33], short)


@pytest.mark.parametrize("family", FAMILIES)
def test_seeds_draw_other_functions(family):
    one, other = (family(slots=64, seed=seed).signatures(some()) for seed in (0, 1))
    assert (one != other).any()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rows", [1, 3, 4, 5, 31, 32, 33, 100])
def test_a_row_is_signed_alike_wherever_it_stands(family, rows):
    vectors = some(rows, 17)
    together = family(slots=50).signatures(vectors, threads=2)
    for row in {0, rows // 2, rows - 1}:
        np.testing.assert_array_equal(together[row], family(slots=50).signatures(vectors[row : row + 1])[0])


@pytest.mark.parametrize("family", FAMILIES)
def test_paths_and_widths_of_floats_agree(family):
    narrow = some(40, 33, np.float32)
    answers = [
        family(slots=65).signatures(vectors, path=path)
        for path in _core.paths()
        for vectors in (narrow, narrow.astype(np.float64), np.asfortranarray(narrow))
    ]
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])


def test_buckets_are_floors_of_places_on_lines():
    """One more bucket's width along a line is one more bucket, whatever the line."""
    for family in (la.Euclidean(width=2.0, slots=1), la.L1(width=2.0, slots=1)):
        places = np.linspace(-50, 50, 20_001)[:, None]
        buckets = family.signatures(places)[:, 0]
        steps = np.diff(buckets)
        assert set(np.abs(steps).tolist()) <= {0, 1}
        turns = np.flatnonzero(steps)
        assert np.ptp(np.diff(places[turns, 0])) < 0.011


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (lambda: la.Hyperplane(slots=0), "slots"),
        (lambda: la.Hyperplane(seed=-1), "seed"),
        (lambda: la.Euclidean(width=0), "width"),
        (lambda: la.L1(width=float("nan")), "width"),
        (lambda: la.Hyperplane().signatures([[1.0, float("nan")]]), "row 0 holds nan"),
        (lambda: la.Hyperplane().signatures([[1.0, 2.0], [1.0]]), "row 1 has 1 coordinate,"),
        (lambda: la.Hyperplane().signatures(np.ones(4)), "shape"),
    ],
)
def test_what_cannot_be_is_refused(given, error):
    with pytest.raises(LookalikeError, match=error):
        given()


@given(
    arrays.arrays(np.int64, st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=st.integers(0, 9)),
    st.integers(9, 12),
)
def test_unary_numbers_differ_in_as_many_bits_as_the_l1_distance(numbers, levels):
    bits = la.L1.embed(numbers, levels=levels)
    assert bits.shape == (len(numbers), numbers.shape[1] * levels)
    for a in range(len(numbers)):
        for b in range(len(numbers)):
            assert (bits[a] != bits[b]).sum() == np.abs(numbers[a] - numbers[b]).sum()


@pytest.mark.parametrize("numbers", [[[1.5]], [[-1]], [[4]], [1, 2], [[1, 2], [3]], [["a"]], [[None]], None])
def test_only_whole_numbers_of_the_range_can_be_unary(numbers):
    with pytest.raises(OptionError, match="whole numbers from 0 to levels=3"):
        la.L1.embed(numbers, levels=3)


@pytest.mark.parametrize("levels", [0, -1, 2.5, "3", None])
def test_a_unary_number_has_a_whole_number_of_levels(levels):
    with pytest.raises(OptionError, match=r"levels=.* is out of range: a whole number, 1 or more"):
        la.L1.embed([[0]], levels=levels)


def test_a_matrix_without_rows_is_unary_too():
    assert la.L1.embed(np.zeros((0, 3)), levels=4).shape == (0, 12)


def test_projections_say_what_they_are_for():
    planes = _core.Projections("hyperplanes", dimensions=3, slots=4, seed=0)
    with pytest.raises(OptionError, match="sides, not buckets"):
        planes.buckets(np.ones((1, 3)), threads=1)
    with pytest.raises(OptionError, match="5 coordinates, but these functions are of 3"):
        planes.sides(np.ones((1, 5)), threads=1)
    with pytest.raises(OptionError, match="do not fit"):
        planes.keys(np.ones((1, 3)), bands=2, rows=3)
    with pytest.raises(OptionError, match="not one of"):
        _core.Projections("spheres", dimensions=3, slots=4, seed=0)
    with pytest.raises(SourceError):
        la.Hyperplane().signatures(np.array([["a"]]))
