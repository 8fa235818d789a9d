"""The bucketed and k-hash families by their definition, slot by slot in Python's integers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.families.arithmetic import M64, mix, ragged, slot_draws, spread_seed

from lookalike import _core

elements = st.lists(st.integers(0, M64) | st.sampled_from([0, 1, M64, 2**32, 2**32 - 1, 2**63]), max_size=200)
EMPTY = 2**32 - 1


def multipliers(slots, seed):
    """The odd 32-bit number of every slot."""
    return [draw >> 32 | 1 for draw in slot_draws(slots, seed)]


def product(x, multiplier):
    """A slot's own hash of an element: half of it, times an odd number."""
    return ((x ^ x >> 32) & EMPTY) * multiplier & EMPTY


def k_hash(row, slots, seed):
    return [min((product(x, m) for x in row), default=EMPTY) for m in multipliers(slots, seed)]


def bucketed(row, slots, seed):
    """An element ranks first in its bucket, by 31 bits of it, and behind elsewhere, by its product."""

    def rank(x, slot, multiplier):
        if (x >> 32) * slots >> 32 == slot:
            return x & 0x7FFFFFFF
        return 1 << 31 | product(x, multiplier) >> 1

    return [
        min((rank(x, slot, m) for x in row), default=EMPTY) for slot, m in enumerate(multipliers(slots, seed))
    ]


slot_counts = st.sampled_from([1, 2, 5, 16, 33, 128])
seeds = st.sampled_from([0, 1, 7, M64])


@settings(max_examples=60)
@given(elements, slot_counts, seeds)
def test_k_hash_slots_are_least_products(row, slots, seed):
    orders = _core.Orders("khash", slots=slots, seed=seed)
    assert _core.sign_sets(ragged(row), orders, threads=1)[0][0].tolist() == k_hash(row, slots, seed)


@settings(max_examples=60)
@given(elements, slot_counts, seeds)
def test_bucketed_slots_are_least_ranks(row, slots, seed):
    orders = _core.Orders("bucketed", slots=slots, seed=seed)
    assert _core.sign_sets(ragged(row), orders, threads=1)[0][0].tolist() == bucketed(row, slots, seed)


def test_elements_that_share_a_bucket_leave_the_others_to_their_products():
    row = [(3 << 57) + i for i in range(50)]
    for slots in (2, 128):
        orders = _core.Orders("bucketed", slots=slots, seed=0)
        signed = _core.sign_sets(ragged(row), orders, threads=1)[0][0]
        assert signed.tolist() == bucketed(row, slots, 0)
        assert (signed < 1 << 31).sum() == 1


@given(st.lists(st.integers(0, M64), max_size=50), seeds)
def test_integers_are_premixed_one_to_one(tokens, seed):
    mixed = _core.mix_integers(np.array(tokens, np.uint64), seed=seed, threads=1)
    assert mixed.tolist() == [mix(token ^ spread_seed(seed)) for token in tokens]
