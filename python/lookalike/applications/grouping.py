"""Clusters from pairs that are already there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.clusters import component_labels
from lookalike.errors import MissingColumnError, SourceError
from lookalike.io import id_order
from lookalike.io.columns import check_called_once
from lookalike.types import Clusters
from lookalike.wording import visible


def cluster(pairs: Any) -> Clusters:
    """Group everything that pairs connect.

    Parameters
    ----------
    pairs
        `Pairs`, or any table with columns `a` and `b` (Arrow, polars, pandas), or a NumPy matrix of two
        columns, or a sequence of 2-tuples.

    Returns
    -------
    Clusters
        `id` and `cluster`, the least id it is connected with; only ids that occur in a pair.

    Examples
    --------
    >>> cluster([("a", "b"), ("x", "y"), ("b", "c")])
    5 items in clusters
    id  cluster
    a   a
    b   a
    c   a
    x   x
    y   x
    """
    a, b = _ends(pairs)
    both = pa.chunked_array([*_chunks(a), *_chunks(b)], a.type)
    if both.null_count:
        raise SourceError("an end of a pair is null: leave such pairs out")
    ids = both.unique()
    ids = ids.take(pa.array(id_order(ids)))
    left = pc.index_in(a, value_set=ids).to_numpy()
    right = pc.index_in(b, value_set=ids).to_numpy()
    labels = component_labels(len(ids), left, right)
    return Clusters(pa.table({"id": ids, "cluster": ids.take(pa.array(labels))}))


def _ends(pairs: Any) -> tuple[Any, Any]:
    if hasattr(pairs, "__arrow_c_stream__"):
        try:
            table = pa.table(pairs)
        except (pa.ArrowException, ValueError) as reason:
            raise SourceError(f"the pairs do not convert to Arrow: {reason}") from None
        for name in ("a", "b"):
            if name not in table.column_names:
                raise MissingColumnError(
                    f"pairs need the columns a and b; there are {', '.join(map(visible, table.column_names))}"
                )
            check_called_once(name, "the table of pairs", table.column_names)
        a, b = table["a"], table["b"]
        kind = _common_type(a.type, b.type)
        try:
            return a.cast(kind), b.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as reason:
            raise SourceError(f"the ends of pairs cannot be compared: {reason}") from None
    if isinstance(pairs, np.ndarray):
        return _ends_of_matrix(pairs)
    ends = list(pairs) if isinstance(pairs, Iterable) else [pairs]
    if any(not isinstance(pair, tuple | list) or len(pair) < 2 for pair in ends):
        raise SourceError("pairs must be a table with columns a and b, or a sequence of 2-tuples")
    listed = [pair[0] for pair in ends] + [pair[1] for pair in ends]
    try:
        try:
            both = pa.array(listed)
        except OverflowError:
            # Over 2⁶³, as 64-bit hashes are; Arrow has to be told.
            both = pa.array(listed, pa.uint64())
    except OverflowError as reason:
        raise SourceError(f"whole numbers at the ends of pairs have up to 64 bits: {reason}") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError) as reason:
        raise SourceError(f"all ends of pairs must be of one type: {reason}") from None
    return both.slice(0, len(ends)), both.slice(len(ends))


def _ends_of_matrix(pairs: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """The columns of a matrix with a pair a row."""
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise SourceError(
            f"pairs must be a matrix of two columns, a pair a row, not an array of shape {pairs.shape}"
        )
    if isinstance(pairs, np.ma.MaskedArray) and np.ma.getmaskarray(pairs).any():
        raise SourceError("an end of a pair is masked: leave such pairs out")
    try:
        pairs = pairs.astype(pairs.dtype.newbyteorder("="), copy=False)
        # NaN is no id, or all pairs that lack one would be a cluster.
        both = pa.array(np.ascontiguousarray(pairs.T).ravel(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as reason:
        raise SourceError(f"the ends of pairs must be numbers or strings, of one type: {reason}") from None
    return both.slice(0, len(pairs)), both.slice(len(pairs))


def _common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """A type that holds the ids of both ends and can be sorted."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (a, b)]
    if all(str(kind) in {"string", "large_string", "string_view"} for kind in kinds):
        return pa.large_string()
    if all(pa.types.is_integer(kind) for kind in kinds):
        return pa.uint64() if all(pa.types.is_unsigned_integer(kind) for kind in kinds) else pa.int64()
    if kinds[0] != kinds[1] or pa.types.is_nested(kinds[0]):
        raise SourceError(f"both ends of a pair must be of one type, numbers or strings: a is {a}, b is {b}")
    return kinds[0]


def _chunks(column: Any) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]
