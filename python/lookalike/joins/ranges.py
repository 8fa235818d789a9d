"""Items with many measurements: those that share a range bucket, checked by how many measurements are close.

buckets     every item → its buckets in every table, copies near edges included
candidates  items that share one, each pair once
verify      the share of measurements in which a candidate's items differ by at most `within`

A bucket of n items has n²/2 candidates, and none is left out: closeness is not passed on from pair to pair,
so no item can stand for others. Choose ranges so narrow, or so many to a table, that buckets stay small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, Held, Table
from lookalike.families import Ranges
from lookalike.families.range_tables import chance_of_tables
from lookalike.joins.found import Found
from lookalike.joins.meetings import count_meetings, meetings, unpacked
from lookalike.measures.closeness import checked_within, close_share
from lookalike.runs.watch import Watch
from lookalike.theory import RecallEstimate
from lookalike.theory.recall import recall_from_chances
from lookalike.types import F64, Bools


def range_join(
    items: Table,
    *,
    ranges: Ranges,
    within: F64,
    share: float,
    boundary: int | None = None,
    planned: bool = False,
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
    planned
        The ranges were planned for `within`: then it is known how likely pairs meet, and from those that were
        found it is estimated how many there were.
    """

    def met() -> Table:
        keys = engine.map(items, RangeKeys(ranges))
        shared = meetings(engine, keys, "bucket", boundary=boundary)
        # Two items may share every copy that each has in a table.
        return engine.map(count_meetings(engine, shared, most=ranges.tables << ranges.rows), unpacked)

    with watch.stage("candidates", items.rows, unit="items"):
        candidates = engine.settle("candidates", met)
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        each = tuple(checked_within(within, ranges.dimensions).tolist())
        check = CloseEnough(each, share, ranges.chosen or ())
        pairs = engine.settle(
            "found", lambda: engine.fetch(items, candidates, ("a", "b"), check, advance=advance)
        )
    found = Found.of(pairs, candidates.rows)
    return replace(found, recall=_recall(pairs, ranges)) if planned else found


def _recall(pairs: Table, ranges: Ranges) -> RecallEstimate:
    """How much was found, from the pairs that met in a table of nothing but close measurements.

    Those had a known chance to; others met by chance, and count as found only. There is no interval: all
    pairs depend on the same few tables.
    """
    sure = pairs.column("sure")
    close = np.rint(pairs.column("similarity")[sure] * ranges.dimensions).astype(np.int64)
    counts, repeats = np.unique(close, return_counts=True)
    chances = [
        chance_of_tables(ranges.dimensions, count, ranges.rows, ranges.tables) for count in counts.tolist()
    ]
    if not len(counts):
        return RecallEstimate.unknown(len(sure))
    total = max(float(len(sure)), recall_from_chances(chances, repeats).estimated_total)
    return replace(RecallEstimate.unknown(len(sure)), estimated_total=total, recall=len(sure) / total)


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
    """A stage for `fetch` from items: candidates → pairs close in enough measurements, and their share.

    `sure` tells those that some table was bound to bring together: it looks at close measurements alone.
    """

    within: tuple[float, ...]
    share: float
    tables: tuple[tuple[int, ...], ...]

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        values = held.whole(all_values)
        a, b = (values[held.at(batch[name].to_numpy())] for name in ("a", "b"))
        shares = np.asarray(close_share(a, b, self.within))
        enough = shares >= self.share
        columns = {"a": batch["a"], "b": batch["b"], "similarity": pa.array(shares)}
        found = pa.record_batch(columns).filter(pa.array(enough))
        sure = self._sure(np.abs(a[enough] - b[enough]) <= np.asarray(self.within))
        return found.append_column("sure", pa.array(sure))

    def _sure(self, close: Bools) -> Bools:
        sure = np.zeros(len(close), np.bool_)
        for table in self.tables:
            left = np.flatnonzero(~sure)
            if not len(left):
                break
            sure[left] = close[left[:, None], list(table)].all(axis=1)
        return sure


def value_matrix(batch: pa.RecordBatch) -> F64:
    """The column `values` of a batch, a row an item."""
    column = batch["values"]
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(batch), column.type.list_size)  # type: ignore[no-any-return]


def all_values(batches: Sequence[pa.RecordBatch]) -> F64:
    """The rows of all batches as one matrix."""
    return np.concatenate([value_matrix(batch) for batch in batches])
