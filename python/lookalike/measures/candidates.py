"""Candidates → verified pairs: the one place where a similarity is decided.

`Exact` counts shared and joint shingles; `Agreement`, the named cheaper choice, counts agreeing slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.verbs import Held
from lookalike.types import F64, I64, U8, U32, U64, Bools, list_buffers, string_buffers


@dataclass(frozen=True)
class Exact:
    """A stage for `fetch`: candidates (`a`, `b`) → those with Jaccard similarity of at least `at_least`.

    Similarity is f64(shared) / f64(union) over sets of 64-bit hashes: of `text` by the shingler, or of
    `elements` as they are.
    """

    shingler: _core.Shingler | None
    at_least: float

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        if self.shingler is not None:
            texts = held.views(text_buffers)
            shared, union = _core.compare_texts(texts, a, b, self.shingler, at_least=self.at_least, threads=1)
        else:
            sets = held.views(element_buffers)
            shared, union = _core.compare_sets(sets, a, b, at_least=self.at_least, threads=1)
        return _reaching(batch, _quotient(shared, union), self.at_least)


@dataclass(frozen=True)
class Agreement:
    """A stage for `fetch` from signed rows: candidates → those that agree in at least a fraction of slots."""

    at_least: float

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        matrix = held.whole(slot_matrix)
        agreeing = _core.agreements(matrix, a, b, threads=1)
        return _reaching(batch, agreeing.astype(np.float64) / matrix.shape[1], self.at_least)


@dataclass(frozen=True)
class SameText:
    """A stage for `fetch`: candidates → those whose texts are the same, byte for byte (`a`, `b`)."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        return batch.filter(pa.array(_same_texts(batch, held))).select(["a", "b"])


@dataclass(frozen=True)
class SameSet:
    """A stage for `fetch`: candidates → those whose sets are the same (`a`, `b`), in any order.

    Most copies are copies to the byte, and such texts need no shingles to be told.
    """

    shingler: _core.Shingler | None

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        batch = batch.select(["a", "b"])
        exact = Exact(self.shingler, 1.0)
        if self.shingler is None:
            return exact(batch, held).select(["a", "b"])
        same = _same_texts(batch, held)
        if same.all():
            return batch
        others = exact(batch.filter(pa.array(~same)), held).select(["a", "b"])
        return pa.concat_batches([batch.filter(pa.array(same)), others])


def _same_texts(batch: pa.RecordBatch, held: Held) -> Bools:
    a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
    return _core.same_texts(held.views(text_buffers), a, b)


def text_buffers(batch: pa.RecordBatch) -> tuple[U8, I64]:
    """The column `text` as bytes and offsets."""
    return string_buffers(batch["text"])


def element_buffers(batch: pa.RecordBatch) -> tuple[U64, I64]:
    """The column `elements` as hashes and offsets."""
    return list_buffers(batch["elements"])


def slot_matrix(batches: Sequence[pa.RecordBatch]) -> U32:
    """The column `slots` of signed rows as one matrix."""
    parts: list[U32] = []
    for batch in batches:
        slots = batch["slots"]
        width = slots.type.list_size
        values = slots.values.to_numpy()
        parts.append(values[slots.offset * width : (slots.offset + len(slots)) * width].reshape(-1, width))
    if len(parts) == 1:
        return parts[0]
    # Of no batches nobody knows how wide a signature is.
    return np.concatenate(parts) if parts else np.empty((0, 1), np.uint32)


def _quotient(shared: U32, union: U32) -> F64:
    # A union of 0 says that the kernel gave the pair up: it cannot reach what was asked for.
    with np.errstate(invalid="ignore"):
        similarity = shared.astype(np.float64) / union.astype(np.float64)
    return np.where(union > 0, similarity, -1.0)


def _reaching(batch: pa.RecordBatch, similarity: F64, at_least: float) -> pa.RecordBatch:
    reached = similarity >= at_least
    columns = {"a": batch["a"], "b": batch["b"], "similarity": pa.array(similarity)}
    compared = pa.record_batch(columns)
    return compared if reached.all() else compared.filter(pa.array(reached))
