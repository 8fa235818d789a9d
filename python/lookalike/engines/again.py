"""Batches that lie in a source: what can be read again as fast as a spill file need not be copied to one.

A table of them is read in one go from batch to batch. One batch alone is found from the nearest place where
reading can begin, so whoever wants several asks for them in order (`spill.in_order`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa

from lookalike.engines.gather import joined
from lookalike.engines.memory import Budget, cut
from lookalike.engines.spill import OnDisk, Piece, in_a_row
from lookalike.engines.verbs import Origin, Table
from lookalike.engines.widths import Widths, kept_widths
from lookalike.errors import InternalError
from lookalike.types import I64, U32


@dataclass(frozen=True, eq=False, kw_only=True)
class InSource(OnDisk):
    """A batch of rows that arrived one after the other, from `start` on; its first column is `row`."""

    origin: Origin
    schema: pa.Schema
    start: int
    num_rows: int
    nbytes: int
    numbers: range | I64 | U32
    widths: Widths | None

    def load(self) -> pa.RecordBatch:
        """Read it again."""
        return next(self.load_all((self,)))

    @classmethod
    def load_all(cls, pieces: Iterable[Self]) -> Iterator[pa.RecordBatch]:
        """Read several again, in one go as far as they follow one another."""
        reading: _Reading | None = None
        for piece in pieces:
            if reading is None or not reading.leads_to(piece):
                reading = _Reading(piece.origin, piece.start)
            columns = reading.rows(piece.start, piece.num_rows).columns
            numbers = piece.numbers
            if isinstance(numbers, range):
                numbers = np.arange(numbers.start, numbers.stop)
            rows = pa.array(numbers.astype(np.int64, copy=False))
            yield pa.record_batch([rows, *columns], schema=piece.schema)

    def numbered(self, numbers: I64 | U32) -> Self:
        """The same rows under other numbers, given for all rows as they arrived."""
        return replace(self, numbers=numbers[self.start : self.start + self.num_rows])


class _Reading:
    """A source that is being read, from some row on."""

    def __init__(self, origin: Origin, start: int) -> None:
        self._origin = origin
        self._batches = origin.read(start)
        self._at = start
        self._rest: pa.RecordBatch | None = None

    def leads_to(self, piece: InSource) -> bool:
        """Whether to read on is the shortest way to a piece."""
        return piece.origin is self._origin and self._origin.begins(piece.start) <= self._at <= piece.start

    def rows(self, start: int, count: int) -> pa.RecordBatch:
        """So many rows, from a row on that has not been passed yet."""
        parts: list[pa.RecordBatch] = []
        while self._at < start + count:
            batch = next(self._batches, None) if self._rest is None else self._rest
            if batch is None:
                raise InternalError(f"a source ended at row {self._at}, and was longer before")
            passed = min(max(0, start - self._at), len(batch))
            taken = min(start + count - self._at - passed, len(batch) - passed)
            if taken > 0:
                parts.append(batch.slice(passed, taken))
            done = passed + max(0, taken)
            self._at += done
            self._rest = batch.slice(done) if done < len(batch) else None
        return joined(parts)


def leave_in_source(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, origin: Origin, budget: Budget, most: int
) -> Table:
    """Commit numbered rows of an origin: all of them in memory or, if they do not fit, none.

    Those that stay in the source are read again in batches of at most about so many bytes.
    """
    lying: list[InSource] = []
    held: list[Piece] = []
    fits = True
    start = 0
    for batch in batches:
        for piece in cut(batch, most):
            lying.append(_lying(piece, origin, start))
            start += len(piece)
        taken = budget.take(batch) if fits else None
        if taken is None:
            # What memory there is goes to tables that lie nowhere else.
            fits = False
            held.clear()
        else:
            held.append(taken)
    return Table(held if fits and not budget.is_over else lying, schema)


def renumbered(table: Table, numbers: I64 | U32) -> Table | None:
    """The rows of a table under other numbers, if all of them lie in their source; else None."""
    pieces: Sequence[Piece] = table.batches.pieces
    lying = [piece for piece in pieces if isinstance(piece, InSource)]
    if len(lying) < len(pieces):
        return None
    return Table([piece.numbered(numbers) for piece in lying], table.schema)


def _lying(batch: pa.RecordBatch, origin: Origin, start: int) -> InSource:
    numbers = in_a_row(batch)
    return InSource(
        origin=origin,
        schema=batch.schema,
        start=start,
        num_rows=len(batch),
        nbytes=batch.nbytes,
        numbers=batch["row"].to_numpy() if numbers is None else numbers,
        widths=kept_widths(batch),
    )
