"""Rows within reach: of a table that memory does not hold, those that some items name at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.engines.gather import joined
from lookalike.engines.numbering import Numbers
from lookalike.engines.spill import OnDisk, Piece, loaded, row_numbers
from lookalike.engines.verbs import Held, Table
from lookalike.engines.widths import Widths, even_widths, in_bytes, kept_widths
from lookalike.errors import OptionError
from lookalike.types import F64, I64, concatenate

#: Items looked at in one go.
_ITEMS = 1 << 12


class Index:
    """Where the rows of a table are, and about how large: a byte a row, and 8 more if out of order."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._numbers = Numbers.of([row_numbers(piece) for piece in pieces])
        self._starts = np.concatenate([[0], np.cumsum([piece.num_rows for piece in pieces])]).astype(np.int64)
        self._widths: Widths = concatenate(map(_widths, pieces), np.uint8)

    def __len__(self) -> int:
        return len(self._widths)

    def named(self, items: pa.RecordBatch, on: tuple[str, ...]) -> I64:
        """Where the rows stand that items name, sorted, each once."""
        return np.unique(np.concatenate([self._numbers.places(items[name].to_numpy()) for name in on]))

    def numbers(self, places: I64) -> I64:
        """The numbers of rows that stand there."""
        return self._numbers.at(places)

    def sizes(self, places: I64) -> F64:
        """About how many bytes rows take that stand there; rather more than less."""
        return in_bytes(self._widths[places])

    def hold(self, places: I64) -> Held:
        """Bring rows into memory; `places` are sorted, each once."""
        cuts = np.searchsorted(places, self._starts)
        batches = []
        for piece in np.flatnonzero(np.diff(cuts)).tolist():
            here = places[cuts[piece] : cuts[piece + 1]] - self._starts[piece]
            batches.append(loaded(self._pieces[piece]).take(pa.array(here)))
        return Held(batches, Numbers(self.numbers(places)))


def _widths(piece: Piece) -> Widths:
    known = piece.widths if isinstance(piece, OnDisk) else kept_widths(piece)
    return even_widths(piece.nbytes, piece.num_rows) if known is None else known


class Share(NamedTuple):
    """Some items, and the rows they name."""

    items: pa.RecordBatch
    held: Held


def shares(index: Index, items: Table, on: tuple[str, ...], room: int) -> Iterator[Share]:
    """Cut items into shares whose rows fit into `room` bytes together, as do the items themselves.

    Each share reads the batches of the table that hold one of its rows, so items that name the same or
    neighbouring rows should come one after the other.
    """
    share = _Growing(index)
    for batch in items.batches:
        for piece in _pieces(batch, _ITEMS):
            named = index.named(piece, on)
            if share.size_with(named) > room or share.item_bytes > room:
                yield from share.done()
            if share.size_with(named) > room:
                # Fewer items at a time, down to one, whose rows must fit.
                yield from _halved(index, piece, on, room)
            else:
                share.add(piece, named)
    yield from share.done()


class _Growing:
    """A share as it grows: its items, and which rows they name; a byte a row of the table."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._wanted = np.zeros(len(index), np.bool_)
        self._waiting: list[pa.RecordBatch] = []
        self._size = 0.0
        self.item_bytes = 0

    def size_with(self, named: I64) -> float:
        """How many bytes the rows would take, with these."""
        return self._size + float(self._index.sizes(named[~self._wanted[named]]).sum())

    def add(self, items: pa.RecordBatch, named: I64) -> None:
        """Take items that name rows there."""
        self._size = self.size_with(named)
        self._wanted[named] = True
        self._waiting.append(items)
        self.item_bytes += items.nbytes

    def done(self) -> Iterator[Share]:
        """The share, if there is any; the next begins with nothing."""
        if self._waiting:
            yield Share(joined(self._waiting), self._index.hold(np.flatnonzero(self._wanted)))
            self._wanted[:] = False
            self._waiting, self._size, self.item_bytes = [], 0.0, 0


def _halved(index: Index, items: pa.RecordBatch, on: tuple[str, ...], room: int) -> Iterator[Share]:
    named = index.named(items, on)
    needed = int(index.sizes(named).sum())
    if needed <= room:
        yield Share(items, index.hold(named))
    elif len(items) == 1:
        rows = " and ".join(str(number) for number in index.numbers(named))
        raise OptionError(
            f"rows {rows} are too large to compare: they take about {needed:,} bytes together, and the "
            f"memory budget leaves {room:,} for rows at work; allow more with --memory"
        )
    else:
        middle = len(items) // 2
        yield from _halved(index, items.slice(0, middle), on, room)
        yield from _halved(index, items.slice(middle), on, room)


def _pieces(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    return (batch.slice(start, rows) for start in range(0, len(batch), rows))
