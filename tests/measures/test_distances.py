"""Measures of vectors and strings: known answers, the four axioms, and batches against pairs."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.families import Hyperplane
from lookalike.measures.distances import angle, angular, cosine, hamming, l1, l2, linf, lr, weighted_jaccard
from lookalike.measures.edits import indel, levenshtein
from lookalike.measures.exact import bag_jaccard

numbers = st.integers(-50, 50).map(float) | st.floats(-1e6, 1e6, allow_subnormal=False)
triples = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(numbers, min_size=n, max_size=n)] * 3))
weights = st.lists(st.integers(0, 5) | st.floats(0, 100), min_size=4, max_size=4)
words = st.text("abé漢", max_size=9)

LINES = {
    "l1": l1,
    "l2": l2,
    "l3": lambda a, b: lr(a, b, 3),
    "l1.5": lambda a, b: lr(a, b, 1.5),
    "linf": linf,
    "hamming": hamming,
}


# The four axioms.


@pytest.mark.parametrize("distance", LINES.values(), ids=LINES)
@given(triple=triples)
def test_distances_of_vectors_obey_the_four_axioms(distance, triple):
    x, y, z = triple
    assert distance(x, y) >= 0
    assert distance(x, x) == 0
    assert (distance(x, y) == 0) == (x == y)
    assert distance(x, y) == distance(y, x)
    detour = distance(x, y) + distance(y, z)
    assert distance(x, z) <= detour * (1 + 1e-12)


@given(triples)
def test_the_angle_obeys_them_among_directions(triple):
    assume(all(any(row) for row in triple))
    x, y, z = triple
    assert 0 <= angle(x, y) <= 180
    assert angle(x, x) == 0
    assert angle(x, (4 * np.array(x)).tolist()) == 0
    assert angle(x, y) == angle(y, x)
    assert angle(x, z) <= angle(x, y) + angle(y, z) + 1e-9


def test_the_angle_over_180_degrees_is_a_distance_from_0_to_1():
    assert [angular([1, 0], [x, y]) for x, y in [(3, 0), (1, 1), (0, 2), (-1, 1), (-5, 0)]] == [
        pytest.approx(share) for share in (0, 1 / 4, 1 / 2, 3 / 4, 1)
    ]
    # What hyperplanes agree on is one minus it.
    assert Hyperplane().collision(45) == 1 - angular([1, 0], [1, 1])


@given(
    st.integers(1, 3).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(-4, 4), min_size=n, max_size=n)] * 2)
    )
)
def test_only_vectors_of_one_direction_have_no_angle(pair):
    assume(any(pair[0]) and any(pair[1]))
    x, y = map(np.array, pair)
    # Parallel by Cauchy–Schwarz in whole numbers, and not opposite.
    same = int(x @ y) ** 2 == int(x @ x) * int(y @ y) and x @ y > 0
    assert (angle(x, y) < 1e-5) == same


def test_one_minus_cosine_is_not_a_distance():
    east, north_east, north = [1, 0], [1, 1], [0, 1]
    straight = 1 - cosine(east, north)
    detour = (1 - cosine(east, north_east)) + (1 - cosine(north_east, north))
    assert straight == 1
    assert detour == pytest.approx(2 - math.sqrt(2))
    assert detour < straight
    assert angle(east, north_east) + angle(north_east, north) == pytest.approx(angle(east, north))


@given(weights, weights, weights)
def test_one_minus_weighted_jaccard_obeys_them_among_vectors_with_weight(x, y, z):
    assume(all(map(any, (x, y, z))))
    d = lambda a, b: 1 - weighted_jaccard(a, b)  # noqa: E731
    assert 0 <= d(x, y) <= 1
    assert d(x, x) == 0
    assert d(x, y) == d(y, x)
    assert d(x, z) <= d(x, y) + d(y, z) + 1e-12


@given(
    st.lists(st.integers(0, 3), min_size=3, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3)
)
def test_weighted_jaccard_is_that_of_bags_and_one_only_for_equal_ones(x, y):
    bags = [{i: weight for i, weight in enumerate(row) if weight} for row in (x, y)]
    assert weighted_jaccard(x, y) == weighted_jaccard(*bags) == bag_jaccard(*bags)
    assert (weighted_jaccard(x, y) == 1) == (x == y and any(x))


@pytest.mark.parametrize("distance", [levenshtein, indel])
@given(x=words, y=words, z=words)
def test_edit_distances_obey_the_four_axioms(distance, x, y, z):
    assert distance(x, y) >= 0
    assert (distance(x, y) == 0) == (x == y)
    assert distance(x, y) == distance(y, x)
    assert distance(x, z) <= distance(x, y) + distance(y, z)


# Known answers and oracles.


def test_known_distances():
    assert (l1([2, 7], [5, 3]), l2([2, 7], [5, 3]), linf([2, 7], [5, 3])) == (7, 5, 4)
    assert hamming("10101", "11110") == hamming(b"10101", b"11110") == 3
    assert indel("abcde", "acfdeg") == 3
    assert levenshtein("kitten", "sitting") == 3
    assert angle([1, 2, -1], [2, 1, 1]) == pytest.approx(60)


@given(st.text("ab", max_size=80), st.text("ab", max_size=80))
def test_edit_distances_are_those_of_the_table(a, b):
    for distance, replace in [(levenshtein, 1), (indel, 2)]:
        before = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            row = [i]
            for j, y in enumerate(b, 1):
                row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (replace if x != y else 0)))
            before = row
        assert distance(a, b) == before[-1]


@given(triples)
def test_lr_falls_from_l1_to_linf(triple):
    x, y, _ = triple
    by_r = [lr(x, y, r) for r in (1, 1.5, 2, 3, 10, 100, math.inf)]
    assert by_r[0] == pytest.approx(l1(x, y))
    assert by_r[2] == pytest.approx(l2(x, y))
    assert by_r[-1] == linf(x, y)
    for more, less in pairwise(by_r):
        assert less <= more * (1 + 1e-12)


def test_nothing_overflows_or_vanishes():
    assert l2([1e200, 0], [0, 1e200]) == pytest.approx(math.sqrt(2) * 1e200)
    assert l2([1e-200], [0]) == 1e-200
    assert lr([1e200], [-1e200], 7) == 2e200
    assert cosine([1e200, 1e-200], [1e200, 0]) == 1
    assert cosine([1e-300], [1e300]) == 1
    # A tenth of a millionth of a degree, which an arc cosine would call 0.
    assert angle([1, 0], [1, 1e-9]) == pytest.approx(math.degrees(1e-9))


def test_sums_depend_on_no_order():
    row = [1e16, 1.0, -1e16, 1e-3] * 7
    for order in (row, row[::-1], sorted(row)):
        assert l1(order, [0] * 28) == math.fsum(map(abs, row))
        assert cosine(order, [1] * 28) == cosine(row, [1] * 28)


def test_vectors_of_zeros_have_no_direction():
    assert cosine([0, 0], [1, 2]) == cosine([0, 0], [0, 0]) == 0
    assert angle([0, 0], [1, 2]) == angle([0, 0], [0, 0]) == 90
    assert weighted_jaccard([0, 0], [0, 0]) == 0


# Batches, mappings, refusals.


@pytest.mark.parametrize("measure", [l1, l2, linf, cosine, angle, hamming, LINES["l3"]])
def test_a_batch_is_its_pairs(measure):
    draw = np.random.default_rng(5)
    a, b = draw.normal(size=(2, 7, 5)).round(1)
    assert measure(a, b).tolist() == [measure(x, y) for x, y in zip(a, b, strict=True)]
    assert measure(a[0], b).tolist() == [measure(a[0], y) for y in b]
    assert measure(b, a[0]).tolist() == [measure(y, a[0]) for y in b]
    assert measure(a[:0], b[:0]).tolist() == []


@pytest.mark.parametrize("distance", [levenshtein, indel])
def test_a_batch_of_strings_is_its_pairs(distance):
    a, b = ["", "abc", "漢字仮名", "x" * 100], ["", "", "漢字", "y" * 90]
    assert distance(a, b).tolist() == [distance(x, y) for x, y in zip(a, b, strict=True)]
    assert distance([], []).tolist() == []


def test_mappings_are_vectors_of_mostly_zeros():
    assert l1({"a": 1, "b": -2}, {"b": 1, "c": 3}) == 7
    assert cosine({"a": 1.0}, {"b": 1.0}) == 0
    assert hamming({"a": 1, "b": 2}, {"b": 2, "c": 0, "d": 3}) == 2
    assert cosine({3: 1, 4: 2, 5: -1}, {3: 2, 4: 1, 5: 1}) == cosine([1, 2, -1], [2, 1, 1]) == 0.5


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: l1([1, 2], [1, 2, 3]), "do not go together"),
        (lambda: l2(np.ones((2, 3)), np.ones((4, 3))), "do not go together"),
        (lambda: l2(3, 4), "do not go together"),
        (lambda: l1([1, math.nan], [1, 2]), "no finite number"),
        (lambda: l1(["x"], [1]), "is no vector"),
        (lambda: l1({"x": 1}, [1]), "is a mapping"),
        (lambda: lr([1], [2], 0.5), "r=0.5 is out of range"),
        (lambda: lr([1], [2], math.nan), "r=nan is out of range"),
        (lambda: weighted_jaccard([-1], [1]), "negative"),
        (lambda: l1([10**400], [1]), "is no vector"),
        (lambda: hamming("abc", "ab"), "do not go together"),
        (lambda: hamming([1, 2], "ab"), "are not of a kind"),
        (lambda: hamming({"x": 1}, [1]), "is a mapping"),
        (lambda: hamming([[1], [2, 3]], [1]), "is no row"),
        (lambda: hamming([math.nan], [math.nan]), "NaN, which differs even from itself"),
        (lambda: indel(1, 2), "two strings, or two lists"),
        (lambda: levenshtein("abc", ["abc"]), "two strings, or two lists"),
        (lambda: indel(["a", "b"], ["a"]), "two strings, or two lists"),
        (lambda: indel([None], ["a"]), "null|between strings"),
    ],
)
def test_what_does_not_go_together_is_refused(call, said):
    with pytest.raises(OptionError, match=said):
        call()


def test_weights_of_any_size_have_a_weighted_jaccard():
    assert weighted_jaccard([1e308, 1e308], [1e308, 1e308]) == 1
    assert (
        weighted_jaccard([1e308, 1e308], [1e308, 0]) == weighted_jaccard([5e-324, 5e-324], [5e-324, 0]) == 0.5
    )


def test_what_no_float_can_hold_is_infinitely_far_apart():
    far = 1.5e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert l1([far, far], [0, 0]) == l1([far], [-far]) == math.inf
        assert l2([far], [-far]) == linf([far], [-far]) == lr([far], [-far], 3) == math.inf
        assert l2([far, 0], [0, 0]) == far


def test_any_real_number_may_be_the_r_of_lr():
    assert lr([0, 3], [4, 0], np.float32(2)) == lr([0, 3], [4, 0], np.int64(2)) == 5


def test_the_cosine_of_a_vector_and_its_multiple_is_1():
    rows = np.random.default_rng(0).normal(size=(200, 5))
    assert (cosine(rows, rows * np.linspace(0.1, 9, 200)[:, None]) == 1).all()
    assert cosine([1, 0], [1, 1e-6]) < 1
