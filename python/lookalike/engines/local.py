"""One process, its threads, its memory.

Batches are worked on by a few threads at a time; kernels release the interpreter lock, so the threads are
real. They live no longer than a verb, so a process may fork between verbs. Tables are held in memory: a verb
needs its input, its output, and for `group` 16 bytes a row to sort by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.engines.verbs import Held, Stage, Table
from lookalike.errors import InternalError, OptionError
from lookalike.types import I64, U64

#: A piece of work smaller than this costs more to hand out than to do.
_FEW = 256

S = TypeVar("S")
T = TypeVar("T")


class LocalEngine:
    """All verbs in memory, on the threads of this process.

    Parameters
    ----------
    threads
        How many threads work at once; all cores by default. Changes the time, never the answer.
    batch_rows
        The most rows of a batch that `group` and `fetch` hand to a stage, runs that must stay whole aside.
        Changes the memory, never the answer.
    """

    #: Some 200 MB of keys and of room to sort them: more at once is no faster.
    group_rows = 1 << 22

    def __init__(self, threads: int | None = None, *, batch_rows: int = 1 << 16) -> None:
        self.threads = checked_threads(threads)
        if batch_rows < 1:
            raise OptionError(f"batch_rows={batch_rows} is out of range: 1 or more")
        self.batch_rows = batch_rows

    def scan(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Table:
        """Hold what a source reads."""
        return Table(tuple(batches), schema)

    def map(self, table: Table, stage: Stage, *, advance: Callable[[int], None] | None = None) -> Table:
        """Apply a stage to every batch."""
        return self._work(table.batches, stage, table.schema, advance)

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
        runs = self._runs(table, key, order, least, most, repeat_first)
        return self._work(runs, stage, table.schema, None)

    def fetch(
        self,
        table: Table,
        items: Table,
        on: tuple[str, ...],
        stage: Callable[[pa.RecordBatch, Held], pa.RecordBatch],
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Table:
        """Apply a stage to every batch of `items`, with all of `table` in reach, where it stands."""
        held = Held(table.batches, _places(table))
        # Several pieces a thread, so that all are done at about the same time.
        rows = min(self.batch_rows, max(_FEW, items.rows // (8 * self.threads)))
        pieces = (batch.slice(start, rows) for batch in items.batches for start in range(0, len(batch), rows))
        return self._work(pieces, lambda batch: stage(batch, held), items.schema, advance)

    def fold(
        self, table: Table, stage: Callable[[pa.RecordBatch], T], merge: Callable[[T, T], T]
    ) -> T | None:
        """The stage's value of every batch, merged in the order of the batches."""
        # Merged as they come: each is small, but all of them together need not be.
        values = self._in_order(table.batches, stage, light=_is_light(stage))
        first = next(values, None)
        return None if first is None else reduce(merge, values, first)

    def write(self, table: Table, sink: Callable[[pa.RecordBatch], None]) -> None:
        """Hand every batch to a sink."""
        for batch in table.batches:
            sink(batch)

    def _work(
        self,
        batches: Iterable[pa.RecordBatch],
        stage: Stage,
        schema: pa.Schema,
        advance: Callable[[int], None] | None,
    ) -> Table:
        def step(batch: pa.RecordBatch) -> pa.RecordBatch:
            result = stage(batch)
            if advance is not None:
                advance(len(batch))
            return result

        results = tuple(self._in_order(batches, step, light=_is_light(stage)))
        # Without a batch nothing says what the stage would have made of one: ask it about an empty one.
        made = results[0].schema if results else stage(_empty(schema)).schema
        return Table(tuple(batch for batch in results if len(batch)), made)

    def _in_order(self, batches: Iterable[S], step: Callable[[S], T], *, light: bool) -> Iterator[T]:
        """The steps' results in the order of the batches, a few at work at once."""
        if self.threads == 1 or light:
            yield from map(step, batches)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: list[Future[T]] = []
            try:
                for batch in batches:
                    waiting.append(pool.submit(step, batch))
                    # Enough in reserve that no thread waits, few enough that results do not pile up unseen.
                    while len(waiting) > 2 * self.threads:
                        yield waiting.pop(0).result()
                while waiting:
                    yield waiting.pop(0).result()
            finally:
                # After an error or Ctrl-C: what has not begun never begins.
                pool.shutdown(cancel_futures=True)

    def _runs(
        self,
        table: Table,
        key: str,
        order: tuple[str, ...],
        least: int,
        most: int | None,
        repeat_first: bool,
    ) -> Iterator[pa.RecordBatch]:
        if not table.rows:
            return
        keys, ranks = self._sorted(table, key, order, least, most)
        if ranks is None:
            rows = _together(*table.batches)
        else:
            whole = pa.Table.from_batches(table.batches)
            columns = [_gathered(column, ranks) for column in whole.columns]
            rows = pa.RecordBatch.from_arrays(columns, schema=table.schema)
        for start, stop, first in _cuts(keys, max(self.batch_rows, most or 0)):
            piece = rows.slice(start, stop - start)
            if repeat_first and first is not None:
                piece = _together(rows.slice(first, 1), piece)
            yield piece

    def _sorted(
        self, table: Table, key: str, order: tuple[str, ...], least: int, most: int | None
    ) -> tuple[U64, Any]:
        """The keys of wanted runs, sorted and unsigned, and which row each is of; None: all, as they are."""
        ranks = None
        # The least important column first: the sort is stable.
        for name in reversed(order):
            pieces = _unsigned(table, name)
            if ranks is not None or not _rise(pieces):
                pieces = pieces if ranks is None else [np.concatenate(pieces)[ranks]]
                _, step = _core.sorted_runs(pieces, threads=self.threads)
                ranks = step if ranks is None else ranks[step]
        pieces = _unsigned(table, key)
        # What was grouped before often comes sorted, and then nothing need be gathered.
        if least <= 1 and most is None and ranks is None and _rise(pieces):
            return np.concatenate(pieces), None
        if ranks is not None:
            pieces = [np.concatenate(pieces)[ranks]]
        keys, step = _core.sorted_runs(pieces, threads=self.threads, least=least, most=most)
        return keys, step if ranks is None else ranks[step]


