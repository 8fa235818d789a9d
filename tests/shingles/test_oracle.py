"""The kernels cut texts as the oracle does: equal hashes where windows are equal, and only there."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.shingles import oracle
from tests.shingles.kernel import assert_cut_like_the_oracle, hashes, ragged
from tests.shingles.texts import FEW, prose, texts

from lookalike import _core
from lookalike.shingles import Shingle, sets_of_texts

ROW_0, ROW_1 = np.array([0], np.uint32), np.array([1], np.uint32)

folded = st.builds(
    Shingle,
    unit=st.sampled_from(["words", "chars"]),
    k=st.integers(1, 20),
    casefold=st.booleans(),
    nfkc=st.booleans(),
    whitespace=st.booleans(),
    punctuation=st.booleans(),
)
stop_words = st.builds(
    Shingle,
    unit=st.just("stopwords"),
    stops=st.lists(
        st.sampled_from(["to", "Be", "OR", "naïve", "STRASSE", "हिन्दी", "ﬁ", "a"]), min_size=1
    ).map(tuple),
    casefold=st.booleans(),
    nfkc=st.booleans(),
)


@settings(max_examples=300)
@given(folded, texts, texts)
@example(Shingle(unit="chars", k=3), "İıſK", "i\u0307isk")
@example(Shingle(unit="words", k=1), "STRASSE Straße ΣΊΣΥΦΟΣ ﬁ fi", "strasse σίσυφος")
@example(Shingle(unit="chars", k=2, whitespace=True, punctuation=True), "\r\n a -- b\0\t", "a b \0")
def test_windows_are_those_of_the_oracle(shingle, one, other):
    assert_cut_like_the_oracle(shingle, one, other)


@settings(max_examples=200)
@given(stop_words, prose | texts, prose)
def test_stop_word_shingles_are_those_of_the_oracle(shingle, one, other):
    assert_cut_like_the_oracle(shingle, one, other)


@pytest.mark.parametrize("k", range(1, 21))
@pytest.mark.parametrize("unit", ["words", "chars"])
def test_every_window_width_on_a_text_of_all_kinds_of_characters(unit, k):
    for casefold, nfkc in product([True, False], repeat=2):
        shingle = Shingle(unit=unit, k=k, casefold=casefold, nfkc=nfkc)
        assert_cut_like_the_oracle(shingle, FEW * 3, " ".join(FEW), FEW[::-1])


@given(folded | stop_words, st.lists(texts, max_size=8))
def test_sets_hold_each_shingle_once_in_rising_order(shingle, some_texts):
    sets = sets_of_texts(some_texts, shingle)
    assert len(sets) == len(some_texts)
    for text, row in zip(some_texts, sets, strict=True):
        assert row.tolist() == sorted(set(hashes(text, shingle)))
        assert len(row) == len(set(oracle.shingles(text, shingle)))


@given(folded, texts, texts)
def test_similarity_of_texts_is_that_of_their_windows(shingle, one, other):
    a, b = set(oracle.shingles(one, shingle)), set(oracle.shingles(other, shingle))
    shared, union = _core.compare_texts(
        [ragged(one, other)], ROW_0, ROW_1, shingle.shingler(), at_least=0.0, threads=1
    )
    assert (shared[0], union[0]) == (len(a & b), len(a | b))


edits = st.lists(
    st.tuples(st.integers(0, 3), st.floats(0, 1), st.sampled_from(["new ", "é", "", " "])), max_size=3
)


@given(
    st.builds(Shingle, unit=st.sampled_from(["words", "chars"]), k=st.integers(1, 6)),
    prose,
    st.lists(edits, max_size=6),
)
def test_a_text_and_its_edited_copies_are_as_similar_as_their_windows(shingle, text, edited):
    copies = [text, *(edit(text, changes) for changes in edited)]
    windows = [set(oracle.shingles(copy, shingle)) for copy in copies]
    a, b = (column.ravel().astype(np.uint32) for column in np.indices((len(copies), len(copies))))
    shared, union = _core.compare_texts([ragged(*copies)], a, b, shingle.shingler(), at_least=0.0, threads=1)
    assert shared.tolist() == [len(one & other) for one, other in product(windows, repeat=2)]
    assert union.tolist() == [len(one | other) for one, other in product(windows, repeat=2)]


def edit(text, changes):
    """Puts something in, takes something out, or crops, at places given as fractions of the text."""
    for kind, place, piece in changes:
        at = round(place * len(text))
        before, after = text[:at], text[at:]
        text = [before + piece + after, before + piece + after[1:], before + piece, piece + after][kind]
    return text


@given(st.sampled_from(["words:2", "chars:4", "words:1"]), texts, texts)
def test_the_seed_changes_hashes_and_not_sets(form, one, other):
    shingle = Shingle.parse(form)
    first, second = sets_of_texts([one, other], form, seed=1), sets_of_texts([one, other], form, seed=2)
    assert np.diff(first.offsets).tolist() == np.diff(second.offsets).tolist()
    assert len(set(first[0]) & set(first[1])) == len(set(second[0]) & set(second[1]))
    assert not set(first.elements) & set(second.elements)
    assert shingle.shingler(1) is shingle.shingler(1)
