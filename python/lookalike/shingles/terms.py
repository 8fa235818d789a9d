"""Documents → weighted terms: tf-idf.

How many documents hold a term is a fact of the collection, so it takes a pass of its own: `CountTerms` of
every batch, merged by `add_counts`, is what `TermWeights` needs. Each term is counted by itself as long as
there are no more than `MOST_TERMS` different ones; the table then has up to 50 MB, and 75 while it grows. Of
more, terms share the 2²⁰ counters of rare words, 4 MiB for any collection. Which of the two depends neither
on memory nor on how the collection came in batches: only on how many terms it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from lookalike import _core
from lookalike.measures.weighted import weighted_batch
from lookalike.shingles.spec import Shingle
from lookalike.types import WeightedSets, string_buffers

#: Different terms whose documents are counted exactly: three quarters of 2²² places of 12 bytes, and a little
#: less. Weights depend on this number, as they do on the data: another would be another answer.
MOST_TERMS = 3_000_000


@dataclass(frozen=True)
class CountTerms:
    """A stage for `fold`: `text` → in how many documents each term occurs."""

    shingle: Shingle
    seed: int
    most: int = MOST_TERMS

    def __call__(self, batch: pa.RecordBatch) -> _core.DocumentFrequencies:
        texts = string_buffers(batch["text"])
        return _core.DocumentFrequencies(texts, self.shingle.shingler(self.seed), most=self.most)


def add_counts(one: _core.DocumentFrequencies, other: _core.DocumentFrequencies) -> _core.DocumentFrequencies:
    """Both together, in the first; the other is left with nothing."""
    one.add(other)
    return one


@dataclass(frozen=True, eq=False)
class TermWeights:
    """A stage: `row`, `text` → `row`, `elements` and `weights`, the tf-idf vectors of texts.

    A term is a shingle, and its weight tf · ln(1 + N/df): how often it is in the document, times the
    logarithm of one more than how many documents there are for each that holds it. The 1 leaves a little
    weight to a term of every document.
    """

    shingle: Shingle
    seed: int
    frequencies: _core.DocumentFrequencies
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
