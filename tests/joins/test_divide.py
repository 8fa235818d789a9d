"""Divide–Compute–Merge: what leaving out common elements does, and what is said of it."""

import random
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance import oracle, texts
from tests.joins import roads

from lookalike import _core
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.joins import divide as divides
from lookalike.joins import meetings
from lookalike.joins.crowded import crowding
from lookalike.joins.divide import divide
from lookalike.joins.elements import Invert
from lookalike.joins.left_out import LeftOut
from lookalike.measures import exact
from lookalike.measures.overlap import CONTAINMENT, COSINE, JACCARD, OVERLAP
from lookalike.runs.watch import Watch


def divided(items, watch=None, **options):
    return divide(items, engine=LocalEngine(2), watch=watch or Watch(), **options)


def pairs_of(found):
    return dict(zip(zip(found.a.tolist(), found.b.tolist(), strict=True), found.similarity, strict=True))


def test_documents_are_compared_by_their_shingles():
    docs = [*texts.families(30, seed=4, changes=8), "", "two words"]
    found = divided(roads.text_items(docs, "words:3"), measure=JACCARD, threshold=0.4)
    truth = oracle.pairs([oracle.shingles(text, 3) for text in docs], 0.4)
    assert len(truth) > 20
    assert pairs_of(found) == truth


def test_bags_count_what_occurs_twice():
    draw = random.Random(2)
    docs = [" ".join(draw.choices(["a", "b", "c"], k=draw.randrange(9))) for _ in range(30)]
    found = divided(roads.text_items(docs, "words:1+bag"), measure=JACCARD, threshold=0.6)
    assert pairs_of(found) == oracle.pairs([oracle.bag(text, 1) for text in docs], 0.6)


def test_candidates_are_the_pairs_that_share_something():
    sets = [{1, 2}, {2, 3}, {3, 4}, {9}, {9, 1}]
    found = divided(roads.items_of(sets), measure=JACCARD, threshold=1.0)
    assert (len(found.a), found.candidates, found.left_out) == (0, 4, None)


def test_containment_answers_each_way_within_a_collection_and_one_way_between_two():
    sets = [{1, 2}, {1, 2, 3, 4}, {9}]
    found = divided(roads.items_of(sets), measure=CONTAINMENT, threshold=0.5)
    assert pairs_of(found) == {(0, 1): 1.0, (1, 0): 0.5}
    across = divided(roads.items_of(sets, boundary=1), measure=CONTAINMENT, threshold=0.4)
    assert pairs_of(across) == {(0, 1): 1.0}


