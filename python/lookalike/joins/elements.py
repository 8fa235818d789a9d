"""Items as sets of elements, whatever they came as, and who holds what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.items import Items
from lookalike.types import I64, U32, Bools, Sets, list_buffers, string_buffers


def sets_of(batch: pa.RecordBatch, shingler: _core.Shingler | None) -> Sets:
    """The sets of a batch of items: of `text` by the shingler, or `elements` as they are."""
    if shingler is None:
        elements, offsets = list_buffers(batch["elements"])
        return Sets(elements[offsets[0] : offsets[-1]], offsets - offsets[0])
    return Sets(*shingler.sets(string_buffers(batch["text"]), threads=1))


def shingler_of(items: Items) -> _core.Shingler | None:
    """How these items become sets; None if they are."""
    return None if items.shingle is None else items.shingle.shingler(items.seed)


@dataclass(frozen=True)
class SetTexts:
    """A stage: `row`, `text` → `row`, `elements`, and what was odd about each text (`flags`)."""

    shingler: _core.Shingler

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        texts = string_buffers(batch["text"])
        elements, offsets, flags = self.shingler.flagged_sets(texts, threads=1)
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(elements))
        return pa.record_batch({"row": batch["row"], "elements": lists, "flags": pa.array(flags)})


@dataclass(frozen=True)
class Invert:
    """A stage: items → who holds what (`element`, `row`), a line for each element of each set."""

    shingler: _core.Shingler | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sets = sets_of(batch, self.shingler)
        rows = np.repeat(batch["row"].to_numpy().astype(np.uint32), np.diff(sets.offsets))
        return pa.record_batch({"element": pa.array(sets.elements), "row": pa.array(rows)})


def lines_per_row(engine: Engine, table: Table, rows: int) -> U32:
    """How many lines of a table name each of the rows 0, 1, …: 4 bytes a row, at the driver."""
    parts = engine.fold(table, _counted, lambda one, other: one + other) or []
    lines = np.zeros(rows, np.uint32)
    for row, count in parts:
        # One row may come in several parts, but in each of them once.
        lines[row] += count.astype(np.uint32)
    return lines


def _counted(batch: pa.RecordBatch) -> list[tuple[U32, I64]]:
    return [np.unique(batch["row"].to_numpy(), return_counts=True)]


@dataclass(frozen=True, eq=False)
class Sizes:
    """A stage: items → how many elements each marked one holds (`row`, `size`)."""

    shingler: _core.Shingler | None
    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.filter(pa.array(self.marked[batch["row"].to_numpy()]))
        sizes = np.diff(sets_of(batch, self.shingler).offsets)
        return pa.record_batch({"row": batch["row"], "size": pa.array(sizes)})
