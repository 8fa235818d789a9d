"""Neighbours, a line each, and the best of every row.

A line says that row `row` has the neighbour `other`, and how much `unlike` it is: a whole number, which is
what engines sort, that is less the more similar the two are. 16 bytes a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table
from lookalike.types import F64, I64, U64

_SCHEMA = pa.schema([("row", pa.uint32()), ("other", pa.uint32()), ("unlike", pa.uint64())])


def lines_of(row: Any, other: Any, similarity: F64) -> pa.RecordBatch:
    """Lines from three columns. Similarities are 0 or more."""
    columns = (np.asarray(row, np.uint32), np.asarray(other, np.uint32), unlike(similarity))
    return pa.record_batch([pa.array(column) for column in columns], schema=_SCHEMA)


def unlike(similarity: F64) -> U64:
    """Similarities as whole numbers in the opposite order: the bits of floats from 0 on rise as they do."""
    return ~np.ascontiguousarray(similarity, np.float64).view(np.uint64)


def similarity_of(unlike: U64) -> F64:
    """The similarities again, bit for bit."""
    return (~np.ascontiguousarray(unlike, np.uint64)).view(np.float64)


def places_in_runs(keys: Any) -> I64:
    """0, 1, … for each run of equal keys."""
    starts = run_starts(keys)
    return np.arange(len(keys)) - np.repeat(starts[:-1], np.diff(starts))


@dataclass(frozen=True)
class First:
    """A stage over lines in order: the first `k` of every row, of equal lines one."""

    light: ClassVar[bool] = True

    k: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        row, other = batch["row"].to_numpy(), batch["other"].to_numpy()
        fresh = np.ones(len(row), np.bool_)
        # A pair is as similar each time, so its lines follow each other.
        fresh[1:] = (row[1:] != row[:-1]) | (other[1:] != other[:-1])
        if not fresh.all():
            batch = batch.filter(pa.array(fresh))
            row = row[fresh]
        return batch.filter(pa.array(places_in_runs(row) < self.k))


def best(engine: Engine, lines: Table, k: int, *, most: int) -> Table:
    """The `k` best lines of every row, best first, of equals the lower neighbour; no row has over `most`.

    A neighbour that comes several times, as similar each time, counts once.
    """
    return engine.group(lines, "row", First(k), order=("unlike", "other"), most=max(1, most))


class Worst:
    """The worst of the `k` best lines of every row so far: who comes behind it need not be looked at.

    12 bytes a row, at the driver.
    """

    def __init__(self, rows: int, k: int) -> None:
        self._k = k
        self._unlike = np.full(rows, np.iinfo(np.uint64).max, np.uint64)
        self._other = np.full(rows, np.iinfo(np.uint32).max, np.uint32)

    def of(self, batch: pa.RecordBatch) -> None:
        """Learn from lines in order, all of a row together."""
        row = batch["row"].to_numpy()
        starts = run_starts(row)
        last = starts[:-1][np.diff(starts) == self._k] + self._k - 1
        self._unlike[row[last]] = batch["unlike"].to_numpy()[last]
        self._other[row[last]] = batch["other"].to_numpy()[last]

    def better(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A stage: the lines that come before the worst of their row."""
        row, other, unlike = (batch[name].to_numpy() for name in ("row", "other", "unlike"))
        worst = self._unlike[row]
        before = (unlike < worst) | ((unlike == worst) & (other < self._other[row]))
        return batch.filter(pa.array(before))
