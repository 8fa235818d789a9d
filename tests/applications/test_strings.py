"""Strings within a few edits, by the call that users type."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import OptionError


def edits(a, b, kind):
    """By the textbook table."""
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            replaced = before[j - 1] + (0 if x == y else 1 if kind == "levenshtein" else 2)
            row.append(min(before[j] + 1, row[-1] + 1, replaced))
        before = row
    return before[-1]


def found(pairs):
    return {(row["a"], row["b"]): row["distance"] for row in pairs}


STRINGS = st.lists(st.text("abcé", max_size=7), min_size=1, max_size=12)


@settings(max_examples=50)
@pytest.mark.parametrize("kind", ["levenshtein", "indel"])
@given(STRINGS, STRINGS, st.integers(0, 4))
def test_pairs_are_those_of_the_textbook(kind, strings, other, distance):
    near = {(a, b): edits(strings[a], strings[b], kind) for a, b in combinations(range(len(strings)), 2)}
    pairs = found(la.similar_strings(strings, distance=distance, kind=kind))
    assert pairs == {pair: d for pair, d in near.items() if d <= distance}
    cross = product(range(len(strings)), range(len(other)))
    near = {(a, b): edits(strings[a], other[b], kind) for a, b in cross}
    pairs = found(la.similar_strings(strings, other, distance=distance, kind=kind))
    assert pairs == {pair: d for pair, d in near.items() if d <= distance}


def test_what_cannot_be_asked_is_refused():
    for distance in (-1, 1.5, True):
        with pytest.raises(OptionError, match="distance"):
            la.similar_strings(["a"], distance=distance)
    with pytest.raises(OptionError, match="levenshtein or indel"):
        la.similar_strings(["a"], kind="hamming")
