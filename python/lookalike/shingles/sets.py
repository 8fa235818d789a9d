"""Sets from texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lookalike.engines.cores import cores
from lookalike.errors import SourceError
from lookalike.shingles.rare import CountDocuments, RarestWords
from lookalike.shingles.spec import Shingle
from lookalike.types import Sets, list_buffers, string_buffers


def sets_of_texts(
    texts: Sequence[str] | pa.Array | pa.ChunkedArray, shingle: str | Shingle = "words:5", *, seed: int = 0
) -> Sets:
    """The shingle sets of texts, as 64-bit hashes. The texts are the collection that rare words are rare in.

    Examples
    --------
    >>> sets = sets_of_texts(["to be or not to be", ""], "words:2")
    >>> len(sets[0]), len(sets[1])
    (4, 0)
    """
    form, column = Shingle.parse(shingle), _column(texts)
    if form.rare is not None:
        batch = pa.record_batch({"row": np.arange(len(column)), "text": column})
        rare = RarestWords(form, seed, CountDocuments(form, seed)(batch))(batch)
        return Sets(*list_buffers(rare["elements"]))
    return Sets(*form.shingler(seed).sets(string_buffers(column), threads=cores()))


def _column(texts: Sequence[str] | pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(texts, str):
        raise SourceError(f"{texts!r:.40} is one text, not a list of them: write [text]")
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if not isinstance(texts, pa.Array):
        try:
            texts = pa.array(texts, pa.large_string())
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as reason:
            raise SourceError(f"texts must be strings: {reason}") from None
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        raise SourceError(f"texts must be strings, not {texts.type}")
    if texts.null_count:
        raise SourceError("a text is null: drop it, or make it an empty string")
    return texts
