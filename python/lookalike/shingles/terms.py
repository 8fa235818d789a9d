"""Documents → weighted terms: tf-idf."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from lookalike import _core
from lookalike.measures.weighted import weighted_batch
from lookalike.shingles.spec import Shingle
from lookalike.types import U32, WeightedSets, string_buffers


@dataclass(frozen=True, eq=False)
class TermWeights:
    """A stage: `row`, `text` → `row`, `elements` and `weights`, the tf-idf vectors of texts.

    A term is a shingle, and its weight tf · ln(1 + N/df): how often it is in the document, times the
    logarithm of one more than how many documents there are for each that holds it. The 1 leaves a little
    weight to a term of every document. Documents are counted in 2²⁰ counters by hash, as for rare words:
    terms that share a counter look more common than they are.
    """

    shingle: Shingle
    seed: int
    frequencies: U32
    documents: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        terms = _core.term_weights(
            string_buffers(batch["text"]),
            self.shingle.shingler(self.seed),
            self.frequencies,
            documents=self.documents,
            threads=1,
        )
        return weighted_batch(batch["row"], WeightedSets(*terms))
