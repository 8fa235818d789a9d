"""Signatures → bucket keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.theory import Banding


@dataclass(frozen=True)
class BandKeys:
    """A stage: signed `row`, `slots`, `content` → a row a band (`bucket`, `band`, `row`, `content`)."""

    banding: Banding

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        bands = self.banding.bands
        slots = batch["slots"]
        matrix = slots.values.to_numpy().reshape(-1, slots.type.list_size)[
            slots.offset : slots.offset + len(slots)
        ]
        keys = _core.band_keys(matrix, bands=bands, rows=self.banding.rows, threads=1)
        return pa.record_batch(
            {
                # Band by band, so that each band's rows stay in the order they came in.
                "bucket": pa.array(keys.T.reshape(-1)),
                "band": pa.array(np.repeat(np.arange(bands, dtype=np.uint16), len(batch))),
                "row": pa.array(np.tile(batch["row"].to_numpy(), bands)),
                "content": pa.array(np.tile(batch["content"].to_numpy(), bands)),
            }
        )
