"""Sets from whatever holds them: lists, arrays, Arrow, strings, sparse matrices."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core
from lookalike.errors import OptionError, SourceError
from lookalike.measures.exact import jaccard
from lookalike.measures.sets import as_sets

integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 20)
integer_rows = st.lists(st.lists(integers, max_size=12), max_size=10)
string_rows = st.lists(st.lists(st.text(max_size=4), max_size=8), max_size=10)


def same(one, other):
    return one.elements.tolist() == other.elements.tolist() and one.offsets.tolist() == other.offsets.tolist()


@given(integer_rows | string_rows)
def test_rows_become_sorted_sets_of_distinct_elements(rows):
    sets = as_sets(rows)
    assert len(sets) == len(rows)
    for row, elements in zip(rows, sets, strict=True):
        assert elements.tolist() == sorted(set(elements.tolist()))
        assert len(elements) == len(set(row))
    for a, one in enumerate(rows):
        for b, other in enumerate(rows[:a]):
            assert jaccard(sets[a].tolist(), sets[b].tolist()) == jaccard(one, other)


@given(integer_rows, st.integers(0, 2**64 - 1))
def test_integers_are_the_same_tokens_however_they_come(rows, seed):
    expected = as_sets(rows, seed=seed)
    for items in [
        map(tuple, rows),
        [set(row) for row in rows],
        (dict.fromkeys(row) for row in rows),
        [np.array(row, np.int64) for row in rows],
        pa.array(rows, pa.list_(pa.int64())),
        pa.array(rows, pa.large_list(pa.int64())),
        pa.array(rows, pa.list_view(pa.int64())),
        pa.array([[7], *rows], pa.large_list_view(pa.int64())).slice(1),
        pl.Series(rows, dtype=pl.List(pl.Int64)),
        pa.chunked_array([pa.array([row], pa.list_(pa.int64())) for row in rows], pa.list_(pa.int64())),
    ]:
        assert same(as_sets(items, seed=seed), expected)
    assert as_sets(expected) is expected


@given(string_rows)
def test_strings_are_the_same_tokens_however_they_come(rows):
    expected = as_sets(rows)
    encoded = pa.list_(pa.dictionary(pa.int32(), pa.string()))
    for items in [
        [np.array(row, dtype=object) for row in rows],
        pa.array(rows, pa.list_(pa.string())),
        pa.array(rows, pa.large_list(pa.large_string())),
        pa.array(rows, encoded),
        pa.array(rows, pa.list_(pa.string_view())),
        pa.array(rows, pa.large_list_view(pa.string_view())),
        pl.Series(rows, dtype=pl.List(pl.String)),
        pl.Series(rows, dtype=pl.List(pl.Categorical)),
    ]:
        assert same(as_sets(items), expected)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_integers_of_every_width_are_the_same_tokens(dtype):
    rows = [[0, 1, 100], [100, 7]]
    expected = as_sets(rows)
    assert same(as_sets([np.array(row, dtype) for row in rows]), expected)
    assert same(as_sets(pa.array([np.array(row, dtype) for row in rows])), expected)


def test_hashes_of_64_bits_are_tokens_too():
    rows = [[2**64 - 1, 2**63, 5], [5]]
    assert same(as_sets(rows), as_sets([np.array(row, np.uint64) for row in rows]))
    assert len(as_sets(rows)[0]) == 3


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=50))
def test_sets_of_integers_are_exact(tokens):
    assert len(as_sets([np.array(tokens, np.uint64)])[0]) == len(tokens)


def test_a_slice_of_an_arrow_column_knows_nothing_of_the_rows_around_it():
    column = pa.array([[1, None], [2, 3], [], [3, 4], None])
    assert same(as_sets(column.slice(1, 3)), as_sets([[2, 3], [], [3, 4]]))
    strings = pa.array([["a", None], ["b"], ["c"]])
    assert same(as_sets(strings.slice(1)), as_sets([["b"], ["c"]]))


@pytest.mark.parametrize(
    "nothing",
    [[], (), iter([]), pa.array([], pa.list_(pa.int64())), pa.chunked_array([], pa.list_(pa.string()))],
)
def test_no_rows_are_no_sets(nothing):
    assert len(as_sets(nothing)) == 0


def test_empty_rows_are_empty_sets():
    for rows in (
        [[], []],
        pa.array([[], []]),
        sp.csr_array((2, 5)),
        pa.array([[], []], pa.list_(pa.string())),
    ):
        assert as_sets(rows).offsets.tolist() == [0, 0, 0]


def test_seeds_hash_tokens_differently():
    assert not set(as_sets([[1, 2]], seed=1).elements) & set(as_sets([[1, 2]], seed=2).elements)
    assert as_sets([["é"]]).elements.tolist() != as_sets([["e"]]).elements.tolist()


# Matrices.

matrices = st.integers(0, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=6
    )
)
FORMATS = [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix, sp.csc_matrix, sp.dok_array]


@given(matrices, st.sampled_from(FORMATS), st.sampled_from([bool, np.int8, np.float64]))
def test_rows_and_columns_of_a_matrix_are_lists_of_their_positions(entries, form, dtype):
    dense = np.array(entries, dtype)
    matrix = form(dense)
    assert same(as_sets(matrix), as_sets([np.flatnonzero(row).tolist() for row in dense]))
    assert same(as_sets(matrix, sets="columns"), as_sets([np.flatnonzero(row).tolist() for row in dense.T]))
    assert np.array_equal(matrix.toarray(), dense)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_stored_zeros_are_no_members_and_the_matrix_stays_as_it_was(form):
    matrix = form(np.array([[1, 0, 2], [0, 3, 0]]))
    matrix.data[1] = 0
    stored = matrix.nnz
    for sets in ("rows", "columns"):
        dense = matrix.toarray() if sets == "rows" else matrix.toarray().T
        assert same(as_sets(matrix, sets=sets), as_sets([np.flatnonzero(row).tolist() for row in dense]))
    assert matrix.nnz == stored


def test_entries_stored_twice_count_by_their_sum():
    matrix = sp.csr_array((np.array([1, -1, 1, 1]), np.array([1, 1, 0, 0]), np.array([0, 4])), shape=(1, 2))
    assert same(as_sets(matrix), as_sets([[0]]))
    assert matrix.nnz == 4


def test_a_wide_matrix_hashes_each_column_once():
    draw = np.random.default_rng(0)
    rows = [np.unique(draw.integers(0, 100_000, 20)) for _ in range(500)]
    indptr = np.cumsum([0, *map(len, rows)])
    matrix = sp.csr_array((np.ones(indptr[-1], bool), np.concatenate(rows), indptr), shape=(500, 100_000))
    assert same(as_sets(matrix, seed=3), as_sets(rows, seed=3))


# What cannot be used.


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([[1, "a"]], "integers or strings, not both: item 0 holds 'a', and it also holds 1"),
        ([["a"], [1]], "integers or strings, not both: item 1 holds 1, and item 0 holds 'a'"),
        ([[None, 7], [], [8, "b"]], "not both: item 2 holds 'b', and item 0 holds 7"),
        ([[3], [np.int64(1), (2,)]], "not both: item 1 holds (2,), which is neither"),
        ([[1, None]], "an element of a set is null"),
        ([["a", None]], "an element of a set is null"),
        ([[None]], "an element of a set is null"),
        ([None], "item 0 is None, not a set"),
        ([[1], 2], "item 1 is 2, not a set"),
        (["abc"], "item 0 is 'abc', not a set"),
        ([b"abc"], "item 0 is b'abc', not a set"),
        ("abc", "item 0 is 'a', not a set"),
        (5, "5 holds no sets"),
        (None, "None holds no sets"),
        ([[1.5]], "not double"),
        ([[1, float("nan")]], "not double"),
        ([[b"a"]], "not binary"),
        ([[(1, 2)]], "not list"),
        ([[True, False]], "not bool: give a boolean matrix as a sparse one"),
        (np.eye(3, dtype=bool), "not bool: give a boolean matrix as a sparse one"),
        (np.array([[0, 1, 1], [1, 0, 0]]), "give a boolean matrix as a sparse one, such as"),
        (np.eye(2, dtype=np.uint8), "these 2 rows of 2 hold 0 and 1 alone"),
        ([[0, 1, 1], [1, 0, 0]], "give a boolean matrix as a sparse one, such as"),
        (pa.array([[0, 1, 1], [1, 0, 0]]), "give a boolean matrix as a sparse one, such as"),
        ([[2**64]], "from 0 to 2⁶⁴−1"),
        ([[2**63, -1]], "from 0 to 2⁶⁴−1"),
        ([["\ud800"]], "is not Unicode text"),
        (pa.array([[1, None]]), "an element of a set is null"),
        (pa.array([[1], None]), "a set is null"),
        (pa.array([["a", None]]), "an element of a set is null"),
        (pa.array([1, 2]), "must be an Arrow list column, not int64"),
        (pa.array([[1.5]]), "not double"),
    ],
)
def test_what_holds_no_sets_is_refused(wrong, said):
    with pytest.raises(SourceError) as refused:
        as_sets(wrong)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1], [1, 0]],
        [[0, 1, 1]],
        [[0, 1, 1], [1]],
        [[0, 1, 2], [1, 0, 0]],
        [[1, 1, 1], [1, 1, 1]],
        [["0", "1", "1"], ["1", "0", "0"]],
        np.array([[0, 1, 2], [1, 0, 0]]),
        np.array([[1, 2], [2, 1]]),
    ],
)
def test_sets_that_only_look_like_a_matrix_of_zeros_and_ones_are_read(rows):
    assert [len(row) for row in as_sets(rows)] == [len(set(row)) for row in rows]


def test_a_bag_may_repeat_zeros_and_ones():
    assert [len(row) for row in as_sets([[0, 1, 1], [1, 0, 0]], bag=True)] == [3, 3]


@pytest.mark.parametrize("search", [la.similar_pairs, la.top, lambda rows: la.MinHash().signatures(rows)])
def test_dense_matrices_of_zeros_and_ones_are_refused_wherever_sets_are_read(search):
    with pytest.raises(SourceError, match="give a boolean matrix as a sparse one"):
        search(np.array([[0, 1, 1], [1, 0, 0]]))


def test_sides_are_asked_of_matrices_alone():
    with pytest.raises(OptionError, match="rows or its columns"):
        as_sets(sp.eye_array(2), sets="diagonal")
    for items in ([[1]], pa.array([[1]]), as_sets([[1]])):
        with pytest.raises(OptionError, match="goes with a sparse matrix"):
            as_sets(items, sets="columns")


def test_canonical_sets_are_the_same_for_one_thread_and_two():
    draw = np.random.default_rng(0)
    ragged = draw.integers(0, 50, 5000).astype(np.uint64), np.sort(draw.integers(0, 5000, 300))
    for bag in (True, False):
        one, two = (_core.canonical_sets(ragged, bag=bag, threads=threads) for threads in (1, 2))
        assert all(np.array_equal(x, y) for x, y in zip(one, two, strict=True))


def test_list_views_may_lie_anywhere_and_share_their_values():
    values = pa.array([1, 2, 3, 4])
    views = pa.ListViewArray.from_arrays(pa.array([2, 0, 3, 1]), pa.array([2, 2, 0, 3]), values)
    assert same(as_sets(views), as_sets([[3, 4], [1, 2], [], [2, 3, 4]]))
