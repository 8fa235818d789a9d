"""Important words: of every document, those that the fewest documents of the collection hold.

How many hold a word is a fact of the collection, so it takes a pass of its own: `CountDocuments` of every
batch, merged by `add_frequencies`, is what `RarestWords` needs to turn texts into sets. The table of counts
has the same 4 MiB for any collection, and does not depend on how the collection came in batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.errors import InternalError
from lookalike.shingles.spec import Shingle
from lookalike.types import U32, Sets, string_buffers


def no_frequencies() -> U32:
    """The table of a collection without documents."""
    return np.zeros(_core.FREQUENCY_COUNTERS, np.uint32)


def add_frequencies(one: U32, other: U32) -> U32:
    """The table of two collections together."""
    total: U32 = one + other
    # A counter that is full stays full: gone round to 0 it would make the commonest words the rarest.
    total[total < one] = np.iinfo(np.uint32).max
    return total


@dataclass(frozen=True)
class CountDocuments:
    """A stage for `fold`: `text` → in how many documents each word occurs."""

    shingle: Shingle
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> U32:
        return _every_word(self.shingle, self.seed).document_frequencies(string_buffers(batch["text"]))


@dataclass(frozen=True, eq=False)
class RarestWords:
    """A stage: `row`, `text` → `row`, the `elements` of a set of rare words, and `flags` of the text."""

    shingle: Shingle
    seed: int
    frequencies: U32

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.shingle.rare is None:
            raise InternalError(f"{self.shingle} does not say how many words to keep")
        elements, offsets, flags = _every_word(self.shingle, self.seed).rarest(
            string_buffers(batch["text"]), self.frequencies, most=self.shingle.rare, threads=1
        )
        sets = Sets(elements, offsets).to_arrow()
        return pa.record_batch({"row": batch["row"], "elements": sets, "flags": pa.array(flags)})


def _every_word(shingle: Shingle, seed: int) -> _core.Shingler:
    return replace(shingle, rare=None).shingler(seed)
