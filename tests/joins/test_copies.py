"""Exact copies: the same shingle set, confirmed on the data, one representative a class."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance import oracle, texts

import lookalike as la
from lookalike import _core
from lookalike.engines import LocalEngine, Table
from lookalike.families import MinHash
from lookalike.joins import Items
from lookalike.joins.copies import KeepRows, Stars, representatives
from lookalike.shingles import Shingle

PASSAGE = "one two three four five six seven eight nine ten"


def classes(docs, *, engine=None, rows=None, shingle="words:5"):
    """The representative of every row, by the join's first step alone."""
    engine = engine or LocalEngine(1)
    numbers = np.arange(len(docs)) if rows is None else np.array(rows)
    table = Table.of(row=numbers, text=pa.array(docs, pa.large_string()))
    items = Items(table=table, bytes=1, shingle=Shingle.parse(shingle))
    signed = engine.map(table, items.sign(MinHash()))
    flags = np.zeros(len(docs), np.uint8)
    flags[signed.column("row")] = signed.column("flags")
    signed = engine.map(signed, KeepRows((flags & _core.FLAG_EMPTY) == 0))
    return representatives(engine, items, signed, np.ones(items.rows, np.bool_)).tolist()


CASES = {
    "dress": (
        ["The cat sat on the mat", "the CAT, sat: on the mat!", "the  cat\nsat on\tthe mat"],
        [0, 0, 0],
    ),
    "a word more": ([PASSAGE, PASSAGE + " ten"], [0, 1]),
    "a passage twice": (
        # Begins and ends alike, so that saying it three times rather than two adds no window.
        [" ".join([PASSAGE] * 2), " ".join([PASSAGE] * 3), " ".join([PASSAGE] * 4)],
        [0, 0, 0],
    ),
    "two dresses of each bag": (
        [
            " ".join([PASSAGE] * 3),
            " ".join([PASSAGE] * 2),
            " ".join([PASSAGE] * 3).upper(),
            " ".join([PASSAGE] * 2).title(),
        ],
        [0, 0, 0, 0],
    ),
    "order of words": (["a b c d e f", "f e d c b a"], [0, 1]),
    "short": (["a b", "A, b", "b a", "a", "A"], [0, 0, 2, 3, 3]),
    "empty": (["", "", " \n", "a"], [0, 1, 2, 3]),
    "symbols": (["...", "!!!", ". ..", "😀 😃", "😀😃", "😃 😀", "!!!"], [0, 1, 0, 3, 3, 5, 1]),
    "nothing": ([""], [0]),
}


@pytest.mark.parametrize("case", CASES)
def test_copies_share_their_shingle_set_and_nothing_less(case):
    docs, expected = CASES[case]
    assert classes(docs) == expected


def test_a_bag_that_counts_repeats_tells_repeated_passages_apart():
    assert classes(CASES["a passage twice"][0], shingle="words:5+bag") == [0, 1, 2]


@given(
    st.lists(st.lists(st.sampled_from("abAB"), max_size=8).map(" ".join), min_size=1, max_size=25), st.data()
)
def test_classes_are_those_of_brute_force_whatever_the_batches(docs, data):
    sets = [oracle.shingles(text, 2) for text in docs]
    expected = [row if not own else sets.index(own) for row, own in enumerate(sets)]
    engine = LocalEngine(data.draw(st.sampled_from([1, 2])), batch_rows=data.draw(st.integers(1, 9)))
    assert classes(docs, engine=engine, shingle="words:2") == expected
    # Where rows stand does not matter, only their numbers do.
    order = data.draw(st.permutations(range(len(docs))))
    assert classes([docs[at] for at in order], rows=order, engine=engine, shingle="words:2") == expected


def test_stars_begin_at_the_first_row_of_a_run():
    batch = pa.record_batch(
        {"key": pa.array([1, 1, 1, 5, 7, 7], pa.uint64()), "row": pa.array([4, 8, 9, 1, 2, 3])}
    )
    assert Stars("key")(batch).to_pydict() == {"a": [4, 4, 2], "b": [8, 9, 3]}


def test_copies_become_star_edges_and_are_counted():
    text = " ".join(texts.prose(50, 1))
    docs = ["before", text, "between", *(texts.dressed(text, seed) for seed in range(20))]
    pairs = la.similar_pairs(docs, copies="stars")
    assert [(row["a"], row["b"], row["similarity"]) for row in pairs] == [
        (1, row, 1.0) for row in range(3, 23)
    ]
    account = pairs.account
    assert (account.items, account.copies, account.representatives, account.pairs) == (23, 20, 3, 0)
    assert len(la.similar_pairs(docs)) == 21 * 20 // 2


def test_ten_thousand_copies_cost_no_candidates():
    text = " ".join(texts.prose(100, 2))
    result = la.dedup([text] * 10_000 + ["another one altogether, not like it"])
    assert (result.account.copies, result.account.candidates, result.counts["kept"]) == (9_999, 0, 2)
