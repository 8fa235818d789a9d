"""Divide–Compute–Merge: what leaving out common elements does, and what is said of it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance import oracle, texts
from tests.joins import roads

from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.joins.divide import divide
from lookalike.measures import exact
from lookalike.measures.overlap import CONTAINMENT, COSINE, JACCARD, OVERLAP
from lookalike.runs.watch import Watch


def divided(items, **options):
    return divide(items, engine=LocalEngine(2), watch=Watch(), **options)


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


@pytest.mark.parametrize("common", [0, -3, 0.0, 1.0, 1.5, True, "many"])
def test_a_common_that_means_nothing_is_refused(common):
    with pytest.raises(OptionError, match="number of rows, 1 or more, or a fraction"):
        divided(roads.items_of([{1}]), measure=JACCARD, threshold=0.5, common=common)


@pytest.mark.parametrize("threshold", [0, -1.0, float("nan")])
def test_a_threshold_that_everything_reaches_is_refused(threshold):
    with pytest.raises(OptionError, match="over 0"):
        divided(roads.items_of([{1}]), measure=OVERLAP, threshold=threshold)