def test_what_common_elements_leave_out_is_counted_and_the_rest_is_exact():
    # 0 is in all rows, 1 in half of them; rows come in twins that share five elements of their own.
    sets = [
        {0, *([1] if row % 2 else []), *range(1000 * (row // 2), 1000 * (row // 2) + 5)} for row in range(40)
    ]
    found = divided(roads.items_of(sets), measure=JACCARD, threshold=0.1, common=19)
    assert found.left_out is not None
    assert (found.left_out.over, found.left_out.elements, found.left_out.rows) == (19, 2, 40)
    twins = {(row, row + 1): exact.jaccard(sets[row], sets[row + 1]) for row in range(0, 40, 2)}
    assert pairs_of(found) == twins
    # Rows that share 0 alone, or 0 and 1, are what is missing.
    everything = divided(roads.items_of(sets), measure=JACCARD, threshold=0.1)
    assert len(everything.a) > len(twins)


def test_a_fraction_is_of_the_rows():
    sets = [{0, row} for row in range(1, 41)]
    for common in (0.5, 0.9749, 20, 39):
        found = divided(roads.items_of(sets), measure=JACCARD, threshold=0.1, common=common)
        assert found.left_out.elements == 1
        assert len(found.a) == 0
    found = divided(roads.items_of(sets), measure=JACCARD, threshold=0.1, common=40)
    assert (found.left_out.elements, found.left_out.rows, len(found.a)) == (0, 0, 780)
    # 29 of 100 are no more than 29%, though .29 · 100 is under 29 as a product of floats.
    sets = [{0, row} for row in range(1, 30)] + [{row} for row in range(30, 101)]
    found = divided(roads.items_of(sets), measure=JACCARD, threshold=0.1, common=0.29)
    assert (found.left_out.elements, len(found.a)) == (0, 29 * 28 // 2)


def test_any_number_of_rows_may_hold_what_still_counts():
    for common in (2**63, 2**64, 10**30):
        found = divided(roads.items_of([{0}, {0}]), measure=JACCARD, threshold=0.1, common=common)
        assert len(found.a) == 1


def test_an_element_that_as_many_rows_hold_as_the_fraction_says_is_not_left_out():
    # .29 · 100 is less than 29 in floating point.
    sets = [{0, row} if row <= 29 else {row} for row in range(1, 101)]
    found = divided(roads.items_of(sets), measure=JACCARD, threshold=0.1, common=0.29)
    assert (found.left_out.elements, len(found.a)) == (0, 29 * 28 // 2)


@given(
    sets=st.lists(st.frozensets(st.integers(0, 9), max_size=6), max_size=16),
    common=st.integers(1, 12),
    measure=st.sampled_from([JACCARD, CONTAINMENT, COSINE, OVERLAP]),
    threshold=st.sampled_from([0.2, 0.5, 0.75, 1.0]),
    boundary=st.none() | st.integers(0, 16),
)
def test_with_common_elements_out_all_pairs_that_share_another_are_found(
    sets, common, measure, threshold, boundary
):
    boundary = None if boundary is None else min(boundary, len(sets))
    items = roads.items_of(sets, boundary=boundary)
    everything = pairs_of(divided(items, measure=measure, threshold=threshold))
    held = {x: sum(x in row for row in sets) for row in sets for x in row}
    rarer = [{x for x in row if held[x] <= common} for row in sets]
    expected = {(a, b): value for (a, b), value in everything.items() if rarer[a] & rarer[b]}
    found = divided(items, measure=measure, threshold=threshold, common=common)
    assert pairs_of(found) == expected
    assert found.left_out.elements == sum(rows > common for rows in held.values())
    assert found.left_out.rows == sum(any(held[x] > common for x in row) for row in sets)
    # What is missing is only between rows of which that was said.
    missing = {row for pair in everything.keys() - expected.keys() for row in pair}
    assert found.left_out.at_risk >= len(missing)
    assert found.left_out.misses or not missing
    assert LeftOut.of_table(found.to_table()) == found.left_out


def test_rows_that_common_elements_cannot_make_alike_are_not_at_risk():
    # One element of eleven is in all: no pair can reach one half by it.
    sets = [{0, *range(1000 * (row // 2) + row % 2, 1000 * (row // 2) + row % 2 + 10)} for row in range(40)]
    found = divided(roads.items_of(sets), measure=JACCARD, threshold=0.5, common=10)
    assert (found.left_out.elements, found.left_out.rows, found.left_out.at_risk) == (1, 40, 0)
    assert pairs_of(found) == pairs_of(divided(roads.items_of(sets), measure=JACCARD, threshold=0.5))
    assert len(found.a) == 20


def test_much_work_is_said_before_with_what_would_be_less(monkeypatch):
    monkeypatch.setattr(divides, "MANY_MEETINGS", 1e4)
    monkeypatch.setattr(divides, "_FEW_MEETINGS", 1e3)
    sets = [{0, 1, *range(100 * row + 10, 100 * row + 15)} for row in range(200)]
    said = []
    found = divided(roads.items_of(sets), measure=JACCARD, threshold=0.5, watch=Watch(say=said.append))
    assert len(said) == 1
    # 39,800, but for what other elements of two buckets add by chance.
    assert re.search("about 39,[78].. meetings", said[0])
    assert "Method prefix finds the same pairs" in said[0]
    assert "leave out the 2 most common elements by common=199" in said[0]
    divided(roads.items_of(sets), measure=JACCARD, threshold=0.5, common=199, watch=Watch(say=said.append))
    divided(roads.items_of(sets[:90]), measure=JACCARD, threshold=0.5, watch=Watch(say=said.append))
    assert len(said) == 1
    assert len(found.a) == 0
    with pytest.warns(UserWarning, match="39,[78].. meetings"):
        divided(roads.items_of(sets), measure=JACCARD, threshold=0.5)


@pytest.mark.parametrize("boundary", [None, 700])
def test_meetings_are_foretold(boundary):
    draw = np.random.default_rng(4)
    weights = 1 / np.arange(1, 20_001)
    sets = [set(draw.choice(20_000, 30, p=weights / weights.sum()).tolist()) for _ in range(2_000)]
    engine = LocalEngine(2, batch_rows=100)
    holdings = engine.map(roads.items_of(sets).table, Invert(None))

    def meetings(sets):
        if boundary is None:
            return sum(n * (n - 1) // 2 for n in Counter(x for own in sets for x in own).values())
        one, other = (Counter(x for own in part for x in own) for part in (sets[:boundary], sets[boundary:]))
        return sum(n * other[x] for x, n in one.items())

    expected = meetings(sets)
    told = crowding(engine, holdings, boundary=boundary, few=expected / 10)
    assert told.meetings == pytest.approx(expected, rel=0.01)
    # Without so many of the most common elements there are as few as asked for.
    held = Counter(element for own in sets for element in own)
    rarer = [{x for x in own if held[x] <= told.over} for own in sets]
    assert meetings(rarer) <= expected / 9
    assert 0 < told.elements < 1000
    assert crowding(engine, holdings, boundary=boundary, few=2 * expected).over is None


@pytest.mark.parametrize("common", [0, -3, 0.0, 1.0, 1.5, True, "many"])
def test_a_common_that_means_nothing_is_refused(common):
    with pytest.raises(OptionError, match="number of rows, 1 or more, or a fraction"):
        divided(roads.items_of([{1}]), measure=JACCARD, threshold=0.5, common=common)


@pytest.mark.parametrize("threshold", [0, -1.0, float("nan")])
def test_a_threshold_that_everything_reaches_is_refused(threshold):
    with pytest.raises(OptionError, match="over 0"):
        divided(roads.items_of([{1}]), measure=OVERLAP, threshold=threshold)


@pytest.mark.parametrize("boundary", [None, 40])
def test_calls_for_some_lower_rows_each_meet_like_one_and_none_is_large(monkeypatch, boundary):
    sets = roads.power_law(150, 5, universe=12)
    rows = np.array([row for element in range(12) for row in range(150) if element in sets[row]], np.uint32)
    keys = [element for element in range(12) for row in range(150) if element in sets[row]]
    places = pa.record_batch({"element": pa.array(keys, pa.uint64()), "row": pa.array(rows)})
    meet = meetings.Meet("element", 2, 100, boundary, at_once=1 << 22)
    whole = meet(places)
    kernel, sizes = _core.meetings, []

    def counted(*arguments, **options):
        pairs, times = kernel(*arguments, **options)
        sizes.append(int(times.sum()))
        return pairs, times

    monkeypatch.setattr(_core, "meetings", counted)
    assert replace(meet, at_once=2000)(places).equals(whole)
    assert sum(sizes) == sum(whole["times"].to_pylist()) > 5_000
    # Rows at the ends of runs begin fewer pairs, and where rows are few a call has all of a row.
    assert max(sizes) < 2.5 * 2000
