"""The join itself: what it hands on, and what it says of itself."""

import json

import numpy as np
import pytest
from tests.conformance import oracle, texts

import lookalike as la
from lookalike.bands import buckets
from lookalike.engines import LocalEngine, Table
from lookalike.errors import UnreachableRecallError
from lookalike.joins import outright
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


def crowds(counts, seed=1):
    """Sets in crowds: of each, so many are alike to some .8, as they lack another tenth of what all share."""
    draw = np.random.default_rng(seed)
    sets = []
    for number, count in enumerate(counts):
        shared = np.arange(60) + 1000 * number
        sets += [set(draw.permutation(shared)[:54].tolist()) for _ in range(count)]
    return sets


def recall_at(threshold, sets, **options):
    """Which share of the pairs at or over a threshold `similar_pairs` lists."""
    truth = oracle.pairs([frozenset(one) for one in sets], threshold)
    pairs = la.similar_pairs([sorted(one) for one in sets], threshold=threshold, method="lsh", **options)
    found = {(row["a"], row["b"]): row["similarity"] for row in pairs}
    assert found.items() <= truth.items()
    return len(found) / len(truth), pairs.account


def test_a_list_of_pairs_keeps_its_promise_in_crowds_too():
    sets = crowds([150, 90, 3, 3])
    recall, account = recall_at(0.7, sets, recall=0.95)
    assert recall >= 0.95
    assert account.large.not_compared == 0


def test_what_would_cost_too_much_is_left_to_leaders(monkeypatch):
    sets = crowds([150, 90])
    monkeypatch.setattr(outright, "SECONDS", 0.0)
    recall, account = recall_at(0.7, sets)
    assert recall < 0.5
    assert account.large.not_compared > 0


def test_the_smaller_of_large_buckets_are_paired_outright_first():
    rows = np.arange(20_000)
    keys = np.repeat(np.arange(4, dtype=np.uint64), [15_000, 4_000, 900, 100])
    expected = {10**9: 15_000, 10**7: 4_000, 10**6: 900, 10_000: 100, 100: buckets.LARGE}
    # To the pair: 100 rows have 4,950, and 900 have 404,550.
    expected |= {4_949: buckets.LARGE, 4_950: 100, 409_499: 100, 409_500: 900}
    # Runs that are longer than a batch come in pieces, which must not be taken for small buckets.
    for batch_rows in (64, 5_000, 1 << 16):
        engine = LocalEngine(2, batch_rows=batch_rows)
        shared = [Table.of(bucket=keys, row=rows)]
        assert {
            most: outright.affordable(engine, shared, most, named="affordable") for most in expected
        } == expected


@pytest.mark.parametrize(
    ("threshold", "slots", "recall"), [(0.8, 128, 0.9), (0.5, 64, 0.8), (0.6, 91, 0.9), (0.9, 128, 0.8)]
)
def test_the_recall_by_signatures_is_that_of_slots_known_to_agree(threshold, slots, recall):
    """Over 20 seeds the recall said is the share of pairs agreeing in enough slots that was found.

    Slots taken to be independent said .9845 where .9905 were found, and .03 too little elsewhere.
    """
    pairs, shared = 600, round(120 * threshold)
    own = (120 - shared) // 2
    found = total = said = 0.0
    for seed in range(20):
        elements = np.random.default_rng(seed).integers(0, 2**60, (pairs, shared + 2 * own))
        sets = [side.tolist() for row in elements for side in (row[: shared + own], row[own:])]
        family = la.MinHash(slots=slots, seed=seed)
        slots_of = family.signatures(sets).slots
        truth = np.count_nonzero((slots_of[::2] == slots_of[1::2]).mean(axis=1) >= threshold)
        joined = la.similar_pairs(
            sets, threshold=threshold, recall=recall, slots=slots, seed=seed, verify="signature"
        )
        assert len(joined) <= truth
        total += truth
        found += len(joined)
        said += joined.account.recall.estimated_total
    # Every pair has elements of its own, so pairs are found or missed each by itself.
    deviation = np.sqrt((1 - found / total) / found)
    assert total > 4_000
    assert said / total == pytest.approx(1, abs=4 * deviation)
