"""The seven verbs every engine offers, and what they are spoken over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lookalike.engines.numbering import Numbers
from lookalike.engines.spill import Batches, Piece
from lookalike.types import I64, U32

#: A stage is a pure function from one Arrow batch to another. One that says of itself that it is `light`, by
#: an attribute, does so little with a batch that handing batches out to threads would cost more.
Stage = Callable[[pa.RecordBatch], pa.RecordBatch]


def as_it_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The stage that changes nothing, for those who only want rows brought together."""
    return batch


T = TypeVar("T")


class Table:
    """Committed batches of one schema, in memory or on disk. What is in a table no longer changes."""

    def __init__(self, batches: Sequence[Piece] | Batches, schema: pa.Schema) -> None:
        self.batches = batches if isinstance(batches, Batches) else Batches(batches)
        self.schema = schema

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.batches.rows

    def column(self, name: str) -> Any:
        """One column as a NumPy array, not to be written to; for tables small enough for the driver."""
        parts = [batch[name].to_numpy(zero_copy_only=False) for batch in self.batches]
        if len(parts) == 1:
            return parts[0]
        if parts:
            return np.concatenate(parts)
        return pa.array([], self.schema.field(name).type).to_numpy(zero_copy_only=False)

    @classmethod
    def of(cls, **columns: Any) -> Table:
        """A table of one batch, from arrays."""
        batch = pa.record_batch({name: pa.array(values) for name, values in columns.items()})
        return cls((batch,), batch.schema)

    @classmethod
    def together(cls, tables: Sequence[Table]) -> Table:
        """The batches of all tables, one after the other. There is at least one table."""
        return cls([piece for table in tables for piece in table.batches.pieces], tables[0].schema)


class Held:
    """Rows of a table within reach of a stage, by row number.

    Parameters
    ----------
    batches
        Where the rows are.
    numbers
        The numbers of the rows in the order in which they stand.
    """

    def __init__(self, batches: Sequence[pa.RecordBatch], numbers: Numbers) -> None:
        self.batches = tuple(batches)
        self._numbers = numbers
        self._views: dict[Any, Any] = {}

    def views(self, view: Callable[[pa.RecordBatch], T]) -> list[T]:
        """What `view` sees of every batch. Looked at once, however many batches of items come by."""
        if view not in self._views:
            self._views[view] = [view(batch) for batch in self.batches]
        views: list[T] = self._views[view]
        return views

    def whole(self, view: Callable[[Sequence[pa.RecordBatch]], T]) -> T:
        """What `view` sees of all batches together. Looked at once."""
        if view not in self._views:
            self._views[view] = view(self.batches)
        seen: T = self._views[view]
        return seen

    def at(self, rows: I64) -> U32:
        """Where these rows stand; an error if one of them is not here."""
        return self._numbers.places(rows).astype(np.uint32)


class Aside(Protocol):
    """Bytes that the driver takes for arrays of its own, counted until nobody holds this."""

    def grow(self, size: int) -> None:
        """Count so many more."""


class Origin(Protocol):
    """Where rows lie. They are the same whenever they are read; if they cannot be, reading is an error."""

    def read(self, start: int) -> Iterator[pa.RecordBatch]:
        """All columns but `row` of the rows from `start` on, as they arrived, in batches of any size."""

    def begins(self, row: int) -> int:
        """The last place up to a row from which on nothing is read in vain."""


class Engine(Protocol):
    """Where and how tables are worked on. Results never depend on the engine."""

    threads: int
    #: How many rows the engine groups best at a time; a join that can may hand it more, but in parts.
    group_rows: int
    #: How many bytes a stage may hold beside the batches it is handed.
    stage_bytes: int

    def scan(
        self,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        *,
        lasting: bool = False,
        expected: Callable[[], int] | None = None,
        again: Origin | None = None,
    ) -> Table:
        """Commit what a source reads.

        `lasting` batches stay in memory with the source, whatever we do. `expected` says how many bytes there
        will be at least, so that a disk without room for them is noticed early. What can be read `again`, as
        fast as from disk, need not be copied there; its first column is `row`.
        """

    def set_aside(self) -> Aside:
        """Room for arrays of the driver: what is taken here tables do not get."""

    def map(
        self,
        table: Table,
        stage: Stage,
        *,
        advance: Callable[[int], None] | None = None,
        settled: str | None = None,
    ) -> Table:
        """Apply a stage to every batch. `advance` hears how many rows are done.

        What is made is `settled` under a name, if there is one: as by `settle`, but while it is made.
        """

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

        Equal keys come together, in the order of the columns of `order`, all of them whole numbers; a batch
        is sorted by key, and in which order batches come is the engine's affair. Runs of equal keys with
        fewer rows than `least`, or with more than `most`, are left out. A run is never cut in two if there is
        a `most`; else one that is longer than a batch may be comes in batches of its own, one after the
        other, and with `repeat_first` each of those begins with the run's first row.
        """

    def sort(self, table: Table, by: tuple[str, ...]) -> Table:
        """The rows in the order of some columns, all of them whole numbers, from batch to batch too."""

    def settle(self, name: str, make: Callable[[], Table], *, soon: bool = True) -> Table:
        """A table that is there again when a run is killed and goes on; made if it is not there yet.

        What `make` makes must follow from the inputs, the run's parameters and tables settled before. Unless
        the table is wanted again `soon`, memory is left to others.
        """

    def unsettled(self) -> Engine:
        """This engine for a part of the work whose tables are not settled, as names would come twice."""

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

    def hand_over(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
        """Batches as one Arrow table for whoever asked; what does not fit memory is mapped from disk."""

    def write(self, table: Table, sink: Callable[[pa.RecordBatch], None]) -> None:
        """Hand every batch, in order, to a sink."""
