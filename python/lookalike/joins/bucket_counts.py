"""How often keys occur, by the first bits of their hash: never fewer than there are, and in little memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.types import U32


def added(one: U32, other: U32) -> U32:
    """Counts of both, in place of the first; one that does not fit stays as large as it can be."""
    np.add(one, other, out=one)
    one[one < other] = np.iinfo(np.uint32).max
    return one


@dataclass(frozen=True)
class CountKeys:
    """A stage for `fold`: entries → how many have each beginning of a key, and so at most each key."""

    bits: int

    def __call__(self, batch: pa.RecordBatch) -> U32:
        keys = batch["key"].to_numpy() >> np.uint64(64 - self.bits)
        return np.bincount(keys.astype(np.int64), minlength=1 << self.bits).astype(np.uint32)
