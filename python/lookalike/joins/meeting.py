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
from lookalike.joins.only import Only
from lookalike.types import Bools


def shared_buckets(
    engine: Engine, keyed: Table, bands: range, marked: Bools, named: str, *, soon: bool = True
) -> list[Table]:
    """The marked rows of every bucket of some bands that holds two or more, sorted by bucket.

    A few bands at a time. Each table is settled under the name given and the number of its first band, to be
    wanted `soon` or not. How many bands there are in one does not depend on memory: a run may go on with
    another budget.
    """
    at_once = max(1, engine.group_rows // max(1, int(np.count_nonzero(marked))))

    def shared(first: int) -> Table:
        keys = engine.map(keyed, Buckets(first, min(first + at_once, bands.stop), marked))
        return engine.group(keys, "bucket", as_it_is, least=2)

    return [
        engine.settle(f"{named}-{first}", lambda first=first: shared(first), soon=soon)  # type: ignore[misc]
        for first in range(bands.start, bands.stop, at_once)
    ]


@dataclass(frozen=True, eq=False)
class Meeting:
    """The items that meet. A byte a row is with the driver.

    `buckets` are `shared_buckets` (`bucket`, `row`), all rows that are not empty considered: copies share
    their signature, and so all their buckets.
    """

    engine: Engine
    whole: Items
    buckets: list[Table]

    @cached_property
    def meets(self) -> Bools:
        """Which rows meet another."""
        meets = np.zeros(self.whole.rows, np.bool_)

        def mark(batch: pa.RecordBatch) -> None:
            meets[batch["row"].to_numpy()] = True

        for part in self.buckets:
            self.engine.write(part, mark)
        return meets

    @cached_property
    def items(self) -> Items:
        """The items that meet; picked out when somebody asks for them first."""
        return replace(self.whole, table=self.engine.map(self.whole.table, Only(self.meets)))

    def among(self, marked: Bools, first: int = 0) -> list[Table]:
        """The marked rows of the buckets from the table `first` on; one may then hold a single row."""
        return [
            self.engine.map(some, Only(marked), settled=f"shared-{part}")
            for part, some in enumerate(self.buckets[first:], first)
        ]

    def and_also(self, buckets: list[Table]) -> Meeting:
        """With the buckets of further bands: more rows may meet then."""
        return Meeting(self.engine, self.whole, [*self.buckets, *buckets])
