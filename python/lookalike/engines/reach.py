"""Rows within reach: of a table that memory does not hold, those that some items name at a time.

Items are cut into shares whose rows fit memory together. If each share names rows all over the table, to read
what holds them would be to read the table once a share; then the rows of many shares are dealt out to disk in
one passage, and each share finds its own side by side. What is in memory stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.engines.gather import joined
from lookalike.engines.large_rows import too_large
from lookalike.engines.memory import Budget, Spilling
from lookalike.engines.numbering import Numbers
from lookalike.engines.spill import OnDisk, Piece, Spilled, in_order, row_numbers
from lookalike.engines.verbs import Held, Table
from lookalike.engines.widths import Widths, even_widths, in_bytes, kept_widths
from lookalike.types import F64, I64, concatenate

#: Items looked at in one go.
_ITEMS = 1 << 12
#: Shares whose rows are dealt out together, at most.
_SHARES = 64


class Index:
    """Where the rows of a table are, and about how large: a byte a row, and 8 more if out of order."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._numbers = Numbers.of([row_numbers(piece) for piece in pieces])
        self._starts = np.concatenate([[0], np.cumsum([piece.num_rows for piece in pieces])]).astype(np.int64)
        self._widths: Widths = concatenate(map(_widths, pieces), np.uint8)
        self._on_disk = np.array([isinstance(piece, OnDisk) for piece in pieces], np.bool_)
        #: What it costs to read each batch: nothing where it is in memory.
        self._bytes = np.where(self._on_disk, [piece.nbytes for piece in pieces], 0).astype(np.int64)

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

    def hold(self, places: I64, dealt: Sequence[pa.RecordBatch] | None = None) -> Held:
        """Bring rows into memory; `places` are sorted, each once. Those on disk may have been `dealt` out."""
        cuts = self._cuts(places)
        named = np.diff(cuts)
        batches: list[pa.RecordBatch] = []
        stand: list[I64] = []
        if dealt is not None:
            batches += dealt
            stand.append(self._of_disk(places))
            named = np.where(self._on_disk, 0, named)
        for piece, batch in self._read(np.flatnonzero(named).tolist()):
            if not self._on_disk[piece] and 2 * named[piece] >= len(batch):
                # Named for the most part, and here as it is.
                batches.append(batch)
                stand.append(np.arange(self._starts[piece], self._starts[piece + 1]))
            else:
                batches.append(self._take(piece, places, cuts, batch))
                stand.append(places[cuts[piece] : cuts[piece + 1]])
        return Held(batches, Numbers(self.numbers(concatenate(stand, np.int64))))

    def deal(self, shares: Sequence[I64], room: int, budget: Budget) -> list[list[Spilled]]:
        """Put those rows of several shares that are on disk there again, each share's side by side.

        Each batch is read once, and at most about `room` bytes of the rows are in memory.
        """
        shares = [self._of_disk(places) for places in shares]
        budget.require_disk(sum(float(self.sizes(places).sum()) for places in shares))
        spilling = Spilling(budget)
        cuts = [self._cuts(places) for places in shares]
        touched = np.flatnonzero(np.any([np.diff(cut) for cut in cuts], axis=0)).tolist()
        dealt: list[list[Spilled]] = [[] for _ in shares]
        waiting: list[list[pa.RecordBatch]] = [[] for _ in shares]
        size = 0
        for piece, batch in self._read(touched):
            for share, (places, cut) in enumerate(zip(shares, cuts, strict=True)):
                if cut[piece] < cut[piece + 1]:
                    rows = self._take(piece, places, cut, batch)
                    waiting[share].append(rows)
                    size += rows.nbytes
            if size > room or piece == touched[-1]:
                for share, batches in enumerate(waiting):
                    if batches:
                        dealt[share] += spilling.append(joined(batches))
                        batches.clear()
                size = 0
        return dealt

    def pays_to_deal(self, shares: Sequence[I64]) -> bool:
        """Whether to read what the shares touch once, and write and read their rows, is less to move."""
        touched = [np.diff(self._cuts(places)) > 0 for places in shares]
        one_by_one = sum(int(self._bytes[here].sum()) for here in touched)
        together = int(self._bytes[np.any(touched, axis=0)].sum())
        rows = sum(float(self.sizes(self._of_disk(places)).sum()) for places in shares)
        return one_by_one > together + 2 * rows

    def _of_disk(self, places: I64) -> I64:
        """Those of the places that are in batches on disk."""
        return places[np.repeat(self._on_disk, np.diff(self._cuts(places)))]

    def _cuts(self, places: I64) -> I64:
        """Where the rows of each batch begin among `places`."""
        return np.searchsorted(places, self._starts)

    def _read(self, touched: list[int]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Some batches in order, each with its place."""
        return zip(touched, in_order(self._pieces[piece] for piece in touched), strict=True)

    def _take(self, piece: int, places: I64, cuts: I64, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.take(pa.array(places[cuts[piece] : cuts[piece + 1]] - self._starts[piece]))


def _widths(piece: Piece) -> Widths:
    known = piece.widths if isinstance(piece, OnDisk) else kept_widths(piece)
    return even_widths(piece.nbytes, piece.num_rows) if known is None else known


class Share(NamedTuple):
    """Some items, and the rows they name."""

    items: pa.RecordBatch
    held: Held


class _Cut(NamedTuple):
    """Items cut for a share, and where the rows they name stand."""

    items: pa.RecordBatch
    places: I64


def shares(index: Index, items: Table, on: tuple[str, ...], room: int, budget: Budget) -> Iterator[Share]:
    """Cut items into shares whose rows fit into `room` bytes together, as do the items themselves."""
    waiting: list[_Cut] = []
    size = 0
    for cut in _cut(index, items, on, room):
        waiting.append(cut)
        size += cut.items.nbytes + cut.places.nbytes
        if len(waiting) == _SHARES or size > room // 2:
            yield from _brought(index, waiting, room, budget)
            waiting, size = [], 0
    yield from _brought(index, waiting, room, budget)


def _brought(index: Index, cuts: list[_Cut], room: int, budget: Budget) -> Iterator[Share]:
    """Shares with their rows, brought in one by one or dealt out first."""
    wanted = [cut.places for cut in cuts]
    if len(cuts) < 2 or not index.pays_to_deal(wanted):
        for cut in cuts:
            yield Share(cut.items, index.hold(cut.places))
        return
    dealt = index.deal(wanted, room // 2, budget)
    for cut in cuts:
        yield Share(cut.items, index.hold(cut.places, [piece.load() for piece in dealt.pop(0)]))


def _cut(index: Index, items: Table, on: tuple[str, ...], room: int) -> Iterator[_Cut]:
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

    def done(self) -> Iterator[_Cut]:
        """The share, if there is any; the next begins with nothing."""
        if self._waiting:
            yield _Cut(joined(self._waiting), np.flatnonzero(self._wanted))
            self._wanted[:] = False
            self._waiting, self._size, self.item_bytes = [], 0.0, 0


def _halved(index: Index, items: pa.RecordBatch, on: tuple[str, ...], room: int) -> Iterator[_Cut]:
    named = index.named(items, on)
    needed = int(index.sizes(named).sum())
    if needed <= room:
        yield _Cut(items, named)
    elif len(items) == 1:
        rows = [int(number) for number in index.numbers(named)]
        raise too_large(rows, needed, room)
    else:
        middle = len(items) // 2
        yield from _halved(index, items.slice(0, middle), on, room)
        yield from _halved(index, items.slice(middle), on, room)


def _pieces(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    return (batch.slice(start, rows) for start in range(0, len(batch), rows))
