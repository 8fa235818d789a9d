"""The demonstration counts honestly: its account is held against another, made in another way."""

from dataclasses import replace
from itertools import combinations

import pyarrow as pa
import pytest

import lookalike
from lookalike.applications import demo as room
from lookalike.applications.demo import SEVERAL, demo, every_pair
from lookalike.applications.documents import DedupOptions
from lookalike.applications.planted import EDITS, plant, truth
from lookalike.errors import OptionError
from lookalike.types import Pairs


@pytest.fixture(scope="module")
def shown():
    return demo(1_500, seed=5)


def test_the_account_adds_up(shown):
    assert [kind.kind for kind in shown.kinds] == [*EDITS, SEVERAL]
    assert all(0 <= kind.found <= kind.planted for kind in shown.kinds)
    assert shown.planted == sum(kind.found + kind.missed for kind in shown.kinds)
    assert shown.recall == shown.found / shown.planted
    assert shown.copies == 300
    assert shown.result.counts["documents"] == 1_500


def test_what_was_planted_is_every_true_pair(shown):
    corpus = plant(1_500, seed=5)
    assert shown.planted == len(corpus.truth(DedupOptions.threshold))


def test_what_was_found_is_what_the_library_reports(shown):
    corpus = plant(1_500, seed=5)
    reported = lookalike.similar_pairs(corpus.texts).to_arrow()
    assert shown.found + shown.false == reported.num_rows


def test_recall_keeps_the_promise_and_nothing_is_false(shown):
    assert shown.recall >= DedupOptions.recall
    assert shown.false == 0


def test_exact_copies_are_all_found(shown):
    exact = next(kind for kind in shown.kinds if kind.kind == "exact")
    assert exact.planted > 0
    assert exact.missed == 0


def test_a_pair_that_is_not_similar_is_counted_as_false(monkeypatch):
    """The judge must be able to say no: give it an answer with two strangers in it."""
    honest = room.dedup_source

    def lying(source, *arguments, **options):
        result = honest(source, *arguments, **options)
        table = result.pairs.to_arrow()
        strangers = pa.table({"a": [0], "b": [1], "similarity": [0.99]}).cast(table.schema)
        assert (0, 1) not in set(every_pair(result))
        return replace(result, pairs=Pairs(pa.concat_tables([table, strangers])))

    monkeypatch.setattr(room, "dedup_source", lying)
    assert demo(300).false == 1


def test_a_pair_that_is_left_out_is_counted_as_missed(monkeypatch):
    honest = room.dedup_source

    def forgetful(source, *arguments, **options):
        result = honest(source, *arguments, **options)
        return replace(result, pairs=Pairs(result.pairs.to_arrow().slice(0, 0)))

    monkeypatch.setattr(room, "dedup_source", forgetful)
    shown = demo(300)
    assert shown.planted > 0
    assert (shown.found, shown.false, shown.recall) == (0, 0, 0)


def test_pairs_stand_for_all_copies_of_their_ends():
    near = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    texts = [near, near, "a stranger", f"{near} sixteen", f"{near} sixteen", near.upper()]
    result = lookalike.dedup(texts)
    expected = [
        pair
        for pair in combinations(range(len(texts)), 2)
        if truth.jaccard(*(truth.shingles(texts[row], 5) for row in pair)) >= 0.8
    ]
    assert sorted(every_pair(result)) == expected
    assert len(expected) == 10


def test_a_corpus_without_true_pairs_has_no_recall():
    shown = demo(2)
    assert (shown.planted, shown.recall) == (0, None)
    assert "nothing to find" in repr(shown)


def test_another_seed_is_another_corpus_and_the_same_seed_the_same():
    first, again, other = demo(200), demo(200), demo(200, seed=1)
    assert first.to_dict()["counts"] == again.to_dict()["counts"]
    assert first.text_bytes != other.text_bytes


def test_sizes_out_of_range_are_refused():
    for documents in (0, 1, 500_001):
        with pytest.raises(OptionError, match=f"documents={documents} "):
            demo(documents)
