"""Collections that roads are tried on, and what brute force says of them."""

import random
from itertools import combinations

import numpy as np
import pyarrow as pa

from lookalike.engines import LocalEngine, Table
from lookalike.joins import Items
from lookalike.measures.sets import as_sets
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle


def items_of(sets, *, boundary=None, cut=7, shuffle=None):
    """Sets of integers as items, in batches of `cut`, perhaps in another order than that of their numbers."""
    order = list(range(len(sets)))
    if shuffle is not None:
        random.Random(shuffle).shuffle(order)
    rows = as_sets([sorted(sets[row]) for row in order]).to_arrow()
    batches = Table.of(row=np.array(order, np.int64), elements=rows).batches[0]
    table = Table(tuple(batches.slice(at, cut) for at in range(0, len(sets), cut)), batches.schema)
    return Items(table=table, bytes=8 * sum(map(len, sets)), shingle=None, boundary=boundary)


def text_items(docs, shingle, *, cut=9):
    """Documents as items, in batches of `cut`."""
    table = Table.of(row=np.arange(len(docs)), text=pa.array(docs, pa.large_string()))
    pieces = tuple(table.batches[0].slice(at, cut) for at in range(0, len(docs), cut))
    size = sum(map(len, docs))
    return Items(table=Table(pieces, table.schema), bytes=size, shingle=Shingle.parse(shingle), seed=3)


def walked(road, items, *, batch_rows=1 << 16, threads=2, **options):
    """What a road finds, as {(a, b): similarity}; its pairs come sorted, each once."""
    found = road(items, engine=LocalEngine(threads, batch_rows=batch_rows), watch=Watch(), **options)
    pairs = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert found.candidates >= len({frozenset(pair) for pair in pairs})
    return dict(zip(pairs, found.similarity.tolist(), strict=True))


def all_pairs(rows, boundary=None, *, both_ways=False):
    """Every two rows: a < b, or a of the first collection and b of the second; or each way round."""
    if boundary is not None:
        return [(a, b) for a in range(boundary) for b in range(boundary, rows)]
    pairs = list(combinations(range(rows), 2))
    return pairs + [(b, a) for a, b in pairs] if both_ways else pairs


def brute_force(similarity, rows, threshold, boundary=None, *, both_ways=False):
    """{(a, b): similarity} of all pairs that share something and reach the threshold."""
    found = {pair: similarity(*pair) for pair in all_pairs(rows, boundary, both_ways=both_ways)}
    return {pair: value for pair, value in found.items() if value > 0 and value >= threshold}


def power_law(rows, seed, *, universe=60, most=14):
    """Sets whose elements are drawn so that a few are in most sets and most in a few."""
    draw = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(universe)]
    return [set(draw.choices(range(universe), weights, k=draw.randrange(most))) for _ in range(rows)]


def edited(rows, seed, *, size=30, changes=6):
    """Families of sets: originals and copies of them in which a few elements differ."""
    draw = random.Random(seed)
    sets = []
    while len(sets) < rows:
        original = {draw.randrange(10**6) for _ in range(draw.randrange(1, size))}
        sets.append(original)
        for _ in range(draw.randrange(4)):
            kept = set(draw.sample(sorted(original), max(0, len(original) - draw.randrange(changes))))
            sets.append(kept | {draw.randrange(10**6) for _ in range(draw.randrange(changes))})
    draw.shuffle(sets)
    return sets[:rows]


ADVERSARIAL = {
    "no rows": [],
    "one row": [{1, 2}],
    "all empty": [set()] * 5,
    "empty among others": [set(), {1}, set(), {1}, {1, 2}],
    "all equal": [{1, 2, 3}] * 90,
    "all equal, one element": [{7}] * 70,
    "disjoint": [{row} for row in range(80)],
    "one giant": [set(range(3000)), *({row, row + 1} for row in range(40))],
    "two giants": [set(range(2000)), set(range(10, 2010)), {5}, set()],
    "one element in all": [{0, *range(10 * row, 10 * row + row % 9)} for row in range(1, 150)],
    "nested": [set(range(size)) for size in range(30)],
    "extreme elements": [{-(2**63), 2**63 - 1}, {-(2**63)}, {2**63 - 1, 0}],
    "power law": power_law(100, 1),
    "power law, dense": power_law(80, 2, universe=12),
    "edited": edited(90, 3),
}
