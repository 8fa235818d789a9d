"""Signatures → bucket keys."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.measures.candidates import slot_matrix
from lookalike.theory import Banding
from lookalike.types import U16, U64, Bools

#: The bits of a bucket's key that say which band it is of.
BAND_BITS = 16


def bands_of(buckets: U64) -> U16:
    """Which band each bucket is of."""
    return (buckets & np.uint64((1 << BAND_BITS) - 1)).astype(np.uint16)


@dataclass(frozen=True, eq=False)
class BandKeys:
    """A stage: signed `row`, `slots` → a row a band (`bucket`, `row`).

    Parameters
    ----------
    banding
        How signatures are cut.
    first, last
        Make keys of the bands from `first` to before `last`; of all by default.
    marked
        Which rows, by number, to make keys of; all by default.
    """

    banding: Banding
    first: int = 0
    last: int | None = None
    marked: Bools | None = None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys, chosen = self._keys(batch)
        row = batch["row"].to_numpy()[chosen].astype(np.uint32)
        # Band by band, so that each band's rows stay in the order they came in.
        return pa.record_batch(
            {"bucket": pa.array(keys.reshape(-1)), "row": pa.array(np.tile(row, len(keys)))}
        )

    def _keys(self, batch: pa.RecordBatch) -> tuple[U64, slice | Bools]:
        """A row of keys a band, and which rows of the batch they are of."""
        last = self.banding.bands if self.last is None else self.last
        keys = _core.band_keys(
            slot_matrix((batch,)), bands=last - self.first, rows=self.banding.rows, first=self.first
        )
        if self.marked is None or (wanted := self.marked[batch["row"].to_numpy()]).all():
            return keys, slice(None)
        return np.compress(wanted, keys, axis=1), wanted


@dataclass(frozen=True, eq=False)
class Members(BandKeys):
    """A stage: signed rows → those in certain buckets, with their content (`bucket`, `row`, `content`)."""

    #: Keys of the buckets, sorted.
    buckets: U64 = field(kw_only=True)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys, chosen = self._keys(batch)
        at = np.minimum(np.searchsorted(self.buckets, keys), len(self.buckets) - 1)
        band, place = np.nonzero(self.buckets[at] == keys)
        return pa.record_batch(
            {
                "bucket": pa.array(keys[band, place]),
                "row": pa.array(batch["row"].to_numpy()[chosen][place].astype(np.uint32)),
                "content": pa.array(batch["content"].to_numpy()[chosen][place]),
            }
        )
