"""Signatures → bucket keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.measures.candidates import slot_matrix
from lookalike.theory import Banding
from lookalike.types import Bools


@dataclass(frozen=True, eq=False)
class BandKeys:
    """A stage: signed `row`, `slots`, `content` → a row a band (`bucket`, `band`, `row`, `content`).

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
        last = self.banding.bands if self.last is None else self.last
        bands = last - self.first
        keys = _core.band_keys(
            slot_matrix((batch,)), bands=bands, rows=self.banding.rows, first=self.first, threads=1
        )
        row, content = batch["row"].to_numpy(), batch["content"].to_numpy()
        if self.marked is not None and not (wanted := self.marked[row]).all():
            keys, row, content = keys[wanted], row[wanted], content[wanted]
        return pa.record_batch(
            {
                # Band by band, so that each band's rows stay in the order they came in.
                "bucket": pa.array(keys.T.reshape(-1)),
                "band": pa.array(np.repeat(np.arange(self.first, last, dtype=np.uint16), len(row))),
                "row": pa.array(np.tile(row, bands)),
                "content": pa.array(np.tile(content, bands)),
            }
        )
