"""Items with many measurements: those that share a range bucket, checked by how many measurements are close.

buckets     every item → its buckets in every table, copies near edges included
candidates  items that share one, each pair once
verify      the share of measurements in which a candidate's items differ by at most `within`

A bucket of n items has n²/2 candidates, and none is left out: closeness is not passed on from pair to pair,
so no item can stand for others. Choose ranges so narrow, or so many to a table, that buckets stay small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, Held, Table
from lookalike.families import Ranges
from lookalike.joins.found import Found
from lookalike.joins.meetings import count_meetings, meetings, unpacked
from lookalike.measures.closeness import checked_within, close_share
from lookalike.runs.watch import Watch
from lookalike.types import F64


def range_join(
    items: Table,
    *,
    ranges: Ranges,
    within: F64,
    share: float,
    boundary: int | None = None,
    engine: Engine,
    watch: Watch,
) -> Found:
    """Pairs that meet in a bucket and are close in at least a share of their measurements.

    Parameters
    ----------
    items
        `row` and `values`, lists of one size of measurements.
    boundary
        Rows from here on are of a second collection, and only pairs across count.
    """

    def met() -> Table:
        keys = engine.map(items, RangeKeys(ranges))
        shared = meetings(engine, keys, "bucket", boundary=boundary)
        # Two items may share every copy that each has in a table.
        return engine.map(count_meetings(engine, shared, most=ranges.tables << ranges.rows), unpacked)

    with watch.stage("candidates", items.rows, unit="items"):
        candidates = engine.settle("candidates", met)
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        check = CloseEnough(tuple(checked_within(within, ranges.dimensions).tolist()), share)
        pairs = engine.settle(
            "found", lambda: engine.fetch(items, candidates, ("a", "b"), check, advance=advance)
        )
    return Found.of(pairs, candidates.rows)


@dataclass(frozen=True)
class RangeKeys:
    """A stage: items → a row for each bucket each is in (`bucket`, `row`)."""

    ranges: Ranges

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys, places = self.ranges.keys(value_matrix(batch))
        # Two buckets of one item with the same hash would make it meet itself.
        order = np.lexsort((keys, places))
        keys, places = keys[order], places[order]
        fresh = np.ones(len(keys), np.bool_)
        fresh[1:] = (keys[1:] != keys[:-1]) | (places[1:] != places[:-1])
        rows = batch["row"].to_numpy().astype(np.uint32)[places[fresh]]
        return pa.record_batch({"bucket": pa.array(keys[fresh]), "row": pa.array(rows)})


@dataclass(frozen=True)
class CloseEnough:
    """A stage for `fetch` from items: candidates → pairs close in enough measurements, and their share."""

    within: tuple[float, ...]
    share: float

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        values = held.whole(all_values)
        a, b = (values[held.at(batch[name].to_numpy())] for name in ("a", "b"))
        shares = np.asarray(close_share(a, b, self.within))
        columns = {"a": batch["a"], "b": batch["b"], "similarity": pa.array(shares)}
        return pa.record_batch(columns).filter(pa.array(shares >= self.share))


def value_matrix(batch: pa.RecordBatch) -> F64:
    """The column `values` of a batch, a row an item."""
    column = batch["values"]
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(batch), column.type.list_size)  # type: ignore[no-any-return]


def all_values(batches: Sequence[pa.RecordBatch]) -> F64:
    """The rows of all batches as one matrix."""
    return np.concatenate([value_matrix(batch) for batch in batches])
