"""The sample a plan is made from: the same however rows are cut and ordered."""

from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table
from lookalike.families import MinHash
from lookalike.joins.items import Items
from lookalike.joins.sample import Drawn, draw
from lookalike.measures.sets import as_sets
from lookalike.shingles import Shingle

FAMILY = MinHash(slots=8)


def texts(rows, order, cuts):
    """Texts numbered as they stand, given in another order and cut into batches."""
    batch = pa.record_batch(
        {
            "row": pa.array(np.array(order, np.int64)),
            "text": pa.array([rows[row] for row in order], pa.large_string()),
        }
    )
    pieces = [batch.slice(a, b - a) for a, b in pairwise(sorted({0, *cuts, len(rows)}))]
    return Items(
        table=Table(tuple(pieces), batch.schema), bytes=sum(map(len, rows)), shingle=Shingle.parse("chars:2")
    )


def counted(rows):
    """How many pairs agree in 0, 1, … slots, by brute force over rows that differ in their shingles."""
    sets = {
        frozenset(row[i : i + 2] for i in range(max(1, len(row) - 1))): row for row in rows if row.strip()
    }
    signed = FAMILY.signatures_of_texts(
        pa.array(list(sets.values()), pa.large_string()), Shingle.parse("chars:2").shingler(0)
    )
    counts = [0] * (FAMILY.slots + 1)
    for one, two in combinations(signed.slots, 2):
        counts[int((one == two).sum())] += 1
    return tuple(counts)


WORDS = st.text("abc", min_size=3, max_size=9)


@given(st.lists(WORDS, max_size=30), st.integers(2, 12), st.sampled_from([1, 2]), st.data())
def test_the_sample_is_the_same_however_rows_come(rows, most, threads, data):
    order = data.draw(st.permutations(range(len(rows))))
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    one = draw(LocalEngine(1), texts(rows, range(len(rows)), ()), FAMILY, rows=most)
    assert draw(LocalEngine(threads), texts(rows, order, cuts), FAMILY, rows=most) == one
    assert sum(one.counts) <= most * (most - 1) // 2


@given(st.lists(WORDS, max_size=20))
def test_a_small_collection_is_its_own_sample_and_copies_count_once(rows):
    drawn = draw(LocalEngine(1), texts(rows * 2, range(2 * len(rows)), ()), FAMILY)
    assert drawn.distinct == len(set(rows))
    # Rows of one bag of shingles are one; brute force takes them for one by their set.
    bags = {tuple(sorted(row[i : i + 2] for i in range(len(row) - 1))) for row in rows}
    sets = {frozenset(bag) for bag in bags}
    if len(bags) == len(sets):
        assert drawn.counts == counted(rows)


@pytest.mark.parametrize("copies", [1, 500])
def test_how_many_rows_differ_is_estimated_from_the_least(copies):
    rows = [[row, row + 1, row + 7] for row in range(20_000)] + [[1, 2]] * copies
    sets = as_sets(rows)
    table = Table.of(row=np.arange(len(sets)), elements=sets.to_arrow())
    items = Items(table=table, bytes=sets.elements.nbytes, shingle=None)
    # The k-th least of n is off by 1/√k on average: four times that, for k = 1000.
    assert abs(draw(LocalEngine(2), items, FAMILY).distinct / 20_001 - 1) < 0.13


def test_no_rows_give_no_pairs():
    drawn = draw(LocalEngine(1), texts([], [], ()), FAMILY)
    assert drawn.counts == (0,) * 9
    assert drawn.distinct == 0


def test_empty_rows_are_not_compared():
    drawn = draw(LocalEngine(1), texts(["", "", "abcd"], [0, 1, 2], ()), FAMILY)
    assert sum(drawn.counts) == 0


def test_what_is_said_of_pairs_is_counted_by_level():
    # Ten pairs: of 4 slots three agree in none, two in one, four in two, one in all.
    drawn = Drawn(counts=(3, 2, 4, 0, 1), distinct=5, rows=())
    assert drawn.median_similarity == 1 / 4
    assert [drawn.share_at_least(level / 4) for level in range(5)] == [1.0, 0.7, 0.5, 0.1, 0.1]
    assert drawn.share_at_least(0.51) == 0.1
    assert Drawn(counts=(0, 0), distinct=1, rows=()).median_similarity is None


def fields(rows, values, seed=1):
    """Sets of 40 elements, one of few values a field, so that many look alike at a glance."""
    draw = np.random.default_rng(seed)
    chosen = np.where(draw.random((rows, 40)) < 0.9, 0, draw.integers(0, values, (rows, 40)))
    return (chosen + values * np.arange(40)).tolist()


@pytest.mark.parametrize("copies", [1, 3])
def test_rows_that_only_look_alike_at_a_glance_are_told_apart(copies):
    rows = fields(3_000, 3)
    sets = as_sets(rows * copies)
    table = Table.of(row=np.arange(len(sets)), elements=sets.to_arrow())
    drawn = draw(LocalEngine(1), Items(table=table, bytes=sets.elements.nbytes, shingle=None), FAMILY)
    assert len(drawn.rows) == 1000
    assert abs(drawn.distinct / len(set(map(tuple, rows))) - 1) < 0.13
    # So too however they are cut, and whatever order they come in.
    order = np.random.default_rng(2).permutation(len(sets))
    shuffled = table.batches[0].take(pa.array(order))
    pieces = tuple(shuffled.slice(at, 170) for at in range(0, len(order), 170))
    again = Items(table=Table(pieces, shuffled.schema), bytes=sets.elements.nbytes, shingle=None)
    assert draw(LocalEngine(2), again, FAMILY) == drawn


def test_copies_that_look_alike_at_a_glance_are_copies():
    rows = fields(20, 3)
    sets = as_sets(rows * 200)
    table = Table.of(row=np.arange(len(sets)), elements=sets.to_arrow())
    drawn = draw(LocalEngine(1), Items(table=table, bytes=sets.elements.nbytes, shingle=None), FAMILY)
    assert drawn.distinct == len(set(map(tuple, rows))) > 16
