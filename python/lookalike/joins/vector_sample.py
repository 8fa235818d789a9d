"""How far apart a collection's vectors are, from a sample that does not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.least import Least, draw_pairs
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import Compared, matrix_of
from lookalike.theory import DistanceSample
from lookalike.theory.thresholds import scale_of
from lookalike.types import F64, I64, U64

#: Rows sampled: a quarter of a million pairs, enough to see distances that one pair in 50,000 has.
SAMPLE_ROWS = 700
#: Pairs of the sample that show how near ones lie to each other.
NEAREST = 256


@dataclass(frozen=True)
class LeastVectors(Least):
    """A stage for `fold`: vectors with the least hashes of their numbers."""

    light: ClassVar[bool] = True

    seed: int

    def hashes(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        """Of all rows."""
        return _core.vector_contents(matrix_of(batch), seed=self.seed), batch["row"].to_numpy()


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnVectors:
    """A sample: the values of its pairs, what a plan needs to know of them, and which of them are nearest."""

    values: F64
    distances: DistanceSample
    nearest: tuple[I64, I64]


def draw_vectors(engine: Engine, items: VectorItems, *, rows: int = SAMPLE_ROWS) -> DrawnVectors:
    """Draw a sample of the vectors and compare all its pairs, or all that go across."""

    def compared() -> Table:
        least = partial(LeastVectors, seed=items.seed)
        a, b = draw_pairs(engine, items.table, least, count=rows, boundary=items.boundary)
        return engine.fetch(items.table, Table.of(a=a, b=b), ("a", "b"), Compared(items.nearness))

    sampled = engine.settle("sample", compared)
    a, b, value = (sampled.column(name) for name in ("a", "b", "value"))
    apart = scale_of(items.nearness.measure).distances(value)
    order = np.lexsort((b, a, apart))
    nearest = order[np.searchsorted(apart[order], 0.0, side="right") :][:NEAREST]
    values: F64 = np.sort(value)
    first_items = items.rows if items.boundary is None else items.boundary
    sample = DistanceSample.from_distances(
        scale_of(items.nearness.measure).distances(values),
        items=first_items,
        values_per_item=items.dimensions,
        other_items=None if items.boundary is None else items.rows - items.boundary,
    )
    return DrawnVectors(values=values, distances=sample, nearest=(a[nearest], b[nearest]))
