"""Where rows stand, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lookalike.errors import InternalError
from lookalike.types import I64, U32, concatenate

#: In tables of places: there is no such row. No row stands there, for places are 32 bits wide at most.
_NOWHERE = 2**32 - 1


class Numbers:
    """The numbers of rows in the order in which they stand; each number once, gaps allowed.

    Nothing is kept if row i stands at i, else 8 to 24 bytes a row.
    """

    def __init__(self, numbers: I64 | range) -> None:
        self._count = len(numbers)
        self._numbers: I64 | U32 | None = None
        #: The place of every number, if there are few gaps.
        self._places: U32 | None = None
        self._sorted: I64 | U32 = np.empty(0, np.int64)
        self._sorter: I64 = np.empty(0, np.int64)
        if self._count >= _NOWHERE:
            raise InternalError(f"{self._count:,} rows are more than can be told apart (2³² − 2)")
        if isinstance(numbers, range):
            if numbers == range(self._count):
                return
            numbers = np.arange(numbers.start, numbers.stop)
        if np.array_equal(numbers, np.arange(self._count)):
            return
        largest = int(numbers.max())
        self._numbers = numbers.astype(np.uint32) if numbers.min() >= 0 and largest < 2**32 else numbers
        if numbers.min() >= 0 and largest < 4 * self._count:
            self._places = np.full(largest + 1, _NOWHERE, np.uint32)
            self._places[numbers] = np.arange(self._count, dtype=np.uint32)
        else:
            self._sorter = np.argsort(self._numbers, kind="stable")
            self._sorted = self._numbers[self._sorter]

    @classmethod
    def of(cls, parts: Sequence[I64 | range]) -> Numbers:
        """Of rows in several parts, one after the other."""
        filled = [part for part in parts if len(part)]
        ranges = [part for part in filled if isinstance(part, range)]
        if len(ranges) == len(filled) and all(one.stop == other.start for one, other in pairwise(ranges)):
            # Mostly so, and then there is no need to write them down.
            return cls(range(ranges[0].start, ranges[-1].stop) if ranges else range(0))
        return cls(concatenate((np.asarray(part, np.int64) for part in filled), np.int64))

    def places(self, rows: I64) -> I64:
        """Where rows stand.

        Raises
        ------
        InternalError
            If one of them is not there.
        """
        if not len(rows):
            return np.empty(0, np.int64)
        if self._numbers is None:
            known = (rows >= 0) & (rows < self._count)
            places = rows.astype(np.int64, copy=False)
        elif self._places is not None:
            inside = np.clip(rows, 0, len(self._places) - 1)
            places = self._places[inside].astype(np.int64)
            known = (inside == rows) & (places != _NOWHERE)
        else:
            at = np.minimum(np.searchsorted(self._sorted, rows), self._count - 1)
            places, known = self._sorter[at], self._sorted[at] == rows
        if not known.all():
            missing = int(rows[np.argmin(known)])
            raise InternalError(
                f"row {missing} was asked for, and the table has no such row: please report it"
            )
        return places

    def at(self, places: I64) -> I64:
        """The numbers of rows that stand there."""
        return places if self._numbers is None else self._numbers[places].astype(np.int64)
