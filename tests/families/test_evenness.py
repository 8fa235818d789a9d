"""How nearly min-wise families of orders are (SPEC M7): ε by hand, by brute force, and by proof."""

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import pytest

from lookalike.errors import OptionError
from lookalike.families.teaching import HalvingOrders, LinearOrders, evenness, first

ROTATIONS = [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)]


def by_hand(orders, at_most):
    """The worst deviation from 1/|X|, and the worst as a share of it, one set and one order at a time."""
    epsilon, relative = Fraction(0), Fraction(0)
    for size in range(1, at_most + 1):
        for chosen in combinations(range(len(orders[0])), size):
            firsts = Counter(first(order, set(chosen)) for order in orders)
            for element in chosen:
                off = abs(Fraction(firsts[element], len(orders)) - Fraction(1, size))
                epsilon, relative = max(epsilon, off), max(relative, off * size)
    return epsilon, relative


def test_rotations_put_one_of_two_neighbours_first_three_times_in_four():
    worst = evenness(ROTATIONS)
    assert worst == (Fraction(1, 4), Fraction(1, 2), (0, 1), 0, Fraction(3, 4))


def test_one_order_puts_one_element_first_for_certain():
    assert evenness([range(4)]) == (Fraction(3, 4), Fraction(3), (0, 1, 2, 3), 0, Fraction(1))
    assert evenness([range(4)], at_most=2).epsilon == Fraction(1, 2)
    assert evenness([range(4)], at_most=1).epsilon == 0


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_repeated_halving_has_an_epsilon_of_nothing(n):
    assert evenness(HalvingOrders(n))[:2] == (0, 0)


@pytest.mark.parametrize("n", range(1, 6))
def test_so_have_all_orders(n):
    assert evenness(permutations(range(n)))[:2] == (0, 0)


@pytest.mark.parametrize(("prime", "epsilon"), [(2, 0), (3, 0), (5, Fraction(1, 30)), (7, Fraction(1, 21))])
def test_linear_orders_are_min_wise_within_a_known_epsilon(prime, epsilon):
    worst = evenness(LinearOrders(prime))
    assert worst.epsilon == epsilon
    # Pr ≥ 1/(2(|X| − 1)), so no element of X is first more seldom than that.
    size = len(worst.elements)
    assert size == 1 or worst.chance >= Fraction(1, 2 * (size - 1))


def test_any_family_is_measured_as_by_hand():
    source = random.Random(5)
    for n in (1, 2, 3, 5, 6):
        for count in (1, 2, 7, 30):
            family = [source.sample(range(n), n) for _ in range(count)]
            for at_most in range(1, n + 1):
                worst = evenness(family, at_most=at_most)
                assert worst[:2] == by_hand(family, at_most)
                firsts = [first(order, set(worst.elements)) for order in family]
                assert worst.chance == Fraction(firsts.count(worst.element), count)
                assert abs(worst.chance - Fraction(1, len(worst.elements))) == worst.epsilon


def test_an_order_that_comes_twice_counts_twice():
    assert evenness([(0, 1), (0, 1), (1, 0)]).chance == Fraction(2, 3)


def test_a_larger_family_of_random_orders_is_more_even():
    source = random.Random(1)
    few, many = ([source.sample(range(6), 6) for _ in range(count)] for count in (50, 5000))
    assert evenness(many).epsilon < Fraction(1, 30) < evenness(few).epsilon


@pytest.mark.parametrize("orders", [[], [()], [(0, 1), (0, 2)], [(0, 1), (0,)], [(1, 2)]])
def test_what_is_no_family_of_orders_is_refused(orders):
    with pytest.raises(OptionError, match="a family is one order or more"):
        evenness(orders)


@pytest.mark.parametrize("at_most", [0, 5, 1.5, "2"])
def test_sets_have_a_number_of_elements_that_there_are(at_most):
    with pytest.raises(OptionError, match=r"at_most=.* is out of range: a whole number from 1 to 4"):
        evenness(ROTATIONS, at_most=at_most)
