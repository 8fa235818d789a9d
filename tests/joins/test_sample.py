"""The sample a plan is made from: the same however rows are cut and ordered."""

from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table
from lookalike.joins.sample import agreement_counts

SLOTS = 4


def signed(content, order, cuts):
    """Rows with these content hashes, from which their slots follow."""
    content = np.array(content, np.uint64)[np.array(order, np.int64)]
    slots = (content[:, None] // np.uint64(7) ** np.arange(SLOTS, dtype=np.uint64) % np.uint64(3)).astype(
        np.uint32
    )
    batch = pa.record_batch(
        {
            "row": pa.array(np.array(order, np.int64)),
            "content": pa.array(content),
            "slots": pa.FixedSizeListArray.from_arrays(pa.array(slots.reshape(-1)), SLOTS),
        }
    )
    edges = sorted({0, *cuts, len(content)})
    pieces = [batch.slice(a, b - a) for a, b in pairwise(edges)]
    return Table(tuple(pieces), batch.schema)


def counted(content):
    """How many pairs agree in 0, 1, … slots, by brute force."""
    slots = [[x // 7**at % 3 for at in range(SLOTS)] for x in content]
    counts = [0] * (SLOTS + 1)
    for one, two in combinations(slots, 2):
        counts[sum(x == y for x, y in zip(one, two, strict=True))] += 1
    return tuple(counts)


@given(st.lists(st.integers(0, 5000), max_size=30), st.integers(2, 12), st.sampled_from([1, 2]), st.data())
def test_the_rows_of_least_content_are_sampled_however_they_come(content, most, threads, data):
    order = data.draw(st.permutations(range(len(content))))
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=4))
    marked = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(content), max_size=len(content))), np.bool_
    )
    found = agreement_counts(LocalEngine(threads), signed(content, order, cuts), SLOTS, marked, rows=most)
    some = [x for x, mark in zip(content, marked, strict=True) if mark]
    assert found == counted(sorted(some)[:most])


def test_no_rows_give_no_pairs():
    assert agreement_counts(LocalEngine(1), signed([], [], []), SLOTS, np.ones(0, np.bool_)) == (0,) * (
        SLOTS + 1
    )
