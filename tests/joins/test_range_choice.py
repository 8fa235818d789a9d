"""What auto takes for measurements: ranges that miss nothing, where they cost little more."""

import numpy as np
import pytest

import lookalike as la
from lookalike.engines import LocalEngine


def people(rows, measurements, seed=1):
    return np.random.default_rng(seed).normal(50, 10, (rows, measurements))


@pytest.mark.parametrize(("within", "share"), [(0.5, 0.75), (2.0, 0.5)])
def test_few_buckets_that_keep_a_promise_are_taken_where_exact_ones_are_crowded(within, share):
    pairs = la.similar_measurements(people(2_000, 4), within=within, share=share)
    choice = pairs.account.choice
    assert pairs.account.method == choice.method == "lsh"
    assert choice.roads["exact"].seconds > 1.5 * choice.roads["lsh"].seconds


def test_where_both_check_nearly_all_pairs_nothing_is_missed():
    values = people(700, 12)
    pairs = la.similar_measurements(values, within=20, share=0.9)
    assert pairs.account.method == "exact"
    close = (np.abs(values[:, None] - values[None]) <= 20).mean(axis=2) >= 0.9
    assert len(pairs) == np.count_nonzero(np.triu(close, 1))
    assert "ranges that miss nothing" in pairs.account.choice.why


@pytest.mark.parametrize("copies", [0, 300])
@pytest.mark.parametrize("two", [False, True])
def test_what_is_expected_of_both_is_near_what_comes(copies, two):
    values = np.concatenate([people(1_500, 5), np.repeat(people(1, 5, seed=2), copies, axis=0)])
    given = (values, people(800, 5, seed=3)) if two else (values,)
    roads = la.similar_measurements(*given, within=2, share=0.6).account.choice.roads
    for method, road in roads.items():
        came = la.similar_measurements(*given, within=2, share=0.6, method=method).account.candidates
        assert road.candidates == pytest.approx(came, rel=0.5)


def test_a_crowd_that_would_cost_its_square_is_seen():
    draw = np.random.default_rng(4)
    values = np.concatenate([people(3_000, 8), draw.normal(0, 0.01, (3_000, 8))])
    roads = la.similar_measurements(values, within=0.5, share=1.0).account.choice.roads
    assert min(road.candidates for road in roads.values()) > 0.7 * 3_000 * 2_999 / 2


def test_the_choice_is_the_same_in_any_batches_and_on_any_threads():
    values = people(1_200, 5)
    one = la.similar_measurements(values, within=2, share=0.6, engine=LocalEngine(1)).account.choice
    engine = LocalEngine(2, batch_rows=50, memory=32_000_000)
    assert la.similar_measurements(values, within=2, share=0.6, engine=engine).account.choice == one


def test_ranges_of_ones_own_leave_nothing_to_choose():
    ranges = la.Ranges(dimensions=3, width=10, margin=2, rows=1, tables=3)
    account = la.similar_measurements(people(50, 3), ranges=ranges, within=1, share=0.6).account
    assert (account.method, account.choice, account.expected_candidates) == ("lsh", None, None)


@pytest.mark.parametrize("rows", [1, 2])
def test_collections_too_small_to_sample_are_no_trouble(rows):
    pairs = la.similar_measurements(people(rows, 3).repeat(1, axis=0), within=1, share=0.6)
    assert len(pairs) in (0, 1)
    assert pairs.account.choice.roads.keys() == {"lsh", "exact"}
