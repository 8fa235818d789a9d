"""Rows with equal keys together: sorted in memory, or dealt into parts on disk until each part fits.

Parts are ranges of mixed keys, and a part that does not fit is dealt again. What is left in the end, rows of
one key that are more than memory holds, is dealt by the columns they are to be ordered by.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.gather import Rows, joined
from lookalike.engines.memory import Budget
from lookalike.engines.parts import Part, bounded, deal
from lookalike.engines.verbs import Table
from lookalike.errors import InternalError
from lookalike.types import I64, U32, U64, concatenate

#: Sorting takes the rows and a copy to gather from,
_TIMES = 2
#: and for every row its key and where it was: as they are dealt, as they are sorted, and as they come out.
_SORTING = 44
#: More than one sort takes.
_TOO_MANY = 2**32
#: So many stretches of rows are cut out one by one; more are gathered.
_STRETCHES = 1_000
#: An odd factor, so that different keys stay different.
_FACTOR = 0x9E3779B97F4A7C15


#: Sorted rows from one place to another.
Cut = Callable[[int, int], pa.RecordBatch]
#: A batch that whoever works on it makes first: rows are gathered on all threads then.
Unmade = Callable[[], pa.RecordBatch]


@dataclass(frozen=True, kw_only=True)
class Runs:
    """How rows are to be brought together; see the verb `group`."""

    key: str
    order: tuple[str, ...]
    least: int
    most: int | None
    repeat_first: bool
    #: The most rows of a batch, runs that must stay whole aside.
    batch_rows: int
    threads: int
    budget: Budget

    def of(self, table: Table) -> Iterator[Unmade]:
        """The batches to hand to a stage."""
        if self._fits(table):
            yield from self._in_memory(table)
        else:
            # Made here, as what is unmade would keep a part in memory beside the next.
            with closing(self._of(Part(table=table))) as batches:
                for batch in batches:
                    yield _at_hand(batch)

    def stands(self, table: Table) -> bool:
        """Whether a table in memory is in order of the key already, which is all that is asked for."""
        at_hand = table.batches.at_hand and not self.order
        return at_hand and _rise([_unsigned(batch[self.key], self.key) for batch in table.batches])

    def in_order(self, table: Table) -> Iterator[Unmade]:
        """All rows by the key and the columns of `order`, from batch to batch too."""
        if self._fits(table):
            yield from self._in_memory(table)
        else:
            for batch in self._ordered(table, (self.key, *self.order)):
                yield _at_hand(batch)

    def _of(self, part: Part) -> Generator[pa.RecordBatch]:
        if self._fits(part.table):
            yield from _made(self._in_memory(part.table))
        elif part.low < part.high:
            for smaller in deal(part, self._mixed_keys, self.budget, self.threads):
                yield from self._of(smaller)
        elif self.most is None:
            yield from self._long_run(part.table)
        elif self.least <= part.table.rows <= self.most:
            # One run, and nobody may cut it.
            yield from _made(self._in_memory(part.table))

    def _fits(self, table: Table) -> bool:
        needed = _TIMES * table.batches.nbytes + _SORTING * table.rows
        return needed <= self.budget.for_a_verb and table.rows < _TOO_MANY

    def _mixed_keys(self, batch: pa.RecordBatch) -> U64:
        """Keys in another order, in which they are spread evenly."""
        keys = _unsigned(batch[self.key], self.key)
        mixed: U64 = (keys ^ (keys >> np.uint64(32))) * np.uint64(_FACTOR)
        return mixed

    def _in_memory(self, table: Table) -> Iterator[Unmade]:
        if not table.rows:
            return
        batches = list(table.batches)
        ranks = self._ranks(batches)
        pieces = [_unsigned(batch[self.key], self.key) for batch in batches]
        # What was grouped before often comes in order, and then nothing need be gathered.
        standing = _core.standing_runs(pieces, least=self.least, most=self.most) if ranks is None else None
        if standing is not None:
            keys, cut = self._where_they_stand(batches, pieces, *standing)
        else:
            if ranks is not None:
                pieces = [np.concatenate(pieces)[ranks]]
            keys, step = _core.sorted_runs(pieces, threads=self.threads, least=self.least, most=self.most)
            cut = self._gathered(batches, keys, step if ranks is None else ranks[step])
        del batches, pieces
        for start, stop, first in _cuts(keys, max(self.batch_rows, self.most or 0)):
            yield partial(_piece, cut, start, stop, first if self.repeat_first else None)

    def _ranks(self, batches: list[pa.RecordBatch]) -> U32 | None:
        """Which rows come first by the columns of `order`; None if they come as they are."""
        ranks: U32 | None = None
        # The least important column first: the sort is stable.
        for name in reversed(self.order):
            pieces = [_unsigned(batch[name], name) for batch in batches]
            if ranks is not None or not _rise(pieces):
                pieces = pieces if ranks is None else [np.concatenate(pieces)[ranks]]
                _, step = _core.sorted_runs(pieces, threads=self.threads)
                ranks = step if ranks is None else ranks[step]
        return ranks

    def _where_they_stand(
        self, batches: list[pa.RecordBatch], pieces: list[U64], starts: I64, stops: I64
    ) -> tuple[U64, Cut]:
        """The keys of wanted runs, and their rows, which are stretches of those that stand in order."""
        whole = pa.Table.from_batches(batches)
        keys = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        sizes = stops - starts
        if int(sizes.sum()) == len(keys):
            return keys, _as_they_are(whole)
        if len(starts) > _STRETCHES:
            before = np.cumsum(sizes) - sizes
            ranks = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
            keys = keys[ranks]
            return keys, self._gathered(batches, keys, ranks)
        stretches = list(zip(starts.tolist(), stops.tolist(), strict=True))
        parts = [whole.slice(start, stop - start) for start, stop in stretches]
        keys = concatenate((keys[start:stop] for start, stop in stretches), np.uint64)
        return keys, _as_they_are(pa.concat_tables(parts) if parts else whole.slice(0, 0))

    def _gathered(self, batches: list[pa.RecordBatch], keys: U64, ranks: U32 | I64) -> Cut:
        """Rows in the order of their keys, which are at hand already."""
        schema = batches[0].schema
        at = schema.get_field_index(self.key)
        others = [batch.drop_columns([self.key]) for batch in batches]
        rows = Rows(others, schema.remove(at), few=4 * len(ranks) < sum(map(len, batches)))

        def cut(start: int, stop: int) -> pa.RecordBatch:
            columns = rows.take(ranks[start:stop]).columns
            columns.insert(at, _as_it_was(keys[start:stop], schema.field(at).type))
            return pa.RecordBatch.from_arrays(columns, schema=schema)

        return cut

    def _long_run(self, table: Table) -> Iterator[pa.RecordBatch]:
        """The rows of one key, more than memory holds, in order and in pieces."""
        if table.rows < self.least:
            return
        first = None
        for piece in self._ordered(table, self.order):
            for start in range(0, len(piece), self.batch_rows):
                rows = piece.slice(start, self.batch_rows)
                if first is None:
                    # A copy: the row alone, without the piece it is of.
                    first = rows.take(pa.array([0]))
                elif self.repeat_first:
                    rows = joined([first, rows])
                yield rows

    def _ordered(self, table: Table, order: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Rows by the columns of `order`, in batches."""
        if not order:
            yield from table.batches
        elif self._fits(table):
            # As runs of one column, whose order they then are in.
            by_column = replace(self, key=order[0], order=order[1:], least=1, most=None, repeat_first=False)
            yield from _made(by_column._in_memory(table))
        else:
            column = partial(_column, name=order[0])
            part = bounded(table, column)
            if part.low == part.high:
                yield from self._ordered(table, order[1:])
                return
            for smaller in deal(part, column, self.budget, self.threads):
                yield from self._ordered(smaller.table, order)
                self.budget.give_back()


