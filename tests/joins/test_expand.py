"""Pairs with copies: every one, or each copy once, whatever the size of batches and memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.joins import expand
from lookalike.joins.expand import Classes, with_copies
from lookalike.joins.pair_tables import columns_of, pair_table
from lookalike.runs.watch import Watch


def listed(near, classes, copies="all", engine=None):
    """{(a, b): value}; checks that pairs come in order, each once."""
    a, b = (np.array([pair[side] for pair in near], np.int64) for side in (0, 1))
    table = pair_table(a, b, np.array(list(near.values()), np.float64))
    pairs = with_copies(table, classes, copies, engine=engine or LocalEngine(1), watch=Watch())
    rows = list(zip(*(column.tolist() for column in columns_of(pairs)), strict=True))
    assert [row[:2] for row in rows] == sorted({row[:2] for row in rows})
    return {(a, b): value for a, b, value in rows}


@st.composite
def collections(draw, *, boundary, directed=False):
    """Rows in classes, each named by its least row, and near pairs of some classes."""
    labels = draw(st.lists(st.integers(0, 5), min_size=1, max_size=14))
    rows = len(labels)
    at = draw(st.integers(0, rows)) if boundary else None
    if directed and at is not None:
        # Roads from set to set tell copies within each collection.
        labels = [label + 6 * (row >= at) for row, label in enumerate(labels)]
    first = np.array([labels.index(label) for label in labels])
    stand = sorted(set(first.tolist()))
    possible = [(a, b) for a in stand for b in stand if (a != b if directed else a < b)]
    if directed and at is not None:
        possible = [(a, b) for a, b in possible if a < at <= b]
    elif at is not None:
        # Roads find pairs of classes that have rows on either side.
        left, right = set(first[:at].tolist()), set(first[at:].tolist())
        possible = [(a, b) for a, b in possible if (a in left and b in right) or (b in left and a in right)]
    near = draw(st.lists(st.sampled_from(possible), unique=True, max_size=8)) if possible else []
    near = {pair: 0.5 + number / 100 for number, pair in enumerate(sorted(near))}
    own = draw(st.none() | st.just(np.arange(rows) + 2.0))
    return near, Classes(representative=first, own=own, boundary=at, directed=directed)


def every_pair(near, classes):
    """By the definition: all pairs of rows whose classes are one, or near each other."""
    first, at = classes.representative, classes.boundary
    rows = range(len(first))
    own = np.ones(len(first)) if classes.own is None else classes.own
    found = {}
    for a in rows:
        for b in rows:
            asked = a != b if classes.directed else a < b
            if not asked or (at is not None and not a < at <= b):
                continue
            ends = (first[a], first[b])
            back = near.get(ends[::-1]) if not classes.directed else None
            value = own[first[a]] if ends[0] == ends[1] else near.get(ends, back)
            if value is not None:
                found[a, b] = value
    return found


@pytest.mark.parametrize("at_once", [1, 3, 1 << 17])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("boundary", [False, True])
def test_every_pair_of_copies_and_of_what_they_are_near_to_is_listed(
    monkeypatch, at_once, directed, boundary
):
    monkeypatch.setattr(expand, "_AT_ONCE", at_once)

    @given(collections(boundary=boundary, directed=directed))
    def check(drawn):
        assert listed(*drawn) == every_pair(*drawn)

    check()


@given(collections(boundary=False))
def test_stars_list_near_pairs_of_representatives_and_each_other_copy_once(drawn):
    near, classes = drawn
    first = classes.representative
    own = np.ones(len(first)) if classes.own is None else classes.own
    stars = {(int(first[row]), row): own[first[row]] for row in range(len(first)) if first[row] != row}
    assert listed(near, classes, "stars") == near | stars


@given(collections(boundary=True))
def test_stars_across_pair_the_first_copies_of_either_side_with_all_of_the_other(drawn):
    near, classes = drawn
    every, stars = every_pair(near, classes), listed(near, classes, "stars")
    first = classes.representative
    assert stars.items() <= every.items()
    # Of every two classes with pairs: a row that has a pair keeps one, and no more are kept than that takes.
    for ends in {(first[a], first[b]) for a, b in every}:
        of_all, of_stars = (
            {pair for pair in some if (first[pair[0]], first[pair[1]]) == ends} for some in (every, stars)
        )
        lefts, rights = ({pair[side] for pair in of_all} for side in (0, 1))
        assert [{pair[side] for pair in of_stars} for side in (0, 1)] == [lefts, rights]
        assert len(of_stars) == len(lefts) + len(rights) - 1


def test_pairs_beyond_memory_are_the_same():
    # Classes of three, and one of 1,000 rows.
    rows = 4_000
    representative = np.arange(rows) // 3 * 3
    representative[1_000:2_000] = 999
    classes = Classes(representative=representative)
    none = pair_table(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    spilled, held = (
        with_copies(none, classes, "all", engine=engine, watch=Watch())
        for engine in (LocalEngine(1, memory=16_000_000), LocalEngine(1))
    )
    assert not spilled.batches.at_hand
    assert spilled.rows == classes.pairs_inside > 500_000
    for name in ("pair", "value"):
        assert np.array_equal(spilled.column(name), held.column(name))


def test_too_many_pairs_of_copies_are_an_error_that_says_both_ways_on(monkeypatch):
    monkeypatch.setattr(expand, "MOST", 9)
    sets = [[1, 2, 3, 4]] * 5
    with pytest.raises(OptionError) as error:
        la.similar_pairs(sets)
    assert str(error.value) == (
        "exact copies make 10 pairs, more than 9: use copies='stars' to list each copy once, or ask for all "
        "of them by copies='all'"
    )
    assert len(la.similar_pairs(sets, copies="all")) == 10
    assert len(la.similar_pairs(sets, copies="stars")) == 4
    assert len(la.similar_pairs(sets[:4])) == 6


def test_copies_of_two_classes_near_each_other_count_too(monkeypatch):
    monkeypatch.setattr(expand, "MOST", 12)
    # Six pairs of copies, and nine pairs between the classes, of which one is no copies' doing.
    sets = [[1, 2, 3, 4, 5]] * 3 + [[1, 2, 3, 4, 5, 6]] * 3
    with pytest.raises(OptionError, match="exact copies make 14 pairs, more than 12"):
        la.similar_pairs(sets, method="prefix")
    assert len(la.similar_pairs(sets, method="prefix", copies="all")) == 15
    assert len(la.similar_pairs(sets, method="prefix", copies="stars")) == 5


ROWS = {
    "documents": (["one and the same text here"] * 4, {}),
    "documents by meaning": (["one text", "one text", "one text", "one text", "other"], {"measure": "tfidf"}),
    "sets": ([[1, 2, 3]] * 4, {}),
    "sets by prefixes": ([[1, 2, 3]] * 4, {"method": "prefix"}),
    "weighted sets": ([{1: 2.0, 2: 1.0}] * 4, {"measure": "weighted-jaccard"}),
    "weighted sets, exactly": ([{1: 2.0}] * 4, {"measure": "weighted-cosine", "method": "exact"}),
    "vectors": (np.ones((4, 3)), {"measure": "l2", "threshold": 1.0, "method": "exact"}),
    "vectors by bands": (np.ones((4, 3)), {"measure": "angle", "threshold": "5deg", "method": "lsh"}),
    "bits": (["ffff"] * 4, {"measure": "hamming"}),
    "strings": (["same"] * 4, {}),
    "measurements": ([[1.0, 2.0, 3.0]] * 4, {}),
}


def searched(kind, *given, **options):
    if kind == "strings":
        return la.similar_strings(*given, **options)
    if kind == "measurements":
        return la.similar_measurements(*given, within=0.5, share=1.0, **options)
    if kind == "bits":
        return la.similar_bits(*given, **options)
    return la.similar_pairs(*given, **options)


def ends(pairs):
    return list(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))


@pytest.mark.parametrize("kind", ROWS)
def test_every_kind_of_thing_lists_all_pairs_of_copies_unless_told_otherwise(monkeypatch, kind):
    rows, options = ROWS[kind]
    every = [(a, b) for a in range(4) for b in range(4) if a < b]
    assert ends(searched(kind, rows, **options)) == every
    assert ends(searched(kind, rows, copies="stars", **options)) == [(0, 1), (0, 2), (0, 3)]
    across = [(a, b) for a in range(4) for b in range(4)]
    stars = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)]
    assert [pair for pair in ends(searched(kind, rows, rows, **options)) if max(pair) < 4] == across
    seen = ends(searched(kind, rows, rows, copies="stars", **options))
    assert [pair for pair in seen if max(pair) < 4] == stars
    with pytest.raises(OptionError, match="copies='some' is unknown: choose all or stars"):
        searched(kind, rows, copies="some", **options)
    monkeypatch.setattr(expand, "MOST", 5)
    with pytest.raises(OptionError, match="exact copies make 6 pairs, more than 5"):
        searched(kind, rows, **options)
    assert ends(searched(kind, rows, copies="all", **options)) == every
