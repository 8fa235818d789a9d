"""The teaching families (SPEC M7), gone through exhaustively."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import lcm

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.families.teaching import (
    HalvingOrders,
    LinearOrders,
    PerfectHash,
    TwoUniversal,
    Universal,
    first,
)


def subsets(n, least=1):
    return [set(chosen) for size in range(least, n + 1) for chosen in combinations(range(n), size)]


# Universal families.


@pytest.mark.parametrize("prime", [2, 3, 5, 7, 11])
def test_every_pair_of_values_is_taken_by_one_function(prime):
    functions = list(TwoUniversal(prime).functions())
    assert len(functions) == prime**2
    for x, y in combinations(range(prime), 2):
        assert set(Counter((h(x), h(y)) for h in functions).values()) == {1}
        assert len({(h(x), h(y)) for h in functions}) == prime**2


@pytest.mark.parametrize("prime", [2, 5, 7, 11])
def test_two_keys_collide_under_at_most_one_in_n_functions(prime):
    for buckets in range(1, prime + 2):
        functions = list(Universal(prime, buckets).functions())
        assert len(functions) == prime * (prime - 1)
        for x, y in combinations(range(prime), 2):
            assert Fraction(sum(h(x) == h(y) for h in functions), len(functions)) <= Fraction(1, buckets)


def test_products_do_not_wrap():
    prime = 2**61 - 1
    a, x, b = prime - 2, prime - 3, prime - 5
    assert Universal(prime, 1000).function(a, b)(x) == (6 - 5) % prime % 1000
    assert TwoUniversal(prime).function(a, b)(x) == 1


@pytest.mark.parametrize("number", [0, 1, 4, 9, 91, 561, 2**61 + 1, 3215031751, True, 7.0])
def test_what_is_no_prime_is_refused(number):
    with pytest.raises(OptionError, match="is no prime"):
        TwoUniversal(number)


def test_primes_are_told_from_others():
    prime = [n for n in range(2000) if n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))]
    taken = []
    for n in range(2000):
        try:
            taken.append(Universal(n, 3).prime)
        except OptionError:
            continue
    assert taken == prime


def test_functions_that_send_everything_to_one_bucket_are_refused():
    with pytest.raises(OptionError, match="one bucket"):
        Universal(7, 2).function(7, 1)
    with pytest.raises(OptionError, match="buckets=0"):
        Universal(7, 0)


# Orders.


@pytest.mark.parametrize(("n", "size"), [(1, 1), (2, 2), (4, 12), (8, 840)])
def test_repeated_halving_gives_so_many_orders_and_each_is_one(n, size):
    orders = list(HalvingOrders(n))
    assert len(orders) == len(HalvingOrders(n)) == size
    assert len(set(orders)) == size
    assert all(sorted(order) == list(range(n)) for order in orders)


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_each_element_of_any_set_is_first_with_probability_exactly_one_over_its_size(n):
    orders = list(HalvingOrders(n))
    for chosen in subsets(n):
        firsts = Counter(first(order, chosen) for order in orders)
        assert firsts == dict.fromkeys(chosen, len(orders) // len(chosen))
        assert len(orders) % len(chosen) == 0


@pytest.mark.parametrize("n", [1, 2, 4, 8, 16, 32])
def test_lcm_of_1_to_n_divides_the_size_of_the_family(n):
    assert len(HalvingOrders(n)) % lcm(*range(1, n + 1)) == 0


def test_for_up_to_eight_elements_no_family_could_be_smaller():
    assert [len(HalvingOrders(n)) for n in (1, 2, 4, 8)] == [lcm(*range(1, n + 1)) for n in (1, 2, 4, 8)]


def test_sets_agree_in_their_first_with_probability_jaccard():
    orders = list(HalvingOrders(4))
    for a in subsets(4):
        for b in subsets(4):
            agree = sum(first(order, a) == first(order, b) for order in orders)
            assert Fraction(agree, len(orders)) == Fraction(len(a & b), len(a | b))


def test_a_subfamily_is_not_min_wise():
    # So the test above can fail: rotations alone are not.
    rotations = [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)]
    firsts = [Counter(first(order, chosen) for order in rotations) for chosen in subsets(4, 2)]
    assert any(len(set(counts.values())) > 1 for counts in firsts)


@pytest.mark.parametrize("n", [0, 3, 6, -4, True])
def test_what_cannot_be_halved_is_refused(n):
    with pytest.raises(OptionError, match="a power of two"):
        HalvingOrders(n)


@pytest.mark.parametrize("prime", [3, 5, 7])
def test_linear_orders_put_each_element_first_half_as_often_at_least(prime):
    orders = list(LinearOrders(prime))
    assert len(orders) == len(LinearOrders(prime)) == prime * (prime - 1)
    for chosen in subsets(prime, 2):
        firsts = Counter(first(order, chosen) for order in orders)
        for element in chosen:
            assert Fraction(firsts[element], len(orders)) >= Fraction(1, 2 * (len(chosen) - 1))


def test_linear_orders_are_not_min_wise():
    orders = list(LinearOrders(7))
    uneven = [
        chosen for chosen in subsets(7, 3) if len({*Counter(first(o, chosen) for o in orders).values()}) > 1
    ]
    assert uneven


def test_all_orders_are_min_wise_too():
    orders = list(permutations(range(4)))
    for chosen in subsets(4):
        assert len(set(Counter(first(order, chosen) for order in orders).values())) == 1


# Perfect hashing.


@settings(max_examples=60)
@given(st.dictionaries(st.integers(0, 2**61 - 2) | st.integers(0, 300), st.text(max_size=3), max_size=200))
def test_a_perfect_hash_finds_what_a_dictionary_finds_in_few_slots(entries):
    held = PerfectHash(entries)
    assert len(held) == len(entries)
    assert "x" not in held
    assert held.slots <= 8 * len(entries)
    for key in [*entries, *range(50)]:
        assert held.get(key, "nothing") == entries.get(key, "nothing")
        assert (key in held) == (key in entries)


def test_squares_of_bucket_sizes_are_at_most_four_a_key_under_every_second_function():
    prime, keys = 31, [0, 1, 2, 3, 5, 8, 13, 21, 30]
    functions = list(Universal(prime, len(keys)).functions())
    sums = [sum(size**2 for size in Counter(map(h, keys)).values()) for h in functions]
    assert sum(sums) / len(sums) < 2 * len(keys)
    assert sum(total <= 4 * len(keys) for total in sums) * 2 >= len(functions)


def test_a_function_that_is_even_enough_is_found_in_two_tries_on_average():
    keys = dict.fromkeys(range(0, 5000, 7))
    tries = [PerfectHash(keys, seed=seed).tries for seed in range(50)]
    assert min(tries) == 1
    assert np.mean(tries) <= 2


def test_one_level_of_n_buckets_would_leave_a_bucket_that_grows_with_n():
    """n keys thrown into n buckets: the fullest gets about log n / log log n of them."""
    fullest = []
    for n in (2**8, 2**12, 2**16):
        throws = [np.bincount(np.random.default_rng(seed).integers(0, n, n)).max() for seed in range(20)]
        fullest.append(np.mean(throws))
        assert 1 <= fullest[-1] / (np.log(n) / np.log(np.log(n))) <= 3
    assert fullest == sorted(set(fullest))


def test_twice_the_square_of_slots_keep_keys_apart_under_every_second_function():
    for keys in ([0, 1], [3, 5, 8, 13], [0, 10, 20, 30]):
        functions = list(Universal(31, 2 * len(keys) ** 2).functions())
        apart = sum(len({h(key) for key in keys}) == len(keys) for h in functions)
        assert 2 * apart >= len(functions)


def test_a_look_up_computes_two_functions_at_most(monkeypatch):
    held = PerfectHash({x * x: x for x in range(500)})
    calls = []

    def counting(function):
        return lambda key: calls.append(key) or function(key)

    held._first = counting(held._first)
    held._levels = [(counting(function), slots) for function, slots in held._levels]
    for key in range(1000):
        calls.clear()
        held.get(key)
        assert len(calls) <= 2


def test_seeds_change_functions_and_no_answers():
    entries = {x: -x for x in range(0, 900, 7)}
    held = [PerfectHash(entries, seed=seed) for seed in range(5)]
    assert len({one.slots for one in held}) > 1
    assert all(one.get(key) == entries.get(key) for one in held for key in range(900))


@pytest.mark.parametrize("key", [-1, 31, 2.0, "x", True])
def test_keys_out_of_the_universe_are_refused(key):
    with pytest.raises(OptionError, match="is out of range"):
        PerfectHash({key: 1}, prime=31)


def test_keys_of_numpy_are_the_numbers_they_are():
    held = PerfectHash({np.int64(3): "a", 5: "b"})
    assert [held.get(key) for key in (3, np.int64(3), np.uint8(5), 4, True)] == ["a", "a", "b", None, None]
    with pytest.raises(OptionError, match="is no mapping"):
        PerfectHash([1, 2])


def test_an_empty_set_has_no_first_element():
    for nothing in (set(), {9}):
        with pytest.raises(OptionError, match="no first element"):
            first((0, 1, 2), nothing)