def _piece(cut: Cut, start: int, stop: int, first: int | None) -> pa.RecordBatch:
    """Rows from one place to another, after the row with which their run began, if that was before."""
    piece = cut(start, stop)
    return piece if first is None else joined([cut(first, first + 1), piece])


def _made(batches: Iterable[Unmade]) -> Iterator[pa.RecordBatch]:
    return (make() for make in batches)


def _at_hand(batch: pa.RecordBatch) -> Unmade:
    return lambda: batch


def _as_they_are(whole: pa.Table) -> Cut:
    return lambda start, stop: joined(whole.slice(start, stop - start).to_batches())


def _column(batch: pa.RecordBatch, name: str) -> U64:
    return _unsigned(batch[name], name)


def _unsigned(column: pa.Array, name: str) -> U64:
    """Whole numbers as unsigned ones, in the same order."""
    if not pa.types.is_integer(column.type) or column.null_count:
        raise InternalError(
            f"cannot group by {name!r} of {column.type}: keys are whole numbers without nulls"
        )
    values = column.to_numpy()
    if pa.types.is_unsigned_integer(column.type):
        unsigned: U64 = values.astype(np.uint64, copy=False)
        return unsigned
    signed: I64 = values.astype(np.int64, copy=False)
    return signed.view(np.uint64) ^ np.uint64(1 << 63)


def _as_it_was(keys: U64, kind: pa.DataType) -> pa.Array:
    """The whole numbers that `_unsigned` made unsigned."""
    values = keys if pa.types.is_unsigned_integer(kind) else (keys ^ np.uint64(1 << 63)).view(np.int64)
    return pa.array(values).cast(kind)


def _rise(pieces: list[U64]) -> bool:
    """Whether the values rise, from piece to piece too."""
    filled = [piece for piece in pieces if len(piece)]
    # Where they do not, the first few mostly tell.
    return all(
        bool(np.all(piece[1:few] >= piece[:few][:-1])) for few in (64, None) for piece in filled
    ) and all(one[-1] <= other[0] for one, other in pairwise(filled))


def _cuts(keys: U64, most: int) -> Iterator[tuple[int, int, int | None]]:
    """Where to cut sorted keys into batches: start, stop, and where a run began that goes on here."""
    start, count = 0, len(keys)
    while start < count:
        stop = min(start + most, count)
        if stop < count and keys[stop - 1] == keys[stop]:
            # Back to where this run begins; if the batch begins there too, the run is longer than a batch.
            begin = int(np.searchsorted(keys[:stop], keys[stop], side="left"))
            if begin > start:
                stop = begin
            else:
                end = int(np.searchsorted(keys, keys[start], side="right"))
                yield from _even_parts(start, end, most)
                start = end
                continue
        yield start, stop, None
        start = stop


def _even_parts(start: int, end: int, most: int) -> Iterator[tuple[int, int, int | None]]:
    """A run in even parts; each but the first knows where the run began."""
    parts = -(-(end - start) // most)
    edges = [start + (end - start) * part // parts for part in range(parts + 1)]
    for part in range(parts):
        yield edges[part], edges[part + 1], None if part == 0 else start
