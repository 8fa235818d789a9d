"""A sample of pairs that depends on no order: rows with the least hashes, and all their pairs.

Rows are drawn by hashes of what they hold, the least first, and rows of equal hashes count once. Of two
collections each gives half of the rows, and pairs go across.
"""

from __future__ import annotations

import json
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
        return self.counted(engine, table)[0]

    def counted(self, engine: Engine, table: Table) -> tuple[I64, int]:
        """The numbers of the rows, in order, and about how many different hashes there are."""
        found = engine.fold(table, self, self.merge)
        if found is None:
            return np.empty(0, np.int64), 0
        hashes, rows = found
        return np.sort(rows), about_distinct(hashes, self.count, self.last - self.first)


def about_distinct(least: U64, asked: int, most: int) -> int:
    """About how many different hashes there are, from the least of them; exact if fewer than `asked`.

    Examples
    --------
    The tenth of them lies at an eighth of all there could be.

    >>> about_distinct(np.arange(1, 11, dtype=np.uint64) << np.uint64(57), 10, 1_000)
    115
    """
    if len(least) < asked or len(least) < 2:
        return len(least)
    # They are spread evenly over 2⁶⁴, so the k-th least lies near k / distinct of the way.
    return min(most, round((asked - 1) / (int(least[-1]) + 1) * 2.0**64))


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnPairs:
    """Sampled pairs, `a` and `b`, and about how many different rows each collection has."""

    a: I64
    b: I64
    distinct: tuple[int, ...]

    def noted_on(self, compared: Table, **more: str) -> Table:
        """A table of these pairs with these numbers beside its columns, so that both are settled together."""
        noted = {_DISTINCT: json.dumps(self.distinct), **more}
        return Table(compared.batches, compared.schema.with_metadata(noted))


_DISTINCT = "distinct"


def distinct_noted(table: Table) -> tuple[int, ...]:
    """How many different rows each collection has, as `DrawnPairs.noted_on` left it."""
    return tuple(json.loads(table.schema.metadata[_DISTINCT.encode()]))


def draw_pairs(
    engine: Engine, table: Table, least: Callable[..., Least], *, count: int, boundary: int | None
) -> DrawnPairs:
    """All pairs of `count` rows; from `boundary` on rows are of a second collection, and pairs go across.

    `least` makes the stage from `count`, `first` and `last`.
    """
    if boundary is None:
        chosen, distinct = least(count=count, first=0, last=table.rows).counted(engine, table)
        one, other = np.triu_indices(len(chosen), 1)
        return DrawnPairs(a=chosen[one], b=chosen[other], distinct=(distinct,))
    first, firsts = least(count=count // 2, first=0, last=boundary).counted(engine, table)
    second, seconds = least(count=count // 2, first=boundary, last=table.rows).counted(engine, table)
    a, b = np.repeat(first, len(second)), np.tile(second, len(first))
    return DrawnPairs(a=a, b=b, distinct=(firsts, seconds))
