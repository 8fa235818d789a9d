"""Sets from lists of tokens and from sparse boolean matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.cores import cores
from lookalike.errors import OptionError, SourceError
from lookalike.types import Sets, string_buffers


def as_sets(items: Any, *, seed: int = 0, sets: str = "rows", bag: bool = False) -> Sets:
    """Sets from whatever holds them.

    Parameters
    ----------
    items
        `Sets`; a sequence of collections of integers or of strings; an Arrow list array; or a sparse boolean matrix
        (anything with `tocsr`, such as SciPy's), of which every stored entry that is not zero is a member.
    sets
        Of a matrix: whether its `rows` or its `columns` are the sets.
    bag
        Count repeats: similarity is then Σmin/Σmax.
    """
    if isinstance(items, Sets):
        return items
    if hasattr(items, "tocsr"):
        return _from_matrix(items, sets, seed)
    if isinstance(items, pa.ChunkedArray):
        items = items.combine_chunks()
    if isinstance(items, pa.Array):
        return _from_arrow(items, seed, bag)
    return _from_lists(items, seed, bag)


def _from_matrix(matrix: Any, sets: str, seed: int) -> Sets:
    if sets not in ("rows", "columns"):
        raise OptionError(f"sets={sets!r}: the sets of a matrix are its rows or its columns")
    # Sorted once, by whichever side the sets are on; the hash of an element is computed once, not once a set.
    compressed = matrix.tocsr() if sets == "rows" else matrix.T.tocsr()
    compressed.eliminate_zeros()
    # Row numbers as 0, 1, … are the same tokens that lists of them would hold.
    hashed = _mixed(np.arange(compressed.shape[1], dtype=np.int64), seed)
    return _canonical(hashed[compressed.indices], compressed.indptr.astype(np.int64), bag=False)


def _from_arrow(array: pa.Array, seed: int, bag: bool) -> Sets:
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        raise SourceError(f"sets must be an Arrow list column, not {array.type}: one list of tokens a row")
    if array.null_count or array.values.null_count:
        raise SourceError("a set, or an element of one, is null: drop it, or make it an empty list")
    offsets = np.asarray(array.offsets).astype(np.int64)
    return _canonical(_hashed(array.values, seed), offsets, bag)


def _from_lists(items: Iterable[Iterable[Any]], seed: int, bag: bool) -> Sets:
    rows: list[Sequence[Any]] = []
    for number, row in enumerate(items):
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise SourceError(f"item {number} is {row!r:.40}, not a set: give a list of integers or of strings")
        # A Python set comes in an order that changes from run to run; the kernels sort it.
        rows.append(row if isinstance(row, Sequence | np.ndarray) else list(row))
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    try:
        tokens = pa.array(chain.from_iterable(rows))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as reason:
        raise SourceError(f"sets must hold integers or strings, not both: {reason}") from None
    return _canonical(_hashed(tokens, seed), offsets, bag)


def _hashed(tokens: pa.Array, seed: int) -> Any:
    if pa.types.is_integer(tokens.type) or pa.types.is_boolean(tokens.type):
        return _mixed(tokens.cast(pa.uint64() if tokens.type == pa.uint64() else pa.int64()).to_numpy(), seed)
    if pa.types.is_string(tokens.type) or pa.types.is_large_string(tokens.type):
        return _core.hash_strings(string_buffers(tokens), seed=seed, threads=cores())
    if pa.types.is_null(tokens.type):
        return np.empty(0, np.uint64)
    raise SourceError(f"sets must hold integers or strings, not {tokens.type}")


def _mixed(tokens: Any, seed: int) -> Any:
    return _core.mix_integers(tokens.view(np.uint64), seed=seed, threads=cores())


def _canonical(elements: Any, offsets: Any, bag: bool) -> Sets:
    # Arrow may hand out a slice whose offsets do not begin at 0.
    return Sets(*_core.canonical_sets((elements, offsets), bag=bag, threads=cores()))
