"""How often sets meet in the Hamming pyramid is what its theory says, of all sizes, and for pairs alike.

Pairs of a trial have elements of their own unless it is said otherwise, and every seed draws other orders.
"""

from itertools import product

import numpy as np
import pytest

from lookalike import _core
from lookalike.theory.pyramid import PyramidPlan, _rows_that_differ, levels, plan_pyramid

SEEDS = 20


def met(cut, shared, only_a, only_b, seed):
    """Which pairs of sets meet at some level: rows of elements that both have, and of either's own."""
    (first, last), keys = np.array([1, 40]), []
    for own in (only_a, only_b):
        sets = np.ascontiguousarray(np.hstack([shared, own]))
        pairs, size = sets.shape
        own_levels = levels(np.full(pairs, size))
        offsets = np.arange(pairs + 1) * size
        found, of = _core.pyramid_keys(
            (sets.ravel(), offsets), *own_levels, bands=cut.bands, rows=cut.rows, seed=seed
        )
        assert np.array_equal(of, np.repeat(np.arange(pairs), len(found) // pairs))
        at = int(own_levels[0][0]), int(own_levels[1][0])
        keys.append((at[0], found.reshape(pairs, -1)))
        first, last = max(first, at[0]), min(last, at[1])
    a, b = (found[:, cut.bands * (first - begin) : cut.bands * (last + 1 - begin)] for begin, found in keys)
    return (a == b).any(axis=1)


def shares(cut, sizes, pairs, *, seeds=SEEDS, alike=False):
    """The share of pairs that meet, by seed; pairs that are `alike` differ in the same elements."""
    found = []
    for seed in range(seeds):
        draw = np.random.default_rng([*sizes, seed])
        shared, *own = (draw.integers(0, 2**64, (pairs, size), dtype=np.uint64) for size in sizes)
        if alike:
            own = [np.repeat(elements[:1], pairs, axis=0) for elements in own]
        found.append(met(cut, shared, *own, seed).mean())
    return np.array(found)


@pytest.mark.parametrize(
    ("threshold", "sizes"),
    [
        (0.9, (225, 0, 25)),
        (0.9, (225, 12, 12)),
        (0.9, (1000, 0, 111)),
        (0.8, (100, 0, 25)),
        (0.8, (400, 0, 100)),
        (0.8, (400, 50, 50)),
        (0.7, (225, 0, 96)),
        (0.6, (225, 0, 150)),
        (0.5, (225, 0, 225)),
        (0.95, (400, 0, 21)),
    ],
)
def test_pairs_at_the_threshold_are_found_as_often_as_promised(threshold, sizes):
    """In the first case .919, .942, .944 were found with seeds 1 to 3 when levels had one order in common."""
    shared, only_a, only_b = sizes
    cut = plan_pyramid(threshold)
    said = cut.chance(shared, shared + only_a, shared + only_b)
    pairs = 1000
    found = shares(cut, sizes, pairs).mean()
    assert said >= 0.95
    # Within four standard errors, and what is left of the dependence of rows.
    assert found == pytest.approx(said, abs=4 * np.sqrt(said * (1 - said) / (SEEDS * pairs)) + 0.003)


@pytest.mark.parametrize(
    "sizes", [(1, 0, 1), (2, 0, 1), (3, 1, 1), (7, 0, 3), (10, 0, 1), (20, 1, 1), (50, 0, 2)]
)
@pytest.mark.parametrize(
    "cut",
    [
        PyramidPlan(threshold=0.5, bands=16, rows=6, expected_recall=0),
        PyramidPlan(threshold=0.8, bands=5, rows=17, expected_recall=0),
        PyramidPlan(threshold=0.9, bands=3, rows=26, expected_recall=0),
        PyramidPlan(threshold=0.9, bands=1, rows=51, expected_recall=0),
        PyramidPlan(threshold=0.97, bands=1, rows=100, expected_recall=0),
    ],
    ids=str,
)
def test_small_sets_meet_as_often_as_rows_that_depend_on_each_other_let_them(cut, sizes):
    """Were rows of a level taken to be independent, some of these chances would be .2 too high."""
    shared, only_a, only_b = sizes
    said = cut.chance(shared, shared + only_a, shared + only_b)
    pairs = 400
    found = shares(cut, sizes, pairs).mean()
    assert found == pytest.approx(
        said, abs=4 * np.sqrt(max(said * (1 - said), 1e-4) / (SEEDS * pairs)) + 0.02
    )


@pytest.mark.parametrize("sizes", [(10, 0, 1), (20, 0, 2), (20, 1, 1), (100, 0, 11)])
def test_low_promises_are_kept_for_small_sets_too(sizes):
    """Taken to be independent, a band of 85 rows was to find .24 of the second kind, and found .093."""
    pairs = 1000
    found = shares(plan_pyramid(0.9, recall=0.1), sizes, pairs).mean()
    assert found >= 0.1 - 4 * np.sqrt(0.09 / (SEEDS * pairs))


@pytest.mark.parametrize("sizes", [(200, 0, 20), (60, 4, 4)])
def test_pairs_that_differ_alike_are_found_as_often_as_promised_in_the_mean_of_all_draws(sizes):
    """One run finds most of them or few. No promise is made for a run, only for the mean."""
    shared, only_a, only_b = sizes
    cut = plan_pyramid(0.88, recall=0.7)
    said = cut.chance(shared, shared + only_a, shared + only_b)
    found = shares(cut, sizes, 100, seeds=300, alike=True)
    assert found.mean() == pytest.approx(said, abs=4 * found.std(ddof=1) / np.sqrt(len(found)) + 0.01)
    alone = shares(cut, sizes, 100)
    assert found.std() > 2 * alone.std()


@pytest.mark.parametrize("sampled", [1, 20, 32])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (0, 1, 2), (1, 0, 2), (0, 1, 1), (2, 1, 0)])
def test_mean_and_variance_of_the_rows_that_differ_are_those_of_all_placements(sizes, sampled):
    rows = 32
    counts = []
    for placed in product(range(rows), repeat=sum(sizes)):
        shared, a = set(placed[: sizes[0]]), set(placed[sizes[0] : sizes[0] + sizes[1]])
        b = set(placed[sizes[0] + sizes[1] :])
        counts.append(sum(row < sampled for row in (a ^ b) - shared))
    columns = [np.array([float(size)]) for size in sizes]
    mean, variance = _rows_that_differ(*columns, np.array([5.0]), sampled)
    assert mean[0] == pytest.approx(np.mean(counts))
    assert variance[0] == pytest.approx(np.var(counts))
