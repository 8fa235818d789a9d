"""Items with many measurements: those that share a range bucket, checked by how many measurements are close.

copies      items with the same measurements: one of each goes on
buckets     every item → its buckets in every table, copies near edges included
candidates  items that share one, each pair once
verify      the share of measurements in which a candidate's items differ by at most `within`

A bucket of n items has n²/2 candidates, and none is left out: closeness is not passed on from pair to pair,
so no item can stand for others. Choose ranges so narrow, or so many to a table, that buckets stay small.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Held, Table
from lookalike.families import Ranges
from lookalike.families.range_tables import chance_of_tables
from lookalike.joins.copies import Stars
from lookalike.joins.expand import refuse_too_many
from lookalike.joins.found import Found
from lookalike.joins.meetings import count_meetings, meetings, unpacked
from lookalike.joins.only import Only
from lookalike.measures.closeness import checked_within, close_share
from lookalike.runs.watch import Watch
from lookalike.theory import RecallEstimate
from lookalike.theory.recall import recall_from_chances
from lookalike.types import F64, I64, Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class RangeFound(Found):
    """Close pairs of items that are no copies of another, and of every item which that is."""

    representative: I64


def range_join(
    items: Table,
    *,
    ranges: Ranges,
    within: F64,
    share: float,
    boundary: int | None = None,
    planned: bool = False,
    most_from_copies: int | None = None,
    engine: Engine,
    watch: Watch,
) -> RangeFound:
    """Pairs that meet in a bucket and are close in at least a share of their measurements.

    Of items of one collection with the same measurements only the first is among them.

    Parameters
    ----------
    items
        `row` and `values`, lists of one size of measurements.
    boundary
        Rows from here on are of a second collection, and only pairs across count.
    planned
        The ranges were planned for `within`: then it is known how likely pairs meet, and from those that were
        found it is estimated how many there were.
    most_from_copies
        More pairs of copies than these are an error; None if there may be any number.
    """
    with watch.stage("copies", items.rows, unit="items"):
        same = engine.settle("copies", lambda: _first_of_equals(items, boundary, engine))
    representative: I64 = same.column("representative")
    refuse_too_many(representative, most_from_copies, boundary=boundary)
    different = representative == np.arange(items.rows)
    if not different.all():
        items = engine.map(items, Only(different, light=True))

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
    found = RangeFound.of(engine, pairs, candidates.rows, representative=representative)
    return replace(found, recall=_recall(pairs, ranges, engine)) if planned else found


def _first_of_equals(items: Table, boundary: int | None, engine: Engine) -> Table:
    """Of every item: itself, or the first of its collection with the same measurements."""
    representative = np.arange(items.rows, dtype=np.int64)
    keys = engine.map(items, Digests(boundary))
    stars = engine.group(keys, "key", Stars("key"), order=("row",), least=2, repeat_first=True)
    same = engine.fetch(items, stars, ("a", "b"), SameValues())
    representative[same.column("b")] = same.column("a")
    return Table.of(representative=representative)


def _recall(pairs: Table, ranges: Ranges, engine: Engine) -> RecallEstimate:
    """How much was found, from the pairs that met in a table of nothing but close measurements.

    Those had a known chance to; others met by chance, and count as found only. There is no interval: all
    pairs depend on the same few tables.
    """
    several = engine.fold(pairs, CountSure(ranges.dimensions), operator.add)
    if several is None:
        return RecallEstimate.unknown(0)
    counts = np.flatnonzero(several)
    repeats = several[counts]
    chances = [
        chance_of_tables(ranges.dimensions, count, ranges.rows, ranges.tables) for count in counts.tolist()
    ]
    if not len(counts):
        return RecallEstimate.unknown(pairs.rows)
    total = max(float(pairs.rows), recall_from_chances(chances, repeats).estimated_total)
    return replace(RecallEstimate.unknown(pairs.rows), estimated_total=total, recall=pairs.rows / total)


@dataclass(frozen=True)
class CountSure:
    """A stage for `fold`: how many pairs that were sure to meet are close in how many measurements."""

    dimensions: int

    def __call__(self, batch: pa.RecordBatch) -> I64:
        similarity = batch.filter(batch["sure"])["similarity"].to_numpy()
        close = np.rint(similarity * self.dimensions).astype(np.int64)
        return np.bincount(close, minlength=self.dimensions + 1)


@dataclass(frozen=True)
class Digests:
    """A stage: items → `row`, `key`, the same for equal measurements of one collection."""

    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = _core.vector_contents(np.ascontiguousarray(value_matrix(batch)), seed=0)
        if self.boundary is not None:
            keys = np.where(batch["row"].to_numpy() >= self.boundary, ~keys, keys)
        return pa.record_batch({"row": batch["row"], "key": pa.array(keys)})


@dataclass(frozen=True)
class SameValues:
    """A stage for `fetch` from items: candidates → those with the same measurements."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        values = held.whole(all_values)
        a, b = (values[held.at(batch[name].to_numpy())] for name in ("a", "b"))
        return batch.filter(pa.array((a == b).all(axis=1)))


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
