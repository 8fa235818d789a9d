"""The join itself: what it hands on, and what it says of itself."""

import json

import pytest
from tests.conformance import oracle, texts

import lookalike as la
from lookalike.errors import UnreachableRecallError
from lookalike.joins.lsh import MARGIN

DOCS = texts.families(40, seed=31, changes=10)
SETS = [oracle.shingles(text) for text in DOCS]


def test_the_account_is_plain_json_and_sets_what_came_beside_what_was_thought():
    account = la.similar_pairs(DOCS, threshold=0.5, method="lsh").account
    plain = json.loads(json.dumps(account.to_dict()))
    assert plain["items"] == len(DOCS)
    assert plain["plan"]["threshold"] == 0.5
    assert plain["plan"]["expected_candidates"] >= 0
    assert plain["recall"]["found"] == plain["pairs"] > 20
    assert plain["method"] == "lsh"
    assert 0 <= plain["median_similarity"] < 0.1


def test_candidates_turned_away_are_remembered_down_to_a_margin():
    threshold = 0.6
    result = la.dedup(DOCS, threshold=threshold, recall=0.9999, method="lsh")
    below = {
        (row["a"], row["b"]): row["similarity"]
        for row in result.samples.to_pylist()
        if row["side"] == "under"
    }
    assert below
    near = {
        pair: similarity
        for pair, similarity in oracle.pairs(SETS, threshold - MARGIN).items()
        if similarity < threshold
    }
    assert below.items() <= near.items()


def test_a_shared_word_is_enough_at_the_lowest_of_thresholds():
    """Similarities of 1 in hundreds: nothing that shares anything may be taken for nothing."""
    docs = [" ".join(["common", *texts.prose(150, seed)]) for seed in range(2)]
    sets = [oracle.shingles(text, 1) for text in docs]
    truth = oracle.pairs(sets, 0.002)
    pairs = la.similar_pairs(docs, shingle="words:1", threshold=0.002, recall=0.9, slots=2048)
    assert {(row["a"], row["b"]): row["similarity"] for row in pairs} == truth
    assert len(truth) == 1


def test_an_unreachable_promise_is_said_before_anything_is_read():
    def never():
        raise AssertionError("read")
        yield

    with pytest.raises(UnreachableRecallError, match="16 slots find at most"):
        la.similar_pairs(never(), threshold=0.05, slots=16)
