"""Weighted sets and documents by meaning with `method="exact"`: what brute force finds, and nothing else."""

import math
import random
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from tests.conformance import oracle

import lookalike as la
from lookalike.engines import LocalEngine
from lookalike.joins import weighted_exact, weighted_prefixes
from lookalike.measures.weights import as_weighted_sets

MEASURES = ("weighted-jaccard", "weighted-cosine")


def by_hand(measure, a, b):
    """The similarity of two mappings; of small whole numbers and quarters the sums are exact in any order."""
    shared = a.keys() & b.keys()
    if measure == "weighted-cosine":
        squares = sum(x * x for x in a.values()) * sum(x * x for x in b.values())
        value = sum(a[key] * b[key] for key in shared) / math.sqrt(squares) if squares else 0.0
        return 1.0 if value >= 1 - 1e-15 else value
    least = sum(min(a[key], b[key]) for key in shared)
    most = sum(a.values()) + sum(b.values()) - least
    return least / most if most else 0.0


def brute_force(measure, threshold, one, other=None):
    pairs = combinations(range(len(one)), 2) if other is None else product(range(len(one)), range(len(other)))
    values = {(a, b): by_hand(measure, one[a], (one if other is None else other)[b]) for a, b in pairs}
    return {pair: value for pair, value in values.items() if value >= threshold}


def joined(measure, threshold, one, other=None, engine=None, **more):
    pairs = la.similar_pairs(
        *([one] if other is None else [one, other]),
        measure=measure,
        threshold=threshold,
        method="exact",
        engine=engine or LocalEngine(1),
        **more,
    )
    assert pairs.account.method == "exact"
    assert pairs.account.recall.recall == 1.0
    rows = pairs.to_arrow().to_pylist()
    found = {(row["a"], row["b"]): row["similarity"] for row in rows}
    assert len(found) == len(rows)
    return found


def check(measure, threshold, one, other=None, engine=None):
    found = joined(measure, threshold, one, other, engine)
    expected = brute_force(measure, threshold, one, other)
    assert found.keys() == expected.keys()
    assert list(found.values()) == pytest.approx([expected[pair] for pair in found], rel=1e-14)
    return found


def signs(measure, draw):
    return draw.choice((-1, 1)) if measure == "weighted-cosine" else 1


def alike(measure, rows, draw):
    """Sets of a small universe, by a power law in elements and in weights, with near copies of some."""
    sets = []
    for _ in range(rows):
        if sets and draw.random() < 0.4:
            one = dict(draw.choice(sets))
            if one and draw.random() < 0.7:
                one[draw.choice(list(one))] = draw.choice((0.25, 1, 3)) * signs(measure, draw)
        else:
            size = draw.choice((0, 1, 2, 5, 9, 14))
            one = {
                int(30 * draw.random() ** 3): (1 << draw.randrange(7)) / 4 * signs(measure, draw)
                for _ in range(size)
            }
        sets.append(one)
    return sets


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(60))
def test_all_pairs_are_those_of_a_double_loop(measure, seed, monkeypatch):
    draw = random.Random(seed)
    # Small numbers, so that crowds are dealt and strips are cut in collections that are soon compared.
    monkeypatch.setattr(weighted_prefixes, "BLOCK", draw.choice((1, 2, 5, 128)))
    monkeypatch.setattr(weighted_exact, "STRIP", draw.choice((10, 300, 1 << 26)))
    engine = LocalEngine(
        draw.choice((1, 2)), memory=draw.choice((None, 16_000_000)), batch_rows=draw.choice((1, 7, 1 << 16))
    )
    one, other = (alike(measure, draw.choice((1, 2, 30, 60)), draw) for _ in range(2))
    # Some of the second are in the first as well.
    other += draw.sample(one, min(len(one), 10))
    values = list(brute_force(measure, 1e-9, one, other).values())
    attained = draw.choice(values) if values else 0.5
    for threshold in (1e-9, 0.05, 0.3, 0.5, 0.8, attained, 1.0):
        check(measure, min(1.0, threshold), one, None, engine)
        check(measure, min(1.0, threshold), one, other, engine)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("threshold", [1e-300, 0.1, 0.5, 0.9, 1 - 1e-12, 1.0])
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([{}], id="one that is empty"),
        pytest.param([{}] * 5 + [{1: 1.0}], id="empty ones are like nothing"),
        pytest.param([{1: 2.0, 2: 1.0}] * 70, id="all equal"),
        pytest.param([{1: float(n)} for n in range(1, 300)], id="one element that all have"),
        pytest.param([{n: 1.0} for n in range(200)], id="nothing in common"),
        pytest.param([{1: 1.0, n: 0.25} for n in range(2, 320)], id="one heavy element that all have"),
        pytest.param(
            [dict.fromkeys(range(size), 1.0) for size in (1, 10, 100, 2999, 3000)],
            id="giants, one in another",
        ),
        pytest.param(
            [{**{n: 2.0**-n for n in range(20)}, 100 + m: 2.0**-m} for m in range(20)], id="a power law"
        ),
    ],
)
def test_odd_collections(measure, threshold, rows):
    check(measure, threshold, rows)
    check(measure, threshold, rows[::2], rows[1::2] or rows)


