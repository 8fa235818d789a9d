"""A made-up language: pronounceable words, drawn as often as the words of a natural text.

The word of rank r is drawn in proportion to 1 / (r + 2.7), Mandelbrot's form of Zipf's law, and, as in
natural languages, the frequent words are the short ones: a running word has about 4.7 letters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .draws import Draws

# The distribution is a table of 2^20 cells with a word in each, so that drawing a word is one look-up. The
# rarest word of the largest vocabulary still holds a cell.
_CELL_BITS = 20
LARGEST = 1 << 17

# Sounds and how often each should be heard. Some clusters cannot begin a word.
_ONSET_SHARES = dict.fromkeys(["g", "w", "b", "v", "k", "st", "ch", "tr", "sh", "pr"], 1)
_ONSET_SHARES |= {
    "t": 4,
    "s": 4,
    "h": 3,
    "d": 3,
    "n": 2,
    "r": 2,
    "l": 2,
    "c": 2,
    "m": 2,
    "f": 2,
    "p": 2,
    "th": 2,
}
_INNER_SHARES = dict.fromkeys(["p", "g", "v", "k", "th", "st", "ch", "ng", "rs", "ll"], 1)
_INNER_SHARES |= {"t": 4, "n": 4, "s": 4, "r": 4, "l": 3, "d": 3, "c": 2, "m": 2, "nd": 2, "nt": 2}
_VOWEL_SHARES = {"e": 6, "a": 4, "o": 3, "i": 3, "u": 2, "y": 1, "ea": 1, "ou": 1, "ai": 1}


def _lots(shares: dict[str, int]) -> tuple[str, ...]:
    return tuple(sound for sound, share in shares.items() for _ in range(share))


_ONSETS, _INNER, _VOWELS = _lots(_ONSET_SHARES), _lots(_INNER_SHARES), _lots(_VOWEL_SHARES)


@dataclass(frozen=True, kw_only=True, eq=False)
class Vocabulary:
    """Words, most frequent first, and the table they are drawn from."""

    words: tuple[str, ...]
    cells: NDArray[np.int32]

    def draw(self, draws: Draws, size: int) -> NDArray[np.int32]:
        """Return `size` running words, as numbers into `words`."""
        cell = draws.raw(size) >> np.uint64(64 - _CELL_BITS)
        return np.take(self.cells, cell.astype(np.int64))


def invent(size: int, draws: Draws) -> Vocabulary:
    """Make a vocabulary of `size` different words."""
    words: dict[str, None] = {}
    while len(words) < size:
        length = _length_of_rank(len(words) + 1, draws)
        word = _pronounceable(length, draws)
        # Short forms run out; the next try is a letter longer, so that the search always ends.
        while word in words:
            length += 1
            word = _pronounceable(length, draws)
        words[word] = None
    return Vocabulary(words=tuple(words), cells=_zipf_cells(size))


def _length_of_rank(rank: int, draws: Draws) -> int:
    """Letters of the word of this rank: growing with the logarithm of the rank, and scattered."""
    return max(1, rank.bit_length() * 2 // 5 + draws.one(2) + draws.one(2) + draws.one(2))


def _pronounceable(length: int, draws: Draws) -> str:
    """Alternate consonants and vowels, and cut to length; one vowel at least is left."""
    starts_with_vowel = draws.one(4) == 0
    word = "" if starts_with_vowel else _ONSETS[draws.one(len(_ONSETS))][: length - 1]
    vowel_next = True
    while len(word) < length:
        sounds = _VOWELS if vowel_next else _INNER
        word += sounds[draws.one(len(sounds))]
        vowel_next = not vowel_next
    return word[:length]


def _zipf_cells(size: int) -> NDArray[np.int32]:
    """Give every word cells in proportion to 1 / (rank + 2.7), and at least one."""
    ranks = np.arange(1, size + 1, dtype=np.int64)
    weights = (10 << 40) // (10 * ranks + 27)
    spare = (1 << _CELL_BITS) - size
    cells = 1 + weights * spare // weights.sum()
    # What rounding left over goes to the most frequent word, which notices it least.
    cells[0] += (1 << _CELL_BITS) - cells.sum()
    return np.repeat(np.arange(size, dtype=np.int32), cells)
