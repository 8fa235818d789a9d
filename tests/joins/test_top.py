"""The most similar of every row, beside brute force over all pairs."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.joins.roads import ADVERSARIAL, edited, items_of, power_law, text_items
from tests.shingles.oracle import shingles

from lookalike import _core
from lookalike.engines import LocalEngine, Table
from lookalike.families import MinHash
from lookalike.joins import beside, nearest
from lookalike.joins import top as road
from lookalike.joins.top import likeliest, top
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.types import Sets

FAMILY = MinHash(slots=64, seed=5)


def jaccard(one, other):
    return len(one & other) / len(one | other) if one & other else 0.0


def brute_force(sets, k, boundary=None):
    """{row: [(neighbour, similarity), …]}, best first, of equals the lower; rows without any are left out."""
    asking = range(len(sets) if boundary is None else boundary)
    offered = range(0 if boundary is None else boundary, len(sets))
    found = {}
    for row in asking:
        near = [(other, jaccard(sets[row], sets[other])) for other in offered if other != row]
        near = sorted((pair for pair in near if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))[:k]
        if near:
            found[row] = near
    return found


def walked(items, k, *, method="exact", threads=2, batch_rows=1 << 16, memory=None):
    found = top(
        items,
        k,
        family=FAMILY,
        method=method,
        engine=LocalEngine(threads, batch_rows=batch_rows, memory=memory),
        watch=Watch(),
    )
    lists = {}
    for row, other, similarity in zip(
        found.row.tolist(), found.other.tolist(), found.similarity.tolist(), strict=True
    ):
        lists.setdefault(row, []).append((other, similarity))
    assert list(lists) == sorted(lists)
    return lists, found.account


@pytest.mark.parametrize("k", [1, 3, 10, 200])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_exact_finds_what_brute_force_finds(name, k):
    sets = ADVERSARIAL[name]
    for boundary in [None, len(sets) // 3]:
        assert walked(items_of(sets, boundary=boundary), k)[0] == brute_force(sets, k, boundary)


SETS = st.lists(st.frozensets(st.integers(0, 12), max_size=6), max_size=25)


@settings(max_examples=150)
@given(
    SETS,
    st.integers(1, 5),
    st.integers(0, 25),
    st.booleans(),
    st.sampled_from([1, 3, 100]),
    st.integers(1, 2),
)
def test_exact_is_the_same_in_any_order_cut_and_number_of_threads(sets, k, at, two, batch_rows, threads):
    boundary = min(at, len(sets)) if two else None
    items = items_of(sets, boundary=boundary, cut=max(1, at % 9), shuffle=at)
    assert walked(items, k, threads=threads, batch_rows=batch_rows)[0] == brute_force(sets, k, boundary)


def test_blocks_of_any_size_give_the_same(monkeypatch):
    sets = power_law(120, 4)
    expected = brute_force(sets, 7)
    for size in (1, 300, 10**9):
        monkeypatch.setattr(nearest, "BLOCK_BYTES", size)
        assert walked(items_of(sets), 7)[0] == expected


@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_calls_that_end_after_a_few_steps_give_the_same(monkeypatch, method):
    items = items_of(power_law(200, 1))
    whole = walked(items, 3, method=method)
    monkeypatch.setattr(nearest, "CALL_STEPS", 100)
    assert walked(items, 3, method=method) == whole


@pytest.mark.parametrize("look", ["best_for_passing", "best_for_held"])
def test_no_call_takes_more_steps_than_it_may_by_more_than_a_set(look):
    rng = np.random.default_rng(3)
    elements = rng.permuted(np.tile(np.arange(50, dtype=np.uint64), (300, 1)), axis=1)[:, :20].ravel()
    offsets, rows = np.arange(0, 6001, 20), np.arange(300, dtype=np.uint32)
    held = _core.HeldSets((elements, offsets), rows)
    counts = np.bincount(elements.astype(np.int64))
    steps = 20 + counts[elements.astype(np.int64)].reshape(300, 20).sum(axis=1)
    for most in (1, 10_000, 100_000):
        *_, done = getattr(held, look)((elements, offsets), rows, k=3, most=most)
        assert steps[: done - 1].sum() < most <= steps[:done].sum()


def test_between_two_calls_it_is_asked_whether_anybody_waits(monkeypatch):
    class EnoughError(Exception):
        pass

    calls = []

    def look(sets, rows, *, most):
        calls.append(len(rows))
        return rows[:1], rows[:1], np.ones(1), 4

    def after_two():
        if len(calls) == 2:
            raise EnoughError

    monkeypatch.setattr(nearest, "still_wanted", after_two)
    sets = Sets(np.empty(0, np.uint64), np.zeros(101, np.int64))
    with pytest.raises(EnoughError):
        list(nearest._calls(look, sets, np.arange(100, dtype=np.uint32)))
    assert calls == [100, 96]


def test_blocks_are_taken_from_the_budget():
    sets = items_of([set(range(row, row + 300)) for row in range(400)]).table
    counts = [nearest._blocks(sets, LocalEngine(1, memory=size)) for size in (10**9, 16_000_000)]
    assert counts == [1, 2]


def test_documents_are_compared_by_their_shingles():
    docs = [
        "the cat sat on the mat",
        "the cat sat on the hat",
        "a dog",
        "",
        "The cat sat, on the mat!",
        "a dog",
    ]
    sets = [set(shingles(doc, Shingle.parse("words:2"))) for doc in docs]
    assert walked(text_items(docs, "words:2"), 2)[0] == brute_force(sets, 2)
    assert walked(text_items(docs, "words:2"), 2, method="lsh")[0] == brute_force(sets, 2)


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_candidates_give_true_neighbours_in_order_and_the_recall_they_had(name):
    sets = ADVERSARIAL[name]
    for boundary in [None, len(sets) // 3]:
        found, account = walked(items_of(sets, boundary=boundary), 5, method="lsh")
        expected = brute_force(sets, 5, boundary)
        for row, near in found.items():
            offered = [other for other, _ in near]
            assert len(set(offered)) == len(near) <= 5
            assert row not in offered
            assert near == sorted(near, key=lambda pair: (-pair[1], pair[0]))
            assert all(similarity == jaccard(sets[row], sets[other]) for other, similarity in near)
            assert boundary is None or row < boundary <= min(offered)
        # The sample is all different rows here, so what it says can be counted.
        once = {
            frozenset(sets[row]): row for row in reversed(range(len(sets) if boundary is None else boundary))
        }
        drawn = [row for row in sorted(once.values()) if row in expected]
        wanted = sum(len(expected[row]) for row in drawn)
        good = sum(
            sum((Counter(s for _, s in found.get(row, [])) & Counter(s for _, s in expected[row])).values())
            for row in drawn
        )
        assert account.recall.rows == len(drawn)
        assert (account.recall.true, account.recall.found) == (wanted, good)


def test_copies_are_neighbours_the_lower_first():
    sets = [{1, 2, 3}] * 90 + [{1, 2}] * 3 + [{9}] + [set()] * 2
    for method in ("exact", "lsh"):
        for boundary in (None, 40, 92):
            found = walked(items_of(sets, boundary=boundary), 10, method=method)[0]
            assert found == brute_force(sets, 10, boundary)


@settings(max_examples=60)
@given(SETS, st.integers(1, 4), st.integers(0, 25), st.booleans())
def test_candidates_do_not_depend_on_order_cut_batches_or_threads(sets, k, at, two):
    boundary = min(at, len(sets)) if two else None
    expected = walked(items_of(sets, boundary=boundary), k, method="lsh", threads=1)[0]
    items = items_of(sets, boundary=boundary, cut=max(1, at % 9), shuffle=at)
    assert walked(items, k, method="lsh", batch_rows=2)[0] == expected


@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_what_does_not_fit_memory_is_found_all_the_same(method):
    sets = edited(20_000, 6)
    items = items_of(sets, cut=999)
    assert walked(items, 3, method=method, memory=16 << 20) == walked(items, 3, method=method, memory=1 << 30)


def test_neighbours_of_some_similarity_are_nearly_all_found():
    sets = edited(600, 8, size=60, changes=20)
    expected = brute_force(sets, 3)
    found = walked(items_of(sets), 3, method="lsh")[0]
    near = [(row, pair) for row, pairs in expected.items() for pair in pairs if pair[1] >= 0.3]
    assert len(near) > 500
    missed = [1 for row, pair in near if pair not in found.get(row, [])]
    assert len(missed) <= 0.01 * len(near)


def test_buckets_too_large_for_a_batch_are_cut_and_rows_still_meet(monkeypatch):
    sets = [{0, 1, row} for row in range(2, 200)] + [{0, 1, 2, 500}]
    monkeypatch.setattr(beside, "LARGEST", 16)
    found, account = walked(items_of(sets), 4, method="lsh")
    assert all(
        similarity == jaccard(sets[row], sets[other]) for row in found for other, similarity in found[row]
    )
    assert sum(len(near) for near in found.values()) > 500
    again = walked(items_of(sets, cut=3, shuffle=2), 4, method="lsh", batch_rows=5)[0]
    assert again == found
    assert account.recall.recall > 0.5


def test_rows_beside_each_other_in_a_bucket_are_paired_and_others_are_not():
    batch = Table.of(
        bucket=np.repeat(np.array([3, 8], np.uint64), [20, 2]),
        row=np.arange(22, dtype=np.uint32)[::-1].copy(),
        following=np.zeros(22, np.uint64),
    ).batches[0]
    pairs = {(int(p) >> 32, int(p) & 0xFFFFFFFF) for p in beside.Beside(None)(batch)["pair"].to_numpy()}
    rows = range(2, 22)
    assert pairs == {(a, b) for a in rows for b in rows if 0 < b - a <= beside.REACH} | {(0, 1)}
    first = np.arange(22) % 5 == 0
    across = beside.Beside((first, ~first))(batch)["pair"].to_numpy()
    found = {(int(p) >> 32, int(p) & 0xFFFFFFFF) for p in across}
    assert len(found) == len(across)
    others = [row for row in rows if row % 5]
    for a in (5, 10, 15, 20):
        near = [b for x, b in found if x == a]
        assert near == [b for b in near if b in others]
        above, below = (
            [b for b in others if b > a][: beside.REACH],
            [b for b in others if b < a][-beside.REACH :],
        )
        assert sorted(near) == sorted(above + below)
    assert (0, 1) in found


def test_the_road_is_chosen_by_what_it_is_expected_to_cost(monkeypatch):
    items = items_of(power_law(100, 1))
    assert walked(items, 3, method=None)[1].method == "exact"
    monkeypatch.setattr(road, "PATIENCE", 0.0)
    for name in ("SLOT_NS", "PAIR_NS", "TRIED_NS", "BYTE_NS"):
        monkeypatch.setattr(road, name, 0.0)
    assert walked(items, 3, method=None)[1].method == "lsh"


def test_the_effort_is_what_is_counted():
    sets = power_law(200, 9)
    known = nearest.effort(items_of(sets), LocalEngine(2))
    held = Counter(element for row in sets for element in row)
    assert known.elements == sum(map(len, sets))
    assert known.empty == sum(not row for row in sets)
    assert known.meetings == pytest.approx(sum(count**2 for count in held.values()), rel=0.01)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), count=st.integers(1, 5), both_ways=st.booleans())
def test_the_likeliest_are_those_of_brute_force_however_pairs_come(data, count, both_ways):
    rows, slots = 12, 8
    values = data.draw(st.lists(st.integers(0, 2), min_size=rows * slots, max_size=rows * slots))
    matrix = np.array(values, np.uint32).reshape(rows, slots)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), slots)
    signed = Table.of(row=np.arange(rows), slots=lists)
    pair = st.tuples(st.integers(0, rows - 1), st.integers(0, rows - 1)).filter(lambda ab: ab[0] < ab[1])
    tables = data.draw(st.lists(st.sets(pair, max_size=20), min_size=1, max_size=4))
    every = set().union(*tables)
    asked = {}
    for row in range(rows):
        others = [b for a, b in every if a == row] + [a for a, b in every if b == row and both_ways]
        ranked = sorted(others, key=lambda other: (-np.mean(matrix[row] == matrix[other]), other))
        for other in ranked[:count]:
            way = 1 if row < other else 2
            asked[min(row, other), max(row, other)] = asked.get((min(row, other), max(row, other)), 0) + way
    found = likeliest(
        LocalEngine(2),
        signed,
        [
            Table.of(a=np.array([a for a, _ in some], np.int64), b=np.array([b for _, b in some], np.int64))
            for some in map(sorted, tables)
        ],
        count,
        rows=rows,
        both_ways=both_ways,
    )
    columns = (found.column(name).tolist() for name in ("a", "b", "ways"))
    assert {(a, b): ways for a, b, ways in zip(*columns, strict=True)} == asked


@pytest.mark.parametrize("boundary", [None, 60])
def test_how_many_slots_are_gone_through_at_a_time_changes_nothing(boundary):
    sets = power_law(150, 3, universe=200, most=20)
    answers = []
    for group_rows in (1 << 22, 5_000, 100):
        engine = LocalEngine(2)
        engine.group_rows = group_rows
        found = top(
            items_of(sets, boundary=boundary),
            4,
            family=MinHash(slots=32),
            method="lsh",
            engine=engine,
            watch=Watch(),
        )
        answers.append((found.row.tolist(), found.other.tolist(), found.similarity.tolist()))
    assert len(answers[0][0]) > 100
    assert answers[0] == answers[1] == answers[2]
