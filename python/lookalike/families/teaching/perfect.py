"""Perfect hashing in two levels: a frozen dictionary whose look-ups take constant time, in the worst case.

A function of the universal family sends n keys to n buckets, of which bucket i gets bᵢ. Even if keys fell at
random, some bucket would get about log n / log log n of them, so one level alone has no constant bound. But
the expected Σbᵢ² is under 2n, so with at least an even chance it is at most 4n, and a function that does so
is found in two tries on average or fewer. Bucket i then has 2bᵢ² slots of its own and a function that sends
its keys to different ones, which again at least every second function does. So there are at most 8n slots,
and a look-up computes two functions and reads one slot, whatever the keys.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import count
from typing import Any

from lookalike.errors import OptionError
from lookalike.families.teaching.universal import Function, Universal
from lookalike.theory.ranges import whole

#: The greatest prime under 2⁶¹; keys are below it.
P61 = (1 << 61) - 1


class PerfectHash:
    """A dictionary of whole numbers that no longer changes.

    Parameters
    ----------
    entries
        Keys from 0 to p − 1, and what to find under each.
    prime
        p, at least as large as the universe of keys.
    seed
        Draws the functions. What is found does not depend on it.

    Examples
    --------
    >>> squares = PerfectHash({x: x * x for x in (2, 3, 5, 7, 11)})
    >>> squares.get(7), squares.get(8), 11 in squares, squares.slots <= 8 * len(squares)
    (49, None, True, True)
    """

    def __init__(self, entries: Mapping[int, Any], *, prime: int = P61, seed: int = 0) -> None:
        if not isinstance(entries, Mapping):
            raise OptionError(f"{entries!r:.40} is no mapping: say what to find under each key")
        for key in entries:
            number = whole(key)
            if number is None or not 0 <= number < prime:
                raise OptionError(f"key {key!r} is out of range: a whole number from 0 to {prime - 1}")
        entries = {int(key): entry for key, entry in entries.items()}
        self._entries = len(entries)
        source = random.Random(seed)
        self._first, buckets, self._tries = _spread(list(entries), prime, source)
        self._levels = [_level(bucket, entries, prime, source) for bucket in buckets]

    def __len__(self) -> int:
        return self._entries

    def __contains__(self, key: int) -> bool:
        return self._find(key) is not None

    def get(self, key: int, default: Any = None) -> Any:
        """What is under a key; `default` if the key is not there."""
        found = self._find(key)
        return default if found is None else found[1]

    @property
    def slots(self) -> int:
        """How many slots there are in all buckets together: at most 8 a key."""
        return sum(len(slots) for _, slots in self._levels)

    @property
    def tries(self) -> int:
        """How many functions were drawn until one spread the keys over buckets evenly enough."""
        return self._tries

    def _find(self, key: int) -> tuple[int, Any] | None:
        number = whole(key)
        if not self._levels or number is None:
            return None
        function, slots = self._levels[self._first(number)]
        found = slots[function(number)] if slots else None
        return found if found is not None and found[0] == number else None


#: The function of a bucket, and its slots: a key with what is under it, or nothing.
_Level = tuple[Function, list[tuple[int, Any] | None]]


def _spread(keys: list[int], prime: int, source: random.Random) -> tuple[Function, list[list[int]], int]:
    """A function that spreads keys so evenly that squares of bucket sizes add up to 4 a key at most."""
    for tries in count(1):
        buckets: list[list[int]] = [[] for _ in keys]
        function = Universal(prime, max(1, len(keys))).drawn(source)
        for key in keys:
            buckets[function(key)].append(key)
        if sum(len(bucket) ** 2 for bucket in buckets) <= 4 * len(keys):
            return function, buckets, tries
    raise AssertionError  # numbers do not end


def _level(bucket: list[int], entries: Mapping[int, Any], prime: int, source: random.Random) -> _Level:
    """A function under which the keys of a bucket have slots of their own."""
    size = 2 * len(bucket) ** 2
    while True:
        function = Universal(prime, max(1, size)).drawn(source)
        slots: list[tuple[int, Any] | None] = [None] * size
        for key in bucket:
            slots[function(key)] = (key, entries[key])
        if sum(slot is not None for slot in slots) == len(bucket):
            return function, slots
