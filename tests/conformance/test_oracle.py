"""The oracle itself, by known answers small enough to check by hand."""

import pytest
from tests.conformance import oracle

WORDS = [
    ("The dog, which CHASED the cat!", ["the", "dog", "which", "chased", "the", "cat"]),
    ("co-op 24/7 don't", ["co", "op", "24", "7", "don", "t"]),
    # Marks belong to words, so that Hindi works; a number that is no decimal digit does not.
    ("हिन्दी में 2² ½", ["हिन्दी", "में", "2"]),
    ("Straße STRASSE", ["strasse", "strasse"]),
    ("  \t—…  ", ["—…"]),
    ("  \t  ", []),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_are_runs_of_letters_marks_and_digits(text, words):
    assert oracle.words(text) == words


def test_windows_of_five_words():
    assert oracle.shingles("a b c d e f a b c d e") == {
        tuple(window) for window in ("abcde", "bcdef", "cdefa", "defab", "efabc", "fabcd")
    }
    assert oracle.shingles("a b") == {("a", "b")}
    assert oracle.shingles("...") == {("...",)}
    assert oracle.shingles(" ") == frozenset()


def test_similarity_is_a_fraction_of_counts():
    assert oracle.jaccard({2, 3, 5}, {1, 3, 5, 6}) == 2 / 5
    assert oracle.jaccard(set(), set()) == 0
    assert oracle.jaccard(oracle.bag("a a b", 1), oracle.bag("a b b", 1)) == 2 / 4


def test_pairs_and_components():
    sets = [{1, 2}, {2, 1}, {1, 2, 3}, {9}, set(), set()]
    assert oracle.pairs(sets, 0.5) == {(0, 1): 1.0, (0, 2): 2 / 3, (1, 2): 2 / 3}
    assert oracle.pairs_across(sets[:1], sets[1:], 0.5) == {(0, 0): 1.0, (0, 1): 2 / 3}
    assert oracle.components(6, [(5, 3), (3, 1), (2, 4)]) == [0, 1, 2, 1, 2, 1]
