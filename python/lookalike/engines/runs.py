"""Rows with equal keys together: sorted in memory, or parted by key on disk until each part fits.

A part that does not fit is parted again by other bits of the key. What is left in the end, rows of one key
that are more than memory holds, is parted by the columns they are to be ordered by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.memory import Budget
from lookalike.engines.spill import Spilled, SpillFile
from lookalike.engines.verbs import Table
from lookalike.errors import InternalError
from lookalike.types import I64, U64

#: Sorting takes the rows, their order, and the rows again in that order.
_TIMES = 3
#: What a part gathers before it is written.
_BLOCK = 1 << 19
#: Parts at a time: so many blocks must fit.
_PARTS = 64
#: Odd factors: each deals the same keys out to other parts.
_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)


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

    def of(self, table: Table, depth: int = 0) -> Iterator[pa.RecordBatch]:
        """The batches to hand to a stage."""
        if not table.rows:
            return
        if _TIMES * table.batches.nbytes <= self.budget.for_a_verb:
            yield from self._in_memory(table)
        elif depth < len(_FACTORS) and not _one_key(table, self.key):
            for part in self._parted(table, lambda batch: self._by_key(batch, _FACTORS[depth])):
                yield from self.of(part, depth + 1)
        elif self.most is None and _one_key(table, self.key):
            yield from self._long_run(table)
        elif self.most is not None and _one_key(table, self.key) and table.rows > self.most:
            return
        else:
            # Four deals have left rows of several keys that are too many: sort them all the same.
            yield from self._in_memory(table)

    def _by_key(self, batch: pa.RecordBatch, factor: int) -> I64:
        keys = _unsigned(batch[self.key], self.key)
        with np.errstate(over="ignore"):
            mixed = (keys ^ (keys >> np.uint64(32))) * np.uint64(factor)
        return (mixed >> np.uint64(64 - _PARTS.bit_length() + 1)).astype(np.int64)

    def _parted(self, table: Table, part_of: Any) -> Iterator[Table]:
        """The table in parts, on disk; rows keep their order."""
        file = SpillFile(table.schema, self.budget.scratch)
        waiting: list[list[pa.RecordBatch]] = [[] for _ in range(_PARTS)]
        parts: list[list[Spilled]] = [[] for _ in range(_PARTS)]

        def flush(part: int) -> None:
            if waiting[part]:
                parts[part].append(file.append(_together(waiting[part])))
                waiting[part] = []

        for batch in table.batches:
            numbers = part_of(batch)
            order = np.argsort(numbers, kind="stable")
            dealt = batch.take(pa.array(order))
            bounds = np.searchsorted(numbers[order], np.arange(_PARTS + 1))
            for part, (start, stop) in enumerate(pairwise(bounds.tolist())):
                if stop > start:
                    waiting[part].append(dealt.slice(start, stop - start))
                    if sum(piece.nbytes for piece in waiting[part]) > _BLOCK:
                        flush(part)
        for part in range(_PARTS):
            flush(part)
            yield Table(parts[part], table.schema)

    def _in_memory(self, table: Table) -> Iterator[pa.RecordBatch]:
        batches = list(table.batches)
        keys, ranks = self._sorted(batches, table.schema)
        if ranks is None:
            rows = _together(batches)
        else:
            whole = pa.Table.from_batches(batches)
            columns = [_gathered(column, ranks) for column in whole.columns]
            rows = pa.RecordBatch.from_arrays(columns, schema=table.schema)
        for start, stop, first in _cuts(keys, max(self.batch_rows, self.most or 0)):
            piece = rows.slice(start, stop - start)
            if self.repeat_first and first is not None:
                piece = _together([rows.slice(first, 1), piece])
            yield piece

    def _sorted(self, batches: list[pa.RecordBatch], schema: pa.Schema) -> tuple[U64, Any]:
        """The keys of wanted runs, sorted and unsigned, and which row each is of; None: all, as they are."""
        ranks = None
        # The least important column first: the sort is stable.
        for name in reversed(self.order):
            pieces = [_unsigned(batch[name], name) for batch in batches]
            if ranks is not None or not _rise(pieces):
                pieces = pieces if ranks is None else [np.concatenate(pieces)[ranks]]
                _, step = _core.sorted_runs(pieces, threads=self.threads)
                ranks = step if ranks is None else ranks[step]
        pieces = [_unsigned(batch[self.key], self.key) for batch in batches]
        # What was grouped before often comes sorted, and then nothing need be gathered.
        if self.least <= 1 and self.most is None and ranks is None and _rise(pieces):
            return np.concatenate(pieces), None
        if ranks is not None:
            pieces = [np.concatenate(pieces)[ranks]]
        keys, step = _core.sorted_runs(pieces, threads=self.threads, least=self.least, most=self.most)
        return keys, step if ranks is None else ranks[step]

    def _long_run(self, table: Table) -> Iterator[pa.RecordBatch]:
        """The rows of one key, more than memory holds, in order and in pieces."""
        if table.rows < self.least:
            return
        first = None
        for piece in self._ordered(table, self.order):
            for start in range(0, len(piece), self.batch_rows):
                rows = piece.slice(start, self.batch_rows)
                if first is None:
                    first = _together([rows.slice(0, 1)])
                elif self.repeat_first:
                    rows = _together([first, rows])
                yield rows

    def _ordered(self, table: Table, order: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Rows by the columns of `order`, in batches."""
        if not order:
            yield from table.batches
        elif _TIMES * table.batches.nbytes <= self.budget.for_a_verb:
            # As runs of one column, whose order they then are in.
            by_column = replace(self, key=order[0], order=order[1:], least=1, most=None, repeat_first=False)
            yield from by_column._in_memory(table)
        else:
            values = [_unsigned(batch[order[0]], order[0]) for batch in table.batches]
            low = min(int(piece.min()) for piece in values)
            high = max(int(piece.max()) for piece in values)
            if low == high:
                yield from self._ordered(table, order[1:])
                return
            step = -(-(high - low + 1) // _PARTS)

            def part_of(batch: pa.RecordBatch) -> I64:
                return ((_unsigned(batch[order[0]], order[0]) - np.uint64(low)) // np.uint64(step)).astype(
                    np.int64
                )

            for part in self._parted(table, part_of):
                yield from self._ordered(part, order) if part.rows else ()


def _one_key(table: Table, key: str) -> bool:
    first = None
    for batch in table.batches:
        values = _unsigned(batch[key], key)
        first = values[0] if first is None else first
        if np.any(values != first):
            return False
    return True


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


def _together(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
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
