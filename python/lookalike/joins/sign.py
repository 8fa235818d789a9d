"""Texts or sets → signed rows: the fused call, one kernel call a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.families import MinHash
from lookalike.shingles import Shingle
from lookalike.types import Sets, Signatures, list_buffers


@dataclass(frozen=True)
class SignTexts:
    """A stage: `row`, `text` → signed rows."""

    family: MinHash
    shingle: Shingle

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        shingler = self.shingle.shingler(self.family.seed)
        return _signed(batch, self.family.signatures_of_texts(batch["text"], shingler, threads=1))


@dataclass(frozen=True)
class SignSets:
    """A stage: `row`, `elements`, and `flags` if the sets are of texts → signed rows."""

    family: MinHash

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return _signed(batch, self.family.signatures(Sets(*list_buffers(batch["elements"])), threads=1))


def _signed(batch: pa.RecordBatch, signed: Signatures) -> pa.RecordBatch:
    # What copies have in common: the signature and the bag of shingles.
    copy = (signed.content ^ np.uint64(0x9E3779B97F4A7C15)) * (signed.bag | np.uint64(1)) + signed.bag
    # What was odd about a text is not to be seen in its set.
    flags = signed.flags | batch["flags"].to_numpy() if "flags" in batch.schema.names else signed.flags
    return pa.record_batch(
        {
            "row": batch["row"],
            "slots": pa.FixedSizeListArray.from_arrays(
                pa.array(signed.slots.reshape(-1)), signed.slots.shape[1]
            ),
            "content": pa.array(signed.content),
            "copy": pa.array(copy),
            "flags": pa.array(flags),
        }
    )
