"""What a threshold asks of sizes: exact, and never so much that a pair would be lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.measures.bounds import UNREACHABLE, Bound
from lookalike.measures.overlap import MEASURES

SIZES = st.integers(1, 300) | st.integers(1, 2**31)
THRESHOLDS = st.floats(1e-9, 1.0) | st.sampled_from([1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.8, 0.9, 1.0])


def u32(*values):
    return np.array(values, np.uint32)


def asked(name, threshold):
    return 1.0 + 40 * threshold if name == "overlap" else threshold


@pytest.mark.parametrize("name", sorted(MEASURES))
@given(SIZES, SIZES, THRESHOLDS)
def test_the_least_count_reaches_the_threshold_and_one_less_does_not(name, a, b, threshold):
    threshold, measure = asked(name, threshold), MEASURES[name]
    (least,) = measure.at_least(threshold, across=True).least_shared(u32(a), u32(b)).tolist()
    most = min(a, b)
    reached = np.array([most]) if least == UNREACHABLE else np.array([least - 1])
    assert measure(reached, np.array([a]), np.array([b]))[0] < threshold
    if least != UNREACHABLE:
        assert 1 <= least <= most
        assert measure(np.array([least]), np.array([a]), np.array([b]))[0] >= threshold


@given(SIZES, SIZES, THRESHOLDS)
def test_within_one_collection_containment_asks_the_easier_question(a, b, threshold):
    within = Bound("containment", threshold).least_shared(u32(a), u32(b))
    across = Bound("containment", threshold, across=True)
    assert within == min(across.least_shared(u32(a), u32(b)), across.least_shared(u32(b), u32(a)))


PARTNERS = st.lists(st.integers(1, 60), max_size=12).map(lambda sizes: np.unique(u32(*sizes)))


@pytest.mark.parametrize("name", [*sorted(MEASURES), "levenshtein", "indel"])
@given(PARTNERS, PARTNERS, THRESHOLDS, st.booleans(), st.booleans(), st.integers(1, 3))
def test_a_prefix_is_as_long_as_the_neediest_partner_calls_for(
    name, sizes, partners, threshold, across, second, q
):
    if name in MEASURES:
        bound = MEASURES[name].at_least(asked(name, threshold), across=across)
    else:
        bound = Bound(name, round(6 * threshold), across, q)
    lengths = bound.prefix_lengths(sizes, partners, second=second)
    for size, length in zip(sizes.tolist(), lengths.tolist(), strict=True):
        own = np.full(len(partners), size, np.uint32)
        least = bound.least_shared(partners, own) if second else bound.least_shared(own, partners)
        # In any order, a common element stands among the first size − least + 1.
        needed = [size - count + 1 for count in least.tolist() if count not in (0, UNREACHABLE)]
        assert length == max(needed, default=0)


@pytest.mark.parametrize("name", [*sorted(MEASURES), "levenshtein", "indel"])
@given(PARTNERS, THRESHOLDS)
def test_the_smaller_set_asks_by_as_much_as_any_larger_one_calls_for(name, sizes, threshold):
    bound = (
        MEASURES[name].at_least(asked(name, threshold))
        if name in MEASURES
        else Bound(name, round(6 * threshold), False, 2)
    )
    for size, length in zip(sizes.tolist(), bound.asking_lengths(sizes).tolist(), strict=True):
        larger = np.arange(size, 200, dtype=np.uint32)
        least = bound.least_shared(np.full(len(larger), size, np.uint32), larger)
        needed = [size - count + 1 for count in least.tolist() if count not in (0, UNREACHABLE)]
        assert length >= max(needed, default=0) or 0 in least
        assert length <= size


def test_sizes_that_cannot_reach_a_threshold_are_out_of_reach():
    bound = MEASURES["jaccard"].at_least(0.8)
    assert bound.least_shared(u32(4, 3, 10), u32(5, 5, 13)).tolist() == [4, UNREACHABLE, UNREACHABLE]
    assert bound.prefix_lengths(u32(3, 20), u32(5, 16)).tolist() == [0, 5]