@pytest.mark.parametrize("measure", MEASURES)
def test_both_roads_say_the_same_of_a_pair_to_the_last_bit(measure):
    draw = np.random.default_rng(4)
    common = draw.random(30)
    rows = [
        {n: float(w) for n, w in enumerate(common * draw.lognormal(0, 0.8, 30)) if draw.random() < 0.8}
        for _ in range(150)
    ]
    threshold = {"weighted-jaccard": 0.4, "weighted-cosine": 0.6}[measure]
    exact = joined(measure, threshold, rows)
    bands = la.similar_pairs(rows, measure=measure, threshold=threshold, method="lsh")
    by_bands = {(row["a"], row["b"]): row["similarity"] for row in bands}
    assert len(by_bands) > 100
    assert by_bands.items() <= exact.items()
    # A threshold that a pair attains to the last bit finds the pair; the next number does not.
    for pair, value in list(exact.items())[:30]:
        assert pair in joined(measure, value, rows)
        assert pair not in joined(measure, math.nextafter(value, 2), rows)


@pytest.mark.parametrize("unit", [2.0**-1074, 2.0**-1030, 2.0**-100, 2.0**1015])
def test_weights_at_the_ends_of_the_floats(unit):
    draw = random.Random(3)
    rows = [
        {draw.randrange(8): float(draw.randint(1, 20)) for _ in range(draw.randint(1, 6))} for _ in range(80)
    ]
    scaled = [{key: weight * unit for key, weight in row.items()} for row in rows]
    for threshold in (0.2, 0.5, 1.0):
        assert (
            joined("weighted-jaccard", threshold, scaled).keys()
            == brute_force("weighted-jaccard", threshold, rows).keys()
        )


def test_weights_of_all_sizes_in_one_set():
    """A sum of which most elements are less than its last digit, and pairs that share those alone."""
    rows = [{n: 2.0 ** (-20 * n) for n in range(start, start + 6)} for start in range(8)]
    rows += [{**row, 99: 1.0} for row in rows]
    for measure in MEASURES:
        for threshold in (1e-40, 1e-20, 1e-12, 1e-6, 1e-3, 0.5):
            check(measure, threshold, rows)


def test_an_answer_depends_on_neither_threads_nor_batches_nor_memory_nor_order():
    draw = random.Random(8)
    rows = alike("weighted-jaccard", 700, draw)
    engines = [
        LocalEngine(1),
        LocalEngine(2, batch_rows=50),
        LocalEngine(1, memory=16_000_000),
        LocalEngine(2, memory=16_000_000, batch_rows=13),
    ]
    tables = [
        la.similar_pairs(rows, measure="weighted-jaccard", threshold=0.4, method="exact", engine=engine)
        for engine in engines
    ]
    assert len(tables[0]) > 100
    for table in tables[1:]:
        assert table.to_arrow() == tables[0].to_arrow()
        assert table.account == tables[0].account
    forth = joined("weighted-jaccard", 0.4, rows)
    back = joined("weighted-jaccard", 0.4, rows[::-1])
    last = len(rows) - 1
    assert {(last - b, last - a): value for (a, b), value in back.items()} == forth


