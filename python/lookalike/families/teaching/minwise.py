"""Families of orders small enough to be gone through: which element of a set comes first?

MinHash needs orders under which every element of every set X is equally likely to be first, with probability
1/|X|: then two sets have the same first element with probability equal to their Jaccard similarity. All n!
orders are such a family. Far fewer will do, though never few: each |X| up to n must divide their number, so
lcm(1, …, n), about eⁿ, does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from lookalike.errors import OptionError
from lookalike.families.teaching.universal import TwoUniversal


def first(order: Sequence[int], elements: Collection[int]) -> int:
    """The element of a set that comes first in an order of the universe."""
    for x in order:
        if x in elements:
            return x
    raise OptionError("a set of which nothing is in the order has no first element")


@dataclass(frozen=True)
class HalvingOrders:
    """An exactly min-wise family of orders of 0 … n − 1, by repeated halving; n is a power of two.

    Choose which half of the elements comes first, in all C(n, n/2) ways; then order either half by the same
    order of n/2 places, drawn from this family for n/2. It is min-wise: which elements of X the first half
    takes depends on how many alone, all choices being equally likely, and among those it takes the first is
    any of them with the same probability, by the same argument; if it takes none, the second half holds X.

    Examples
    --------
    >>> len(HalvingOrders(4)), len(HalvingOrders(8))
    (12, 840)
    >>> [order for order in HalvingOrders(4)][:3]
    [(0, 1, 2, 3), (1, 0, 3, 2), (0, 2, 1, 3)]
    """

    n: int

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1 or self.n & (self.n - 1):
            raise OptionError(f"n={self.n!r} is out of range: a power of two, so that halves can be halved")

    def __len__(self) -> int:
        return 1 if self.n == 1 else comb(self.n, self.n // 2) * len(HalvingOrders(self.n // 2))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """All orders, each a row of elements from the first to the last."""
        if self.n == 1:
            yield (0,)
            return
        inner = list(HalvingOrders(self.n // 2))
        for front in combinations(range(self.n), self.n // 2):
            back = [x for x in range(self.n) if x not in front]
            for order in inner:
                yield (*(front[i] for i in order), *(back[i] for i in order))


@dataclass(frozen=True)
class LinearOrders:
    """The orders of 0 … p − 1 by (ax + b) mod p, a from 1 on: few, and min-wise within a factor.

    An element of a set X of two or more is first with probability at least 1/(2(|X| − 1)), where 1/|X| would
    be right; sets in which elements are evenly spaced are those that it treats unevenly.

    Examples
    --------
    >>> orders = LinearOrders(5)
    >>> len(orders), [first(order, {0, 1, 2}) for order in orders].count(1) / len(orders)
    (20, 0.3)
    """

    prime: int

    def __post_init__(self) -> None:
        TwoUniversal(self.prime)

    def __len__(self) -> int:
        return self.prime * (self.prime - 1)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """All orders, each a row of elements from the first to the last."""
        family = TwoUniversal(self.prime)
        for a in range(1, self.prime):
            for b in range(self.prime):
                yield tuple(sorted(range(self.prime), key=family.function(a, b)))
