"""Shingles in plain Python: tuples of words and strings of characters, easy to check by reading.

It shares nothing with the kernels. A word is a run of letters (L*), marks (M*) and decimal digits (Nd),
folded by itself; a window is a tuple of words or a string of characters. A text without a letter or digit is
one word, itself without white space; a blank one has none.
"""

import unicodedata
from itertools import groupby

WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
)

#: Every character Python's tables know. The kernels' are newer, and what is once assigned keeps its meaning.
KNOWN = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")]


def is_of_a_word(character):
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def is_punctuation(character):
    return unicodedata.category(character)[0] in "PS"


def normal(text, shingle):
    return unicodedata.normalize("NFKC", text) if shingle.nfkc else text


def words(text, shingle):
    """The words of a text, in order."""
    runs = ("".join(run) for of_a_word, run in groupby(normal(text, shingle), key=is_of_a_word) if of_a_word)
    return [word.casefold() if shingle.casefold else word for word in runs]


def characters(text, shingle):
    """The text whose characters are shingled: case, then punctuation, then white space folded."""
    text = normal(text, shingle)
    if shingle.casefold:
        text = text.casefold()
    if shingle.punctuation:
        # White space is no punctuation, and no character is both.
        text = "".join(" " if is_punctuation(c) else c for c in text)
    if shingle.whitespace:
        runs = groupby(text, key=lambda c: c in WHITE_SPACE)
        text = "".join(" " if space else "".join(run) for space, run in runs).strip(" ")
    return text


def symbols(text, shingle):
    """What there is of a text without words: all but white space."""
    there = "".join(c for c in normal(text, shingle) if c not in WHITE_SPACE)
    return there.casefold() if shingle.casefold else there


def is_without_words(text, shingle):
    """Whether a text has neither a letter nor a digit; marks alone are no word."""
    return not any(
        unicodedata.category(c)[0] == "L" or unicodedata.category(c) == "Nd" for c in normal(text, shingle)
    )


def windows(units, k):
    """Every window of k units, in order; fewer units are one window, none are none."""
    if len(units) < k:
        return [units] if units else []
    return [units[start : start + k] for start in range(len(units) - k + 1)]


def shingles(text, shingle):
    """The windows of a text, in order, repeats included."""
    if shingle.unit == "chars":
        found = characters(text, shingle)
        blank = all(c in WHITE_SPACE for c in found)
        return windows(symbols(text, shingle), 10_000) if blank else windows(found, shingle.k)
    if shingle.unit == "words" and is_without_words(text, shingle):
        there = symbols(text, shingle)
        return [(there,)] if there else []
    tokens = tuple(words(text, shingle))
    if shingle.unit == "words":
        return windows(tokens, shingle.k)
    stops = {words(stop, shingle)[0] for stop in shingle.stops}
    return [tokens[i : i + 3] for i in range(len(tokens) - 2) if tokens[i] in stops]
