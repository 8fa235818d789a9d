"""Texts or sets → signed or keyed rows: the fused call, one kernel call a batch.

Signed rows hold all slots of a signature, keyed rows only a bucket key a band: a fifth of the bytes, and all
that the main road needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import key_columns
from lookalike.engines import Stage
from lookalike.families import MinHash
from lookalike.measures.candidates import slot_matrix
from lookalike.shingles import Shingle
from lookalike.theory import Banding
from lookalike.types import U8, U64, Sets, Signatures, list_buffers, string_buffers


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


@dataclass(frozen=True)
class KeyTexts:
    """A stage: `row`, `text` → keyed rows; signatures are not kept."""

    family: MinHash
    banding: Banding
    shingle: Shingle

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        bands, rows = self.banding.bands, self.banding.rows
        shingler = self.shingle.shingler(self.family.seed)
        texts = string_buffers(batch["text"])
        return _keyed(batch, *_core.key_texts(texts, shingler, self.family.drawn(), bands=bands, rows=rows))


@dataclass(frozen=True)
class KeySets:
    """A stage: `row`, `elements`, and `flags` if the sets are of texts → keyed rows; no signature is kept."""

    family: MinHash
    banding: Banding

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        bands, rows = self.banding.bands, self.banding.rows
        sets = list_buffers(batch["elements"])
        return _keyed(batch, *_core.key_sets(sets, self.family.drawn(), bands=bands, rows=rows))


@dataclass(frozen=True)
class WithKeys:
    """A stage: signed rows → the same with the keys of their bands."""

    sign: Stage
    banding: Banding

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        signed = self.sign(batch)
        keys = _core.band_keys(slot_matrix((signed,)), bands=self.banding.bands, rows=self.banding.rows)
        columns = {name: signed[name] for name in signed.schema.names}
        return pa.record_batch(columns | key_columns(keys))


def _keyed(batch: pa.RecordBatch, keys: U64, content: U64, bag: U64, flags: U8) -> pa.RecordBatch:
    columns = {
        "row": batch["row"],
        "content": content,
        "copy": _copy(content, bag),
        "flags": _flags(batch, flags),
    }
    return pa.record_batch({name: pa.array(column) for name, column in columns.items()} | key_columns(keys))


def _flags(batch: pa.RecordBatch, flags: U8) -> U8:
    # What was odd about a text is not to be seen in its set.
    return flags | batch["flags"].to_numpy() if "flags" in batch.schema.names else flags


def _copy(content: U64, bag: U64) -> U64:
    """What copies have in common: the signature and the bag of shingles."""
    return (content ^ np.uint64(0x9E3779B97F4A7C15)) * (bag | np.uint64(1)) + bag


def _signed(batch: pa.RecordBatch, signed: Signatures) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "row": batch["row"],
            "slots": pa.FixedSizeListArray.from_arrays(
                pa.array(signed.slots.reshape(-1)), signed.slots.shape[1]
            ),
            "content": pa.array(signed.content),
            "copy": pa.array(_copy(signed.content, signed.bag)),
            "flags": pa.array(_flags(batch, signed.flags)),
        }
    )
