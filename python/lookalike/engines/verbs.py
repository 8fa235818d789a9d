"""The six verbs every engine offers, and what they are spoken over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lookalike.types import I64, U32

#: A stage is a pure function from one Arrow batch to another. One that says of itself that it is `light`, by
#: an attribute, does so little with a batch that handing batches out to threads would cost more.
Stage = Callable[[pa.RecordBatch], pa.RecordBatch]


def as_it_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The stage that changes nothing, for those who only want rows brought together."""
    return batch


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Table:
    """Committed batches of one schema. What is in a table no longer changes."""

    batches: tuple[pa.RecordBatch, ...]
    schema: pa.Schema

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(len(batch) for batch in self.batches)

    def column(self, name: str) -> Any:
        """One column as a NumPy array; for tables small enough for the driver."""
        parts = [batch[name].to_numpy(zero_copy_only=False) for batch in self.batches]
        return np.concatenate(parts) if parts else np.empty(0, self.schema.field(name).type.to_pandas_dtype())

    @classmethod
    def of(cls, **columns: Any) -> Table:
        """A table of one batch, from arrays."""
        batch = pa.record_batch({name: pa.array(values) for name, values in columns.items()})
        return cls((batch,), batch.schema)


@dataclass(frozen=True, eq=False)
class Held:
    """Rows of a table within reach of a stage, by row number."""

    batches: tuple[pa.RecordBatch, ...]
    #: Where the row of a number stands among the batches; None if rows stand in the order of their numbers.
    places: I64 | None

    _views: dict[Any, Any] = field(default_factory=dict, repr=False)

    def views(self, view: Callable[[pa.RecordBatch], T]) -> list[T]:
        """What `view` sees of every batch. Looked at once, however many batches of items come by."""
        if view not in self._views:
            self._views[view] = [view(batch) for batch in self.batches]
        views: list[T] = self._views[view]
        return views

    def at(self, rows: I64) -> U32:
        """Where these rows stand."""
        places = rows if self.places is None else self.places[rows]
        return places.astype(np.uint32)


class Engine(Protocol):
    """Where and how tables are worked on. Results never depend on the engine."""

    threads: int
    #: How many rows the engine groups best at a time; a join that can may hand it more, but in parts.
    group_rows: int

    def scan(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Table:
        """Commit what a source reads."""

    def map(self, table: Table, stage: Stage, *, advance: Callable[[int], None] | None = None) -> Table:
        """Apply a stage to every batch. `advance` hears how many rows are done."""

    def group(
        self,
        table: Table,
        key: str,
        stage: Stage,
        *,
        order: tuple[str, ...] = (),
        least: int = 1,
        most: int | None = None,
        repeat_first: bool = False,
    ) -> Table:
        """Apply a stage to the rows with equal keys together.

        Batches come sorted by `key`, then by the columns of `order`, all of them whole numbers. Runs of
        equal keys with fewer rows than `least`, or with more than `most`, are left out. A run is never cut in
        two if there is a `most`; else one that is longer than a batch may be comes in batches of its own, and
        with `repeat_first` each of those begins with the run's first row.
        """

    def fetch(
        self,
        table: Table,
        items: Table,
        on: tuple[str, ...],
        stage: Callable[[pa.RecordBatch, Held], pa.RecordBatch],
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Table:
        """Apply a stage to every batch of `items`, with rows of `table` that columns `on` name in reach."""

    def fold(
        self, table: Table, stage: Callable[[pa.RecordBatch], T], merge: Callable[[T, T], T]
    ) -> T | None:
        """Bring a small value to the driver: the stage's value of every batch, merged; None of no batches."""

    def write(self, table: Table, sink: Callable[[pa.RecordBatch], None]) -> None:
        """Hand every batch, in order, to a sink."""