def _is_light(stage: object) -> bool:
    return bool(getattr(stage, "light", False))


def _unsigned(table: Table, name: str) -> list[U64]:
    """Whole numbers, batch by batch, as unsigned ones in the same order."""
    kind = table.schema.field(name).type
    columns = [batch[name] for batch in table.batches]
    if not pa.types.is_integer(kind) or any(column.null_count for column in columns):
        raise InternalError(
            f"cannot group by column {name!r} of {kind}: keys are whole numbers without nulls"
        )
    values = [column.to_numpy() for column in columns]
    if pa.types.is_unsigned_integer(kind):
        return [piece.astype(np.uint64, copy=False) for piece in values]
    return [piece.astype(np.int64, copy=False).view(np.uint64) ^ np.uint64(1 << 63) for piece in values]


def _rise(pieces: list[U64]) -> bool:
    """Whether the values rise, from piece to piece too."""
    filled = [piece for piece in pieces if len(piece)]
    # Where they do not, the first few mostly tell.
    return all(
        bool(np.all(piece[1:few] >= piece[:few][:-1])) for few in (64, None) for piece in filled
    ) and all(one[-1] <= other[0] for one, other in pairwise(filled))


def _gathered(column: pa.ChunkedArray, ranks: Any) -> pa.Array:
    # NumPy gathers plain numbers several times as fast once they lie in one piece: not worth it for a few.
    if pa.types.is_integer(column.type) and not column.null_count and 4 * len(ranks) > len(column):
        return pa.array(column.to_numpy()[ranks])
    taken = column.take(pa.array(ranks)).combine_chunks()
    return pa.concat_arrays(taken.chunks) if isinstance(taken, pa.ChunkedArray) else taken


def _together(*batches: pa.RecordBatch) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


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
                yield from _long_run(start, end, most)
                start = end
                continue
        yield start, stop, None
        start = stop


def _long_run(start: int, end: int, most: int) -> Iterator[tuple[int, int, int | None]]:
    """A run in even parts; each but the first knows where the run began."""
    parts = -(-(end - start) // most)
    edges = [start + (end - start) * part // parts for part in range(parts + 1)]
    for part in range(parts):
        yield edges[part], edges[part + 1], None if part == 0 else start


def _places(table: Table) -> I64 | None:
    """Where the row of each number stands; None if rows stand in the order of their numbers."""
    rows = table.column("row")
    stands = np.arange(len(rows))
    if np.array_equal(rows, stands):
        return None
    # Numbers may have gaps: a table need not hold every row.
    places = np.full(int(rows.max()) + 1, -1, np.int64)
    places[rows] = stands
    return places


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
