"""Buckets → candidates.

A small bucket gives all its pairs. A large one would give quadratically many, so its rows are compared with
leaders instead (`joins.leaders`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike import _core
from lookalike.types import I64, U32, U64, Bools

#: A bucket of more rows than this is large. 64 rows are 2,016 pairs, 32 a row: about what reading the row
#: cost.
LARGE = 64


def run_starts(keys: npt.NDArray[np.uint64]) -> I64:
    """Where runs of equal keys begin in sorted keys, and at the end how many keys there are."""
    if not len(keys):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class PairUp:
    """A stage over grouped buckets: all pairs of rows that share one, lower row in the upper half of `pair`.

    Parameters
    ----------
    sides
        Of two collections: which rows stand for the first, which for the second. Only pairs across are made.
    """

    sides: tuple[Bools, Bools] | None = None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b = _core.pair_up(batch["row"].to_numpy(), run_starts(batch["bucket"].to_numpy()), threads=1)
        if self.sides is not None:
            first, second = self.sides
            across = (first[a] & second[b]) | (second[a] & first[b])
            a, b = a[across], b[across]
        return pa.record_batch({"pair": pa.array(packed(a, b))})


@dataclass(frozen=True)
class Once:
    """A stage over grouped pairs: each once."""

    light: ClassVar[bool] = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        pairs = batch["pair"].to_numpy()
        return pa.record_batch({"pair": pa.array(pairs[run_starts(pairs)[:-1]])})


def packed(a: I64 | U32, b: I64 | U32) -> U64:
    """Two rows each as one number, `a` in its upper half."""
    pairs = np.empty((len(a), 2), "<u4")
    # Written where they belong: a million pairs are no more than one array.
    pairs[:, 0], pairs[:, 1] = b, a
    return pairs.view("<u8").reshape(-1)


def rows_of(pairs: U64) -> tuple[U32, U32]:
    """The two rows of packed pairs."""
    halves = np.ascontiguousarray(pairs, "<u8").view("<u4")
    return halves[1::2].copy(), halves[::2].copy()
