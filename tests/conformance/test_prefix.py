"""The exact prefix road over texts, held against brute force in plain Python."""

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance import oracle, texts

from lookalike.engines import LocalEngine, Table
from lookalike.joins.items import Items
from lookalike.joins.prefix import prefix_join
from lookalike.measures.overlap import MEASURES
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle

DOCS = [*texts.families(40, seed=11), "", "short", "Short!", "...", ""]


def joined(docs, threshold, *, cut, threads, batch_rows, boundary=None):
    table = Table.of(row=np.arange(len(docs)), text=pa.array(docs, pa.large_string()))
    batch = table.batches[0]
    pieces = tuple(batch.slice(start, cut) for start in range(0, len(batch), cut))
    found = prefix_join(
        Items(
            table=Table(pieces, table.schema),
            bytes=sum(map(len, docs)),
            shingle=Shingle.parse("words:5"),
            boundary=boundary,
        ),
        measure=MEASURES["jaccard"],
        threshold=threshold,
        engine=LocalEngine(threads, batch_rows=batch_rows),
        watch=Watch(),
    )
    rows = zip(found.a.tolist(), found.b.tolist(), found.similarity.tolist(), strict=True)
    return {(a, b): similarity for a, b, similarity in rows}


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize(("cut", "threads", "batch_rows"), [(1000, 1, 1 << 16), (7, 2, 3), (1, 2, 64)])
def test_the_pairs_of_texts_are_all_pairs(threshold, cut, threads, batch_rows):
    truth = oracle.pairs([oracle.shingles(text) for text in DOCS], threshold)
    assert len(truth) >= 1
    assert joined(DOCS, threshold, cut=cut, threads=threads, batch_rows=batch_rows) == truth


@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_the_pairs_across_two_collections_of_texts_are_all_pairs(threshold):
    first, second = DOCS[::2], DOCS[1::2]
    truth = oracle.pairs_across(
        [oracle.shingles(text) for text in first], [oracle.shingles(text) for text in second], threshold
    )
    found = joined(first + second, threshold, cut=9, threads=2, batch_rows=50, boundary=len(first))
    assert {(a, b - len(first)): similarity for (a, b), similarity in found.items()} == truth