def test_a_crowd_in_memory_that_does_not_hold_its_pairs():
    """3,000 sets of one frequent element and rare ones: 4.5 million meetings, few pairs."""
    rows = [{0: 3.0, 1: 3.0, 10 + row: 1.0, 5000 + row // 2: 8.0} for row in range(3000)]
    found = joined("weighted-jaccard", 0.8, rows, engine=LocalEngine(2, memory=16_000_000))
    assert found == {(row, row + 1): 14 / 16 for row in range(0, 3000, 2)}


def test_elements_that_nobody_mixed_are_as_good():
    held = as_weighted_sets([{n: 1.0, n + 1: 2.0} for n in range(300)])
    raw = la.types.WeightedSets(
        np.repeat(np.arange(300, dtype=np.uint64), 2) + np.tile(np.array([0, 1], np.uint64), 300),
        held.offsets,
        np.tile([1.0, 2.0], 300),
    )
    found = joined("weighted-jaccard", 0.2, raw)
    assert found.keys() == {(n, n + 1) for n in range(299)}


def words(draw, count):
    """Documents of a few topics and of words of their own, some with the words of others in another order."""
    texts = []
    for number in range(count):
        topic = [f"w{int(60 * draw.random() ** 2)}" for _ in range(6)]
        own = draw.choices(topic, k=draw.randint(0, 12)) + [f"own{number}"] * draw.randint(0, 1)
        if texts and draw.random() < 0.5:
            own = draw.choice(texts).split()
            if draw.random() < 0.6:
                draw.shuffle(own)
            own += draw.choices(topic, k=draw.randint(0, 2))
        texts.append(" ".join(own))
    return texts


def vectors(texts, terms):
    counts = [Counter(terms(text)) for text in texts]
    holding = Counter(term for count in counts for term in count)
    return [
        {term: tf * math.log(1 + len(texts) / holding[term]) for term, tf in count.items()}
        for count in counts
    ]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("not_copies", [None, 0.2, 0.7])
def test_documents_by_meaning_are_those_of_a_double_loop(seed, not_copies, monkeypatch):
    draw = random.Random(seed)
    monkeypatch.setattr(weighted_prefixes, "BLOCK", draw.choice((2, 128)))
    monkeypatch.setattr(weighted_exact, "STRIP", draw.choice((100, 1 << 26)))
    engine = LocalEngine(draw.choice((1, 2)), memory=draw.choice((None, 16_000_000)))
    one, other = words(draw, 50), words(draw, 40)
    other += one[:5]
    k = draw.choice((1, 2))
    sets = [oracle.shingles(text) for text in one + other]
    for second in ([], other):
        both = vectors(one + second, lambda text: oracle.windows(oracle.words(text), k))
        pairs = product(range(50), range(50, 95)) if second else combinations(range(50), 2)
        values = {(a, b): by_hand("weighted-cosine", both[a], both[b]) for a, b in pairs}
        for threshold in (0.2, 0.6, 0.9):
            # Sums in another order differ in their last digits, so nothing may lie that near.
            assert not any(abs(value - threshold) < 1e-12 for value in values.values())
            expected = {
                (a, b - 50 if second else b): value
                for (a, b), value in values.items()
                if value >= threshold
                and (not_copies is None or oracle.jaccard(sets[a], sets[b]) < not_copies)
            }
            given = [one, second] if second else [one]
            how = {"shingle": f"words:{k}", "not_copies": not_copies, "engine": engine}
            found = joined("tfidf", threshold, *given, **how)
            assert found.keys() == expected.keys()
            assert list(found.values()) == pytest.approx([expected[pair] for pair in found], rel=1e-12)
