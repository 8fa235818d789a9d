"""Bucket keys, band by band: from columns of keyed rows to rows of buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike.types import I64, U16, U64, Bools, concatenate

#: The bits of a bucket's key that say which band it is of.
BAND_BITS = 16


def bands_of(buckets: U64) -> U16:
    """Which band each bucket is of."""
    return (buckets & np.uint64((1 << BAND_BITS) - 1)).astype(np.uint16)


def key_columns(keys: U64) -> dict[str, pa.Array]:
    """Keys, a row a band, as the columns of a table of keyed rows."""
    return {_column(band): pa.array(row) for band, row in enumerate(keys)}


def key_names(bands: int) -> list[str]:
    """The columns that hold the keys of so many bands."""
    return [_column(band) for band in range(bands)]


def contents(batches: Sequence[pa.RecordBatch]) -> U64:
    """The column `content` of all batches."""
    return concatenate((batch["content"].to_numpy() for batch in batches), np.uint64)


def _column(band: int) -> str:
    return f"key{band}"


@dataclass(frozen=True, eq=False)
class Buckets:
    """A stage: keyed rows → a row a band (`bucket`, `row`).

    Parameters
    ----------
    first, last
        The bands from `first` to before `last`.
    marked
        Which rows, by number, to put in buckets.
    """

    light: ClassVar[bool] = True

    first: int
    last: int
    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        wanted = self.marked[batch["row"].to_numpy()]
        chosen: slice | I64 = slice(None) if wanted.all() else np.flatnonzero(wanted)
        keys = [batch[_column(band)].to_numpy()[chosen] for band in range(self.first, self.last)]
        row = batch["row"].to_numpy()[chosen].astype(np.uint32)
        # Band by band, so that each band's rows stay in the order they came in.
        return pa.record_batch(
            {"bucket": pa.array(np.concatenate(keys)), "row": pa.array(np.tile(row, len(keys)))}
        )
