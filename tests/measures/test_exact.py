"""Exact measures of sets and bags: known answers (SPEC M4), axioms, and the kernels' counts."""

import math
from collections import Counter
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.measures.exact import (
    bag_jaccard,
    clustered_jaccard,
    containment,
    jaccard,
    overlap,
    row_types,
    set_cosine,
)
from lookalike.measures.sets import as_sets


def ones(row):
    """The positions of the ones."""
    return {i for i, bit in enumerate(row) if bit == "1"}


def test_rows_as_sets():
    assert jaccard({2, 3, 5}, {1, 3, 5, 6}) == 2 / 5
    assert jaccard(ones("10111"), ones("10011")) == 3 / 4


def test_columns_that_share_three_of_the_six_rows_either_has_are_half_alike():
    assert jaccard({0, 1, 2, 3}, {1, 2, 3, 4, 5}) == 3 / 6


def test_the_jaccard_of_two_columns_counts_rows_of_three_types():
    types = row_types([1, 1, 0, 0, 1, 0, 0], [1, 0, 1, 0, 1, 0, 1])
    assert types == (2, 1, 2, 2)
    assert types.jaccard == 2 / (2 + 1 + 2)
    assert row_types([0, 0], [0, 0]).jaccard == 0
    for a, b in product(product([0, 1], repeat=4), repeat=2):
        counted = row_types(a, b)
        assert sum(counted) == 4
        assert counted.jaccard == jaccard(ones("".join(map(str, a))), ones("".join(map(str, b))))


def test_seen_through_clusters():
    a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    assert jaccard(a, b) == 3 / 8
    assert clustered_jaccard(a, b, [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}]) == 1 / 2


def test_elements_of_no_cluster_stand_for_themselves():
    assert clustered_jaccard({1, 2, 9}, {3, 9, 8}, [{1, 2, 3}]) == 2 / 3
    assert clustered_jaccard({1, 2}, {2, 3}, []) == jaccard({1, 2}, {2, 3})
    # A cluster is not mistaken for an element that has its number.
    assert clustered_jaccard({5}, {0}, [{5}]) == 0


def test_bags_and_weights():
    assert bag_jaccard("aab", "abb") == 2 / 4
    assert bag_jaccard(["ab", "bc", "ca", "ab"], ["ab"]) == 1 / 4
    assert bag_jaccard({"x": 0.5, "y": 2.0}, {"x": 1.5, "z": 0.5}) == 0.5 / 4.0
    assert bag_jaccard({"x": 2}, ["x", "x"]) == 1


def test_directed_and_counted_measures():
    assert containment({1, 2}, {1, 2, 3, 4}) == 1
    assert containment({1, 2, 3, 4}, {1, 2}) == 1 / 2
    assert overlap([1, 2, 2, 3], {2, 3, 4}) == 2
    assert set_cosine({1, 2}, {2, 3, 4, 5, 6, 7, 8, 9}) == 1 / 4


def test_empty_sets_have_nothing_in_common_with_anything():
    for measure in (jaccard, bag_jaccard, containment, overlap, set_cosine):
        assert measure([], []) == measure([], [1]) == measure([1], []) == 0
    assert clustered_jaccard([], [], [{1}]) == 0


SUBSETS = [set(s) for s in chain.from_iterable(combinations(range(4), size) for size in range(1, 5))]
CLUSTERS = [{0, 1}, {2}]


def assert_pseudo_metric(points, distance):
    """Never negative, 0 from a point to itself, the same both ways, no detour shorter."""
    d = {(a, b): distance(points[a], points[b]) for a, b in product(range(len(points)), repeat=2)}
    for a, b in d:
        assert d[a, b] >= 0
        assert d[a, a] == 0
        assert d[a, b] == d[b, a]
        for c in range(len(points)):
            assert d[a, b] <= d[a, c] + d[c, b] + 1e-12


def test_jaccard_distance_obeys_the_four_axioms_on_all_small_sets():
    assert_pseudo_metric(SUBSETS, lambda a, b: 1 - jaccard(a, b))
    assert all(jaccard(a, b) < 1 for a, b in product(SUBSETS, repeat=2) if a != b)


def test_bag_jaccard_distance_obeys_the_four_axioms_on_all_small_bags():
    bags = [Counter(dict(enumerate(counts))) for counts in product(range(3), repeat=3) if any(counts)]
    assert_pseudo_metric(bags, lambda a, b: 1 - bag_jaccard(a, b))
    assert all(bag_jaccard(a, b) < 1 for a, b in product(bags, repeat=2) if a != b)


def test_clustered_jaccard_distance_is_a_pseudo_metric_and_no_more():
    assert_pseudo_metric(SUBSETS, lambda a, b: 1 - clustered_jaccard(a, b, CLUSTERS))
    assert clustered_jaccard({0}, {1}, CLUSTERS) == 1


def test_containment_is_no_distance():
    assert containment({1}, {1, 2}) != containment({1, 2}, {1})


small_sets = st.sets(st.integers(0, 30), max_size=20)


@given(small_sets, small_sets)
def test_measures_are_quotients_of_the_same_counts(a, b):
    shared, union = len(a & b), len(a | b)
    assert jaccard(a, b) == (shared / union if union else 0)
    assert bag_jaccard(a, b) == jaccard(a, b)
    assert containment(a, b) == (shared / len(a) if a else 0)
    assert overlap(a, b) == shared
    assert set_cosine(a, b) == pytest.approx(shared / (len(a) * len(b)) ** 0.5 if a and b else 0)
    assert set_cosine(a, b) >= jaccard(a, b) or not shared


floors = st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e-19, 0.5, 1.0])


@given(st.lists(small_sets, min_size=1, max_size=12), floors, st.data())
def test_kernels_count_what_python_counts_and_give_up_only_what_cannot_reach(rows, at_least, data):
    numbers = st.integers(0, len(rows) - 1)
    pairs = data.draw(st.lists(st.tuples(numbers, numbers), max_size=30))
    sets = as_sets(rows)
    a, b = (np.array([pair[side] for pair in pairs], np.uint32) for side in (0, 1))
    shared, union = _core.compare_sets([(sets.elements, sets.offsets)], a, b, at_least=at_least, threads=1)
    for (i, j), s, u in zip(pairs, shared.tolist(), union.tolist(), strict=True):
        exact = len(rows[i] & rows[j]), len(rows[i] | rows[j])
        if (s, u) == (0, 0):
            assert jaccard(rows[i], rows[j]) < at_least or not rows[i] | rows[j]
        else:
            assert (s, u) == exact


def test_weights_of_bags_that_make_no_sense_are_refused():
    with pytest.raises(OptionError, match="negative"):
        bag_jaccard({"x": -1}, {"x": 1})
    with pytest.raises(OptionError, match="no finite number"):
        bag_jaccard({"x": math.nan}, {"x": 1})
    assert bag_jaccard({"x": 1e308, "y": 1e308}, {"x": 1e308, "y": 1e308}) == 1
