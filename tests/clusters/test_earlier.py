"""New rows beside rows that earlier runs kept: who hangs on whom, against walking in plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.applications import appending
from tests.conformance import oracle

from lookalike.clusters import assign_with_earlier

THRESHOLD = 0.5

small_sets = st.frozensets(st.integers(0, 7), max_size=6)


def assigned(new, old, *, group="components", priority=None):
    """What `assign_with_earlier` makes of a join that told every pair of which one row is new."""
    rows = [*new, *old]
    copy_of = [rows.index(own) if own else row for row, own in enumerate(rows)]
    pairs = {
        (a, b): similarity
        for (a, b), similarity in oracle.pairs(rows, THRESHOLD).items()
        if copy_of[a] == a and copy_of[b] == b and a < len(new)
    }
    ends = np.array([*pairs], np.int64).reshape(-1, 2).T
    return assign_with_earlier(
        np.array(copy_of, np.int64),
        *ends,
        np.array([*pairs.values()], np.float64),
        new_rows=len(new),
        priority=np.arange(len(new)) if priority is None else np.array(priority),
        threshold=THRESHOLD,
        group=group,
        compare=lambda a, b: np.array(
            [oracle.jaccard(rows[x], rows[y]) for x, y in zip(a, b, strict=True)], np.float64
        ),
    )


@given(
    st.lists(small_sets, min_size=1, max_size=10), st.lists(small_sets, max_size=6, unique=True), st.data()
)
def test_everybody_hangs_where_plain_walking_leads(new, old, data):
    group = data.draw(st.sampled_from(["components", "star"]))
    priority = data.draw(st.permutations(range(len(new))))
    got = assigned(new, old, group=group, priority=priority)
    expected = appending.assigned(new, old, THRESHOLD, group=group, priority=priority)
    assert got.representative[: len(new)].tolist() == expected
    assert got.kept.tolist() == [row == own for row, own in enumerate(expected)] + [True] * len(old)
    rows = [*new, *old]
    for row, own in enumerate(expected):
        if row == own:
            assert got.via[row] == -1
            continue
        assert got.similarity[row] == oracle.jaccard(rows[row], rows[own])
        assert oracle.jaccard(rows[row], rows[got.via[row]]) >= THRESHOLD
        assert got.cluster[row] == (own if own >= len(new) else got.cluster[own])
    below = [row for row, own in enumerate(expected) if row != own and got.similarity[row] < THRESHOLD]
    assert got.chained == len(below)
    if group == "star":
        assert below == []


def test_earlier_rows_stay_apart_and_the_new_one_takes_the_most_similar():
    one, other = frozenset(range(10)), frozenset(range(5, 15))
    bridge = frozenset(range(3, 13))
    got = assigned([bridge], [one, other])
    assert oracle.jaccard(bridge, other) > oracle.jaccard(bridge, one) >= THRESHOLD
    assert got.representative.tolist() == [2, 1, 2]
    assert got.cluster.tolist() == [2, 1, 2]
    assert got.kept.tolist() == [False, True, True]


def test_a_long_chain_hangs_on_the_earlier_row_step_by_step():
    chain = [frozenset(range(at, at + 9)) for at in range(1, 200)]
    got = assigned(chain, [frozenset(range(9))])
    assert set(got.representative.tolist()) == {199}
    assert got.via[:3].tolist() == [199, 199, 199]
    # From there on each by the nearest of those that hang on it already.
    assert all(0 <= at - via <= 3 for at, via in enumerate(got.via[3:199].tolist(), 3))


def test_two_runs_may_have_kept_the_same_document():
    same = frozenset(range(6))
    got = assigned([same, frozenset(range(20, 26))], [same, same])
    assert got.representative.tolist() == [2, 1, 2, 3]
    assert got.kept.tolist() == [False, True, True, True]
