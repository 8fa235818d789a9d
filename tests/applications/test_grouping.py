"""Clusters from pairs that are already there."""

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance import oracle

import lookalike as la
from lookalike.errors import MissingColumnError, SourceError


def clusters(pairs):
    return {row["id"]: row["cluster"] for row in la.cluster(pairs)}


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=30))
def test_clusters_are_what_walking_along_pairs_reaches(edges):
    least = oracle.components(21, edges)
    assert clusters(edges) == {row: least[row] for row in sorted({end for edge in edges for end in edge})}


@pytest.mark.parametrize(
    "form",
    [
        lambda a, b: list(zip(a, b, strict=True)),
        lambda a, b: [[*pair] for pair in zip(a, b, strict=True)],
        lambda a, b: la.Pairs.of(a, b, [1.0] * len(a)),
        lambda a, b: pa.table({"a": a, "b": b}),
        lambda a, b: pa.table({"a": pa.array(a, pa.large_string()), "b": pa.chunked_array([b[:1], b[1:]])}),
        lambda a, b: polars.DataFrame({"b": b, "a": a}),
        lambda a, b: pandas.DataFrame({"a": a, "b": b}),
    ],
)
def test_pairs_may_come_in_any_form(form):
    assert clusters(form(["x", "b", "c"], ["y", "a", "b"])) == {
        "a": "a",
        "b": "a",
        "c": "a",
        "x": "x",
        "y": "x",
    }


def test_pairs_of_a_search_are_clustered_as_dedup_does():
    docs = ["a b c d e f g h", "a b c d e f g h i", "x y z u v w", "x y z u v w t", "none of these"]
    pairs = la.similar_pairs(docs, threshold=0.6)
    dedup = la.dedup(docs, threshold=0.6)
    assert la.cluster(pairs).groups() == dedup.clusters.groups() == [[0, 1], [2, 3]]


def test_no_pairs_make_no_clusters():
    assert clusters([]) == {}
    assert clusters(la.similar_pairs(["a", "b"])) == {}


@pytest.mark.parametrize(
    ("pairs", "error", "said"),
    [
        (pa.table({"a": [1], "c": [2]}), MissingColumnError, "columns a and b; there are a, c"),
        (pa.table({"a": [1], "b": ["x"]}), SourceError, "of one type"),
        ([(1, "x")], SourceError, "of one type"),
        ([(1, None)], SourceError, "null"),
        (["ab"], SourceError, "2-tuples"),
        ([(1,)], SourceError, "2-tuples"),
        (7, SourceError, "2-tuples"),
    ],
)
def test_what_is_no_pair_is_refused(pairs, error, said):
    with pytest.raises(error, match=said):
        la.cluster(pairs)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pa.array([1, 2], pa.int8()), pa.array([1000, 1], pa.int64())),
        (pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", "z"])),
        (pa.array([1, 2], pa.uint64()), pa.array([2, 3], pa.int64())),
    ],
)
def test_ends_of_different_width_are_compared_by_value(a, b):
    assert len(la.cluster(pa.table({"a": a, "b": b}))) == 3


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pa.array([1.5]), pa.array(["x"])),
        (pa.array([[1]]), pa.array([[2]])),
        (pa.array([b"x"]), pa.array(["x"])),
    ],
)
def test_ends_that_cannot_be_compared_are_named(a, b):
    with pytest.raises(SourceError, match="of one type"):
        la.cluster(pa.table({"a": a, "b": b}))


def test_hashes_of_64_bits_are_ids():
    assert la.cluster([(2**64 - 1, 5), (7, 2**64 - 1)]).to_arrow()["cluster"].to_pylist() == [5, 5, 5]
    with pytest.raises(SourceError, match="up to 64 bits"):
        la.cluster([(2**64, 5)])


def test_tables_that_cannot_be_pairs_are_refused():
    twice = pa.table([[1], [2], [3]], names=["a", "a", "b"])
    with pytest.raises(SourceError, match="2 columns called 'a'"):
        la.cluster(twice)
    with pytest.raises(SourceError, match="do not convert to Arrow"):
        la.cluster(pandas.DataFrame({"a": [1, "x"], "b": [2, "y"]}))


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int32, ">i4", np.uint8, object, "<U3"])
@pytest.mark.parametrize("ordered", ["C", "F"])
def test_a_matrix_of_two_columns_is_as_good_as_a_list_of_pairs(kind, ordered):
    pairs = [(1, 2), (7, 8), (2, 3), (9, 9)]
    wanted = la.cluster([(str(a), str(b)) for a, b in pairs] if kind == "<U3" else pairs)
    found = la.cluster(np.array(pairs, dtype=kind, order=ordered))
    assert list(found) == list(wanted)
    assert list(la.cluster(np.array(pairs, dtype=kind)[::-1])) == list(wanted)


def test_a_matrix_without_rows_has_no_clusters():
    assert len(la.cluster(np.zeros((0, 2), np.int64))) == 0


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        (np.zeros((3, 3), np.int64), r"two columns, a pair a row, not an array of shape \(3, 3\)"),
        (np.zeros(4, np.int64), r"not an array of shape \(4,\)"),
        (np.array([[1.0, np.nan]]), "an end of a pair is null"),
        (np.array([["a", None]], object), "an end of a pair is null"),
        (np.array([["a", 1]], object), "of one type"),
        (np.ma.masked_equal([[1, 2]], 2), "masked"),
    ],
)
def test_a_matrix_that_holds_no_pairs_is_refused(pairs, says):
    with pytest.raises(SourceError, match=says):
        la.cluster(pairs)
