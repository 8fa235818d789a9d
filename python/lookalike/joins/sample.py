"""How alike a collection's rows are, from a sample that does not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.measures.candidates import slot_matrix
from lookalike.types import U32, U64, Bools

#: Rows sampled: half a million pairs, enough to see similarities that one pair in 100,000 has.
SAMPLE_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Least:
    """A stage for `fold`: the least content hashes of marked rows. Any cut of the rows gives the same."""

    light: ClassVar[bool] = True

    count: int
    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> U64:
        return self._least(batch["content"].to_numpy()[self.marked[batch["row"].to_numpy()]])

    def merge(self, one: U64, other: U64) -> U64:
        """The least of both."""
        return self._least(np.concatenate([one, other]))

    def _least(self, content: U64) -> U64:
        return content if len(content) <= self.count else np.partition(content, self.count)[: self.count]


@dataclass(frozen=True, eq=False)
class UpTo:
    """A stage for `fold`: signatures of `count` marked rows at most with content hashes up to a limit.

    Rows of one content hash have one signature, so it does not matter which of them are taken.
    """

    light: ClassVar[bool] = True

    limit: int
    count: int
    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> tuple[U64, U32]:
        content = batch["content"].to_numpy()
        chosen = np.flatnonzero((content <= np.uint64(self.limit)) & self.marked[batch["row"].to_numpy()])
        chosen = chosen[np.argsort(content[chosen], kind="stable")[: self.count]]
        return content[chosen], slot_matrix((batch,))[chosen]

    def merge(self, one: tuple[U64, U32], other: tuple[U64, U32]) -> tuple[U64, U32]:
        """The least of both."""
        content, slots = np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
        chosen = np.argsort(content, kind="stable")[: self.count]
        return content[chosen], slots[chosen]


def agreement_counts(
    engine: Engine, signed: Table, slots: int, marked: Bools, *, rows: int = SAMPLE_ROWS
) -> tuple[int, ...]:
    """How many pairs of a sample of the marked rows agree in 0, 1, … slots."""
    least = Least(rows, marked)
    contents = engine.fold(signed, least, least.merge)
    if contents is None or not len(contents):
        return (0,) * (slots + 1)
    up_to = UpTo(int(contents.max()), rows, marked)
    sample = engine.fold(signed, up_to, up_to.merge)
    assert sample is not None
    matrix = np.ascontiguousarray(sample[1])
    return tuple(_core.agreement_histogram(matrix, threads=engine.threads).tolist())
