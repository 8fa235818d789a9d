"""How many bytes rows take: in a byte a row, since a table that does not fit memory may have very many.

Rows of one batch may differ a thousandfold, so an average says too little about what the rows that some items
name take together.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lookalike.types import F64, I64, U8

#: Eighths of the binary logarithm, rounded up: never too little, and at most a tenth too much.
Widths: TypeAlias = U8

_STEPS = 8
_BYTES: F64 = np.exp2(np.arange(256) / _STEPS)


def kept_widths(batch: pa.RecordBatch) -> Widths | None:
    """The widths of numbered rows that may differ in it; None of others."""
    if "row" not in batch.schema.names or not any(_varies(field.type) for field in batch.schema):
        return None
    return _widths(row_bytes(batch))


def even_widths(size: int, rows: int) -> Widths:
    """The widths of rows that take so many bytes together and do not differ."""
    return _widths(np.full(rows, -(-size // max(1, rows)), np.int64))


def in_bytes(widths: Widths) -> F64:
    """About how many bytes those are."""
    return _BYTES[widths]


def _widths(sizes: I64) -> Widths:
    codes = np.ceil(_STEPS * np.log2(np.maximum(sizes, 1)))
    widths: Widths = np.minimum(codes, len(_BYTES) - 1).astype(np.uint8)
    return widths


def row_bytes(batch: pa.RecordBatch) -> I64:
    """How many bytes each row takes: exactly for strings and lists of numbers, on average for the rest."""
    sizes = np.zeros(len(batch), np.int64)
    even = 0
    for column in batch.columns:
        if _varies(column.type):
            lengths = np.diff(_offsets(column))
            sizes += lengths * _element_bytes(column.type) + (8 if _is_wide(column.type) else 4)
        else:
            even += column.nbytes
    return sizes + -(-even // max(1, len(batch)))


def _varies(kind: pa.DataType) -> bool:
    return _is_wide(kind) or _is_narrow(kind)


def _is_wide(kind: pa.DataType) -> bool:
    return kind.id in (pa.large_string().id, pa.large_binary().id, pa.large_list(pa.null()).id)


def _is_narrow(kind: pa.DataType) -> bool:
    return kind.id in (pa.string().id, pa.binary().id, pa.list_(pa.null()).id)


def _offsets(column: pa.Array) -> I64:
    kind = np.int64 if _is_wide(column.type) else np.int32
    stored = np.frombuffer(column.buffers()[1], kind, count=column.offset + len(column) + 1)
    offsets: I64 = stored[column.offset :].astype(np.int64, copy=False)
    return offsets


def _element_bytes(kind: pa.DataType) -> int:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return 1
    # Lists of lists are nowhere on our roads; eight bytes an element is then only a guess.
    return -(-kind.value_type.bit_width // 8) if pa.types.is_primitive(kind.value_type) else 8
