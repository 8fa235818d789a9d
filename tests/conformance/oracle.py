"""What is right, by brute force over all pairs in plain Python.

It shares nothing with the package: words are runs of letters, marks and decimal digits, case-folded; shingles
are tuples of words; similarity is a fraction of two counts; clusters are found by walking from neighbour to
neighbour. Slow, and easy to check by reading.
"""

import unicodedata
from collections import Counter
from itertools import combinations, groupby


def words(text):
    """The case-folded runs of letters (L*), marks (M*) and decimal digits (Nd).

    A text without a letter or digit is one word: itself without white space, if that leaves anything.
    """
    if not any(unicodedata.category(c).startswith("L") or unicodedata.category(c) == "Nd" for c in text):
        itself = "".join(text.casefold().split())
        return [itself] if itself else []
    runs = groupby(text.casefold(), key=_is_of_a_word)
    return ["".join(run) for of_a_word, run in runs if of_a_word]


def _is_of_a_word(letter):
    category = unicodedata.category(letter)
    return category.startswith(("L", "M")) or category == "Nd"


def windows(tokens, k):
    """The windows of k tokens, in order; what is shorter is one window, itself; nothing has none."""
    tokens = tuple(tokens)
    if not tokens:
        return []
    return [tokens[start : start + k] for start in range(max(1, len(tokens) - k + 1))]


def shingles(text, k=5):
    """The set of the k-word windows of a text."""
    return frozenset(windows(words(text), k))


def bag(text, k=5):
    """The bag of the windows as a set: the nth occurrence of a window is an element of its own."""
    return frozenset(
        (window, nth) for window, count in Counter(windows(words(text), k)).items() for nth in range(count)
    )


def jaccard(a, b):
    """|a ∩ b| / |a ∪ b|; two empty sets match nothing."""
    return len(a & b) / len(a | b) if a | b else 0.0


def pairs(sets, threshold):
    """{(a, b): similarity} of all rows a < b that reach the threshold."""
    similarities = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(range(len(sets)), 2)}
    return {pair: similarity for pair, similarity in similarities.items() if similarity >= threshold}


def pairs_across(first, second, threshold):
    """{(a, b): similarity} of rows a of the first and b of the second that reach the threshold."""
    found = {(a, b): jaccard(one, two) for a, one in enumerate(first) for b, two in enumerate(second)}
    return {pair: similarity for pair, similarity in found.items() if similarity >= threshold}


def components(rows, edges):
    """For every row the least row that edges connect it with."""
    neighbours = {row: set() for row in range(rows)}
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    least = {}
    for start in range(rows):
        reached = [] if start in least else [start]
        while reached:
            row = reached.pop()
            if row not in least:
                least[row] = start
                reached += neighbours[row]
    return [least[row] for row in range(rows)]
