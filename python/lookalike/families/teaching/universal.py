"""The universal family ((ax + b) mod p) mod N, and the 2-universal family (ax + b) mod p.

Python's integers do not wrap, so products are exact however large p is. In 64 bits a·x would wrap before the
modulus is taken, and the family would no longer be universal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from lookalike.errors import OptionError

#: A function of the family: a number of the universe → its hash.
Function = Callable[[int], int]


@dataclass(frozen=True)
class TwoUniversal:
    """All functions h(x) = (ax + b) mod p, a and b from 0 to p − 1, on the universe 0 … p − 1.

    For any two different x and y, h(x) and h(y) are independent: each of the p² pairs of values is taken by
    exactly one of the p² functions, since two equations in a and b have one solution modulo a prime.

    Examples
    --------
    >>> family = TwoUniversal(5)
    >>> sorted((h(1), h(3)) for h in family.functions()) == [(i, j) for i in range(5) for j in range(5)]
    True
    """

    prime: int

    def __post_init__(self) -> None:
        _check_prime(self.prime)

    def function(self, a: int, b: int) -> Function:
        """One function by its coefficients."""
        return lambda x: (a * x + b) % self.prime

    def functions(self) -> Iterator[Function]:
        """All of them."""
        return (self.function(a, b) for a, b in product(range(self.prime), repeat=2))


@dataclass(frozen=True)
class Universal:
    """All functions h(x) = ((ax + b) mod p) mod N, a from 1 to p − 1 and b from 0 to p − 1.

    Two different x and y of the universe 0 … p − 1 collide under at most one in N of the functions. For
    (ax + b, ay + b) mod p runs through all pairs of different numbers, each once, and of the p − 1 numbers
    other than a given one at most (p − 1)/N are the same as it modulo N.

    Examples
    --------
    >>> family = Universal(7, 3)
    >>> sum(h(2) == h(5) for h in family.functions()), 7 * 6 / 3
    (10, 14.0)
    """

    prime: int
    buckets: int

    def __post_init__(self) -> None:
        _check_prime(self.prime)
        if isinstance(self.buckets, bool) or not isinstance(self.buckets, int) or self.buckets < 1:
            raise OptionError(f"buckets={self.buckets!r} is out of range: a whole number, 1 or more")

    def function(self, a: int, b: int) -> Function:
        """One function by its coefficients."""
        if a % self.prime == 0:
            raise OptionError(f"a={a} sends everything to one bucket: a is not 0 modulo {self.prime}")
        return lambda x: (a * x + b) % self.prime % self.buckets

    def functions(self) -> Iterator[Function]:
        """All of them."""
        return (self.function(a, b) for a, b in product(range(1, self.prime), range(self.prime)))

    def drawn(self, source: random.Random) -> Function:
        """One of them at random."""
        return self.function(source.randrange(1, self.prime), source.randrange(self.prime))


def _check_prime(number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not _is_prime(number):
        raise OptionError(f"prime={number!r} is no prime: take one at least as large as the universe")


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test with the first twelve primes, which is never wrong under 3·10²³."""
    witnesses = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if number < 2 or any(number % small == 0 for small in witnesses):
        return number in witnesses
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1

    def passes(witness: int) -> bool:
        power = pow(witness, odd, number)
        return power == 1 or any(pow(power, 1 << i, number) == number - 1 for i in range(twos))

    return all(passes(witness) for witness in witnesses)
