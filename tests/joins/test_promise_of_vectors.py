"""Vectors that differ alike: a run tells the recall of its own draw, and keeps the promise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.engines import LocalEngine, Table
from lookalike.joins.products import near_of_vectors
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import Nearness
from lookalike.types import Vectors

SEEDS = range(6)


def turned(kinds: int, *, count: int = 800, dimensions: int = 24, degrees: float = 20.0) -> np.ndarray:
    """Vectors, and each again turned by an angle towards one of a few directions."""
    draw = np.random.default_rng(kinds)
    one = draw.normal(size=(count, dimensions))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    towards = draw.normal(size=(kinds, dimensions))[np.arange(count) % kinds]
    towards -= (towards * one).sum(axis=1, keepdims=True) * one
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    angle = np.radians(degrees - 1e-6)
    return np.concatenate([one, np.cos(angle) * one + np.sin(angle) * towards])


def bundles(seed: int, *, pairs: int = 2, rows: int = 30, dimensions: int = 24) -> np.ndarray:
    """Tight bundles of vectors, two by two at an angle just within the threshold."""
    draw = np.random.default_rng(seed)
    parts = []
    for _ in range(pairs):
        one, other = draw.normal(size=(2, dimensions))
        one /= np.linalg.norm(one)
        other -= other @ one * one
        other /= np.linalg.norm(other)
        angle = np.radians(19.8)
        for centre in (one, np.cos(angle) * one + np.sin(angle) * other):
            parts.append(centre + 1e-5 * draw.normal(size=(rows, dimensions)))
    return np.concatenate([*parts, draw.normal(size=(100, dimensions))])


def shares(vectors: np.ndarray, **options: object) -> list[tuple[float, la.Pairs]]:
    """What runs of several seeds find of all pairs."""
    exact = la.similar_pairs(vectors, method="exact", **options)
    runs = [la.similar_pairs(vectors, method="lsh", seed=seed, **options) for seed in SEEDS]
    for run in runs:
        assert set(zip(run["a"], run["b"], strict=True)) <= set(zip(exact["a"], exact["b"], strict=True))
    return [(len(run) / len(exact), run) for run in runs]


@pytest.mark.parametrize("kinds", [1, 3, 800])
def test_angles_towards_few_directions(kinds):
    covered = 0
    for found, run in shares(turned(kinds), measure="angle", threshold="20deg"):
        recall = run.account.recall
        assert found > 0.93
        assert recall.low < recall.high
        covered += recall.low <= found <= recall.high
    assert covered >= len(SEEDS) - 1


@pytest.mark.parametrize("measure", ["l1", "l2"])
def test_one_changed_coordinate(measure):
    draw = np.random.default_rng(2)
    one = draw.normal(size=(800, 12)) * 10
    changed = one.copy()
    changed[:, 3] += 1 - 1e-9
    covered = 0
    for found, run in shares(np.concatenate([one, changed]), measure=measure, threshold=1.0):
        recall = run.account.recall
        assert found > 0.93
        covered += recall.low <= found <= recall.high
    assert covered >= len(SEEDS) - 1


def test_bundles_are_not_lost_as_a_whole():
    for data in range(4):
        for found, run in shares(bundles(data), measure="angle", threshold="20deg"):
            assert found > 0.93
            assert run.account.look is not None
            assert run.account.recall.low <= found <= run.account.recall.high


def test_the_answer_depends_on_no_threads_or_memory():
    vectors = turned(1)
    options = {"measure": "angle", "threshold": "20deg", "method": "lsh", "seed": 4}
    one = la.similar_pairs(vectors, **options)
    for other in (
        la.similar_pairs(vectors, threads=1, **options),
        la.similar_pairs(vectors, memory="16MB", **options),
    ):
        assert list(other) == list(one)
        assert other.account.recall == one.account.recall
        assert other.account.added == one.account.added


@pytest.mark.parametrize("measure", ["angle", "l1", "l2"])
@pytest.mark.parametrize("boundary", [None, 90])
def test_the_near_vectors_of_a_few_are_those_of_brute_force(measure, boundary):
    draw = np.random.default_rng(3)
    centres = draw.normal(size=(30, 6))
    vectors = (centres[draw.integers(30, size=200)] + 0.05 * draw.normal(size=(200, 6))).astype(np.float64)
    threshold = {"angle": 12.0, "l1": 0.5, "l2": 0.25}[measure]
    rows = np.arange(0, 200, 11)
    vector = Vectors(vectors).to_arrow()
    table = pa.record_batch({"row": pa.array(np.arange(200)), "vector": vector})
    items = VectorItems(
        table=Table([table[:80], table[80:]], table.schema),
        dimensions=6,
        nearness=Nearness(measure, threshold),
        boundary=boundary,
    )
    a, b = near_of_vectors(items, np.ones(200, np.bool_), LocalEngine(threads=2), rows)
    one, other = np.triu_indices(200, 1)
    apart = items.nearness.compare([vectors], one, other, all=True)
    near = items.nearness.reached(apart) & (np.isin(one, rows) | np.isin(other, rows))
    if boundary is not None:
        near &= (one < boundary) != (other < boundary)
    expected = set(zip(one[near].tolist(), other[near].tolist(), strict=True))
    assert {(min(pair), max(pair)) for pair in zip(a.tolist(), b.tolist(), strict=True)} == expected
    assert expected
