"""How far apart a collection's vectors are, from a sample that does not depend on their order.

Rows are drawn by the hash of their numbers, the least first, and equal vectors count once. Of two collections
each gives half of the rows, and pairs go across.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import Compared, matrix_of
from lookalike.theory import DistanceSample
from lookalike.theory.thresholds import scale_of
from lookalike.types import F64, I64, U64

#: Rows sampled: a quarter of a million pairs, enough to see distances that one pair in 50,000 has.
SAMPLE_ROWS = 700


@dataclass(frozen=True)
class Least:
    """A stage for `fold`: the rows from `first` to before `last` with the least hashes, each hash once."""

    light: ClassVar[bool] = True

    count: int
    seed: int
    first: int
    last: int

    def __call__(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        rows = batch["row"].to_numpy()
        hashes = _core.vector_contents(matrix_of(batch), seed=self.seed)
        here = (rows >= self.first) & (rows < self.last)
        return self.least(hashes[here], rows[here])

    def merge(self, one: tuple[U64, I64], other: tuple[U64, I64]) -> tuple[U64, I64]:
        """Of both the least."""
        return self.least(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))

    def least(self, hashes: U64, rows: I64) -> tuple[U64, I64]:
        """The least hashes and, of equal ones, the least row."""
        order = np.lexsort((rows, hashes))
        new = np.ones(len(order), np.bool_)
        new[1:] = hashes[order][1:] != hashes[order][:-1]
        chosen = order[new][: self.count]
        return hashes[chosen], rows[chosen]


@dataclass(frozen=True, kw_only=True)
class DrawnVectors:
    """A sample: the values of its pairs, and what a plan needs to know of them."""

    values: F64
    distances: DistanceSample


def draw_vectors(engine: Engine, items: VectorItems, *, rows: int = SAMPLE_ROWS) -> DrawnVectors:
    """Draw a sample of the vectors and compare all its pairs, or all that go across."""

    def compared() -> Table:
        if items.boundary is None:
            chosen = _drawn(engine, items, rows, 0, items.rows)
            one, other = np.triu_indices(len(chosen), 1)
            a, b = chosen[one], chosen[other]
        else:
            first = _drawn(engine, items, rows // 2, 0, items.boundary)
            second = _drawn(engine, items, rows // 2, items.boundary, items.rows)
            a, b = np.repeat(first, len(second)), np.tile(second, len(first))
        return engine.fetch(items.table, Table.of(a=a, b=b), ("a", "b"), Compared(items.nearness))

    values: F64 = np.sort(engine.settle("sample", compared).column("value"))
    first_items = items.rows if items.boundary is None else items.boundary
    sample = DistanceSample.from_distances(
        scale_of(items.nearness.measure).distances(values),
        items=first_items,
        values_per_item=items.dimensions,
        other_items=None if items.boundary is None else items.rows - items.boundary,
    )
    return DrawnVectors(values=values, distances=sample)


def _drawn(engine: Engine, items: VectorItems, count: int, first: int, last: int) -> I64:
    stage = Least(count, items.seed, first, last)
    found = engine.fold(items.table, stage, stage.merge)
    return np.empty(0, np.int64) if found is None else np.sort(found[1])
