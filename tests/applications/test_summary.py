"""What a run says to a person: one thing is not called several."""

from dataclasses import replace

import lookalike as la
from lookalike.applications.documents.rehearsal import rehearse
from lookalike.applications.documents.summary import search_advice, shingle_advice
from lookalike.engines import LocalEngine
from lookalike.io import open_source
from lookalike.joins.leaders import LeaderAccount
from lookalike.runs.watch import Watch


def test_a_plan_of_one_band():
    options = la.PairOptions(threshold=1.0, slots=1, method="lsh")
    planned = rehearse(open_source(["a", "b"]), options, engine=LocalEngine(1), watch=Watch())
    assert "1 band of 1 row, 1 of 1 slot\n" in planned.summary()


def test_one_document_without_spaces():
    for count, said in [(1, "1 document is written without"), (2, "2 documents are written without")]:
        (advice,) = shingle_advice(la.PairOptions(), texts=10, unspaced=count, median_similarity=None)
        assert advice.startswith(said)


def test_one_large_bucket_and_one_row_left():
    account = la.similar_pairs(["a", "b"]).account
    large = LeaderAccount(buckets=1, rows=70, largest=70, checked=69, not_compared=2000, unsettled=1)
    said = search_advice(replace(account, large=large), la.PairOptions())
    assert said[0].startswith("70 items are in 1 very large bucket, the largest of 70: ")
    assert said[1].startswith("1 row of very large buckets matched no leader there; ")
