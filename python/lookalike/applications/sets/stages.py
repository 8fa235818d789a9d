"""Batches of lines, lists or edges → sets of hashed elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.measures.tokens import hash_tokens, sets_of_lines, sets_of_lists
from lookalike.types import I64, U64, Sets

#: What every road from sets begins with.
SETS = pa.schema([("row", pa.int64()), ("elements", pa.large_list(pa.uint64()))])


@dataclass(frozen=True)
class LineSets:
    """A stage: `row` and a line → `row`, `elements`, and `id` if lines begin with theirs."""

    separator: str | None
    first: bool
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sets, names = sets_of_lines(
            batch.column(1), separator=self.separator, first=self.first, seed=self.seed
        )
        columns = {"row": batch.column(0), "elements": sets.to_arrow()}
        return pa.record_batch({**columns, "id": names} if self.first else columns)


@dataclass(frozen=True)
class ListSets:
    """A stage: `row` and a list → `row`, `elements`."""

    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sets = sets_of_lists(batch.column(1), seed=self.seed)
        return pa.record_batch({"row": batch.column(0), "elements": sets.to_arrow()})


@dataclass(frozen=True, eq=False)
class Renumber:
    """A stage: rows numbered as they arrived → rows by their number, with the columns of a schema."""

    numbers: I64
    schema: pa.Schema = SETS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = pa.array(self.numbers[batch["row"].to_numpy()])
        return pa.record_batch([rows, *(batch[name] for name in self.schema.names[1:])], schema=self.schema)


@dataclass(frozen=True)
class EdgeKeys:
    """A stage: an item, its set, and perhaps a rating → the `key` of the set, and the `element`."""

    least: float | None
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.least is not None:
            batch = batch.filter(pa.array(batch.column(2).to_numpy() >= self.least))
        return pa.record_batch(
            {
                "key": pa.array(hash_tokens(batch.column(1), seed=self.seed)),
                "element": pa.array(hash_tokens(batch.column(0), seed=self.seed)),
            }
        )


@dataclass(frozen=True, eq=False)
class Gather:
    """A stage for `group`: edges sorted by `key`, then `element` → `row`, `elements`.

    `keys` are the keys of all sets in order, `rows` their rows. A run in pieces gives a piece of its set for
    each; they are put together afterwards.
    """

    keys: U64
    rows: I64

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        key, element = batch["key"].to_numpy(), batch["element"].to_numpy()
        fresh = np.ones(len(key), np.bool_)
        fresh[1:] = (key[1:] != key[:-1]) | (element[1:] != element[:-1])
        key, element = key[fresh], element[fresh]
        starts = (
            np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.empty(0, int)
        )
        rows = self.rows[np.searchsorted(self.keys, key[starts])]
        sets = Sets(element, np.append(starts, len(key)).astype(np.int64))
        return pa.record_batch([pa.array(rows), sets.to_arrow()], schema=SETS)
