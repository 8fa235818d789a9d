"""What is truly similar, counted in plain Python.

This is the oracle that kernels are measured by, so it shares nothing with them: words are cut out by a
regular expression, shingles are tuples of strings, and similarity is the size of one set over that of
another.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

Shingles = frozenset[tuple[str, ...]]
TruePair = tuple[int, int, float]

_ASCII_WORD = re.compile("[0-9a-z]+")


def words(text: str) -> list[str]:
    """Cut a text into its words: case-folded runs of letters, marks and digits."""
    text = text.casefold()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return "".join(letter if _is_of_a_word(letter) else " " for letter in text).split()


def _is_of_a_word(letter: str) -> bool:
    category = unicodedata.category(letter)
    return category[0] in "LM" or category == "Nd"


def shingles(text: str, k: int) -> Shingles:
    """Return the set of the k-word windows of a text; a shorter text is one shingle, itself."""
    found = words(text)
    if 0 < len(found) < k:
        return frozenset([tuple(found)])
    return frozenset(zip(*(found[start:] for start in range(k)), strict=False))


def jaccard(left: Shingles, right: Shingles) -> float:
    """Return |A∩B| / |A∪B|, and 0 for two empty sets: empty documents match nothing."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def pairs_within(
    groups: Iterable[Sequence[int]], texts: Mapping[int, str], *, k: int, threshold: float
) -> list[TruePair]:
    """Compare every two rows of a group, and return (a, b, similarity) of those at or over the threshold.

    Groups list their rows in ascending order, so that a < b.
    """
    found = []
    for group in groups:
        sets = [shingles(texts[row], k) for row in group]
        for (a, left), (b, right) in combinations(zip(group, sets, strict=True), 2):
            similarity = jaccard(left, right)
            if similarity >= threshold:
                found.append((a, b, similarity))
    return sorted(found)


def greatest_similarity(texts: Sequence[str], *, k: int) -> float:
    """Return the greatest Jaccard similarity of any two of the texts.

    Pairs are met through the shingles they share, so that thousands of unrelated texts are quickly done.
    """
    sets = [shingles(text, k) for text in texts]
    holders: dict[tuple[str, ...], list[int]] = {}
    for row, windows in enumerate(sets):
        for window in windows:
            holders.setdefault(window, []).append(row)
    shared = Counter(pair for rows in holders.values() for pair in combinations(rows, 2))
    return max(
        (count / (len(sets[a]) + len(sets[b]) - count) for (a, b), count in shared.items()),
        default=0.0,
    )
