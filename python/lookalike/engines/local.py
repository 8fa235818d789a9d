"""One process, its threads, its memory and its disk.

Batches are worked on by a few threads at a time; kernels release the interpreter lock, so the threads are
real. They live no longer than a verb, so a process may fork between verbs. Tables that do not fit the memory
budget are on disk (`spill`); `group` sorts what fits and deals out what does not (`runs`); `fetch` takes as
many items at a time as the rows they name have room (`reach`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from copy import copy
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import pyarrow as pa

from lookalike.engines.again import leave_in_source
from lookalike.engines.ahead import read_ahead
from lookalike.engines.cores import checked_threads
from lookalike.engines.handed_over import handed_over
from lookalike.engines.large_rows import refuse, refused
from lookalike.engines.memory import LARGEST_PIECE, Aside, Budget, Committing
from lookalike.engines.numbering import Numbers
from lookalike.engines.reach import Index, shares
from lookalike.engines.runs import Runs, Unmade
from lookalike.engines.settled import Settling, settle
from lookalike.engines.spill import Batches, Spilled, row_numbers
from lookalike.engines.verbs import Engine, Held, Origin, Stage, Table, as_it_is
from lookalike.errors import OptionError
from lookalike.keywords import suggesting
from lookalike.runs.ledger import Ledger
from lookalike.runs.side_by_side import in_turn
from lookalike.runs.sizes import parse_size

#: A piece of work smaller than this costs more to hand out than to do.
_FEW = 256
#: A row in hand may take this much: with what a stage makes of it, and a few batches a thread.
_BYTES_A_ROW = 1 << 12

S = TypeVar("S")
T = TypeVar("T")


class Made(NamedTuple):
    """What a stage made, a batch or where it is on disk, and of how many rows."""

    batch: pa.RecordBatch | list[Spilled]
    of_rows: int


@suggesting()
class LocalEngine:
    """All verbs on the threads of this process, within a memory budget.

    Parameters
    ----------
    threads
        How many threads work at once; all cores by default. Changes the time, never the answer.
    memory
        How many bytes tables and verbs may take above what Python itself needs; half of what is free by
        default. Changes the time and the disk space used, never the answer.
    scratch
        The folder for what does not fit; the system's one for temporary files by default. What is there has
        no name and is gone when the process is.
    batch_rows
        The most rows of a batch that `group` and `fetch` hand to a stage, runs that must stay whole aside.
        Changes the memory, never the answer.
    ledger
        Where tables are settled, for a run that may be killed and go on; nowhere by default.

    Examples
    --------
    >>> import lookalike as la
    >>> engine = LocalEngine(threads=1, memory=100_000_000)
    >>> len(la.similar_pairs([[1, 2, 3], [1, 2, 3, 4], [7]], threshold=0.7, engine=engine))
    1
    """

    #: Some 200 MB of keys and of room to sort them: more at once is no faster.
    group_rows = 1 << 22

    def __init__(
        self,
        threads: int | None = None,
        *,
        memory: int | None = None,
        scratch: str | Path | None = None,
        batch_rows: int = 1 << 16,
        ledger: Ledger | None = None,
    ) -> None:
        self.threads = checked_threads(threads)
        if batch_rows < 1:
            raise OptionError(f"batch_rows={batch_rows} is out of range: 1 or more")
        self.ledger = ledger
        self.budget = Budget(memory, None if scratch is None else Path(scratch))
        # Fewer where memory is scarce: a stage may make many rows of one.
        self.batch_rows = min(batch_rows, max(_FEW, self.budget.size // _BYTES_A_ROW))
        self.stage_bytes = self.budget.for_a_verb // 2
        # What fetches found out about tables that are still there.
        self._numbers: WeakKeyDictionary[Batches, Numbers] = WeakKeyDictionary()
        self._indices: WeakKeyDictionary[Batches, Index] = WeakKeyDictionary()

    def scan(
        self,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        *,
        lasting: bool = False,
        expected: Callable[[], int] | None = None,
        again: Origin | None = None,
    ) -> Table:
        """Hold what a source reads; the next batch is being read while one goes to disk."""
        if lasting:
            return Table(tuple(batches), schema)
        if self.threads == 1:
            return self._scanned(batches, schema, expected, again)
        with closing(read_ahead(batches)) as ahead:
            return self._scanned(ahead, schema, expected, again)

    def set_aside(self) -> Aside:
        """Room for arrays of the driver, out of what tables may take."""
        return self.budget.set_aside()

    def map(
        self,
        table: Table,
        stage: Stage,
        *,
        advance: Callable[[int], None] | None = None,
        settled: str | None = None,
    ) -> Table:
        """Apply a stage to every batch."""
        if settled is None or self.ledger is None:
            return self._work(self._read(table.batches), stage, table.schema, advance, of_rows=table.rows)

        def step(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
            return self._heard(stage, batch, advance), len(batch)

        def made() -> Generator[tuple[pa.RecordBatch, int]]:
            return self._in_order(self._read(table.batches), step, light=_is_light(stage))

        settling = Settling(self.ledger, settled, self.budget, of_rows=table.rows)
        return settling.table(made, lambda: stage(_empty(table.schema)).schema)

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
        """Apply a stage to the rows with equal keys together."""
        runs = self._runs(key, order, least=least, most=most, repeat_first=repeat_first)
        return self._grouped(table, runs.of(table), stage)

    def sort(self, table: Table, by: tuple[str, ...]) -> Table:
        """The rows in the order of some columns."""
        runs = self._runs(by[0], by[1:], least=1, most=None, repeat_first=False)
        return table if runs.stands(table) else self._grouped(table, runs.in_order(table), as_it_is)

    def settle(self, name: str, make: Callable[[], Table], *, soon: bool = True) -> Table:
        """A table of this run; without a ledger simply the one made now."""
        if self.ledger is not None:
            return settle(self.ledger, name, make, soon=soon)
        return make() if soon else self.budget.relieve(make(), whole=True)

    def unsettled(self) -> LocalEngine:
        """This engine without its ledger."""
        other = copy(self)
        other.ledger = None
        return other

    def fetch(
        self,
        table: Table,
        items: Table,
        on: tuple[str, ...],
        stage: Callable[[pa.RecordBatch, Held], pa.RecordBatch],
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Table:
        """Apply a stage to every batch of `items`, with the rows they name in reach."""
        # Several pieces a thread, so that all are done at about the same time.
        rows = min(self.batch_rows, max(_FEW, items.rows // (8 * self.threads)))
        if table.batches.at_hand:
            # All of the table, where it stands.
            held = Held(table.batches, self._numbers_of(table.batches))
            pieces = ((piece, held) for batch in items.batches for piece in _pieces(batch, rows))
        else:
            room = self.stage_bytes
            pieces = (
                (piece, share.held)
                for share in shares(self._index_of(table.batches), items, on, room, self.budget)
                for piece in _pieces(share.items, rows)
            )

        committing = Committing(self.budget)

        def step(work: tuple[pa.RecordBatch, Held]) -> Made:
            result = stage(*work)
            if advance is not None:
                advance(len(work[0]))
            return Made(committing.ahead(result), len(work[0]))

        fetched = self._committed(
            committing,
            self._in_order(pieces, step, light=False),
            lambda: stage(_empty(items.schema), Held((_empty(table.schema),), Numbers.of(()))).schema,
        )
        if not (table.batches.at_hand and fetched.batches.at_hand):
            self.budget.give_back()
        return fetched

    def fold(
        self, table: Table, stage: Callable[[pa.RecordBatch], T], merge: Callable[[T, T], T]
    ) -> T | None:
        """The stage's value of every batch, merged in the order of the batches."""
        # Merged as they come: a value may be megabytes, and there may be many batches.
        with closing(self._in_order(self._read(table.batches), stage, light=_is_light(stage))) as values:
            first = next(values, None)
            return None if first is None else reduce(merge, values, first)

    def hand_over(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
        """Batches as one Arrow table, mapped from a nameless file if they do not fit memory."""
        return handed_over(batches, schema, self.budget)

    def write(self, table: Table, sink: Callable[[pa.RecordBatch], None]) -> None:
        """Hand every batch to a sink."""
        for batch in table.batches:
            sink(batch)

    def _runs(
        self, key: str, order: tuple[str, ...], *, least: int, most: int | None, repeat_first: bool
    ) -> Runs:
        return Runs(
            key=key,
            order=order,
            least=least,
            most=most,
            repeat_first=repeat_first,
            batch_rows=self.batch_rows,
            threads=self.threads,
            budget=self.budget,
        )

    def _grouped(self, table: Table, batches: Iterator[Unmade], stage: Stage) -> Table:
        """What a stage makes of batches of a table in another order."""
        committing = Committing(self.budget)

        def step(make: Unmade) -> Made:
            batch = make()
            return Made(committing.ahead(stage(batch)), len(batch))

        results = self._in_order(batches, step, light=_is_light(stage))
        grouped = self._committed(committing, results, lambda: stage(_empty(table.schema)).schema)
        if not (table.batches.at_hand and grouped.batches.at_hand):
            self.budget.give_back()
        return grouped

    def _scanned(
        self,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        expected: Callable[[], int] | None,
        again: Origin | None,
    ) -> Table:
        batches = refused(batches, self.budget)
        if again is not None:
            # As many as are in hand at once fit a verb.
            most = min(LARGEST_PIECE, self.budget.for_a_verb // (2 * self.threads + 1))
            return leave_in_source(batches, schema, again, self.budget, most)
        scanned = self.budget.relieve(self.budget.commit(batches, schema, expected=expected))
        if not scanned.batches.at_hand:
            self.budget.give_back()
        return scanned

    def _work(
        self,
        batches: Iterable[pa.RecordBatch],
        stage: Stage,
        schema: pa.Schema,
        advance: Callable[[int], None] | None,
        *,
        of_rows: int | None = None,
    ) -> Table:
        committing = Committing(self.budget, of_rows=of_rows)

        def step(batch: pa.RecordBatch) -> Made:
            return Made(committing.ahead(self._heard(stage, batch, advance)), len(batch))

        results = self._in_order(batches, step, light=_is_light(stage))
        made = self._committed(committing, results, lambda: stage(_empty(schema)).schema)
        if not made.batches.at_hand:
            self.budget.give_back()
        return made

    def _heard(
        self, stage: Stage, batch: pa.RecordBatch, advance: Callable[[int], None] | None
    ) -> pa.RecordBatch:
        result = stage(batch)
        refuse(result, self.budget)
        if advance is not None:
            advance(len(batch))
        return result

    def _committed(
        self, committing: Committing, results: Generator[Made], schema: Callable[[], pa.Schema]
    ) -> Table:
        """Commit what stages made. Without a batch nothing says what that is: ask about an empty one."""
        # Closed whatever happens: an error that somebody keeps would keep threads and batches.
        with closing(results):
            # Nothing is on disk ahead of the first.
            first = next(results, None)
            if first is None:
                return Table((), schema())
            assert isinstance(first.batch, pa.RecordBatch)
            for made in chain([first], results):
                committing.add(*made)
            return Table(committing.done(), first.batch.schema)

    def _read(self, batches: Batches) -> Generator[pa.RecordBatch]:
        """Batches in order; what is on disk is read while others are worked on."""
        if self.threads == 1 or batches.at_hand:
            yield from batches
        else:
            with closing(read_ahead(batches)) as ahead:
                yield from ahead

    def _numbers_of(self, batches: Batches) -> Numbers:
        """The numbers of rows, looked at once a table."""
        if batches not in self._numbers:
            self._numbers[batches] = Numbers.of([row_numbers(piece) for piece in batches.pieces])
        return self._numbers[batches]

    def _index_of(self, batches: Batches) -> Index:
        """Where rows are on disk, looked at once a table."""
        if batches not in self._indices:
            self._indices[batches] = Index(batches.pieces)
        return self._indices[batches]

    def _in_order(self, batches: Iterable[S], step: Callable[[S], T], *, light: bool) -> Generator[T]:
        """The steps' results in the order of the batches, a few at work at once."""
        try:
            yield from in_turn(batches, step, 1 if light else self.threads)
        finally:
            # Whoever reads ahead comes to an end, even where somebody keeps the error.
            if isinstance(batches, Generator):
                batches.close()


#: What an engine can do: whoever has these may be one.
_VERBS = ("scan", "map", "group", "sort", "fetch", "fold", "write")


def local_engine(
    threads: int | None = None, memory: int | str | None = None, scratch: Path | None = None
) -> LocalEngine:
    """An engine of so many threads and so much memory, as a person writes it."""
    return LocalEngine(threads, memory=None if memory is None else parse_size(memory), scratch=scratch)


def engine_of(
    engine: Engine | None = None, threads: int | None = None, memory: int | str | None = None
) -> Engine:
    """The engine that was given, or one of so many threads and so much memory; not both.

    Examples
    --------
    >>> engine_of(threads=1).threads
    1
    """
    if engine is None:
        return local_engine(threads, memory)
    if isinstance(engine, type) or not all(hasattr(engine, verb) for verb in _VERBS):
        raise OptionError(
            f"engine={engine!r:.40} is no engine: leave it out, or give a LocalEngine(threads, memory=…)"
        )
    for name, value in (("threads", threads), ("memory", memory)):
        if value is not None:
            raise OptionError(
                f"{name}={value!r} goes to the engine where one is given: LocalEngine({name}=…)"
            )
    return engine


def _is_light(stage: object) -> bool:
    return bool(getattr(stage, "light", False))


def _pieces(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    return (batch.slice(start, rows) for start in range(0, len(batch), rows))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
