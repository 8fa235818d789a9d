"""Exact copies first: rows with the same shingle set, confirmed, and one representative of each class.

Copies share their signature, so rows are grouped by its hash. Most copies also share the bag of their
shingles (the same text, or the same words in other dress) and are compared with the first of those; the
firsts of different bags are compared with the first of their signature. Each row costs two comparisons at
most. Rows of one signature but different sets, which long near-duplicates often are, stay representatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, Table, as_it_is
from lookalike.joins.items import Items
from lookalike.measures.candidates import SameSet
from lookalike.types import I64, Bools


@dataclass(frozen=True)
class Stars:
    """A stage over grouped rows: each row of a run with the run's first."""

    light: ClassVar[bool] = True

    key: str

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys, rows = batch[self.key].to_numpy(), batch["row"].to_numpy()
        new = np.ones(len(keys), np.bool_)
        new[1:] = keys[1:] != keys[:-1]
        first = rows[np.maximum.accumulate(np.where(new, np.arange(len(keys)), 0))] if len(keys) else rows
        return pa.record_batch({"a": pa.array(first[~new]), "b": pa.array(rows[~new])})


@dataclass(frozen=True, eq=False)
class KeepRows:
    """A stage: keeps the rows whose number is marked, and what tells copies."""

    light: ClassVar[bool] = True

    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        narrow = batch.select([name for name in ("row", "content", "copy") if name in batch.schema.names])
        wanted = self.marked[batch["row"].to_numpy()]
        return narrow if wanted.all() else narrow.filter(pa.array(wanted))


def representatives(
    engine: Engine, items: Items, signed: Table, filled: Bools, keys: tuple[str, ...] = ("copy", "content")
) -> I64:
    """Of every row: itself, or the row it is an exact copy of. Only rows marked as `filled` have copies.

    Of the items only those rows need be there. Rows of one set have the last of the `keys` in common; those
    before it are narrower.
    """
    representative = np.arange(len(filled), dtype=np.int64)
    narrow = engine.map(signed, KeepRows(filled))
    for key in keys:
        stars = engine.group(narrow, key, Stars(key), order=("row",), least=2, repeat_first=True)
        if not items.table.batches.at_hand:
            # Copies often lie near each other, and then what is read for one serves the next.
            stars = engine.group(stars, "a", as_it_is, order=("b",))
        confirmed = engine.fetch(items.table, stars, ("a", "b"), SameSet(items.exact(at_least=1.0).shingler))
        representative[confirmed.column("b")] = confirmed.column("a")
        if key != keys[-1]:
            narrow = engine.map(narrow, KeepRows(representative == np.arange(len(filled))))
    # A row's first of its bag may itself be a copy of the first of its signature.
    return representative[representative]
