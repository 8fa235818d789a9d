"""Sets as input: lists of numbers or strings, Arrow lists, sparse matrices; one collection or two."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import oracle

import lookalike as la
from lookalike.errors import SourceError

SURE = 0.9999


def baskets(seed, count=60, words=40):
    """Sets in families, some of them equal, one of them empty."""
    draw = np.random.default_rng(seed)
    rows = [frozenset()]
    while len(rows) < count:
        base = draw.choice(10 * words, words, replace=False)
        for _ in range(draw.integers(1, 4)):
            rows.append(frozenset((base[draw.integers(0, 8) :]).tolist()))
    return rows


ITEMS, OTHERS = baskets(1), baskets(1)[::3] + baskets(2)

FORMS = {
    "lists": lambda sets: [list(own) for own in sets],
    "tuples with repeats": lambda sets: [(*own, *own) for own in sets],
    "Python sets": lambda sets: [set(own) for own in sets],
    "frozen sets": lambda sets: list(sets),
    "arrays": lambda sets: [np.array(sorted(own), np.int64) for own in sets],
    "strings": lambda sets: [[f"item {x}" for x in own] for own in sets],
    "Arrow lists": lambda sets: pa.array([sorted(own) for own in sets], pa.list_(pa.int64())),
    "large Arrow lists of strings": lambda sets: pa.array(
        [[str(x) for x in own] for own in sets], pa.large_list(pa.string())
    ),
    "Arrow chunks": lambda sets: pa.chunked_array([[sorted(own)] for own in sets], pa.list_(pa.int32())),
    "slice of Arrow lists": lambda sets: pa.array([[7], *(sorted(own) for own in sets), [8]]).slice(
        1, len(sets)
    ),
    "Sets": lambda sets: la.as_sets([list(own) for own in sets]),
    "sparse matrix": lambda sets: matrix(sets),
    "sparse array by columns": lambda sets: scipy.sparse.csc_array(matrix(sets)),
}


def matrix(sets):
    ends = [(row, x) for row, own in enumerate(sets) for x in own]
    rows, columns = zip(*ends, strict=True)
    return scipy.sparse.coo_matrix((np.ones(len(ends), bool), (rows, columns)), shape=(len(sets), 500))


def found(pairs):
    return {(row["a"], row["b"]): row["similarity"] for row in pairs}


@pytest.mark.parametrize("form", FORMS)
def test_pairs_of_sets_are_those_of_brute_force(form):
    pairs = la.similar_pairs(FORMS[form](ITEMS), threshold=0.7, recall=SURE)
    assert found(pairs) == oracle.pairs(ITEMS, 0.7)
    assert pairs.account.empty == 1


@pytest.mark.parametrize("form", FORMS)
def test_pairs_between_two_collections_of_sets_are_those_of_brute_force(form):
    pairs = la.similar_pairs(FORMS[form](ITEMS), FORMS[form](OTHERS), threshold=0.7, recall=SURE)
    assert found(pairs) == oracle.pairs_across(ITEMS, OTHERS, 0.7)


def test_a_matrix_and_lists_of_its_columns_hold_the_same_tokens():
    pairs = la.similar_pairs(
        FORMS["sparse matrix"](ITEMS), FORMS["lists"](OTHERS), threshold=0.7, recall=SURE
    )
    assert found(pairs) == oracle.pairs_across(ITEMS, OTHERS, 0.7)


@settings(max_examples=40)
@given(
    st.lists(
        st.frozensets(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5), max_size=6),
        min_size=1,
        max_size=12,
    )
)
def test_any_sets_of_integers_are_compared_exactly(sets):
    pairs = la.similar_pairs([list(own) for own in sets], threshold=0.3, recall=0.99)
    assert found(pairs).items() <= oracle.pairs(sets, 0.3).items()


def test_sets_do_not_depend_on_threads_or_batches():
    pairs = [
        found(la.similar_pairs(ITEMS, threshold=0.4, engine=la.LocalEngine(threads, batch_rows=rows)))
        for threads, rows in [(1, 1 << 16), (2, 1), (2, 7)]
    ]
    assert len(pairs[0]) > 20
    assert pairs[0] == pairs[1] == pairs[2]


@pytest.mark.parametrize(
    "items",
    [
        [[1, 2], "text"],
        [[1], ["a"]],
        [[1.5]],
        [[None]],
        [{"text": "a record"}],
        [{1}, 7],
    ],
)
def test_what_is_no_set_is_refused(items):
    with pytest.raises(SourceError):
        la.similar_pairs(items)


def test_documents_and_sets_do_not_mix():
    with pytest.raises(SourceError):
        la.similar_pairs(["a text"], [[1, 2]])
    with pytest.raises(SourceError):
        la.similar_pairs([[1, 2]], ["a text"])
