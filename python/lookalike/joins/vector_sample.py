"""How far apart a collection's vectors are, from a sample that does not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.least import Least, distinct_noted, draw_pairs
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
        drawn = draw_pairs(engine, items.table, least, count=rows, boundary=items.boundary)
        asked = Table.of(a=drawn.a, b=drawn.b)
        return drawn.noted_on(engine.fetch(items.table, asked, ("a", "b"), Compared(items.nearness)))

    sampled = engine.settle("sample", compared)
    a, b, value = (sampled.column(name) for name in ("a", "b", "value"))
    apart = scale_of(items.nearness.measure).distances(value)
    order = np.lexsort((b, a, apart))
    nearest = order[np.searchsorted(apart[order], 0.0, side="right") :][:NEAREST]
    values: F64 = np.sort(value)
    # Copies are set aside: as many rows go on as are different.
    first, *second = distinct_noted(sampled)
    sample = DistanceSample.from_distances(
        scale_of(items.nearness.measure).distances(values),
        items=first,
        values_per_item=items.dimensions,
        other_items=second[0] if second else None,
    )
    return DrawnVectors(values=values, distances=sample, nearest=(a[nearest], b[nearest]))
