"""Buckets → candidates.

A small bucket gives all its pairs. A large one would give quadratically many, so its rows are handed on as
they are and compared with leaders (`joins.leaders`). Buckets up to `LARGE` rows must be grouped whole, so
that a bucket looks small only if it is.
"""

from __future__ import annotations

from dataclasses import dataclass

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


def _in_runs(batch: pa.RecordBatch, *, least: int, most: int | None = None) -> tuple[pa.RecordBatch, I64]:
    """The rows in runs of `least` to `most` rows, and where each such run begins."""
    starts = run_starts(batch["bucket"].to_numpy())
    sizes = np.diff(starts)
    wanted = sizes >= least if most is None else (sizes >= least) & (sizes <= most)
    if wanted.all():
        return batch, starts
    kept = batch.filter(pa.array(np.repeat(wanted, sizes)))
    return kept, np.concatenate([[0], np.cumsum(sizes[wanted])]).astype(np.int64)


@dataclass(frozen=True)
class Shared:
    """A stage over grouped buckets: drops rows that are alone in their bucket."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return _in_runs(batch, least=2)[0]


@dataclass(frozen=True)
class PairSmall:
    """A stage over grouped buckets: all pairs (`a`, `b`, a < b) of rows in small ones."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch, starts = _in_runs(batch, least=2, most=LARGE)
        rows = batch["row"].to_numpy().astype(np.uint32)
        a, b = _core.pair_up(rows, starts, threads=1)
        return pa.record_batch({"a": pa.array(a.astype(np.int64)), "b": pa.array(b.astype(np.int64))})


@dataclass(frozen=True)
class KeepLarge:
    """A stage over grouped buckets: hands the rows of large ones on as they are."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return _in_runs(batch, least=LARGE + 1)[0]
