"""Frequent pairs: A-Priori and PCY find what counting every pair finds, and PCY counts fewer."""

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.applications import baskets as module
from lookalike.applications.baskets import frequent_pairs
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError, SourceError
from lookalike.joins.baskets import FirstPass, Seen

METHODS = ["apriori", "pcy"]


def brute_force(baskets, support):
    counts = Counter(pair for basket in baskets for pair in combinations(sorted(set(basket)), 2))
    frequent = [(*pair, count) for pair, count in counts.items() if count >= support]
    return sorted(frequent, key=lambda row: (-row[2], row[0], row[1]))


def rows_of(found):
    return [(row["a"], row["b"], row["count"]) for row in found]


def shopping(count, seed, *, items=40, most=9):
    """Baskets in which a few items are common and some go together."""
    draw = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(items)]
    return [
        draw.choices(range(items), weights, k=draw.randrange(most)) + ([7, 8] if draw.random() < 0.2 else [])
        for _ in range(count)
    ]


ITEMS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 6)
BASKETS = st.lists(st.lists(ITEMS, max_size=7), max_size=25)


@pytest.mark.parametrize("method", METHODS)
@given(baskets=BASKETS, support=st.integers(1, 5), buckets=st.sampled_from([2, 3, 64, 1 << 12]))
def test_both_ways_find_what_counting_every_pair_finds(method, baskets, support, buckets):
    found = frequent_pairs(baskets, support=support, method=method, buckets=buckets)
    assert rows_of(found) == brute_force(baskets, support)


@pytest.mark.parametrize("method", METHODS)
@given(baskets=st.lists(st.lists(st.sampled_from(["milk", "Milk", "Brot", "ü", ""])), max_size=20))
def test_items_may_be_strings(method, baskets):
    assert rows_of(frequent_pairs(baskets, support=2, method=method)) == brute_force(baskets, 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "baskets",
    [
        [],
        [[]],
        [[], []],
        [[1]],
        [[1, 1, 1]],
        [[1, 2]] * 100,
        [list(range(300))] * 3,
        [[i] for i in range(50)],
    ],
    ids=["none", "empty", "empties", "one item", "one item thrice", "all equal", "giant", "disjoint"],
)
def test_hostile_baskets_are_counted_like_any(method, baskets):
    assert rows_of(frequent_pairs(baskets, support=2, method=method)) == brute_force(baskets, 2)


def test_pcy_counts_fewer_pairs_and_says_how_many():
    baskets = shopping(4000, 1, items=400)
    plain = frequent_pairs(baskets, support=30, method="apriori").account
    hashed = frequent_pairs(baskets, support=30, method="pcy", buckets=1 << 16).account
    counts = Counter(item for basket in baskets for item in set(basket))
    frequent = {item for item, count in counts.items() if count >= 30}
    pairs = Counter(pair for basket in baskets for pair in combinations(sorted(set(basket)), 2))
    assert (plain.baskets, plain.items, plain.frequent_items) == (4000, len(counts), len(frequent))
    assert plain.possible == len(frequent) * (len(frequent) - 1) // 2
    assert plain.counted == sum(frequent.issuperset(pair) for pair in pairs)
    assert plain.pairs == hashed.pairs == sum(count >= 30 for count in pairs.values()) > 20
    assert plain.pairs <= hashed.counted < plain.counted / 5
    assert (plain.buckets, hashed.buckets) == (0, 1 << 16)
    assert 0 < hashed.frequent_buckets <= hashed.counted


@pytest.mark.parametrize("method", METHODS)
def test_the_answer_depends_neither_on_threads_nor_on_batches_nor_on_order(monkeypatch, method):
    baskets = shopping(900, 2)
    truth = brute_force(baskets, 5)
    assert len(truth) > 50
    for threads, batch_rows, at_once in [(1, 1 << 16, 1 << 14), (2, 10, 7), (3, 1000, 100)]:
        monkeypatch.setattr(module, "_AT_ONCE", at_once)
        random.Random(at_once).shuffle(baskets)
        engine = LocalEngine(threads, batch_rows=batch_rows)
        assert rows_of(frequent_pairs(baskets, support=5, method=method, engine=engine)) == truth


def test_arrow_lists_and_slices_of_them_are_taken_as_they_are():
    baskets = shopping(200, 3)
    truth = brute_force(baskets[20:120], 3)
    for array in (pa.array(baskets), pa.array(baskets, pa.large_list(pa.uint16()))):
        for given_as in (array[20:120], pa.chunked_array([array[20:50], array[50:120]])):
            assert rows_of(frequent_pairs(given_as, support=3)) == truth


