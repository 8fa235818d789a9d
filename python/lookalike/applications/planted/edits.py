"""The ways a copy may differ from its source, each aimed at a Jaccard similarity of word shingles.

With n shingles of k words, m changes that lie apart from one another leave

    replaced   (n − km) / (n + km)          a changed word touches the k shingles it is in
    inserted   (n − (k−1)m) / (n + km)      … splits k − 1 and makes k
    deleted    (n − km) / (n + (k−1)m)      … takes k and makes k − 1
    cropped    n′ / n                       a part is a subset
    moved      (n − (k−1)j) / (n + (k−1)j)  j junctions between paragraphs, about two for each that moves

Solved for m they say how strong an edit must be. Changes that fall close together cost less, so the aim is
met only roughly; what a copy's similarity really is, truth.py counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from . import prose
from .draws import Draws
from .prose import Tokens
from .vocabulary import Vocabulary

# Edits are made for shingles of five words, the default everywhere else.
_K = 5

Edit = Callable[[Tokens, float, Vocabulary, Draws], Tokens]


def replaced(tokens: Tokens, aim: float, vocabulary: Vocabulary, draws: Draws) -> Tokens:
    """Put other words in the place of some."""
    places = _spread(tokens, len(tokens) * (1 - aim) / (_K * (1 + aim)), draws)
    edited = tokens.copy()
    edited[places] = prose.with_words(tokens[places], vocabulary.draw(draws, len(places)))
    return edited


def inserted(tokens: Tokens, aim: float, vocabulary: Vocabulary, draws: Draws) -> Tokens:
    """Put new words between others."""
    places = _spread(tokens, len(tokens) * (1 - aim) / (_K - 1 + _K * aim), draws)
    return np.insert(tokens, places, prose.plain(vocabulary.draw(draws, len(places))))


def deleted(tokens: Tokens, aim: float, _: Vocabulary, draws: Draws) -> Tokens:
    """Leave some words out."""
    places = _spread(tokens, len(tokens) * (1 - aim) / (_K + (_K - 1) * aim), draws)
    return np.delete(tokens, places)


def cropped(tokens: Tokens, aim: float, _: Vocabulary, draws: Draws) -> Tokens:
    """Cut off the head or the tail."""
    left = max(1, int(len(tokens) * aim))
    return tokens[-left:] if draws.one(2) else tokens[:left]


def moved(tokens: Tokens, aim: float, _: Vocabulary, draws: Draws) -> Tokens:
    """Let some paragraphs change places; a document of one paragraph swaps its halves."""
    starts = prose.paragraph_starts(tokens)
    if len(starts) == 0:
        starts = np.array([len(tokens) // 2])
    paragraphs = np.split(tokens, starts)
    junctions = len(tokens) * (1 - aim) / ((_K - 1) * (1 + aim))
    count = min(len(paragraphs), max(2, round(junctions / 2)))
    # Each of the chosen takes the place of the next, so that none stays where it was.
    places = np.sort(draws.order(len(paragraphs))[:count]).tolist()
    order = list(range(len(paragraphs)))
    for place, next_place in zip(places, places[1:] + places[:1], strict=True):
        order[next_place] = place
    return np.concatenate([paragraphs[number] for number in order])


def front(tokens: Tokens, _aim: float, vocabulary: Vocabulary, draws: Draws) -> Tokens:
    """Put one word in front: next to nothing is changed, and yet every position is."""
    return np.concatenate([prose.plain(vocabulary.draw(draws, 1)), tokens])


def exact(tokens: Tokens, _aim: float, _vocabulary: Vocabulary, _draws: Draws) -> Tokens:
    """Change nothing."""
    return tokens


def _spread(tokens: Tokens, changes: float, draws: Draws) -> NDArray[np.int64]:
    """Choose about so many different places, one in each of as many equal stretches of the document."""
    count = min(len(tokens) - 1, max(1, round(changes)))
    starts = np.arange(count + 1) * len(tokens) // count
    return starts[:-1] + (draws.below(1 << 16, count) * np.diff(starts) >> 16)


# Every kind of edit, and how many copies of twenty are made by it.
EDITS: dict[str, tuple[Edit, int]] = {
    "replaced": (replaced, 6),
    "inserted": (inserted, 3),
    "deleted": (deleted, 3),
    "cropped": (cropped, 3),
    "moved": (moved, 2),
    "front": (front, 1),
    "exact": (exact, 2),
}


class Editor:
    """Makes copies by the chosen kinds of edit, in their proportions."""

    def __init__(self, kinds: tuple[str, ...], vocabulary: Vocabulary, draws: Draws) -> None:
        self._lots = [kind for kind in EDITS if kind in kinds for _ in range(EDITS[kind][1])]
        self._vocabulary = vocabulary
        self._draws = draws

    def copy(self, source: Tokens) -> tuple[Tokens, str]:
        """Return an edited copy and the kind of edit that made it."""
        kind = self._lots[self._draws.one(len(self._lots))]
        edit, _share = EDITS[kind]
        edited = edit(source, self._aim(), self._vocabulary, self._draws)
        return prose.finish(edited), kind

    def _aim(self) -> float:
        """Draw a similarity to aim at: half from .74 to .90, where thresholds are, half from .30 to .99."""
        low, high = (74, 90) if self._draws.one(2) else (30, 99)
        return (low + (high - low) * self._draws.one(1 << 16) / (1 << 16)) / 100
