"""Batches of bounded size, cut and joined without copying more than needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

BATCH_BYTES = 32 << 20


def regroup(batches: Iterable[pa.RecordBatch], batch_bytes: int = BATCH_BYTES) -> Iterator[pa.RecordBatch]:
    """Give the same rows in batches of at most `batch_bytes` (one row may exceed it, alone).

    Large batches are cut, which copies nothing. Small ones, such as those of many small files, are joined
    until an eighth of the bound is reached: a kernel call on a handful of rows would cost more than the
    copy.
    """
    pending: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        for piece in _pieces(batch, batch_bytes):
            if pending and size + piece.nbytes > batch_bytes:
                yield _joined(pending)
                pending, size = [], 0
            pending.append(piece)
            size += piece.nbytes
            if size >= batch_bytes // 8:
                yield _joined(pending)
                pending, size = [], 0
    if pending:
        yield _joined(pending)


def _pieces(batch: pa.RecordBatch, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    if batch.num_rows == 0:
        return
    if batch.nbytes <= batch_bytes:
        yield batch
        return
    # Sizes of rows: exactly for the text, on average for what comes with it, or where there is no text.
    text = batch.column(0)
    offsets = np.zeros(batch.num_rows + 1, np.int64)
    if pa.types.is_large_string(text.type):
        offsets = np.frombuffer(text.buffers()[1], dtype=np.int64)[text.offset :][: len(text) + 1]
    beside = (batch.nbytes - int(offsets[-1] - offsets[0])) / batch.num_rows
    ends = offsets + (np.arange(len(offsets)) * beside).astype(np.int64)
    # Evenly, so that no small piece is left over.
    total = int(ends[-1] - ends[0])
    most = -(-total // -(-total // batch_bytes))
    start = 0
    while start < batch.num_rows:
        stop = int(np.searchsorted(ends, ends[start] + most, side="right")) - 1
        stop = max(stop, start + 1)
        yield batch.slice(start, stop - start)
        start = stop


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
