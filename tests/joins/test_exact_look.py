"""An exact look at a few rows: what brute force finds, and nothing where a crowd would make it long."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance import oracle

import lookalike as la
from lookalike.engines import LocalEngine, Table
from lookalike.joins.exact_look import near_of_sets, rarest_of
from lookalike.joins.items import Items
from lookalike.joins.weighted import WeightedItems
from lookalike.joins.weighted_exact import near_of_weighted
from lookalike.measures.sets import as_sets
from lookalike.measures.weighted import weighted_batch
from lookalike.measures.weights import as_weighted_sets
from lookalike.shingles import Shingle


def families(seed: int, *, groups: int = 60, size: int = 5, own: int = 30) -> list[frozenset[int]]:
    """Sets in families of similar ones, of sizes from one element on."""
    draw = np.random.default_rng(seed)
    sets = []
    for _ in range(groups):
        base = draw.integers(2**40, size=draw.integers(1, own)).tolist()
        for _ in range(size):
            left = [element for element in base if draw.random() > 0.15]
            sets.append(frozenset(left + draw.integers(2**40, size=draw.integers(0, 4)).tolist()))
    return sets


def items_of(sets: list[frozenset[int]], boundary: int | None = None) -> Items:
    hashed = as_sets([sorted(one) for one in sets], seed=0)
    table = pa.record_batch({"row": pa.array(np.arange(len(sets))), "elements": hashed.to_arrow()})
    return Items(table=Table([table], table.schema), bytes=0, shingle=None, boundary=boundary)


@pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_near_sets_of_a_few_are_those_of_brute_force(threshold, seed):
    sets = families(seed)
    marked = np.array([len(one) > 0 for one in sets])
    rows = np.flatnonzero(marked)[::7]
    a, b = near_of_sets(items_of(sets), marked, None, threshold, LocalEngine(threads=2), rows)
    truth = oracle.pairs(sets, threshold)
    expected = {(a, b) for a, b in truth if marked[a] and marked[b] and {a, b} & set(rows.tolist())}
    assert {(min(pair), max(pair)) for pair in zip(a.tolist(), b.tolist(), strict=True)} == expected


def test_near_texts_of_a_few_are_those_of_brute_force():
    draw = np.random.default_rng(4)
    words = [f"w{number}" for number in range(3000)]
    texts = []
    for _ in range(80):
        base = [words[number] for number in draw.integers(3000, size=60)]
        for _ in range(3):
            changed = list(base)
            changed[draw.integers(60)] = "other"
            texts.append(" ".join(changed))
    table = pa.record_batch(
        {"row": pa.array(np.arange(len(texts))), "text": pa.array(texts, pa.large_string())}
    )
    items = Items(table=Table([table], table.schema), bytes=0, shingle=Shingle())
    marked = np.ones(len(texts), np.bool_)
    rows = np.arange(0, len(texts), 9)
    a, b = near_of_sets(items, marked, None, 0.7, LocalEngine(threads=1), rows)
    truth = oracle.pairs([oracle.shingles(text) for text in texts], 0.7)
    found = {(min(pair), max(pair)) for pair in zip(a.tolist(), b.tolist(), strict=True)}
    assert found == {pair for pair in truth if {*pair} & set(rows.tolist())}
    assert found


def test_of_two_collections_pairs_across_count():
    sets = families(5)
    half = len(sets) // 2
    sides = np.arange(len(sets)) % 2 == 0, np.arange(len(sets)) % 2 == 1
    marked = np.array([len(one) > 0 for one in sets])
    rows = np.flatnonzero(marked)[::5]
    a, b = near_of_sets(items_of(sets, half), marked, sides, 0.6, LocalEngine(threads=1), rows)
    truth = oracle.pairs(sets, 0.6)
    expected = {
        (a, b) for a, b in truth if (a + b) % 2 and marked[a] and marked[b] and {a, b} & set(rows.tolist())
    }
    assert {(min(pair), max(pair)) for pair in zip(a.tolist(), b.tolist(), strict=True)} == expected


def test_where_all_are_nearly_near_nobody_is_compared_with_all():
    draw = np.random.default_rng(6)
    common = list(range(70))
    sets = [frozenset(common + draw.integers(2**40, size=20).tolist()) for _ in range(2000)]
    rows = np.arange(0, 2000, 20)
    marked = np.ones(2000, np.bool_)
    assert near_of_sets(items_of(sets), marked, None, 0.7, LocalEngine(threads=1), rows) is None


def test_small_sets_are_sieved_apart_from_large_ones():
    sets = as_sets([[1], [2, 3], list(range(100, 200))], seed=0)
    small, large = rarest_of(sets, 0.8)
    assert (small.least, large.least) == (1, 8)
    # Whoever lacks none of two holds either one.
    assert len(small.elements) == 2
    # All but what a near set may lack, and as many as it must hold then.
    assert len(large.elements) == 100 - 80 + 8


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
@pytest.mark.parametrize("threshold", [0.4, 0.6])
def test_near_weighted_sets_of_a_few_are_those_of_the_exact_join(measure, threshold):
    draw = np.random.default_rng(7)
    sets = [
        {element: float(draw.integers(1, 9)) for element in sorted(one)} for one in families(7, groups=40)
    ]
    name = f"weighted-{measure}"
    exact = la.similar_pairs(sets, measure=name, threshold=threshold, method="exact")
    rows = np.flatnonzero([len(one) > 0 for one in sets])[::6]
    near = {(row["a"], row["b"]) for row in exact if {row["a"], row["b"]} & set(rows.tolist())}
    table = weighted_batch(pa.array(np.arange(len(sets))), as_weighted_sets(sets))
    items = WeightedItems(table=Table([table], table.schema), bytes=0, shingle=None, measure=measure)
    marked = np.array([len(one) > 0 for one in sets])
    a, b = near_of_weighted(items, marked, None, threshold, LocalEngine(threads=1), rows)
    assert {(min(pair), max(pair)) for pair in zip(a.tolist(), b.tolist(), strict=True)} == near
    assert near
