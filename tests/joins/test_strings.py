"""Strings within a few edits: every pair that the definition finds, and its distance."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table
from lookalike.errors import OptionError
from lookalike.joins import prefixes
from lookalike.joins.pair_tables import columns_of
from lookalike.joins.strings import edit_join
from lookalike.runs.watch import Watch

KINDS = ("levenshtein", "indel")


def distance(a, b, replace):
    """The classic table, by the definition; `replace` is what a replaced letter costs."""
    before = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            row.append(min(before[j] + (0 if x == y else replace), before[j + 1] + 1, row[j] + 1))
        before = row
    return before[-1]


def brute(strings, most, kind, boundary=None):
    replace = 1 if kind == "levenshtein" else 2
    rows = range(len(strings))
    asked = (
        [(a, b) for a in rows for b in rows if a < b]
        if boundary is None
        else [(a, b) for a in rows[:boundary] for b in rows[boundary:]]
    )
    found = {(a, b): distance(strings[a], strings[b], replace) for a, b in asked}
    return {pair: apart for pair, apart in found.items() if apart <= most}


def joined(strings, most, kind="levenshtein", *, cut=6, engine=None, **options):
    batch = pa.record_batch(
        {"row": pa.array(np.arange(len(strings))), "text": pa.array(strings, pa.large_string())}
    )
    pieces = tuple(batch.slice(start, cut) for start in range(0, len(batch), cut))
    near = edit_join(
        Table(pieces, batch.schema),
        distance=most,
        kind=kind,
        engine=engine or LocalEngine(1),
        watch=Watch(),
        **options,
    )
    rows = list(zip(*(column.tolist() for column in columns_of(near.pairs)), strict=True))
    assert [row[:2] for row in rows] == sorted({row[:2] for row in rows})
    return {(a, b): apart for a, b, apart in rows}


# Few letters, one of them beyond the first plane, so that strings are near in every way.
STRINGS = st.lists(st.text("abé\U0001f642", max_size=9), max_size=14)


@pytest.mark.parametrize("kind", KINDS)
@given(
    STRINGS,
    st.integers(0, 4),
    st.integers(1, 4),
    st.integers(1, 8),
    st.none() | st.integers(0, 14),
    st.booleans(),
)
def test_pairs_are_those_of_the_definition(kind, strings, most, q, cut, boundary, whole):
    boundary = None if boundary is None else min(boundary, len(strings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefixes, "too_many_meetings", lambda *_: whole)
        found = joined(strings, most, kind, q=q, cut=cut, boundary=boundary)
    assert found == brute(strings, most, kind, boundary)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("block", [3, prefixes.BLOCK])
def test_edited_words_are_found_whatever_the_threads(monkeypatch, kind, q, block):
    monkeypatch.setattr(prefixes, "BLOCK", block)
    rng = np.random.default_rng(5)
    words = ["".join(rng.choice(list("abcdefghij"), rng.integers(1, 14))) for _ in range(60)]
    edited = []
    for word in words:
        letters = list(word)
        for _ in range(rng.integers(1, 4)):
            at = rng.integers(0, len(letters) + 1)
            letters[at : at + rng.integers(0, 2)] = rng.choice(list("abcxyz"), rng.integers(0, 2)).tolist()
        edited.append("".join(letters))
    strings = [*words, *edited, "", "a", "é"]
    for most in (0, 1, 2, 3):
        truth = brute(strings, most, kind)
        assert truth
        for threads, batch_rows in ((1, 1 << 16), (2, 20)):
            engine = LocalEngine(threads, batch_rows=batch_rows)
            assert joined(strings, most, kind, q=q, engine=engine) == truth


def test_long_strings_go_past_one_word_of_bits():
    base = "".join(chr(97 + (at * at + at // 7) % 26) for at in range(200))
    strings = [base, base[:100] + "!" + base[101:], base[3:], base[:90] + base[95:], base[::-1]]
    for kind in KINDS:
        assert joined(strings, 9, kind) == brute(strings, 9, kind)


def test_a_replaced_letter_is_one_edit_or_two():
    assert joined(["Jeffrey", "Jeffery"], 2) == {(0, 1): 2}
    assert joined(["kitten", "sitten"], 1) == {(0, 1): 1}
    assert joined(["kitten", "sitten"], 1, "indel") == {}
    assert joined(["kitten", "sitten"], 2, "indel") == {(0, 1): 2}


def test_an_empty_string_is_as_far_as_the_other_is_long():
    assert joined(["", "a", "ab", ""], 1) == {(0, 1): 1, (0, 3): 0, (1, 2): 1, (1, 3): 1}
    assert joined([], 3) == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"most": -1}, "distance=-1 is out of range"),
        ({"most": 1, "kind": "hamming"}, "choose levenshtein or indel"),
        ({"most": 1, "q": 0}, "q=0 is out of range"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        joined(["a", "b"], **options)


@given(STRINGS, st.integers(0, 3))
def test_copies_are_star_edges_and_stand_for_the_first_of_them(strings, most):
    found = joined(strings, most, copies="stars")
    first = [strings.index(text) for text in strings]
    stars = {(first[row], row): 0 for row in range(len(strings)) if first[row] != row}
    near = {
        pair: apart
        for pair, apart in brute(strings, most, "levenshtein").items()
        if all(first[row] == row for row in pair)
    }
    assert found == stars | near


def test_many_equal_strings_cost_no_more_than_they_are():
    batch = {"row": np.arange(200_000), "text": pa.array(["again and again"] * 200_000, pa.large_string())}
    near = edit_join(Table.of(**batch), distance=2, copies="stars", engine=LocalEngine(1), watch=Watch())
    assert (near.pairs.rows, near.candidates) == (199_999, 0)
    assert set(columns_of(near.pairs)[0].tolist()) == {0}
    with pytest.raises(OptionError, match="exact copies make 19,999,900,000 pairs, more than 100,000,000"):
        edit_join(Table.of(**batch), distance=2, engine=LocalEngine(1), watch=Watch())
