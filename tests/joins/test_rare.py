"""Joins over the rarest words of documents, against brute force, whatever the batches."""

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance import oracle, texts
from tests.shingles.rarest import rarest

import lookalike as la
from lookalike.applications import batching
from lookalike.engines import LocalEngine, Table, memory
from lookalike.joins import Items, by_rarest_words
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle, sets_of_texts

SURE = 0.9999
MOST = 12
FORM = f"words:1+rare{MOST}"


def documents():
    """Families over a vocabulary in which some words are common, copies in other dress, odd texts."""
    rows = texts.families(20, seed=5, changes=4)
    draw = random.Random(5)
    common = ["the", "of", "and", "to", "in"]
    rows = [
        " ".join(
            word for pair in zip(row.split(), draw.choices(common, k=200), strict=False) for word in pair
        )
        for row in rows
    ]
    rows += [texts.dressed(rows[at], at) for at in range(0, len(rows), 4)]
    return [*rows, "", "...", "just the three of us", "the of and", "To and of, the!"]


DOCS = documents()


def pairs_of(found):
    return {(row["a"], row["b"]): row["similarity"] for row in found}


@pytest.mark.parametrize("threshold", [0.4, 0.8])
def test_pairs_are_those_of_brute_force_over_the_rarest_words(threshold):
    found = la.similar_pairs(DOCS, shingle=FORM, threshold=threshold, recall=SURE)
    expected = oracle.pairs(rarest(DOCS, MOST), threshold)
    assert len(expected) > 20
    assert pairs_of(found) == expected


def test_between_two_collections_words_are_counted_in_both():
    first, second = DOCS[::2], DOCS[1::2]
    found = la.similar_pairs(first, second, shingle=FORM, threshold=0.5, recall=SURE)
    sets = rarest(first + second, MOST)
    expected = oracle.pairs_across(sets[: len(first)], sets[len(first) :], 0.5)
    assert len(expected) > 10
    assert pairs_of(found) == expected
    apart = oracle.pairs_across(rarest(first, MOST), rarest(second, MOST), 0.5)
    assert expected != apart


def everything(**options):
    result = la.dedup(DOCS, shingle=FORM, threshold=0.5, **options)
    tables = (result.clusters.to_arrow(), result.pairs.to_arrow(), result.samples)
    return [table.to_pylist() for table in tables], result.counts, result.account.to_dict()


@pytest.mark.parametrize("verify", ["exact", "signature"])
def test_threads_and_batches_do_not_matter(monkeypatch, verify):
    expected = everything(engine=LocalEngine(1), verify=verify)
    assert len(expected[0][1]) > 20
    for threads, batch_rows, batch_bytes in [(2, 1 << 16, 4 << 20), (1, 1, 1), (2, 3, 2000), (2, 40, 100)]:
        monkeypatch.setattr(batching, "BATCH_BYTES", batch_bytes)
        engine = LocalEngine(threads, batch_rows=batch_rows)
        assert everything(engine=engine, verify=verify) == expected


def test_a_memory_budget_that_everything_spills_past_does_not_matter(monkeypatch, tmp_path):
    expected = everything(engine=LocalEngine(2))
    monkeypatch.setattr(memory, "LEAST", 1)
    monkeypatch.setattr(batching, "BATCH_BYTES", 2000)
    assert everything(engine=LocalEngine(2, memory=5000, scratch=tmp_path)) == expected


def test_the_order_of_rows_does_not_matter():
    ids = [f"id{row:03}" for row in range(len(DOCS))]
    answers = []
    for seed in (1, 2):
        order = random.Random(seed).sample(range(len(DOCS)), len(DOCS))
        table = pa.table({"id": [ids[at] for at in order], "text": [DOCS[at] for at in order]})
        result = la.dedup(table, id="id", shingle=FORM, threshold=0.5, keep="longest")
        answers.append((result.clusters.to_arrow().to_pylist(), result.pairs.to_arrow().to_pylist()))
    assert answers[0] == answers[1]


def test_the_account_counts_texts_and_their_bytes():
    docs = [*DOCS, *["漢字仮名交じり文は空白なしで書かれる。"] * 9]
    plain, rare = (la.dedup(docs, shingle=form, threshold=0.5) for form in ("words:1", FORM))
    for name in ("documents", "empty", "short", "unspaced", "text_bytes"):
        assert rare.counts[name] == plain.counts[name], name
    assert (rare.counts["empty"], rare.counts["unspaced"]) == (1, 9)
    assert [row["flag"] for row in rare.clusters].count("empty") == 1
    assert any("without spaces" in sentence for sentence in rare.advice)
    assert [stage.name for stage in rare.stages][:2] == ["read", "rare words"]


def items(docs, shingle, rows=None):
    table = Table.of(
        row=np.arange(len(docs)) if rows is None else np.array(rows), text=pa.array(docs, pa.large_string())
    )
    return Items(table=table, bytes=sum(map(len, docs)), shingle=Shingle.parse(shingle), seed=3, boundary=2)


def test_texts_become_sets_row_by_row_and_the_rest_stays():
    docs, rows = ["a b c", "", "a b"], [2, 0, 1]
    held = items(docs, "words:1+rare2", rows)
    made = by_rarest_words(held, engine=LocalEngine(1), watch=Watch())
    assert made.table.schema.names == ["row", "elements", "flags"]
    assert made.table.column("row").tolist() == rows
    assert (made.shingle, made.seed, made.boundary, made.bytes) == (None, 3, 2, 8 * 4)
    expected = sets_of_texts(docs, "words:1+rare2", seed=3)
    lists = made.table.batches[0]["elements"].to_pylist()
    assert lists == [expected[row].tolist() for row in range(3)]


def test_items_of_which_all_shingles_count_are_left_as_they_are():
    held = items(["a b c"], "words:2")
    assert by_rarest_words(held, engine=LocalEngine(1), watch=Watch()) is held


def test_no_documents_are_no_sets():
    nothing = pa.schema([("row", pa.int64()), ("text", pa.large_string())])
    held = Items(table=Table((), nothing), bytes=0, shingle=Shingle.parse(FORM))
    made = by_rarest_words(held, engine=LocalEngine(2), watch=Watch())
    assert (made.rows, made.bytes) == (0, 0)


def test_two_documents_at_random_that_share_their_rarest_words_are_told_so():
    docs = [f"{' '.join('abcdefghij')} x{row}" for row in range(150)]
    (said,) = la.dedup(docs, shingle="words:1+rare8", threshold=0.95).advice[:1]
    assert "of their 8 rarest words: keep fewer words" in said
