"""Weighted sets, bags and sparse vectors from whatever holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import SourceError
from lookalike.measures.kinds import kinds_of, kinds_of_columns
from lookalike.measures.sets import hashed_tokens, listed_tokens
from lookalike.measures.vectors import check_masked
from lookalike.types import F64, I64, U64, Kinds, WeightedSets

#: What weights, or of vectors their squares, may add up to: sums of two sets are added, those of squares
#: multiplied, and 64-bit floats end at 1e308; products, unlike sums, lose digits under 1e-307.
_SUMS, _SQUARES = (0.0, 8e307), (1e-145, 1e150)


def as_weighted_sets(items: Any, *, seed: int = 0, signed: bool = False) -> WeightedSets:
    """Weighted sets from whatever holds them.

    Weights of one element add up, whatever their order; an element of weight 0 is none.

    Parameters
    ----------
    items
        `WeightedSets`; mappings from integers or strings to weights; lists of integers or strings, which are
        bags: an element's weight is how often it occurs; an Arrow column of lists or of maps; or a matrix,
        sparse (anything with `tocsr`) or of NumPy, whose rows are sets, columns elements and values weights.
    signed
        Take weights under 0 too, as vectors have them.

    Raises
    ------
    SourceError
        If a weight is no finite number, or under 0 where that has no meaning.

    Examples
    --------
    >>> bags = as_weighted_sets([{"jazz": 0.5, "soul": 2}, ["soul", "soul", "jazz"], []])
    >>> [sorted(weights.tolist()) for _, weights in bags]
    [[0.5, 2.0], [1.0, 2.0], []]
    """
    if isinstance(items, WeightedSets):
        return checked_sums(items, signed=signed)
    if hasattr(items, "tocsr"):
        elements, offsets, weights, kinds = _of_matrix(items, seed)
    elif isinstance(items, np.ndarray) and items.ndim == 2:
        elements, offsets, weights, kinds = _of_dense(items, seed)
    elif isinstance(items, pa.Array | pa.ChunkedArray) and pa.types.is_map(items.type):
        elements, offsets, weights, kinds = _of_maps(items, seed)
    else:
        elements, offsets, weights, kinds = _of_rows(items, seed)
    check_weights(weights, signed=signed)
    sets = replace(canonical_weights(elements, offsets, weights), kinds=kinds)
    return checked_sums(sets, signed=signed)


def _of_matrix(matrix: Any, seed: int) -> tuple[U64, I64, F64, Kinds]:
    compressed = matrix.tocsr()
    columns = hashed_tokens(pa.array(np.arange(compressed.shape[1], dtype=np.int64)), seed)
    weights = np.asarray(compressed.data, np.float64)
    offsets = compressed.indptr.astype(np.int64)
    return columns[compressed.indices], offsets, weights, kinds_of_columns(compressed)


def _of_maps(maps: pa.MapArray | pa.ChunkedArray, seed: int) -> tuple[U64, I64, F64, Kinds]:
    chunks = maps.chunks if isinstance(maps, pa.ChunkedArray) else [maps]
    whole = pa.concat_arrays(chunks) if chunks else pa.array([], maps.type)
    offsets = whole.offsets.to_numpy().astype(np.int64)
    keys, values = (part.slice(offsets[0], offsets[-1] - offsets[0]) for part in (whole.keys, whole.items))
    if whole.null_count or values.null_count:
        raise SourceError("a weighted set, or a weight of one, is null: leave it out, or give it a value")
    try:
        weights = values.cast(pa.float64(), safe=False).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SourceError(f"weights must be numbers, not {values.type}") from None
    return hashed_tokens(keys, seed), offsets - offsets[0], weights, kinds_of(keys)


def _of_dense(matrix: Any, seed: int) -> tuple[U64, I64, F64, Kinds]:
    check_masked(matrix)
    try:
        numbers = np.asarray(matrix, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SourceError(f"weights must be numbers, not {matrix.dtype}") from None
    rows, columns = np.nonzero(numbers)
    hashed = hashed_tokens(pa.array(np.arange(numbers.shape[1], dtype=np.int64)), seed)
    offsets = np.searchsorted(rows, np.arange(len(numbers) + 1)).astype(np.int64)
    return (
        hashed[columns],
        offsets,
        numbers[rows, columns],
        Kinds(integer=int(columns[0]) if len(columns) else None),
    )


def _of_rows(items: Any, seed: int) -> tuple[U64, I64, F64, Kinds]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise SourceError(
            f"{items!r:.40} holds no weighted sets: give a list of mappings from items to weights"
        )
    tokens: list[Any] = []
    weights: list[float] = []
    offsets = [0]
    for number, row in enumerate(items):
        if isinstance(row, Mapping):
            tokens.append(list(row))
            weights.extend(_numbers(row.values(), number))
        elif isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise SourceError(f"item {number} is {row!r:.40}, not a weighted set: give a mapping, or a list")
        else:
            tokens.append(list(row))
            weights.extend([1.0] * len(tokens[-1]))
        offsets.append(len(weights))
    listed = listed_tokens(tokens)
    hashed = hashed_tokens(listed, seed)
    return hashed, np.array(offsets, np.int64), np.array(weights, np.float64), kinds_of(listed)


def _numbers(weights: Iterable[Any], number: int) -> list[float]:
    try:
        return [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        raise SourceError(
            f"item {number} has a weight that is no number: give numbers of 0 or more"
        ) from None


def check_weights(weights: F64, *, signed: bool) -> None:
    """Raise unless all are finite numbers, 0 or more; or under 0 too, if `signed`."""
    if not np.isfinite(weights).all():
        raise SourceError("a weight is no finite number: leave it out, or give it a value")
    if not signed and np.any(weights < 0):
        raise SourceError(
            f"a weight is {weights.min():g}: weights are 0 or more; those of vectors, which are compared by"
            " cosine, may be less"
        )


def checked_sums(sets: WeightedSets, *, signed: bool = False) -> WeightedSets:
    """The sets, known to add up in 64-bit floats, whichever two are compared.

    Nothing else is wrong with very large and very small weights, so the same sets in another unit will do.
    """
    row = np.repeat(np.arange(len(sets)), np.diff(sets.offsets))
    with np.errstate(over="ignore", under="ignore"):
        parts = sets.weights * sets.weights if signed else sets.weights
        sums = np.bincount(row, parts, minlength=len(sets))
    least, most = _SQUARES if signed else _SUMS
    wrong = np.flatnonzero((np.diff(sets.offsets) > 0) & ~((sums >= least) & (sums <= most)))
    if len(wrong):
        first = int(wrong[0])
        greatest = np.abs(sets.weights[sets.offsets[first] : sets.offsets[first + 1]]).max()
        unit = -int(np.floor(np.log10(greatest)))
        raise SourceError(
            f"weights of up to {greatest:g} do not add up in 64-bit floats: multiply all weights by one"
            f" number, such as 1e{max(-300, min(300, unit))}, which changes no similarity"
        )
    return sets


def canonical_weights(elements: U64, offsets: I64, weights: F64) -> WeightedSets:
    """Each set sorted, each element once, its weights added from the least to the greatest."""
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((weights, elements, row))
    row, elements, weights = row[order], elements[order], weights[order]
    fresh = np.ones(len(row), np.bool_)
    fresh[1:] = (row[1:] != row[:-1]) | (elements[1:] != elements[:-1])
    if not fresh.all():
        # Equal sets must have equal weights to the last bit, so those of one element are added in one order.
        weights = np.add.reduceat(weights, np.flatnonzero(fresh))
        row, elements = row[fresh], elements[fresh]
    there = weights != 0
    starts = np.searchsorted(row[there], np.arange(len(offsets))).astype(np.int64)
    return WeightedSets(elements[there], starts, np.ascontiguousarray(weights[there]))
