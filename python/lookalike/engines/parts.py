"""A table that does not fit memory, dealt into parts on disk by ranges of a number."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.engines.gather import Rows
from lookalike.engines.memory import Budget, Spilling
from lookalike.engines.spill import Spilled
from lookalike.engines.verbs import Table
from lookalike.runs.side_by_side import in_turn
from lookalike.types import U64

#: Parts at a time.
PARTS = 64

#: The number of each row of a batch.
NumberOf = Callable[[pa.RecordBatch], U64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A table, and bounds of the numbers of its rows."""

    table: Table
    low: int = 0
    high: int = 2**64 - 1


def bounded(table: Table, number_of: NumberOf) -> Part:
    """A table with the bounds of its numbers; it has rows."""
    low, high = 2**64 - 1, 0
    for batch in table.batches:
        numbers = number_of(batch)
        low, high = min(low, int(numbers.min())), max(high, int(numbers.max()))
    return Part(table=table, low=low, high=high)


def deal(whole: Part, number_of: NumberOf, budget: Budget, threads: int = 1) -> Generator[Part]:
    """The rows in parts by rising ranges of their numbers, those that have any; rows keep their order.

    Where bounds were tight every part is smaller than the whole, so that dealing comes to an end: at the
    latest where all numbers of a part are equal. As many bytes are in memory as a verb may have.
    """
    budget.require_disk(whole.table.batches.nbytes)
    deck = _Deck(whole, number_of, Spilling(budget))
    hands = _hands(whole.table.batches, budget.for_a_verb // (4 * threads))
    with closing(in_turn(hands, deck.deal, threads, reserve=0)) as dealt:
        for hand in dealt:
            deck.add(hand)
    yield from deck.parts()


def _hands(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[list[pa.RecordBatch]]:
    """Batches, a few at a time: one over so many bytes."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size > most:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


class _Dealt(NamedTuple):
    """What a part got of a hand, and the bounds of its numbers."""

    part: int
    pieces: list[Spilled]
    low: int
    high: int


class _Deck:
    def __init__(self, whole: Part, number_of: NumberOf, spilling: Spilling) -> None:
        self._schema = whole.table.schema
        self._low, self._step = whole.low, -(-(whole.high - whole.low + 1) // PARTS)
        self._number_of = number_of
        self._spilling = spilling
        self._pieces: list[list[Spilled]] = [[] for _ in range(PARTS)]
        self._lows, self._highs = [2**64 - 1] * PARTS, [0] * PARTS

    def deal(self, batches: list[pa.RecordBatch]) -> list[_Dealt]:
        """Put batches on disk, those of each part together; on any thread."""
        numbers = np.concatenate([self._number_of(batch) for batch in batches])
        part_of = ((numbers - np.uint64(self._low)) // np.uint64(self._step)).astype(np.uint8)
        order = np.argsort(part_of, kind="stable")
        bounds = np.searchsorted(part_of[order], np.arange(PARTS + 1))
        rows = Rows(batches, self._schema)
        dealt = []
        for part, (start, stop) in enumerate(pairwise(bounds.tolist())):
            if start < stop:
                here = order[start:stop]
                pieces = self._spilling.append(rows.take(here))
                dealt.append(_Dealt(part, pieces, int(numbers[here].min()), int(numbers[here].max())))
        return dealt

    def add(self, hand: list[_Dealt]) -> None:
        """Take what was dealt next."""
        for part, pieces, low, high in hand:
            self._pieces[part] += pieces
            self._lows[part] = min(self._lows[part], low)
            self._highs[part] = max(self._highs[part], high)

    def parts(self) -> Iterator[Part]:
        """What was dealt; each part is let go of when the next is asked for."""
        for part in range(PARTS):
            pieces, self._pieces[part] = self._pieces[part], []
            if pieces:
                table = Table(pieces, self._schema)
                del pieces
                yield Part(table=table, low=self._lows[part], high=self._highs[part])
