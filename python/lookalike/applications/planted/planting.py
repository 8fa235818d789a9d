"""From options to a corpus: invent a language, write originals, copy and edit some, shuffle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import prose, vocabulary
from .corpus import ORIGINAL, UNRELATED, PlantedCorpus, PlantOptions
from .draws import Draws
from .edits import Editor
from .prose import Tokens
from .vocabulary import Vocabulary

# How many copies a family holds, one entry in sixteen each: half the families are a document and one copy.
_COPIES_OF_A_FAMILY = (1,) * 8 + (2,) * 4 + (3,) * 2 + (4, 5)
# Of four copies one is made from any member of the family so far, the others from the original.
_ANY_MEMBER_ONE_IN = 4

# Sizes are log-normal: 2^(z/64) times the median, z normal with a standard deviation of 51, which is .8
# doublings.
_STEPS_A_DOUBLING = 64
_SPREAD_STEPS = 51
# The mean of such sizes over their median, exp(σ²/2), and the bytes of a running word with what follows it.
_MEAN_OVER_MEDIAN = 1.165
_BYTES_A_WORD = 5.85
_FEWEST_WORDS = 20


def plant(
    documents: int = PlantOptions.documents,
    *,
    seed: int = PlantOptions.seed,
    mean_bytes: int = PlantOptions.mean_bytes,
    copies: float = PlantOptions.copies,
    words: int = PlantOptions.words,
    edits: tuple[str, ...] = PlantOptions.edits,
) -> PlantedCorpus:
    """Make a corpus of prose in a made-up language, with edited copies planted among its documents.

    A copy is made from another document by one kind of edit, of a strength that puts the similarity of the
    two anywhere from about .3 to 1, half of the time near .8. Families have two to six members. The options
    mean what `PlantOptions` says, and the same options give the same bytes everywhere.

    Raises
    ------
    OptionError
        If an option is out of range.

    Examples
    --------
    >>> corpus = plant(1_000, seed=1)
    >>> len(corpus.texts), int((corpus.source >= 0).sum())
    (1000, 200)
    >>> corpus.truth(threshold=0.8).column_names
    ['a', 'b', 'similarity']
    """
    options = PlantOptions(
        documents=documents, seed=seed, mean_bytes=mean_bytes, copies=copies, words=words, edits=edits
    )
    draws = Draws(seed)
    language = vocabulary.invent(words, draws)
    sizes = _family_sizes(options, draws)
    originals = _originals(documents - sum(sizes), mean_bytes, language, draws)
    grown = _grow_families(originals, sizes, Editor(options.edits, language, draws), draws)

    order = draws.order(documents)
    # Row i as grown becomes row place[i] of the corpus; a source of −1, nobody, stays −1.
    place = np.empty(documents + 1, dtype=np.int64)
    place[order] = np.arange(documents)
    place[-1] = -1
    return PlantedCorpus(
        options=options,
        texts=prose.write([grown.documents[row] for row in order.tolist()], language),
        family=np.array(grown.family, dtype=np.int64)[order],
        kind=np.array(grown.kind)[order],
        source=place[np.array(grown.source, dtype=np.int64)[order]],
    )


def _family_sizes(options: PlantOptions, draws: Draws) -> list[int]:
    """Return how many copies each family holds."""
    wanted = int(options.documents * options.copies)
    sizes: list[int] = []
    planted = 0
    while planted < wanted:
        size = min(_COPIES_OF_A_FAMILY[draws.one(len(_COPIES_OF_A_FAMILY))], wanted - planted)
        sizes.append(size)
        planted += size
    # In a tiny corpus the draw may ask for more families than there are originals to copy.
    return sizes[: options.documents - wanted]


def _originals(count: int, mean_bytes: int, language: Vocabulary, draws: Draws) -> list[Tokens]:
    """Write the documents that nobody copied from anything."""
    lengths = _lengths(count, mean_bytes, draws)
    tokens = prose.compose(lengths, language, draws)
    return np.split(tokens, np.cumsum(lengths)[:-1])


def _lengths(count: int, mean_bytes: int, draws: Draws) -> NDArray[np.int64]:
    """Draw log-normal numbers of words."""
    # Powers of 2^(1/64) by square roots and products, which every machine rounds alike.
    root = np.float64(2)
    for _ in range(_STEPS_A_DOUBLING.bit_length() - 1):
        root = np.sqrt(root)
    powers = np.cumprod(np.concatenate([[1.0], np.full(_STEPS_A_DOUBLING - 1, root)]))
    doublings, step = np.divmod(draws.bell(count) * _SPREAD_STEPS >> 16, _STEPS_A_DOUBLING)
    median = mean_bytes / _BYTES_A_WORD / _MEAN_OVER_MEDIAN
    return np.maximum(_FEWEST_WORDS, (median * np.ldexp(powers[step], doublings)).astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class _Grown:
    """Rows before they are shuffled and written: originals first, then copies."""

    documents: list[Tokens]
    family: list[int]
    kind: list[str]
    source: list[int]


def _grow_families(originals: list[Tokens], sizes: list[int], editor: Editor, draws: Draws) -> _Grown:
    """Make the copies: family f grows from original number f."""
    families, others = len(sizes), len(originals) - len(sizes)
    grown = _Grown(
        documents=originals,
        family=[*range(families), *[-1] * others],
        kind=[ORIGINAL] * families + [UNRELATED] * others,
        source=[-1] * len(originals),
    )
    for family, size in enumerate(sizes):
        members = [family]
        for _ in range(size):
            any_member = draws.one(_ANY_MEMBER_ONE_IN) == 0
            source = members[draws.one(len(members))] if any_member else family
            document, kind = editor.copy(grown.documents[source])
            members.append(len(grown.documents))
            grown.documents.append(document)
            grown.family.append(family)
            grown.kind.append(kind)
            grown.source.append(source)
    return grown
