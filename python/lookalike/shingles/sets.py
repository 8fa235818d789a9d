"""Sets from texts."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lookalike.engines.cores import cores
from lookalike.shingles.spec import Shingle
from lookalike.types import Sets, string_buffers


def sets_of_texts(texts: Sequence[str] | pa.Array, shingle: str | Shingle = "words:5", *, seed: int = 0) -> Sets:
    """The shingle sets of texts, as 64-bit hashes."""
    array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
    shingler = Shingle.parse(shingle).shingler(seed)
    return Sets(*shingler.sets(string_buffers(array), threads=cores()))
