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
from lookalike.types import I64

#: A bucket of more rows than this is large. 64 rows are 2,016 pairs, 32 a row: about what reading the row
#: cost.
LARGE = 64


def run_starts(keys: npt.NDArray[np.uint64]) -> I64:
    """Where runs of equal keys begin in sorted keys, and at the end how many keys there are."""
    if not len(keys):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]]).astype(np.int64)


@dataclass(frozen=True)
class PairUp:
    """A stage over grouped buckets: all pairs (`a`, `b`, a < b) of rows that share one."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b = _core.pair_up(batch["row"].to_numpy(), run_starts(batch["bucket"].to_numpy()), threads=1)
        return pa.record_batch({"a": pa.array(a), "b": pa.array(b)})


@dataclass(frozen=True)
class Names:
    """A stage over grouped buckets: the key of each (`bucket`), once a batch."""

    light: ClassVar[bool] = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = batch["bucket"].to_numpy()
        return pa.record_batch({"bucket": pa.array(keys[run_starts(keys)[:-1]])})