def test_items_may_be_64_bit_hashes():
    baskets = [[2**64 - 1, 2**63, 5], [2**63, 2**64 - 1], [5]]
    for method in ("pcy", "apriori"):
        found = frequent_pairs(baskets, support=2, method=method)
        assert rows_of(found) == [(2**63, 2**64 - 1, 2)]
    for other in (-1, 2**64):
        with pytest.raises(SourceError, match="lie from"):
            frequent_pairs([*baskets, [other]], support=2)


def test_a_fraction_is_of_the_baskets():
    baskets = [[1, 2]] * 3 + [[3, 4]] * 7
    assert rows_of(frequent_pairs(baskets, support=0.3)) == [(3, 4, 7), (1, 2, 3)]
    assert rows_of(frequent_pairs(baskets, support=0.31)) == [(3, 4, 7)]
    # 7 of 100 are 7%, though .07 · 100 is over 7 as a product of floats.
    assert rows_of(frequent_pairs(baskets + [[5]] * 90, support=0.07)) == [(3, 4, 7)]


def test_no_pair_is_in_more_baskets_than_can_be_counted():
    for support in (3, 2**63, 2**64, 10**30):
        assert rows_of(frequent_pairs([[1, 2], [1, 2]], support=support)) == []


def test_a_fraction_of_the_baskets_does_not_round_up():
    # .07 · 100 is more than 7 in floating point.
    baskets = [["a", "b"]] * 7 + [["c"]] * 93
    assert rows_of(frequent_pairs(baskets, support=0.07)) == [("a", "b", 7)]


def test_a_full_bucket_does_not_wrap_around():
    def seen(*counts):
        items = pa.table({"item": pa.array([1]), "count": pa.array([1], pa.int64())})
        return Seen(1, items, np.array(counts, np.uint32))

    merged = FirstPass(1).merge(seen(2**32 - 2, 5), seen(7, 6))
    assert merged.buckets.tolist() == [2**32 - 1, 11]


def test_pcy_does_not_count_all_pairs_of_a_giant_basket(monkeypatch):
    counted = []

    def counting(sets, *, bits):
        counted.append(int((np.diff(sets[1]) * (np.diff(sets[1]) - 1) // 2).max(initial=0)))
        return pair_buckets(sets, bits=bits)

    pair_buckets = _core.pair_buckets
    monkeypatch.setattr(_core, "pair_buckets", counting)
    baskets = [list(range(300)), [1, 2], list(range(100, 400)), [1, 2, 3], [299, 100], [3, 4]]
    found = frequent_pairs(baskets, support=2, method="pcy", buckets=1 << 12)
    assert rows_of(found) == brute_force(baskets, 2)
    assert len(found) > 1
    assert max(counted) <= 1 << 12


@pytest.mark.parametrize("support", [0, -1, 0.0, 1.0, True, "often"])
def test_a_support_that_means_nothing_is_refused(support):
    with pytest.raises(OptionError, match="number of baskets, 1 or more, or a fraction"):
        frequent_pairs([[1, 2]], support=support)


@pytest.mark.parametrize("options", [{"method": "fpgrowth"}, {"buckets": 1}, {"buckets": 2.5}])
def test_other_options_out_of_range_are_refused(options):
    with pytest.raises(OptionError, match=r"unknown: choose|out of range"):
        frequent_pairs([[1, 2]], support=1, **options)


@pytest.mark.parametrize(
    ("baskets", "said"),
    [
        (7, "holds no baskets"),
        ("milk", "holds no baskets"),
        (["milk"], "basket 0 is 'milk', not a collection"),
        ([[1], 2], "basket 1 is 2, not a collection"),
        ([[1, "milk"]], "integers of 64 bits or strings, not both"),
        ([[2**70]], "integers in baskets lie from"),
        ([[1, None]], "null"),
        ([[1.5]], "integers or strings, not double"),
        (pa.array([[1], None]), "null"),
        (pa.array([1, 2]), "Arrow lists, not int64"),
    ],
)
def test_what_is_no_basket_is_refused_with_what_is(baskets, said):
    with pytest.raises(SourceError, match=said):
        frequent_pairs(baskets, support=1)


@pytest.mark.parametrize("layout", [pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
@pytest.mark.parametrize("strings", [pa.string(), pa.string_view(), pa.large_string()])
def test_baskets_come_in_every_layout_of_lists_and_strings(layout, strings):
    column = pa.array([["x"], ["a", "b"], [], ["b", "a", "c"], []], layout(strings))
    assert rows_of(frequent_pairs(column.slice(1), support=2)) == [("a", "b", 2)]
