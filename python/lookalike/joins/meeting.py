"""Rows that meet: those that share a bucket with another one.

No other row is a copy of one or comes near one, as far as bands tell. So where items do not fit memory, those
that meet are put side by side in one passage, and copies and candidates are looked up there: mostly a small
part of a collection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from lookalike.bands import Buckets
from lookalike.engines import Engine, Table, as_it_is
from lookalike.joins.items import Items
from lookalike.types import Bools

#: Half of what a row of a bucket takes while it is sorted: a stage has half of a verb.
_SORTED_ROW = 36


def shared_buckets(engine: Engine, keyed: Table, bands: int, marked: Bools) -> Table:
    """The marked rows of every bucket that holds two or more of them, a few bands at a time."""
    rows = min(engine.group_rows, engine.stage_bytes // _SORTED_ROW)
    at_once = max(1, rows // max(1, int(np.count_nonzero(marked))))
    parts = []
    for first in range(0, bands, at_once):
        keys = engine.map(keyed, Buckets(first, min(first + at_once, bands), marked))
        parts.append(engine.group(keys, "bucket", as_it_is, least=2))
    return Table.together(parts)


@dataclass(frozen=True, eq=False)
class Meeting:
    """The items that meet. A byte a row is with the driver.

    `buckets` are those that hold two rows or more (`bucket`, `row`), all rows that are not empty considered:
    copies share their signature, and so all their buckets.
    """

    engine: Engine
    whole: Items
    buckets: Table

    @cached_property
    def meets(self) -> Bools:
        """Which rows meet another."""
        meets = np.zeros(self.whole.rows, np.bool_)

        def mark(batch: pa.RecordBatch) -> None:
            meets[batch["row"].to_numpy()] = True

        self.engine.write(self.buckets, mark)
        return meets

    @cached_property
    def items(self) -> Items:
        """The items that meet; picked out when somebody asks for them first."""
        return replace(self.whole, table=self.engine.map(self.whole.table, Only(self.meets)))

    def among(self, marked: Bools) -> Table:
        """The marked rows of the buckets; one of which few are left may hold a single row."""
        return self.engine.map(self.buckets, Only(marked))


@dataclass(frozen=True, eq=False)
class Only:
    """A stage: keeps the rows whose number is marked."""

    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.filter(pa.array(self.marked[batch["row"].to_numpy()]))
