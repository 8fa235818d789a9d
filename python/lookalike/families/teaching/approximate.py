"""How far a family of orders is from min-wise, measured by going through all of it.

In a min-wise family each element of a set X is first under 1/|X| of the orders. A family of orders that a
machine can store is only nearly so: it is ε-approximate for sets of up to k elements if no element of any
such X is first more often or more seldom than 1/|X| by over ε. That is what `evenness` measures, and it names
the set and the element for which the family is worst.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from lookalike.errors import OptionError
from lookalike.theory.ranges import whole


class Evenness(NamedTuple):
    """What was measured, as exact fractions."""

    epsilon: Fraction
    """The most by which a chance to be first differs from 1/|X|, over all sets X and elements of them."""

    relative: Fraction
    """The same as a share of 1/|X|, which is how some papers define ε."""

    elements: tuple[int, ...]
    """The set at which `epsilon` is reached: of several the first, by size and then in order."""

    element: int
    """Its element with that chance."""

    chance: Fraction
    """How often that element is first in the set."""


def evenness(orders: Iterable[Sequence[int]], *, at_most: int | None = None) -> Evenness:
    """Measure the ε for which a family of equally likely orders is ε-approximate min-wise.

    Parameters
    ----------
    orders
        All orders of the family, each a row of the elements 0 … n − 1 from the first to the last. An order
        that comes twice counts twice.
    at_most
        k: only sets of up to so many elements count; all sets if it is None. There are about nᵏ of them.

    Examples
    --------
    >>> from lookalike.families.teaching import HalvingOrders, LinearOrders
    >>> evenness(HalvingOrders(4)).epsilon
    Fraction(0, 1)
    >>> worst = evenness(LinearOrders(5), at_most=3)
    >>> worst.epsilon, worst.elements, worst.element, worst.chance
    (Fraction(1, 30), (0, 1, 2), 1, Fraction(3, 10))
    """
    ranks = _ranks(orders)
    count, n = ranks.shape
    k = n if at_most is None else whole(at_most)
    if k is None or not 1 <= k <= n:
        raise OptionError(f"at_most={at_most!r} is out of range: a whole number from 1 to {n}")
    worst = Evenness(Fraction(0), Fraction(0), (0,), 0, Fraction(1))
    for size in range(2, k + 1):
        for elements in combinations(range(n), size):
            firsts = np.bincount(ranks[:, elements].argmin(axis=1), minlength=size)
            # All chances of a set have one denominator, so the counts alone tell which is furthest off.
            place = int(np.abs(firsts * size - count).argmax())
            chance = Fraction(int(firsts[place]), count)
            epsilon = abs(chance - Fraction(1, size))
            relative = max(worst.relative, epsilon * size)
            if epsilon > worst.epsilon:
                worst = Evenness(epsilon, relative, elements, elements[place], chance)
            else:
                worst = worst._replace(relative=relative)
    return worst


def _ranks(orders: Iterable[Sequence[int]]) -> np.ndarray:
    """The rank of every element in every order: a row an order, a column an element."""
    rows = [tuple(order) for order in orders]
    n = len(rows[0]) if rows else 0
    if n == 0 or any(sorted(row) != list(range(n)) for row in rows):
        raise OptionError("a family is one order or more, each of the same elements 0 … n − 1, each once")
    return np.argsort(np.array(rows), axis=1)
