"""Sought sets are found wherever brute force finds them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lookalike as la
from lookalike.measures import occurrences
from lookalike.measures.occurrences import Owners, Sought, least_shared

SMALL = st.lists(st.frozensets(st.integers(0, 12), max_size=8), max_size=8)
LARGE = st.lists(st.frozensets(st.integers(0, 20), max_size=14), max_size=10)


def sets(rows):
    return la.as_sets([sorted(row) for row in rows])


@given(SMALL, LARGE)
@example([], [frozenset({1})])
@example([frozenset()], [frozenset()])
@example([frozenset({1})], [])
def test_known_elements_are_met_where_they_are(small, large):
    sought = Sought.of(sets(small))
    met = sought.met(sets(large))
    known = frozenset().union(*small)
    counts = np.bincount(met.row, minlength=len(large)).tolist()
    assert counts == [len(row & known) for row in large]
    assert np.all(np.diff(met.row * 100 + met.element) > 0)


@pytest.mark.parametrize("at_once", [1, 1 << 22])
@given(small=SMALL, large=LARGE, threshold=st.sampled_from([0.01, 0.3, 0.5, 0.8, 0.9, 1.0]))
def test_everything_that_holds_enough_is_named_and_counted(at_once, small, large, threshold):
    sought = Sought.of(sets(small))
    met = sought.met(sets(large))
    rows, owners = Owners.holding(sought, threshold).named(met)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(occurrences, "_AT_ONCE", at_once)
        shared = sought.shared(met, rows, owners)
    pairs = list(zip(rows.tolist(), owners.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    for (row, own), count in zip(pairs, shared.tolist(), strict=True):
        assert count == len(large[row] & small[own])
    reached = {
        pair for pair, count in zip(pairs, shared, strict=True) if count / len(small[pair[1]]) >= threshold
    }
    assert reached == {
        (row, own)
        for row in range(len(large))
        for own in range(len(small))
        if small[own] and len(large[row] & small[own]) / len(small[own]) >= threshold
    }


@given(SMALL, LARGE, st.integers(1, 3))
def test_everything_that_shares_something_rare_enough_is_named(small, large, most):
    sought = Sought.of(sets(small))
    rows, owners = Owners.sharing_any(sought, most=most).named(sought.met(sets(large)))
    rare = {item for own in small for item in own if sum(item in other for other in small) <= most}
    expected = {
        (row, own) for row in range(len(large)) for own in range(len(small)) if large[row] & small[own] & rare
    }
    assert set(zip(rows.tolist(), owners.tolist(), strict=True)) == expected


@given(st.integers(1, 10_000), st.floats(0.001, 1))
def test_the_least_count_is_decided_by_the_division_itself(size, threshold):
    least = int(least_shared(np.array([size]), threshold)[0])
    assert least / size >= threshold
    assert least == 1 or (least - 1) / size < threshold
