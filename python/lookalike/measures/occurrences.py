"""A small collection of sets, sought in the sets of a large one, exactly.

The elements of the small collection are known in advance, so a large set is first reduced to the elements it
shares with any of them: a table of bits lets nearly all others pass by. Sets that hold enough of a sought one
must hold a few of its rarest elements, which name the candidates; those are then counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lookalike.types import F64, I64, U64, Bools, Sets, concatenate

#: Bits a known element gets in the sieve: one in so many others passes by mistake, and is then looked up.
_ROOM = 32
_MOST_BITS = 26
#: Elements that are compared at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True, eq=False)
class Met:
    """Elements of sets that are known: `element` numbers by `row`, sorted by row, then element."""

    row: I64
    element: I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Sought:
    """Sets to look for.

    Attributes
    ----------
    sets
        Of each, the numbers of its elements, ascending, one set after the other from `offsets` on.
    known
        The elements that are in any, sorted; an element's number is its place here.
    sizes, frequencies
        How many elements a set has, and in how many sets an element is.
    """

    sets: I64
    offsets: I64
    known: U64
    frequencies: I64
    _sieve: Bools = field(repr=False)
    _shift: np.uint64 = field(repr=False)

    @classmethod
    def of(cls, sets: Sets) -> Sought:
        """Make sets ready to be looked for."""
        known, numbers = np.unique(sets.elements, return_inverse=True)
        bits = min(_MOST_BITS, max(8, (_ROOM * len(known)).bit_length()))
        shift = np.uint64(64 - bits)
        sieve = np.zeros(1 << bits, np.bool_)
        # Elements are premixed, so their top bits are as good as any hash of them.
        sieve[known >> shift] = True
        return cls(
            sets=numbers.astype(np.int64),
            offsets=sets.offsets,
            known=known,
            frequencies=np.bincount(numbers, minlength=len(known)),
            _sieve=sieve,
            _shift=shift,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> I64:
        """How many elements each set has."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """How many bytes this takes."""
        parts = (self.sets, self.offsets, self.known, self.frequencies, self._sieve)
        return sum(part.nbytes for part in parts)

    def met(self, sets: Sets) -> Met:
        """The known elements of some large sets."""
        passed = np.flatnonzero(self._sieve[sets.elements >> self._shift])
        elements = sets.elements[passed]
        numbers = np.minimum(np.searchsorted(self.known, elements), max(0, len(self.known) - 1))
        right = self.known[numbers] == elements if len(self.known) else np.zeros(len(elements), np.bool_)
        rows = np.searchsorted(sets.offsets, passed[right], side="right") - 1
        return Met(row=rows, element=numbers[right])

    def shared(self, met: Met, row: I64, own: I64) -> I64:
        """How many elements of the sought sets `own` the large sets of `row` have."""
        codes = met.row * len(self.known) + met.element
        sizes = self.sizes[own]
        ends = np.cumsum(sizes)
        parts: list[I64] = []
        start = 0
        while start < len(row):
            stop = max(start + 1, int(np.searchsorted(ends, ends[start] - sizes[start] + _AT_ONCE, "right")))
            here = slice(start, stop)
            places = _spread(self.offsets[own[here]], sizes[here])
            asked = np.repeat(row[here] * len(self.known), sizes[here]) + self.sets[places]
            at = np.minimum(np.searchsorted(codes, asked), max(0, len(codes) - 1))
            there = codes[at] == asked if len(codes) else np.zeros(len(asked), np.bool_)
            totals = np.concatenate([[0], np.cumsum(there)])
            cuts = np.concatenate([[0], np.cumsum(sizes[here])])
            parts.append(np.diff(totals[cuts]))
            start = stop
        return concatenate(parts, np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Owners:
    """Which sought sets to think of when an element is met: those of `owners` from `offsets` on.

    `least` says how many elements must have named a set.
    """

    owners: I64
    offsets: I64
    least: I64

    @property
    def nbytes(self) -> int:
        """How many bytes this takes."""
        return self.owners.nbytes + self.offsets.nbytes + self.least.nbytes

    @classmethod
    def sharing_any(cls, sought: Sought, *, most: int) -> Owners:
        """Every set an element is in; none for an element that is in more than `most` of them."""
        rows = np.repeat(np.arange(len(sought)), sought.sizes)
        wanted = sought.frequencies[sought.sets] <= most
        least = np.ones(len(sought), np.int64)
        return cls._by_element(sought.sets[wanted], rows[wanted], least, len(sought.known))

    @classmethod
    def holding(cls, sought: Sought, threshold: float) -> Owners:
        """The sets that have this element among their rarest.

        If n of s elements must be shared, then of any s − n + m at least m are: a large set that has fewer
        of the rarest cannot hold enough. A few more than one of them tells chance from a copy.
        """
        sizes = sought.sizes
        needed = least_shared(sizes, threshold)
        spare = sizes - needed
        least = np.minimum(1 + np.maximum(spare, 0) // 4, needed)
        rows = np.repeat(np.arange(len(sought)), sizes)
        order = np.lexsort((sought.sets, sought.frequencies[sought.sets], rows))
        place = np.arange(len(rows)) - sought.offsets[:-1][rows]
        wanted = place < (spare + least)[rows]
        return cls._by_element(sought.sets[order][wanted], rows[wanted], least, len(sought.known))

    @classmethod
    def _by_element(cls, elements: I64, rows: I64, least: I64, known: int) -> Owners:
        order = np.argsort(elements, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(elements, minlength=known))])
        return cls(owners=rows[order], offsets=offsets, least=least)

    def named(self, met: Met) -> tuple[I64, I64]:
        """Large sets and the sought ones to compare them with, sorted, each pair once."""
        counts = np.diff(self.offsets)[met.element]
        owners = self.owners[_spread(self.offsets[met.element], counts)]
        width = max(1, len(self.least))
        codes = np.sort(np.repeat(met.row, counts) * width + owners)
        starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else codes
        times = np.diff(np.append(starts, len(codes)))
        rows, owners = codes[starts] // width, codes[starts] % width
        enough = times >= self.least[owners]
        return rows[enough], owners[enough]


def least_shared(sizes: I64, threshold: float) -> I64:
    """The least count that is at least a share of `threshold` of each size, as f64 division decides it.

    Examples
    --------
    >>> least_shared(np.array([1, 5, 10]), 0.8).tolist()
    [1, 4, 8]
    """
    # A float may round either way: begin below, and let the division itself decide.
    least: I64 = np.maximum(np.floor(threshold * sizes).astype(np.int64) - 1, 1)
    for _ in range(3):
        least += _share(least, sizes) < threshold
    return least


def _share(shared: I64, sizes: I64) -> F64:
    return shared.astype(np.float64) / np.maximum(sizes, 1).astype(np.float64)


def _spread(starts: I64, counts: I64) -> I64:
    """start, start + 1, … as many as counted, one after the other."""
    before = np.cumsum(counts) - counts
    spread: I64 = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    return spread
