"""Vectors that look into several buckets: pairs are verified, as many as promised, and the same anywhere."""

import math

import numpy as np
import pytest
from tests.conformance.test_vectors import COLLECTIONS, MEASURES, brute_force, clustered, found

import lookalike as la
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.joins import crowds

NEAR = {"angle": "24deg", "cosine": 0.91, "l2": 1.7, "l1": 5.5}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("probes", [2, 9])
def test_bands_that_are_looked_into_keep_their_promise(measure, probes):
    """Over seeds of clustered data: of all pairs, and of those near the threshold, the promised share."""
    there = seen = close_there = close_seen = 0
    for seed in range(6):
        rows = clustered(seed, clusters=40, each=8, width=16, spread=0.3)
        truth = brute_force(rows, None, measure, NEAR[measure])
        ours = found(rows, None, measure, NEAR[measure], method="lsh", seed=seed, recall=0.9, probes=probes)
        assert ours.items() <= truth.items()
        there, seen = there + len(truth), seen + len(ours)
        level = float(str(NEAR[measure]).removesuffix("deg"))
        close = {
            pair
            for pair, value in truth.items()
            if (value < 0.93 if measure == "cosine" else value > 0.9 * level)
        }
        close_there, close_seen = close_there + len(close), close_seen + len(close & ours.keys())
    assert there > 2000
    assert seen / there >= 0.9
    # Pairs share rows and so are not independent; four standard errors as if a few were.
    assert close_seen / close_there >= 0.9 - 4 * math.sqrt(0.09 / (close_there / 4))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", COLLECTIONS)
def test_nothing_but_pairs_is_found_in_any_collection(name, measure):
    rows, threshold = COLLECTIONS[name], MEASURES[measure]
    if name == "tiny" and measure in ("l1", "l2"):
        threshold = threshold * 1e-180
    as_floats = np.asarray(rows, np.float64) if rows.dtype == np.float64 else rows.astype(np.float32)
    truth = brute_force(as_floats, None, measure, threshold)
    ours = found(rows, None, measure, threshold, method="lsh", probes=4, recall=0.99)
    assert ours.items() <= truth.items()
    assert len(ours) >= 0.9 * len(truth)


@pytest.mark.parametrize("measure", MEASURES)
def test_threads_batches_memory_and_order_do_not_matter(measure):
    rows = clustered(3, clusters=25, each=10).astype(np.float32)
    few = LocalEngine(2, batch_rows=300)
    few.group_rows = 4_000
    engines = [LocalEngine(1), few, LocalEngine(2, memory=16 << 20, batch_rows=2000)]
    asked = {"method": "lsh", "probes": 6, "recall": 0.7}
    answers = [found(rows, None, measure, MEASURES[measure], engine=engine, **asked) for engine in engines]
    assert answers[0]
    assert answers[1] == answers[0]
    assert answers[2] == answers[0]
    order = np.random.default_rng(0).permutation(len(rows))
    shuffled = found(rows[order], None, measure, MEASURES[measure], **asked)
    named = {tuple(sorted((int(order[a]), int(order[b])))): value for (a, b), value in shuffled.items()}
    assert named == answers[0]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("cut", [20, 200, 580])
def test_between_two_collections_the_smaller_one_looks(measure, cut):
    rows = clustered(4, clusters=60, each=10)
    first, second = rows[:cut], rows[cut:]
    truth = brute_force(first, second, measure, MEASURES[measure])
    across = found(first, second, measure, MEASURES[measure], method="lsh", probes=5)
    assert across.items() <= truth.items()
    assert len(across) >= 0.95 * len(truth) - 2
    turned = found(second, first, measure, MEASURES[measure], method="lsh", probes=5)
    assert {(a, b) for b, a in turned} == set(across)


def test_the_account_says_what_was_planned_and_estimates_what_was_found():
    rows = clustered(8, clusters=150, each=8, width=24, spread=0.3)
    truth = brute_force(rows, None, "angle", "22deg")
    asked = {"measure": "angle", "threshold": "22deg", "method": "lsh", "recall": 0.8}
    plain = la.similar_pairs(rows, **asked, probes=1).account
    assert la.similar_pairs(rows, **asked).account == plain
    with pytest.raises(OptionError, match="probes=0 is out of range"):
        la.similar_pairs(rows, **asked, probes=0)
    account = la.similar_pairs(rows, **asked, probes=16).account
    assert account.plan.probes == 16
    assert account.plan.banding.bands < plain.plan.banding.bands / 2
    assert account.promised == 0.8
    assert account.to_dict()["plan"]["probes"] == 16
    ours = len(la.similar_pairs(rows, **asked, probes=16))
    assert abs(account.recall.recall - ours / len(truth)) < 0.05


def test_a_crowd_costs_no_square_and_says_what_it_left_out(monkeypatch):
    numbers = np.random.default_rng(0)
    rows = numbers.normal(size=8) + 0.01 * numbers.normal(size=(2000, 8))
    monkeypatch.setattr(crowds, "FOLLOWING", 8)
    monkeypatch.setattr(crowds, "ALL_PAIRS", 17)
    monkeypatch.setattr(crowds, "AFFORDABLE", 0)
    asked = {"measure": "angle", "threshold": "20deg", "method": "lsh", "probes": 3}
    pairs = la.similar_pairs(rows, **asked)
    account = pairs.account
    assert account.candidates <= account.plan.banding.bands * 8 * 3 * 2000
    assert account.large.not_compared > 0
    again = la.similar_pairs(rows, **asked, engine=LocalEngine(2, batch_rows=50))
    assert again.to_arrow().equals(pairs.to_arrow())


def test_probes_have_no_meaning_where_all_are_compared():
    with pytest.raises(OptionError, match="leave out probes"):
        la.similar_pairs(np.eye(3), measure="angle", threshold="20deg", probes=4, method="exact")


@pytest.mark.parametrize("probes", [-1, 129, 2.5, "many"])
def test_probes_out_of_range_are_refused(probes):
    with pytest.raises(OptionError, match=r"probes=.*out of range"):
        la.similar_pairs(np.eye(3), measure="angle", threshold="20deg", probes=probes)
    with pytest.raises(OptionError, match=r"probes=.*out of range"):
        la.RangeSearch.of(np.eye(3), radius="20deg", probes=probes)
