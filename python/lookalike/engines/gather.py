"""Rows of many batches, in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

Take = Callable[[Any], pa.Array]

#: What offsets of 32 bits can tell apart.
_NARROW_BYTES = 2**31 - 1


class Rows:
    """The rows of batches of one schema, counted through.

    Holds a copy of them, but for numbers of which only a `few` will be asked for.
    """

    def __init__(self, batches: Sequence[pa.RecordBatch], schema: pa.Schema, *, few: bool = False) -> None:
        self._schema = schema
        self._columns = [
            _column([batch.column(at) for batch in batches], field.type, few)
            for at, field in enumerate(schema)
        ]

    def take(self, places: Any) -> pa.RecordBatch:
        """The rows at these places, as a batch of their own."""
        columns = [take(places) for take in self._columns]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _column(parts: list[pa.Array], kind: pa.DataType, few: bool) -> Take:
    if pa.types.is_integer(kind) and not any(part.null_count for part in parts):
        if few:
            return lambda places: _one(pa.chunked_array(parts, kind).take(pa.array(places)))
        # NumPy gathers plain numbers several times as fast once they lie in one piece.
        numbers = np.concatenate([part.to_numpy() for part in parts])
        return lambda places: pa.array(numbers.take(places))
    wide = _wider(kind) if sum(part.nbytes for part in parts) > _NARROW_BYTES else kind
    whole = pa.concat_arrays([part if wide == kind else part.cast(wide) for part in parts])
    return lambda places: whole.take(pa.array(places)).cast(kind)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _wider(kind: pa.DataType) -> pa.DataType:
    """A type for so much of it that offsets of 32 bits would overflow."""
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_binary(kind):
        return pa.large_binary()
    return pa.large_list(kind.value_field) if pa.types.is_list(kind) else kind


def joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches as one; there is at least one, and what it copies is small enough for one."""
    if len(batches) == 1:
        return batches[0]
    columns = [
        pa.concat_arrays([batch.column(at) for batch in batches]) for at in range(batches[0].num_columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)
