"""The rarest words of documents by counting, in plain Python; only the hash of a word is the kernels' own."""

from collections import Counter

from tests.families.arithmetic import mix
from tests.shingles import oracle
from tests.shingles.kernel import hashes

from lookalike.shingles import Shingle

WORD = Shingle(k=1)


def element(word):
    """A word as the element of a set."""
    (only,) = hashes(word, WORD)
    return only


def rank(word):
    """The order of words that are equally common."""
    return mix(element(word))


def counter(word):
    """Which of 2²⁰ counters counts a word."""
    return rank(word) >> 44


def words_of(text):
    """The words of a text; of one without any, its symbols as one."""
    return {word for (word,) in oracle.shingles(text, WORD)}


def rarest(docs, most, *, counted_as=counter):
    """Of each document the `most` words held by the fewest documents, as a set.

    Words may share a counter; `counted_as=str` counts each by itself.
    """
    held = [words_of(text) for text in docs]
    frequency = Counter(counted_as(word) for words in held for word in words)
    return [
        frozenset(sorted(words, key=lambda word: (frequency[counted_as(word)], rank(word)))[:most])
        for words in held
    ]
