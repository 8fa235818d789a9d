"""A source, held: its texts as a table in id order, and what is needed to name rows again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.engines import Engine, Table
from lookalike.io import Source, as_numbers
from lookalike.runs.watch import Watch
from lookalike.types import I64

#: Text a batch holds: small enough that all threads have work, large enough that a call costs nothing.
BATCH_BYTES = 4 << 20

_SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, kw_only=True, eq=False)
class Collection:
    """The rows of one source.

    `order[row]` is where the row of a number arrived; rows are numbered in id order, so that no result
    depends on how they arrived.
    """

    source: Source
    table: Table
    order: I64
    text_bytes: I64
    extra: pa.ChunkedArray | None

    @property
    def rows(self) -> int:
        """How many rows were read."""
        return len(self.order)

    def ids(self, rows: I64) -> pa.Array:
        """The user ids of row numbers."""
        return self.source.ids(self.order[rows])

    def extra_values(self) -> pa.Array | None:
        """The extra column, in id order."""
        if self.extra is None:
            return None
        taken = self.extra.take(pa.array(self.order))
        return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken

    def text(self, row: int) -> str:
        """The text of one row."""
        arrived = int(self.order[row])
        for batch in self.table.batches:
            if arrived < len(batch):
                return str(batch["text"][arrived].as_py())
            arrived -= len(batch)
        raise IndexError(row)


def collect(
    source: Source, engine: Engine, watch: Watch, *, extra: str | None = None, first_row: int = 0
) -> Collection:
    """Read a source and number its rows from `first_row` in id order."""
    batches: list[pa.RecordBatch] = []
    with watch.stage("read", unit="documents") as advance:
        for batch in source.scan(batch_bytes=BATCH_BYTES):
            batches.append(batch)
            advance(len(batch))
    read = sum(len(batch) for batch in batches)
    order = _id_order(source, read)
    numbers = np.empty(read, np.int64)
    numbers[order] = np.arange(first_row, first_row + read)
    numbered, start = [], 0
    for batch in batches:
        rows = pa.array(numbers[start : start + len(batch)])
        numbered.append(pa.record_batch([rows, batch["text"]], schema=_SCHEMA))
        start += len(batch)
    sizes = [pc.binary_length(batch["text"]).to_numpy() for batch in batches]
    # By position: the column may be called like the text or the id.
    last = None if extra is None else as_numbers(pa.chunked_array([batch.columns[-1] for batch in batches]))
    return Collection(
        source=source,
        table=engine.scan(numbered, _SCHEMA),
        order=order,
        text_bytes=np.concatenate(sizes)[order] if sizes else np.empty(0, np.int64),
        extra=last,
    )


def _id_order(source: Source, read: int) -> I64:
    """Rows as they arrived, in the order of their ids; without ids rows are known by where they arrived."""
    ids = source.layout.ids
    if ids is None:
        return np.arange(read, dtype=np.int64)
    order: I64 = pc.sort_indices(ids).to_numpy().astype(np.int64)
    return order
