"""Sets seen through clusters of their elements (SPEC M4): known answer, brute force, refusals."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import OptionError
from lookalike.measures.exact import bag_jaccard, clustered_jaccard, jaccard

A, B = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
CLUSTERS = [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}]


def similarity(sets, threshold=0.01):
    found = list(la.similar_pairs(sets, threshold=threshold, method="prefix"))
    return found[0]["similarity"] if found else 0.0


def test_sets_that_share_three_eighths_share_half_seen_through_clusters():
    assert similarity(la.as_sets([A, B])) == 3 / 8
    assert similarity(la.as_sets([A, B], clusters=CLUSTERS)) == 1 / 2


rows = st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=2, max_size=2)


@given(rows, st.permutations(range(10)), st.lists(st.integers(0, 10), max_size=3))
def test_every_form_of_a_set_is_seen_through_clusters_as_by_hand(pair, order, cuts):
    edges = sorted({0, *cuts})
    # Clusters of whatever size, one of them empty at times, and elements of none.
    clusters = [order[a:b] for a, b in pairwise(edges)] + [[]]
    expected = clustered_jaccard(*pair, clusters)
    matrix = sp.csr_matrix(np.array([[item in one for item in range(10)] for one in pair]))
    named = [[f"item {item}" for item in one] for one in pair]
    names = [[f"item {item}" for item in cluster] for cluster in clusters]
    for items, merged in [
        (pair, clusters),
        (pa.array([list(one) for one in pair]), clusters),
        (matrix, clusters),
        (named, names),
    ]:
        a, b = (set(one.tolist()) for one in la.as_sets(items, clusters=merged))
        assert jaccard(a, b) == expected


def test_bags_count_what_a_cluster_has_together():
    bags = [["a", "a", "b", "x"], ["b", "x", "y"]]
    sets = la.as_sets(bags, bag=True, clusters=[["a", "b"]])
    assert similarity(sets) == bag_jaccard("aaax", "axy") == 2 / 5


def test_an_element_may_be_named_twice_within_its_cluster():
    assert similarity(la.as_sets([[1, 5], [2, 5]], clusters=[[1, 2, 1]])) == 1


def test_no_clusters_change_nothing():
    plain = la.as_sets([A, B])
    for none in ([], [[]]):
        assert la.as_sets([A, B], clusters=none).elements.tolist() == plain.elements.tolist()


@pytest.mark.parametrize(
    ("items", "clusters", "said"),
    [
        ([A, B], [[1, 2], [3, 1]], r"^1 is in two clusters: leave it in one of them$"),
        ([["a"]], [["a"], ["a"]], "'a' is in two clusters"),
        (la.as_sets([A, B]), CLUSTERS, "name them where these sets are made"),
    ],
)
def test_clusters_that_cannot_be_are_refused(items, clusters, said):
    with pytest.raises(OptionError, match=said):
        la.as_sets(items, clusters=clusters)
