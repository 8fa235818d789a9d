"""What auto takes for weighted sets: the road expected cheaper, from the data and committed costs alone."""

from collections import Counter

import numpy as np
import pytest

import lookalike as la
from lookalike.applications.sets import collect_weighted_sets
from lookalike.engines import LocalEngine
from lookalike.joins.weighted import WeightedItems, draw_weighted
from lookalike.joins.weighted_choice import choose_weighted
from lookalike.runs.watch import Watch


def rare(rows, seed=1, size=12, universe=20_000):
    """Bags of elements of which a few are in most of them and the others in few."""
    draw = np.random.default_rng(seed)
    weights = np.cumsum(1 / np.arange(1, universe + 1))
    drawn = np.searchsorted(weights, draw.random((rows, size)) * weights[-1])
    return [dict(Counter(row)) for row in drawn.tolist()]


def everywhere(rows, seed=1, universe=30):
    """Bags in which every element is frequent."""
    draw = np.random.default_rng(seed)
    return [dict(enumerate(row)) for row in draw.integers(0, 5, (rows, universe)).tolist()]


def items_of(*collections, measure="jaccard", engine=None):
    engine = engine or LocalEngine(1)
    read = collect_weighted_sets(collections, engine, Watch(), signed=False)
    table = read[0].table if len(read) == 1 else type(read[0].table).together([one.table for one in read])
    boundary = read[0].rows if len(read) == 2 else None
    return WeightedItems(table=table, bytes=0, shingle=None, measure=measure, boundary=boundary)


def chosen(items, threshold, *, engine=None):
    engine = engine or LocalEngine(1)
    slots = 128 if items.measure == "jaccard" else 1024
    return choose_weighted(
        items, threshold=threshold, recall=0.95, slots=slots, engine=engine, watch=Watch()
    ).choice


@pytest.mark.parametrize("measure", ["weighted-jaccard", "weighted-cosine"])
def test_sets_with_rare_elements_go_by_the_exact_road_and_nothing_is_missed(measure):
    bags = rare(3_000)
    pairs = la.similar_pairs(bags, measure=measure, threshold=0.6)
    account = pairs.account
    assert account.method == account.choice.method == "exact"
    assert account.choice.roads["exact"].seconds <= 1.5 * account.choice.roads["lsh"].seconds
    assert "the former miss nothing" in account.choice.why
    asked = la.similar_pairs(bags, measure=measure, threshold=0.6, method="exact")
    assert pairs.to_arrow() == asked.to_arrow()
    assert asked.account.choice is None


def test_sets_of_nothing_but_frequent_elements_go_by_bands_where_all_pairs_would_be_checked():
    pairs = la.similar_pairs(everywhere(4_000), measure="weighted-cosine", threshold=0.95)
    account = pairs.account
    assert account.method == "lsh"
    exact = account.choice.roads["exact"]
    assert exact.seconds > 1.5 * account.choice.roads["lsh"].seconds
    # Nearly all pairs are candidates, and the sample says so.
    assert exact.candidates > 0.5 * 4_000 * 3_999 / 2


def test_a_crowd_that_would_cost_its_square_is_seen_before_it_is_paid():
    draw = np.random.default_rng(3)
    crowd = [{1: 90.0, 2: 80.0, 3 + n: draw.random()} for n in range(40_000)]
    choice = chosen(items_of(crowd), 0.9)
    square = 40_000 * 39_999 / 2
    assert choice.roads["exact"].candidates == pytest.approx(square, rel=0.2)
    assert choice.roads["exact"].seconds > 100
    assert choice.method == "lsh"


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_both_estimates_of_candidates_are_near_what_comes(measure, threshold):
    bags = rare(2_000, seed=4)
    estimated = chosen(items_of(bags, measure=measure), threshold).roads
    for method, road in estimated.items():
        account = la.similar_pairs(
            bags, measure=f"weighted-{measure}", threshold=threshold, method=method
        ).account
        came = account.candidates
        assert max(road.candidates, 200) <= 3 * max(came, 200)
        assert max(came, 200) <= 3 * max(road.candidates, 200)


def test_the_choice_is_the_same_in_any_batches_and_on_any_threads():
    bags = rare(1_500, seed=5)
    one = chosen(items_of(bags), 0.6)
    engine = LocalEngine(2, batch_rows=64, memory=32_000_000)
    assert chosen(items_of(bags, engine=engine), 0.6, engine=engine) == one


def test_between_two_collections_only_pairs_across_are_expected():
    one, other = rare(900, seed=6), rare(600, seed=7)
    across = chosen(items_of(one, other), 0.5).roads["exact"].candidates
    within = chosen(items_of([*one, *other]), 0.5).roads["exact"].candidates
    # Of all pairs of 1,500, 540,000 of 1,124,250 are of one on each side.
    assert across == pytest.approx(within * 540_000 / 1_124_250, rel=0.35)
    came = la.similar_pairs(one, other, measure="weighted-jaccard", threshold=0.5, method="exact").account
    assert across == pytest.approx(came.candidates, rel=0.35)


def test_copies_and_empty_sets_are_not_taken_for_pairs_that_come():
    bags = rare(300, seed=8)
    sample = draw_weighted(LocalEngine(1), items_of([*bags, *bags, {}, {}])).distances
    assert sample.items == len({tuple(sorted(bag.items())) for bag in bags})
    many = draw_weighted(LocalEngine(1), items_of(rare(5_000, seed=9) * 2)).distances
    # The 450th least of n is off by 1/√450 on average: four times that.
    assert many.items == pytest.approx(5_000, rel=0.19)


def test_documents_by_meaning_are_chosen_for_as_well():
    draw = np.random.default_rng(10)
    words = np.array([f"w{n}" for n in range(3_000)])
    texts = [" ".join(words[np.minimum(draw.zipf(1.4, 30), 3_000) - 1]) for _ in range(1_500)]
    account = la.similar_pairs(texts, measure="tfidf", threshold=0.8).account
    assert set(account.choice.roads) == {"lsh", "exact"}
    best = min(account.choice.roads, key=lambda name: account.choice.roads[name].seconds)
    assert account.method in (best, "exact")
    assert account.expected_candidates == account.choice.roads[account.method].candidates
