"""Exact copies aside, for roads that go from set to set: one of each class of equal sets goes on.

    sets     texts → sets, kept: 8 bytes a shingle; sets stay as they are
    copies   rows of one digest, confirmed on their sets
    anew     the representatives, numbered 0, 1, … without gaps, as an item table of their own

Between two collections a row of one is no copy of a row of the other: such pairs are for the road to find.
Empty sets match nothing and do not go on. On the driver: 21 bytes a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, Table
from lookalike.joins.copies import representatives
from lookalike.joins.elements import SetTexts
from lookalike.joins.flags import EMPTY, Flagged
from lookalike.joins.items import Items
from lookalike.measures.overlap import OverlapMeasure
from lookalike.runs.watch import Watch
from lookalike.types import F64, I64, U32, U64, Bools, list_buffers

#: Sets digests of the two collections apart.
_OTHER_SIDE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, kw_only=True, eq=False)
class Distinct(Flagged):
    """Which rows go on, and all of them as sets.

    Attributes
    ----------
    sets
        Gives all rows as sets, made when they are first asked for: a run that goes on may not need them.
    items
        Gives the sets that go on, numbered anew.
    numbers
        The row that each of them is.
    sizes
        How many elements each row holds.
    """

    sets: Callable[[], Items]
    items: Callable[[], Items]
    numbers: I64
    sizes: U32

    def compare(self, engine: Engine, measure: OverlapMeasure) -> Callable[[I64, I64], F64]:
        """The similarity of any rows, exactly."""

        def similarity(a: I64, b: I64) -> F64:
            asked = Table.of(a=a, b=b)
            sets = self.sets()
            exact = engine.fetch(sets.table, asked, ("a", "b"), sets.exact(at_least=0.0))
            jaccard: F64 = exact.column("similarity")
            size_a, size_b = self.sizes[a].astype(np.float64), self.sizes[b].astype(np.float64)
            # i = J·(a + b) / (1 + J), off by less than a millionth: the nearest whole number is i.
            shared = np.rint(jaccard * (size_a + size_b) / (1 + jaccard)).astype(np.int64)
            return measure(shared, self.sizes[a], self.sizes[b])

        return similarity


def distinct(
    items: Items, *, least_size: int = 1, sets: Table | None = None, engine: Engine, watch: Watch
) -> Distinct:
    """Make sets of the items and set exact copies aside.

    Sets smaller than `least_size` do not go on. `sets` are texts as sets already.
    """

    @cache
    def as_sets() -> Items:
        table = items.table if sets is None else sets
        if items.shingle is not None and sets is None:
            with watch.stage("sets", items.rows, size=items.bytes) as advance:
                shingler = items.shingle.shingler(items.seed)
                table = engine.map(items.table, SetTexts(shingler), advance=advance)
        return replace(items, table=table, shingle=None)

    def told() -> Table:
        all_sets = as_sets()
        with watch.stage("copies", items.rows):
            return _told_apart(all_sets, least_size, engine)

    told_apart = engine.settle("copies", told)
    representative, sizes = told_apart.column("representative"), told_apart.column("size")
    marked = (sizes >= least_size) & (representative == np.arange(items.rows))

    @cache
    def going_on() -> Items:
        return as_sets() if marked.all() else _numbered_anew(as_sets(), marked, engine)

    return Distinct(
        sets=as_sets,
        items=going_on,
        numbers=np.flatnonzero(marked),
        representative=representative,
        flags=told_apart.column("flags"),
        sizes=sizes,
    )


def _told_apart(sets: Items, least_size: int, engine: Engine) -> Table:
    """Of every row its `representative`, its `flags` and its `size`."""
    digests = engine.map(sets.table, Digest(sets.boundary))
    flags, sizes = np.zeros(sets.rows, np.uint8), np.zeros(sets.rows, np.uint32)
    for batch in digests.batches:
        rows = batch["row"].to_numpy()
        flags[rows], sizes[rows] = batch["flags"].to_numpy(), batch["size"].to_numpy()
    representative = representatives(engine, sets, digests, sizes >= least_size, keys=("content",))
    return Table.of(representative=representative, flags=flags, size=sizes)


def _numbered_anew(sets: Items, marked: Bools, engine: Engine) -> Items:
    table = engine.map(sets.table, GoOn(marked, np.cumsum(marked) - 1))
    boundary = None if sets.boundary is None else int(np.count_nonzero(marked[: sets.boundary]))
    return replace(sets, table=table, boundary=boundary)


@dataclass(frozen=True)
class Digest:
    """A stage: sets → `row`, `content` (the same for equal sets of one collection), `size`, `flags`."""

    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        elements, offsets = list_buffers(batch["elements"])
        elements, offsets = elements[offsets[0] : offsets[-1]], offsets - offsets[0]
        # Elements are hashes already: their sum tells sets apart as well as any hash, in whatever order.
        sums: U64 = np.concatenate([np.zeros(1, np.uint64), np.cumsum(elements, dtype=np.uint64)])
        content = sums[offsets[1:]] - sums[offsets[:-1]]
        if self.boundary is not None:
            content = np.where(batch["row"].to_numpy() >= self.boundary, content ^ _OTHER_SIDE, content)
        sizes = np.diff(offsets)
        if "flags" in batch.schema.names:
            flags = batch["flags"]
        else:
            flags = pa.array(np.where(sizes == 0, EMPTY, 0).astype(np.uint8))
        columns = {"row": batch["row"], "content": pa.array(content), "flags": flags}
        return pa.record_batch({**columns, "size": pa.array(sizes.astype(np.uint32))})


@dataclass(frozen=True, eq=False)
class GoOn:
    """A stage: keeps the marked rows, under new numbers."""

    light: ClassVar[bool] = True

    marked: Bools
    numbers: I64

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        kept = batch.select(["row", "elements"]).filter(pa.array(self.marked[batch["row"].to_numpy()]))
        return kept.set_column(0, "row", pa.array(self.numbers[kept["row"].to_numpy()]))
