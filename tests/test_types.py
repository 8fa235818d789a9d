"""Value objects: what travels along the road, and how results show themselves."""

import pickle
from itertools import pairwise

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.types import Sets, Signatures, concatenate, list_buffers, string_buffers

TEXTS = st.lists(st.text(max_size=5), max_size=6)


@given(TEXTS, st.sampled_from([pa.string(), pa.large_string()]), st.data())
def test_string_buffers_hold_the_texts_of_any_slice(texts, kind, data):
    start = data.draw(st.integers(0, len(texts)))
    length = data.draw(st.integers(0, len(texts) - start))
    values, offsets = string_buffers(pa.array(texts, kind).slice(start, length))
    assert len(offsets) == length + 1
    held = [values[offsets[at] : offsets[at + 1]].tobytes().decode() for at in range(length)]
    assert held == texts[start : start + length]


def test_string_buffers_of_nothing():
    for nothing in (pa.array([], pa.large_string()), pa.array([""], pa.large_string())):
        values, offsets = string_buffers(nothing)
        assert (values.tolist(), offsets.tolist()) == ([], [0] * (len(nothing) + 1))


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=4), max_size=6), st.data())
def test_list_buffers_hold_the_sets_of_any_slice(rows, data):
    start = data.draw(st.integers(0, len(rows)))
    values, offsets = list_buffers(pa.array(rows, pa.large_list(pa.uint64())).slice(start))
    assert [values[a:b].tolist() for a, b in pairwise(offsets.tolist())] == rows[start:]


def test_sets_are_indexed_by_row_and_go_to_arrow():
    sets = Sets(np.array([3, 5, 5, 8, 9], np.uint64), np.array([0, 2, 2, 5]))
    assert len(sets) == 3
    assert [sets[row].tolist() for row in range(3)] == [[3, 5], [], [5, 8, 9]]
    assert sets.to_arrow().to_pylist() == [[3, 5], [], [5, 8, 9]]
    assert list_buffers(sets.to_arrow())[0].tolist() == sets.elements.tolist()


def test_signatures_estimate_by_agreement():
    slots = np.array([[1, 2, 3, 4], [1, 2, 9, 4]], np.uint32)
    signatures = Signatures(
        slots, np.array([7, 8], np.uint64), np.array([7, 8], np.uint64), np.zeros(2, np.uint8)
    )
    assert (len(signatures), signatures.similarity(0, 1)) == (2, 0.75)


def test_concatenate_knows_the_type_of_nothing():
    assert concatenate([], np.int64).dtype == np.int64
    joined = concatenate((np.array([at], np.uint32) for at in range(3)), np.int64)
    assert (joined.tolist(), joined.dtype) == ([0, 1, 2], np.int64)


# Results


def pairs(count=1):
    return la.Pairs.of([f"a{at}" for at in range(count)], [f"b{at}" for at in range(count)], [0.875] * count)


def test_results_go_to_any_frame():
    held = pairs(2)
    assert held.columns == ["a", "b", "similarity"]
    assert isinstance(held.to_pandas(), pandas.DataFrame)
    assert isinstance(held.to_polars(), polars.DataFrame)
    assert held.to_arrow().equals(pa.table(held))
    assert polars.DataFrame(held).to_dicts() == held.to_pandas().to_dict("records") == list(held)
    assert held["a"].to_pylist() == ["a0", "a1"]
    assert held.account is None


def test_iterating_gives_every_row_once_in_order():
    held = pairs(10_000)
    assert [row["a"] for row in held] == [f"a{at}" for at in range(10_000)]


def test_a_result_shows_how_many_rows_it_has_and_the_first_of_them():
    assert repr(pairs(1)).splitlines() == ["1 pair", "a   b   similarity", "a0  b0  0.8750"]
    shown = repr(pairs(1234)).splitlines()
    assert shown[0] == "1,234 pairs"
    assert len(shown) == 12
    assert repr(la.Pairs.of([], [], [])).splitlines() == ["0 pairs", "a  b  similarity"]
    assert "<b>1 pair</b>" in pairs(1)._repr_html_()
    (only,) = (la.Clusters(pa.table({"id": [7], "cluster": [7]})),)
    assert repr(only).startswith("1 item in a cluster\n")


def test_a_notebook_shows_a_table_in_which_ids_are_text():
    page = la.Pairs.of(["<b>&"], ["x" * 100], [None])._repr_html_()
    assert "&lt;b&gt;&amp;" in page
    assert "x" * 39 + "…" in page
    assert "<b>&" not in page
    assert "… 1,224 more" in pairs(1234)._repr_html_()
    assert "more" not in pairs(10)._repr_html_()


@pytest.mark.parametrize(
    ("clusters", "groups"),
    [
        ([], []),
        ([0, 1, 2], []),
        ([0, 0, 2, 3, 3, 3], [[3, 4, 5], [0, 1]]),
        ([0, 1, 1, 0], [[0, 3], [1, 2]]),
    ],
)
def test_groups_are_clusters_of_two_or_more_the_largest_first(clusters, groups):
    table = pa.table(
        {"id": pa.array(range(len(clusters)), pa.int64()), "cluster": pa.array(clusters, pa.int64())}
    )
    assert la.Clusters(table).groups() == groups


def test_a_row_of_a_result_has_the_names_of_its_columns():
    pairs = la.Pairs.of(a=[0, 0, 5], b=[1, 2, 6], similarity=[1.0, 0.85, 0.3])
    first = pairs[0]
    assert (first.a, first.b, first.similarity) == first == (0, 1, 1.0)
    assert (first["b"], first[1], first.to_dict()) == (1, 1, {"a": 0, "b": 1, "similarity": 1.0})
    assert [pairs[at] for at in range(3)] == [tuple(pair.values()) for pair in pairs]
    assert [pairs[at - 3] for at in range(3)] == [pairs[np.int64(at)] for at in range(3)]
    assert pickle.loads(pickle.dumps(first)).similarity == 1.0
    assert len({first, pairs[0]}) == 1
    for beyond in (3, -4):
        with pytest.raises(IndexError, match=f"there is no row {beyond} among 3 pairs"):
            pairs[beyond]
    with pytest.raises(AttributeError):
        _ = first.distance
    with pytest.raises(KeyError):
        first["distance"]


def test_a_column_called_like_a_method_of_tuples_is_a_column():
    together = la.frequent_pairs([["milk", "bread"], ["bread", "milk"]], support=2)
    assert (together[0].a, together[0].b, together[0].count) == ("bread", "milk", 2)


@given(st.integers(0, 7), st.slices(9))
def test_slices_of_a_result_are_those_of_a_list(length, some):
    # Several chunks, as results are joined from parts.
    tables = [pa.table({"a": [at], "b": [at + 1], "similarity": [0.5]}) for at in range(length)]
    empty = (
        la.Pairs.of(a=[], b=[], similarity=[])
        .to_arrow()
        .cast(pa.schema([("a", pa.int64()), ("b", pa.int64()), ("similarity", pa.float64())]))
    )
    pairs = la.Pairs(pa.concat_tables([empty, *tables]), account="kept")
    part = pairs[some]
    assert list(part) == list(pairs)[some]
    assert (len(part), type(part), part.account) == (len(range(length)[some]), la.Pairs, "kept")
    assert part.columns == ["a", "b", "similarity"]
