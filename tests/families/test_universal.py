"""The exact universal family, (ax + b) mod 2⁶¹−1, against integers of any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.families.arithmetic import M64, mix, ragged, slot_draws

from lookalike import _core

P61 = 2**61 - 1

edges = st.sampled_from([0, 1, P61 - 1, P61, P61 + 1, 2 * P61, 8 * P61, M64 - 1, M64, 2**32, 2**63])
elements = st.lists(st.integers(0, M64) | edges, max_size=40)
seeds = st.integers(0, M64)


def minima(row, coefficients):
    """By definition, in Python's integers, which never wrap."""
    return [min(((a * x + b) % P61 for x in row), default=M64) for a, b in coefficients]


@given(elements, st.integers(1, 40), seeds)
def test_minima_are_those_of_exact_arithmetic(row, slots, seed):
    orders = _core.Orders("universal", slots=slots, seed=seed)
    assert _core.universal_minima(ragged(row), orders)[0].tolist() == minima(row, orders.coefficients)


@given(elements, seeds)
def test_slots_keep_half_of_the_mixed_minimum(row, seed):
    orders = _core.Orders("universal", slots=16, seed=seed)
    slots = _core.sign_sets(ragged(row), orders, threads=1)[0][0]
    least = minima(row, orders.coefficients)
    assert slots.tolist() == [2**32 - 1 if not row else mix(x) & 0xFFFFFFFF for x in least]


@given(seeds, st.integers(1, 300))
def test_coefficients_are_drawn_as_the_family_asks(seed, slots):
    coefficients = _core.Orders("universal", slots=slots, seed=seed).coefficients
    assert len(set(coefficients)) == slots
    assert all(1 <= a < P61 and 0 <= b < P61 for a, b in coefficients)


def test_coefficients_come_from_the_seed_by_plain_arithmetic():
    for seed in (0, 1, M64):
        draws = slot_draws(16, seed)
        expected = [(1 + a % (P61 - 1), b % P61) for a, b in zip(draws[::2], draws[1::2], strict=True)]
        assert _core.Orders("universal", slots=8, seed=seed).coefficients == expected


def test_coefficients_spread_over_their_whole_range():
    coefficients = np.array(_core.Orders("universal", slots=20_000, seed=0).coefficients, np.float64) / P61
    for column in coefficients.T:
        # Sixteen cells of 1,250 expected; a count strays by more than 5σ = 171 once in a million.
        counts = np.histogram(column, bins=16, range=(0, 1))[0]
        assert np.abs(counts - 1250).max() < 171
    assert abs(np.corrcoef(coefficients.T)[0, 1]) < 5 / 20_000**0.5


@given(st.lists(elements, max_size=6), seeds)
def test_minima_merge_though_slots_do_not(rows, seed):
    orders = _core.Orders("universal", slots=8, seed=seed)
    parts = [_core.universal_minima(ragged(row), orders)[0] for row in rows]
    union = _core.universal_minima(ragged([x for row in rows for x in row]), orders)[0]
    assert np.array_equal(np.min([*parts, np.full(8, M64, np.uint64)], axis=0), union)


@pytest.mark.parametrize("family", ["bucketed", "khash"])
def test_other_families_have_no_coefficients(family):
    assert _core.Orders(family, slots=8, seed=0).coefficients == []
