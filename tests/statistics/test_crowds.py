"""What large buckets leave out is in the estimated recall, by a sample of what they hold."""

import math

import numpy as np
import pytest
from tests.conformance.test_vectors import brute_force

import lookalike as la
from lookalike.engines import LocalEngine
from lookalike.joins import crowd_sample, crowds, lookers

ASKED = {"measure": "angle", "threshold": "15deg", "method": "lsh", "recall": 0.8}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Buckets are large from 10 rows on, and a row is paired with 4."""
    monkeypatch.setattr(crowds, "FOLLOWING", 4)
    monkeypatch.setattr(crowds, "ALL_PAIRS", 9)
    monkeypatch.setattr(crowds, "AFFORDABLE", 0)


def crowded(seed, sizes=(110, 60, 40, 12, 8)):
    draw = np.random.default_rng(seed)
    rows = [draw.normal(size=12) + 0.25 * draw.normal(size=(size, 12)) for size in sizes]
    return np.concatenate(rows)[draw.permutation(sum(sizes))]


@pytest.mark.parametrize(("probes", "two"), [(1, False), (1, True), (6, False), (6, True)])
def test_the_estimated_total_is_right_on_average(monkeypatch, probes, two):
    # So few that most pairs are not drawn.
    monkeypatch.setattr(crowds, "DRAWN", 600)
    monkeypatch.setattr(lookers, "DRAWN", 600)
    totals, without = [], []
    for seed in range(10):
        rows = crowded(seed)
        first, second = (rows[:100], rows[100:]) if two else (rows, None)
        truth = len(brute_force(first, second, "angle", "15deg"))
        account = la.similar_pairs(first, second, **ASKED, probes=probes, seed=seed).account
        assert account.large.not_compared > 0
        totals.append(account.recall.estimated_total / truth)
        without.append((account.recall.estimated_total - account.large.missed) / truth)
        assert account.recall.low <= account.recall.recall <= account.recall.high
    error = np.std(totals, ddof=1) / math.sqrt(len(totals))
    assert abs(np.mean(totals) - 1) < 4 * error
    # It is the sample that makes it so.
    assert np.mean(without) < 1 - 4 * error


@pytest.mark.parametrize("probes", [1, 6])
def test_the_sample_depends_on_the_rows_alone(probes):
    rows = crowded(1)
    whole = la.similar_pairs(rows, **ASKED, probes=probes).account
    for engine in (LocalEngine(1, batch_rows=7), LocalEngine(2, batch_rows=50)):
        assert la.similar_pairs(rows, **ASKED, probes=probes, engine=engine).account == whole
    shuffled = rows[np.random.default_rng(2).permutation(len(rows))]
    assert la.similar_pairs(shuffled, **ASKED, probes=probes).account.large == whole.large


@pytest.mark.parametrize("probes", [1, 6])
def test_a_sample_without_a_near_pair_says_how_many_there_may_be(monkeypatch, probes):
    for module in (crowds, lookers):
        monkeypatch.setattr(module, "DRAWN", 1e-6)
    account = la.similar_pairs(crowded(1), **ASKED, probes=probes).account
    assert account.large.missed == 0
    assert account.large.missed_spread == pytest.approx(3e6 * account.large.possible)
    assert account.recall.low < 0.001 < account.recall.recall


@pytest.mark.parametrize("boundary", [None, 300])
def test_every_pair_of_a_bucket_is_drawn_as_often(boundary):
    import pyarrow as pa

    keys = np.repeat(np.arange(1, 9, dtype=np.uint64) << np.uint64(16), 60)
    batch = pa.record_batch({"bucket": keys, "row": np.tile(np.arange(270, 330, dtype=np.uint32), 8)})
    possible = 60 * 59 // 2 if boundary is None else 30 * 30
    counts = np.zeros(possible, np.int64)
    places = {}
    for seed in range(40):
        pairs = crowd_sample.DrawPairs(0.5, seed, boundary)(batch)["pair"].to_numpy()
        assert abs(len(pairs) - 8 * 0.5 * possible) <= 8
        for pair in pairs.tolist():
            a, b = pair >> 32, pair & 0xFFFF_FFFF
            assert a < b
            assert boundary is None or a < boundary <= b
            counts[places.setdefault(pair, len(places))] += 1
    assert len(places) == possible
    expected = counts.sum() / possible
    # Chi-squared, as a normal deviate.
    squares = ((counts - expected) ** 2 / expected).sum()
    assert abs(squares - possible) < 5 * math.sqrt(2 * possible)
