"""A sample of pairs that depends on no order: rows with the least hashes, and all their pairs.

Rows are drawn by hashes of what they hold, the least first, and rows of equal hashes count once. Of two
collections each gives half of the rows, and pairs go across.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, Table
from lookalike.types import I64, U64


@dataclass(frozen=True)
class Least(ABC):
    """A stage for `fold`: the rows from `first` to before `last` with the least hashes, each hash once."""

    count: int
    first: int
    last: int

    @abstractmethod
    def hashes(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        """The hashes of the rows that may be drawn, and their numbers."""

    def __call__(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        hashes, rows = self.hashes(batch)
        here = (rows >= self.first) & (rows < self.last)
        return self.least(hashes[here], rows[here])

    def merge(self, one: tuple[U64, I64], other: tuple[U64, I64]) -> tuple[U64, I64]:
        """Of both the least."""
        return self.least(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))

    def least(self, hashes: U64, rows: I64) -> tuple[U64, I64]:
        """The least hashes and, of equal ones, the least row."""
        order = np.lexsort((rows, hashes))
        new = np.ones(len(order), np.bool_)
        new[1:] = hashes[order][1:] != hashes[order][:-1]
        chosen = order[new][: self.count]
        return hashes[chosen], rows[chosen]

    def drawn(self, engine: Engine, table: Table) -> I64:
        """The numbers of the rows, in order."""
        found = engine.fold(table, self, self.merge)
        return np.empty(0, np.int64) if found is None else np.sort(found[1])


def draw_pairs(
    engine: Engine, table: Table, least: Callable[..., Least], *, count: int, boundary: int | None
) -> tuple[I64, I64]:
    """All pairs of `count` rows; from `boundary` on rows are of a second collection, and pairs go across.

    `least` makes the stage from `count`, `first` and `last`.
    """
    if boundary is None:
        chosen = least(count=count, first=0, last=table.rows).drawn(engine, table)
        one, other = np.triu_indices(len(chosen), 1)
        return chosen[one], chosen[other]
    first = least(count=count // 2, first=0, last=boundary).drawn(engine, table)
    second = least(count=count // 2, first=boundary, last=table.rows).drawn(engine, table)
    return np.repeat(first, len(second)), np.tile(second, len(first))
