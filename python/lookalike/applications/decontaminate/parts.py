"""Training documents in parts, each of which is searched and settled before the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Bytes of text in a part at least: so much is searched in a second or two, and may have to be done again.
PART_BYTES = 64 << 20
#: A part is at least this share of all before it, so that a terabyte takes a hundred parts and not thousands.
_SHARE = 1 / 16


def in_parts(batches: Iterable[pa.RecordBatch]) -> Iterator[Iterator[pa.RecordBatch]]:
    """Cut batches with a column `text` into parts, each to be taken up before the next one is asked for.

    What of a part was not taken is passed over. Where parts end depends on the rows alone, not on how they
    lie in batches: a run that goes on may have other ones.
    """
    waiting, done = (batch for batch in batches if len(batch)), 0
    rest = next(waiting, None)
    while rest is not None:
        part = _Part(chain([rest], waiting), max(PART_BYTES, int(done * _SHARE)))
        taken = iter(part)
        yield taken
        for _ in taken:
            pass
        done += part.limit
        rest = next(waiting, None) if part.rest is None else part.rest


class _Part:
    """Rows up to the one whose text reaches `limit` bytes; what is left of its batch is `rest`."""

    def __init__(self, batches: Iterator[pa.RecordBatch], limit: int) -> None:
        self._batches = batches
        self.limit = limit
        self.rest: pa.RecordBatch | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        before = 0
        for batch in self._batches:
            ends = before + np.cumsum(pc.binary_length(batch["text"]).to_numpy())
            rows = int(np.searchsorted(ends, self.limit)) + 1
            if rows <= len(batch):
                self.rest = batch.slice(rows) if rows < len(batch) else None
                yield batch.slice(0, rows)
                return
            before = int(ends[-1])
            yield batch
