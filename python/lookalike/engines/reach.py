"""Rows within reach: of a table that memory does not hold, those that some items name at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.engines.spill import Batches, loaded, row_numbers
from lookalike.engines.verbs import Held, Table
from lookalike.errors import OptionError
from lookalike.types import F64, I64


class Index:
    """Where the rows of a table are, and how large; 12 bytes a row."""

    def __init__(self, table: Table) -> None:
        self._batches: Batches = table.batches
        numbers, sizes = [], []
        for piece in table.batches.pieces:
            numbers.append(row_numbers(piece))
            # A batch holds few megabytes, so its average says enough.
            sizes.append(np.full(piece.num_rows, piece.nbytes / max(1, piece.num_rows), np.float32))
        self.numbers: I64 = np.concatenate(numbers) if numbers else np.empty(0, np.int64)
        self._in_order = bool(np.array_equal(self.numbers, np.arange(len(self.numbers))))
        self._order = None if self._in_order else np.argsort(self.numbers, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum([piece.num_rows for piece in table.batches.pieces])])
        self._sizes: F64 = np.concatenate(sizes) if sizes else np.empty(0)

    def places(self, rows: I64) -> I64:
        """Where rows stand in the table."""
        if self._order is None:
            return rows
        return self._order[np.searchsorted(self.numbers, rows, sorter=self._order)]

    def sizes(self, places: I64) -> F64:
        """About how many bytes rows take that stand there."""
        return self._sizes[places]

    def hold(self, places: I64) -> Held:
        """Bring rows into memory; `places` are sorted, each once."""
        cuts = np.searchsorted(places, self._starts)
        batches = []
        for number, piece in enumerate(self._batches.pieces):
            here = places[cuts[number] : cuts[number + 1]] - self._starts[number]
            if len(here):
                batches.append(loaded(piece).take(pa.array(here)))
        return Held(batches, self.numbers[places])


class Share(NamedTuple):
    """Some items, and the rows they name."""

    items: pa.RecordBatch
    held: Held


def shares(table: Table, items: Table, on: tuple[str, ...], room: int) -> Iterator[Share]:
    """Cut items into shares whose rows fit into `room` bytes together.

    Each share reads the batches of the table that hold one of its rows, so items that name the same or
    neighbouring rows should come one after the other.
    """
    index = Index(table)
    waiting: list[pa.RecordBatch] = []
    wanted = np.empty(0, np.int64)
    for batch in items.batches:
        for piece in _pieces(batch, 1 << 12):
            named = np.unique(np.concatenate([index.places(piece[name].to_numpy()) for name in on]))
            more = np.union1d(wanted, named)
            if waiting and index.sizes(more).sum() > room:
                yield from _share(index, waiting, wanted)
                waiting, more = [], named
            if index.sizes(more).sum() > room:
                # Fewer items at a time, down to one, whose rows must fit.
                yield from _halved(index, piece, on, room)
                more = np.empty(0, np.int64)
            else:
                waiting.append(piece)
            wanted = more
    yield from _share(index, waiting, wanted)


def _halved(index: Index, items: pa.RecordBatch, on: tuple[str, ...], room: int) -> Iterator[Share]:
    named = np.unique(np.concatenate([index.places(items[name].to_numpy()) for name in on]))
    if index.sizes(named).sum() <= room:
        yield from _share(index, [items], named)
    elif len(items) == 1:
        rows = ", ".join(str(index.numbers[place]) for place in named)
        needed = int(index.sizes(named).sum())
        raise OptionError(
            f"rows {rows} are too large to compare: they take {needed:,} bytes together, and the memory "
            f"budget leaves {room:,} for rows at work; allow more with --memory"
        )
    else:
        middle = len(items) // 2
        yield from _halved(index, items.slice(0, middle), on, room)
        yield from _halved(index, items.slice(middle), on, room)


def _share(index: Index, waiting: list[pa.RecordBatch], wanted: I64) -> Iterator[Share]:
    if waiting:
        together = pa.Table.from_batches(waiting).combine_chunks().to_batches()
        held = index.hold(wanted)
        for items in together:
            yield Share(items, held)


def _pieces(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    return (batch.slice(start, rows) for start in range(0, len(batch), rows))
