"""How alike a collection's rows are, from a sample that does not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.measures.candidates import slot_matrix
from lookalike.types import U32, U64

#: Rows sampled: half a million pairs, enough to see similarities that one pair in 100,000 has.
SAMPLE_ROWS = 1000


@dataclass(frozen=True)
class Least:
    """A stage for `fold`: the signatures of the rows with the least content hashes, however rows are cut."""

    count: int = SAMPLE_ROWS

    def __call__(self, batch: pa.RecordBatch) -> tuple[U64, U32]:
        content = batch["content"].to_numpy()
        chosen = np.sort(np.argsort(content, kind="stable")[: self.count])
        return content[chosen], slot_matrix((batch.take(pa.array(chosen)),))

    def merge(self, one: tuple[U64, U32], other: tuple[U64, U32]) -> tuple[U64, U32]:
        """The least of two samples."""
        content = np.concatenate([one[0], other[0]])
        slots = np.concatenate([one[1], other[1]])
        chosen = np.argsort(content, kind="stable")[: self.count]
        return content[chosen], slots[chosen]


def agreement_counts(engine: Engine, signed: Table, slots: int) -> tuple[int, ...]:
    """How many pairs of a sample of rows agree in 0, 1, … slots."""
    least = Least()
    sample = engine.fold(signed, least, least.merge)
    if sample is None:
        return (0,) * (slots + 1)
    return tuple(_core.agreement_histogram(np.ascontiguousarray(sample[1]), threads=engine.threads).tolist())
