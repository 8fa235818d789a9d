"""A vector looks into the bucket of another as often as `theory.multiprobe` says, over families and seeds."""

import math

import numpy as np
import pytest

from lookalike import _core
from lookalike.theory.collisions import CauchyCollision, GaussianCollision, HyperplaneCollision
from lookalike.theory.multiprobe import found, steps_of

SEEDS, BANDS, DIMENSIONS = 12, 2000, 16


def pair(law, distance, seed):
    """Two vectors in general position at this distance."""
    numbers = np.random.default_rng(seed)
    one, other = np.linalg.qr(numbers.normal(size=(DIMENSIONS, 2)))[0].T
    if isinstance(law, HyperplaneCollision):
        angle = math.radians(distance)
        return 5 * one, 0.3 * (math.cos(angle) * one + math.sin(angle) * other)
    size = np.linalg.norm(other) if isinstance(law, GaussianCollision) else np.abs(other).sum()
    return 20 * one, 20 * one + distance / size * other


def share_found(law, distance, rows, probes):
    """Of bands drawn independently, how many hold the second vector in a bucket the first looks into."""
    hits = 0
    for seed in range(SEEDS):
        one, other = pair(law, distance, seed)
        functions = _core.Projections(
            law.family,
            dimensions=DIMENSIONS,
            slots=BANDS * rows,
            seed=seed,
            width=getattr(law, "width", 1.0),
        )
        sets = steps_of(law, rows, probes)
        looks = functions.probe_keys(one[np.newaxis], bands=BANDS, rows=rows, sets=sets)
        home = functions.probe_keys(other[np.newaxis], bands=BANDS, rows=rows, sets=sets[:0])
        hits += int((looks.reshape(BANDS, probes) == home).any(axis=1).sum())
    return hits


@pytest.mark.parametrize(
    ("law", "distance", "rows", "probes"),
    [
        (HyperplaneCollision(), 5.0, 30, 2),
        (HyperplaneCollision(), 20.0, 16, 8),
        (HyperplaneCollision(), 25.0, 20, 32),
        (HyperplaneCollision(), 45.0, 8, 64),
        (HyperplaneCollision(), 100.0, 4, 5),
        (GaussianCollision(4.0), 1.0, 12, 8),
        (GaussianCollision(4.0), 2.0, 6, 40),
        (GaussianCollision(4.0), 1.5, 2, 7),
        (CauchyCollision(16.0), 1.0, 12, 8),
        (CauchyCollision(4.0), 2.0, 3, 20),
    ],
    ids=lambda value: getattr(value, "family", value),
)
def test_buckets_hold_a_near_vector_as_often_as_said(law, distance, rows, probes):
    chance, trials = float(found(law, distance, rows=rows, probes=probes)), SEEDS * BANDS
    hits = share_found(law, distance, rows, probes)
    assert abs(hits - trials * chance) < 4 * math.sqrt(trials * chance * (1 - chance))


def test_margins_by_ranks_lose_little_to_the_best_order_there_is():
    """Of 16 hyperplanes at 20°: against the likeliest buckets of each query, which know its margins."""
    rows, probes = 16, 16
    margins = np.sort(np.abs(np.random.default_rng(0).normal(size=(1500, rows))), axis=1)
    across = 0.5 * np.vectorize(math.erfc)(margins / math.tan(math.radians(20)) / math.sqrt(2))
    chances = np.prod(1 - across, axis=1)[:, np.newaxis]
    for slot in range(10):
        # Every set of the ten nearest hyperplanes; what lies beyond those is not among the best.
        odds = (across / (1 - across))[:, slot : slot + 1]
        chances = np.concatenate([chances, chances * odds], axis=1)
    best = np.sort(chances, axis=1)[:, -probes:].sum(axis=1).mean()
    ours = float(found(HyperplaneCollision(), 20, rows=rows, probes=probes))
    assert 0.96 * best < ours < 1.02 * best
