"""The Hamming pyramid: its recall is planned, measured and estimated, and what it finds is exact."""

import random

import numpy as np
import pytest
from tests.conformance import oracle, texts
from tests.joins import roads

from lookalike.engines import LocalEngine
from lookalike.errors import OptionError, UnreachableRecallError
from lookalike.joins.divide import divide
from lookalike.joins.pyramid import pyramid
from lookalike.measures.overlap import JACCARD
from lookalike.runs.watch import Watch
from lookalike.theory.pyramid import MOST_LEVELS, levels, plan_pyramid


def twins(count, size, similarity, seed, *, nested=False):
    """Pairs of sets of nearly this Jaccard similarity that share nothing with others."""
    draw = random.Random(seed)
    sets = []
    for _ in range(count):
        first = max(1, round(size * 2 ** draw.random()))
        both = round(2 * first * similarity / (1 + similarity)) if not nested else first
        own = 0 if nested else first - both
        other = round(first / similarity) - first if nested else own
        shared, a, b = ({draw.randrange(2**60) for _ in range(n)} for n in (max(1, both), own, other))
        sets += [shared | a, shared | b]
    return sets


def recall_at(sets, threshold, **options):
    items, engine = roads.items_of(sets, cut=1000), LocalEngine(2)
    found = pyramid(items, threshold=threshold, seed=7, engine=engine, watch=Watch(), **options)
    truth = divide(items, measure=JACCARD, threshold=threshold, engine=engine, watch=Watch())
    exact = dict(zip(zip(truth.a, truth.b, strict=True), truth.similarity, strict=True))
    pairs = dict(zip(zip(found.a, found.b, strict=True), found.similarity, strict=True))
    assert pairs.items() <= exact.items()
    return len(pairs) / len(exact), len(exact), found


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("size", [4, 30, 400])
@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
def test_pairs_at_the_threshold_are_found_as_often_as_planned(threshold, size, nested):
    """Measured recall stays within four standard deviations of the plan, for small sets and large."""
    sets = twins(600, size, threshold + 0.01, seed=size, nested=nested)
    recall, pairs, found = recall_at(sets, threshold)
    assert pairs > 100
    promised = found.plan.expected_recall
    assert promised >= 0.95
    assert recall >= promised - 4 * np.sqrt(promised * (1 - promised) / pairs)
    assert found.recall.recall == pytest.approx(recall, abs=0.03)


def test_recall_under_all_edits_is_over_the_promise_and_estimated_from_what_was_found():
    recall, pairs, found = recall_at(roads.edited(4000, 3, size=60, changes=9), 0.5, recall=0.9)
    assert pairs > 1000
    assert recall >= 0.97
    assert found.recall.low - 0.01 <= recall <= found.recall.high + 0.01


def test_a_low_promise_misses_pairs_and_says_so():
    sets = twins(800, 50, 0.8, seed=5)
    recall, pairs, found = recall_at(sets, 0.75, recall=0.3)
    assert pairs == 800
    assert 0.3 < recall < 0.99
    assert found.recall.low - 0.02 <= recall <= found.recall.high + 0.02
    assert found.plan.rows > plan_pyramid(0.75).rows


def test_other_seeds_miss_other_pairs():
    items = roads.items_of(twins(300, 50, 0.8, seed=5), cut=1000)
    options = {"threshold": 0.75, "recall": 0.3, "engine": LocalEngine(2), "watch": Watch()}
    one, other, again = ({*pyramid(items, seed=seed, **options).a.tolist()} for seed in (1, 2, 1))
    assert one == again != other


def test_few_of_the_pairs_that_share_nothing_are_looked_at():
    """As many as the plan says, small sets included: a few elements are told apart by many orders."""
    for size in (1, 3, 50):
        sets = [{1000 * row + i for i in range(size)} for row in range(1000)]
        found = pyramid(
            roads.items_of(sets, cut=1000), threshold=0.9, seed=1, engine=LocalEngine(2), watch=Watch()
        )
        assert len(found.a) == 0
        assert found.candidates < 999 * 500 * 0.002
        assert found.recall.recall is None


def test_documents_are_folded_by_their_shingles():
    docs = [*texts.families(40, seed=8, words=100), ""]
    items = roads.text_items(docs, "words:3")
    found = pyramid(items, threshold=0.6, seed=0, recall=0.99, engine=LocalEngine(2), watch=Watch())
    truth = oracle.pairs([oracle.shingles(text, 3) for text in docs], 0.6)
    pairs = dict(zip(zip(found.a, found.b, strict=True), found.similarity, strict=True))
    assert pairs.items() <= truth.items()
    assert len(pairs) >= 0.97 * len(truth) > 40


def test_levels_are_those_at_which_a_set_fills_a_fifth_to_four_fifths():
    sizes = np.array([1, 2, 3, 10, 77, 1000, 10**6, 2**32 - 1])
    first, last = levels(sizes)
    for size, low, high in zip(sizes.tolist(), first.tolist(), last.tolist(), strict=True):
        inside = [j for j in range(1, 45) if 0.2 <= -np.expm1(size * np.log1p(-(0.5**j))) <= 0.8]
        assert list(range(low, high + 1)) == inside
    assert [int(level[0]) for level in levels([0])] == [1, 0]
    first, last = levels(np.arange(1, 100_000))
    assert np.max(last.astype(int) - first + 1) == MOST_LEVELS


def test_sets_half_as_large_as_others_always_have_a_level_in_common():
    sizes = np.arange(1, 5000)
    (first, last), (first_twice, last_twice) = levels(sizes), levels(2 * sizes)
    assert np.all(np.maximum(first, first_twice) <= np.minimum(last, last_twice))


@pytest.mark.parametrize("threshold", [0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99])
def test_the_plan_has_the_longest_bands_that_keep_the_promise(threshold, recall):
    plan = plan_pyramid(threshold, recall=recall)
    assert plan.expected_recall >= recall
    assert plan.bands * plan.rows <= 100
    assert plan_pyramid(threshold, recall=recall, sampled=400).stray <= plan.stray


def test_what_cannot_be_is_refused_with_what_can():
    with pytest.raises(OptionError, match=r"threshold=0\.4 is out of range for the pyramid: 0\.5 or more"):
        plan_pyramid(0.4)
    with pytest.raises(OptionError, match="sampled=0 is out of range"):
        plan_pyramid(0.8, sampled=0)
    with pytest.raises(UnreachableRecallError, match="1 sampled rows find at most"):
        plan_pyramid(0.5, sampled=1, recall=0.999)
