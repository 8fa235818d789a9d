"""Documents as arrays of tokens, and tokens as text.

A token is a word number and the form it takes: capital or not, and what follows it (a space, a comma, the
end of a sentence, of a paragraph, of the document). Edits can then cut and join documents as integer
arrays, and writing them out is one gather of ready-made strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .draws import Draws
from .vocabulary import Vocabulary

Tokens = NDArray[np.int32]

_AFTER = (" ", ", ", ". ", "? ", ".\n\n", ".")
_PLAIN, _COMMA, _STOP, _QUESTION, _PARAGRAPH, _END = range(6)
_CAPITAL = 6
_FORMS = 12

_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 6, 24
_COMMA_ONE_IN = 12
# Of sixteen sentences, three end a paragraph and one is a question.
_SORTS, _LAST_OF_PARAGRAPH, _ASKING = 16, 3, 1

_GATHER_TOKENS = 1 << 22


def compose(lengths: NDArray[np.int64], vocabulary: Vocabulary, draws: Draws) -> Tokens:
    """Write documents of the given numbers of words, one after the other, as one array of tokens."""
    total = int(lengths.sum())
    tokens = vocabulary.draw(draws, total) * np.int32(_FORMS)
    if total == 0:
        return tokens
    after = np.where(draws.below(_COMMA_ONE_IN, total) == 0, np.int32(_COMMA), np.int32(_PLAIN))

    sentences = total // _SHORTEST_SENTENCE + 1
    spread = _LONGEST_SENTENCE - _SHORTEST_SENTENCE + 1
    stops = np.cumsum(_SHORTEST_SENTENCE + draws.below(spread, sentences)) - 1
    stops = stops[stops < total]
    sort = draws.below(_SORTS, len(stops))
    asking = sort < _LAST_OF_PARAGRAPH + _ASKING
    after[stops] = np.where(sort < _LAST_OF_PARAGRAPH, _PARAGRAPH, np.where(asking, _QUESTION, _STOP))
    ends = np.cumsum(lengths) - 1
    after[ends] = _END

    capital = np.zeros(total + 1, dtype=bool)
    capital[0] = True
    capital[stops + 1] = True
    capital[ends + 1] = True
    tokens += after
    tokens += np.int32(_CAPITAL) * capital[:-1]
    return tokens


def finish(tokens: Tokens) -> Tokens:
    """Mend the punctuation of an edited document: it ends where its last token is, and nowhere before."""
    after = tokens % _CAPITAL
    tokens = np.where(after == _END, tokens - _END + _PARAGRAPH, tokens)
    tokens[-1] += _END - tokens[-1] % _CAPITAL
    return tokens


def paragraph_starts(tokens: Tokens) -> NDArray[np.int64]:
    """Return where the second and later paragraphs of a document start."""
    return np.flatnonzero(tokens[:-1] % _CAPITAL == _PARAGRAPH) + 1


def with_words(tokens: Tokens, words: NDArray[np.int32]) -> Tokens:
    """Put other words into the same forms."""
    return tokens % np.int32(_FORMS) + words * np.int32(_FORMS)


def plain(words: NDArray[np.int32]) -> Tokens:
    """Write words in small letters with a space behind."""
    return words * np.int32(_FORMS)


def write(documents: Sequence[Tokens], vocabulary: Vocabulary) -> pa.LargeStringArray:
    """Turn documents into text.

    Arrow's `take` lays the gathered strings end to end in one buffer, which is the text of the documents
    already: only the offsets inside documents are left out.
    """
    strings = pa.array(
        [
            word + after
            for spelled in vocabulary.words
            for word in (spelled, spelled.capitalize())
            for after in _AFTER
        ],
        type=pa.large_string(),
    )
    lengths = np.array([len(document) for document in documents], dtype=np.int64)
    ends = np.cumsum(lengths)
    chunks = [
        _gather(documents[first:last], lengths[first:last], strings)
        for first, last in _batches(ends)
        if last > first
    ]
    return pa.concat_arrays(chunks) if chunks else pa.array([], type=pa.large_string())


def _batches(ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut the documents into runs of some four million tokens, to bound the memory of the gather."""
    total = int(ends[-1]) if len(ends) else 0
    marks = np.arange(_GATHER_TOKENS, total, _GATHER_TOKENS)
    cuts = [0, *np.searchsorted(ends, marks).tolist(), len(ends)]
    return list(pairwise(cuts))


def _gather(
    documents: Sequence[Tokens], lengths: NDArray[np.int64], strings: pa.Array
) -> pa.LargeStringArray:
    pieces = strings.take(pa.array(np.concatenate(documents)))
    inner = np.frombuffer(pieces.buffers()[1], dtype=np.int64)
    offsets = inner[np.concatenate([[0], np.cumsum(lengths)])]
    return pa.LargeStringArray.from_buffers(len(documents), pa.py_buffer(offsets), pieces.buffers()[2])
