"""Distances of vectors: known answers, axioms, and the inputs that have none."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lookalike import _core, similar_pairs
from lookalike.errors import EmptySourceError, MalformedRowError, OptionError, SourceError
from lookalike.measures.distances import lr
from lookalike.measures.vectors import as_vectors, check_directions, distance

NUMBERS = st.floats(-1e6, 1e6, width=32)
DISTANCES = ["l2", "l1", "linf", "angle"]


def triples():
    return st.integers(1, 20).flatmap(lambda width: arrays.arrays(np.float64, (3, width), elements=NUMBERS))


@pytest.mark.parametrize("measure", DISTANCES)
@given(triples())
def test_distances_obey_the_axioms(measure, three):
    """Not negative, 0 of the same, alike both ways, no detour is shorter, to rounding; angles on rays."""
    if measure == "angle":
        assume(three.any(axis=1).all())
    (ab, ba, bc, ac) = (distance(three[i], three[j], measure) for i, j in ((0, 1), (1, 0), (1, 2), (0, 2)))
    assert ab >= 0
    assert ab == ba
    assert distance(three[0], three[0], measure) == 0
    assert ac <= (ab + bc) * (1 + 1e-12) + (1e-6 if measure == "angle" else 0)
    if measure != "angle":
        assert (ab == 0) == bool((three[0] == three[1]).all())


@given(triples(), st.floats(1, 9))
def test_lr_distances_obey_the_axioms_too(three, r):
    a, b, c = three
    assert lr(a, b, r) == lr(b, a, r) >= 0
    assert lr(a, a, r) == 0
    assert lr(a, c, r) <= (lr(a, b, r) + lr(b, c, r)) * (1 + 1e-9) + 1e-300


def test_lr_reaches_from_the_sum_to_the_greatest():
    a, b = [1.0, 5.0, -2.0], [4.0, 1.0, -2.0]
    assert lr(a, b, 1) == distance(a, b, "l1") == 7
    assert lr(a, b, 2) == distance(a, b, "l2") == 5
    assert lr(a, b, math.inf) == distance(a, b, "linf") == 4
    with pytest.raises(OptionError, match="1 or more"):
        lr(a, b, 0.5)


def test_one_minus_cosine_is_no_distance():
    east, north_east, north = [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]
    first, second, both = (
        1 - distance(a, b, "cosine") for a, b in ((east, north_east), (north_east, north), (east, north))
    )
    assert first + second < both
    angles = [distance(a, b, "angle") for a, b in ((east, north_east), (north_east, north), (east, north))]
    assert angles == pytest.approx([45, 45, 90], abs=1e-12)


@given(st.floats(1e-9, 180), st.integers(2, 40), st.integers(0, 100))
def test_angles_are_right_however_small(degrees, width, seed):
    one, other = np.linalg.qr(np.random.default_rng(seed).normal(size=(width, 2)))[0].T
    theta = math.radians(degrees)
    turned = math.cos(theta) * one + math.sin(theta) * other
    assert distance(one, 7 * turned, "angle") == pytest.approx(degrees, rel=1e-6, abs=1e-13)


@given(triples())
def test_distances_are_those_of_numpy(three):
    a, b, _ = three
    assert distance(a, b, "l1") == pytest.approx(np.abs(a - b).sum(), rel=1e-13)
    assert distance(a, b, "l2") == pytest.approx(np.linalg.norm(a - b), rel=1e-13, abs=1e-200)
    assert distance(a, b, "linf") == np.abs(a - b).max()


@pytest.mark.parametrize("measure", ["angle", "cosine", "l2", "l1", "linf"])
def test_every_path_and_any_cut_into_pieces_gives_the_same_bits(measure):
    rows = np.random.default_rng(0).normal(size=(50, 77)).astype(np.float32)
    a, b = (side.astype(np.uint32) for side in np.triu_indices(50))
    answers = [
        _core.compare_vectors(pieces, a, b, measure, threads=threads, path=path)
        for path in _core.paths()
        for threads in (1, 2)
        for pieces in ([rows], [rows[:1], rows[1:30], rows[30:30], rows[30:]])
    ]
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])


@pytest.mark.parametrize("width", [-1, 2])
def test_a_column_without_rows_has_nothing_to_read(width):
    column = pa.array([], pa.list_(pa.float64(), width))
    for items in (column, pa.chunked_array([column]), pa.chunked_array([], column.type)):
        with pytest.raises(EmptySourceError, match="the input has no vectors"):
            as_vectors(items)


def test_vectors_come_from_whatever_holds_them():
    rows = [[1.5, 2.0], [3.0, 4.5], [0.0, -1.0]]
    lists = pa.array(rows)
    for items in (
        rows,
        np.array(rows),
        np.array(rows, order="F"),
        [np.array(row) for row in rows],
        lists,
        lists.cast(pa.list_(pa.float64(), 2)),
        lists.cast(pa.large_list(pa.float64())),
        pa.chunked_array([lists[:1], lists[1:]]),
        pa.chunked_array([lists[:0], lists[:1], lists[:0], lists[1:]]),
        pa.array([[9.0, 9.0], *rows])[1:],
        pa.array([[9.0, 9.0], *rows], pa.list_(pa.float64(), 2))[1:],
    ):
        np.testing.assert_array_equal(as_vectors(items).values, rows)
    assert as_vectors(np.array(rows, np.float32)).values.dtype == np.float32
    assert as_vectors(np.ones((1, 2), np.uint8)).values.dtype == np.float32
    assert as_vectors(np.ones((1, 2), np.int64)).values.dtype == np.float64
    assert as_vectors(pa.array(rows, pa.list_(pa.float32(), 2))).values.dtype == np.float32


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([[1.0, 2.0], [1.0, math.inf]], "row 1 holds inf"),
        (np.array([[1.0], [2.0], [math.nan]]), "row 2 holds nan"),
        ([[1.0], [1.0, 2.0]], "row 1 has 2 coordinates, but the first row has 1"),
        (pa.array([[1.0], [1.0, 2.0]]), "row 1 has 2 coordinates, but the first row has 1"),
        (pa.chunked_array([pa.array([[1.0]]), pa.array([[1.0, 2.0]])]), "row 1 has 2 coordinates"),
        (pa.array([[1.0], None]), "row 1 is null"),
        (pa.array([[1.0, 2.0], [3.0, None]]), "row 1 holds a null"),
        (pa.array([[1.0, 2.0], [3.0, None]], pa.list_(pa.float64(), 2)), "row 1 holds a null"),
    ],
)
def test_a_row_that_is_no_vector_is_named(items, message):
    with pytest.raises(MalformedRowError, match=message):
        as_vectors(items)


@pytest.mark.parametrize(
    "items", [np.ones(3), np.ones((2, 0)), np.array([["a"]]), pa.array(["a"]), [[[1.0]]]]
)
def test_what_holds_no_vectors_is_refused(items):
    with pytest.raises(SourceError):
        as_vectors(items)


def test_zeros_point_nowhere():
    with pytest.raises(MalformedRowError, match=r"row 12 is all zeros .* \(2 such rows here\)"):
        check_directions(as_vectors([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [-0.0, 0.0]]), first_row=10)
    with pytest.raises(MalformedRowError, match="no direction"):
        distance([0, 0], [1, 0], "angle")


def test_angles_of_exactly_the_threshold_reach_it_whatever_rounding_does():
    near = {"measure": "angle", "method": "exact"}
    assert len(similar_pairs([[11.0, 11, 0], [7.0, 7, 0]], threshold="0deg", **near)) == 1
    assert len(similar_pairs([[0.0, 11, 11], [5.0, 5, 0]], threshold="60deg", **near)) == 1
    assert len(similar_pairs([[0.0, 11, 11], [5.0, 5, 0]], threshold="59.9999999deg", **near)) == 0


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_whole_numbers_that_floats_round_are_named(kind):
    exact = np.array([[2**53, 2**60], [3, 2**62 + 2**20]], kind)
    assert as_vectors(exact).values.tolist() == exact.tolist()
    with pytest.raises(
        MalformedRowError, match=r"row 1 holds 9,007,199,254,740,993, which 64-bit floats round"
    ):
        as_vectors(np.array([[1, 2], [3, 2**53 + 1]], kind))
    if kind is np.int64:
        with pytest.raises(MalformedRowError, match="row 0 holds -9,007,199,254,740,993"):
            as_vectors([[-(2**53) - 1, 2]])
