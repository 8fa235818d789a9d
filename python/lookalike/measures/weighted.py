"""Candidates among weighted sets or sparse vectors → their exact similarity.

A table of weighted sets has two columns of lists, `elements` (sorted, each once) and `weights`, entry by
entry. Sums run in the order of elements, so a similarity is the same bits everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.verbs import Held
from lookalike.measures.candidates import Exact
from lookalike.measures.vectors import rounded_cosines
from lookalike.types import F64, I64, U64, WeightedSets, list_buffers

WeightedMeasure = Literal["jaccard", "cosine"]

SCHEMA = pa.schema(
    [("row", pa.int64()), ("elements", pa.large_list(pa.uint64())), ("weights", pa.large_list(pa.float64()))]
)


def weighted_batch(row: pa.Array, sets: WeightedSets) -> pa.RecordBatch:
    """Weighted sets as a batch of a table, nothing copied."""
    offsets = pa.array(sets.offsets)
    lists = [
        pa.LargeListArray.from_arrays(offsets, pa.array(values)) for values in (sets.elements, sets.weights)
    ]
    return pa.record_batch([row, *lists], schema=SCHEMA)


def weighted_buffers(batch: pa.RecordBatch) -> tuple[U64, I64, F64]:
    """The sets of a batch as kernels take them."""
    elements, offsets = list_buffers(batch["elements"])
    weights, starts = list_buffers(batch["weights"])
    # A slice of a batch shares the values of the rows around it; both columns are cut to what is theirs.
    return (
        elements[offsets[0] : offsets[-1]],
        offsets - offsets[0],
        weights[starts[0] : starts[-1]].view(np.float64),
    )


@dataclass(frozen=True)
class WeightedExact(Exact):
    """A stage for `fetch` from weighted sets: candidates → those similar enough, by Σmin/Σmax or cosine."""

    measure: WeightedMeasure = "jaccard"

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        similarity = _core.compare_weighted(
            held.views(weighted_buffers), a, b, measure=self.measure, threads=1
        )
        if self.measure == "cosine":
            similarity = rounded_cosines(similarity)
        columns = {"a": batch["a"], "b": batch["b"], "similarity": pa.array(similarity)}
        return pa.record_batch(columns).filter(pa.array(similarity >= self.at_least))


@dataclass(frozen=True)
class SameWeights:
    """A stage for `fetch`: candidates with the same digest → those whose elements and weights are the same.

    A digest tells a set from its double, which a cosine does not; and a cosine tells sets apart that have the
    same digest of 64 bits by chance.
    """

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        exact = WeightedExact(None, 1 - 1e-9, "cosine")
        return exact(batch.select(["a", "b"]), held).select(["a", "b"])
