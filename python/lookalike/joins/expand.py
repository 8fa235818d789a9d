"""Pairs of representatives → pairs of rows: every pair of copies, or each copy once.

Classes of copies multiply: two of a thousand rows each that are near each other are a million pairs. So all
pairs are made a batch at a time, committed to the engine, which has room on disk for them, and sorted there.
How many they are is known before the first is made. On the driver: 33 bytes a row, set aside from the budget,
where there are copies at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike.bands import packed, rows_of
from lookalike.engines import Engine, Table
from lookalike.errors import OptionError
from lookalike.runs.watch import Watch
from lookalike.types import I64, U32

#: Which pairs with copies are listed: `all` of them, or `stars`, in which each copy is there once.
Copies = Literal["all", "stars"]
#: Without being asked to, no more pairs than these are made of copies.
MOST = 100_000_000
#: Pairs of a batch, and of rows that are looked at to make them.
_AT_ONCE = 1 << 17
#: Of a pair: its similarity, or its distance.
Values = npt.NDArray[Any]


def checked_copies(copies: Any) -> Copies | None:
    """Which pairs with copies are wanted; None where nobody said, and then all, unless there are too many.

    Examples
    --------
    >>> checked_copies("stars")
    'stars'
    """
    if copies is not None and copies not in get_args(Copies):
        raise OptionError(f"copies={copies!r} is unknown: choose all or stars")
    return copies  # type: ignore[no-any-return]


def most_from_copies(copies: Copies | None) -> int | None:
    """The most pairs that copies may make; None where nothing limits them."""
    return MOST if copies is None else None


def refuse_too_many(
    representative: I64 | U32, most: int | None, *, boundary: int | None, directed: bool = False
) -> None:
    """Raise if copies alone, near pairs aside, make more than `most` pairs; a None limits nothing."""
    if most is None or _without_copies(representative):
        return
    classes = Classes(representative=representative, boundary=boundary, directed=directed)
    _check(classes.pairs_inside, most)


def _check(pairs: int, most: int | None) -> None:
    if most is not None and pairs > most:
        raise OptionError(
            f"exact copies make {pairs:,} pairs, more than {most:,}: use copies='stars' to list each copy "
            "once, or ask for all of them by copies='all'"
        )


def _without_copies(representative: I64 | U32) -> bool:
    return bool(np.array_equal(representative, np.arange(len(representative), dtype=representative.dtype)))


class Products(NamedTuple):
    """Ranges of members; every one of a left range is paired with every one of the right range beside it."""

    left: I64
    left_count: I64
    right: I64
    right_count: I64
    value: Values

    @property
    def pairs(self) -> I64:
        """How many pairs each of them makes."""
        return self.left_count * self.right_count


class Fans(NamedTuple):
    """Rows, each paired with a range of members."""

    row: I64
    right: I64
    right_count: I64
    value: Values


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """Rows that are exact copies of each other.

    Parameters
    ----------
    representative
        Of every row: itself, or the row it is an exact copy of.
    own
        What is between a row and its copies: a similarity of 1 by default.
    boundary
        Rows from here on are of a second collection, and only pairs across count; None for one collection.
    directed
        Whether a pair (a, b) answers for a in b alone: copies of one collection are then pairs both ways.
    """

    representative: I64 | U32
    own: Values | None = None
    boundary: int | None = None
    directed: bool = False

    @cached_property
    def _counts(self) -> I64:
        return np.bincount(self.representative, minlength=len(self.representative))

    @cached_property
    def _members(self) -> U32:
        """All rows, those of a class side by side and in order."""
        return np.argsort(self.representative, kind="stable").astype(np.uint32)

    @cached_property
    def _starts(self) -> I64:
        """Where the members of a class begin."""
        return np.cumsum(self._counts) - self._counts

    @cached_property
    def _firsts(self) -> I64:
        """How many members of a class are of the first collection, if there are two."""
        of_first = self.representative[: self.boundary]
        return np.bincount(of_first, minlength=len(self.representative))

    @property
    def nbytes(self) -> int:
        """What the driver holds for them."""
        return 33 * len(self.representative)

    @property
    def pairs_inside(self) -> int:
        """How many pairs copies make alone, whatever they are near to."""
        if self.boundary is not None:
            return int((self._firsts * (self._counts - self._firsts)).sum())
        return int((self._counts * (self._counts - 1)).sum()) // (1 if self.directed else 2)

    def pairs_of(self, a: I64, b: I64) -> int:
        """How many pairs of rows near pairs of representatives stand for."""
        return sum(int(product.pairs.sum()) for product in self._products(a, b, np.empty(len(a))))

    def all_of(self, near: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Every copy of `a` with every copy of `b` for a near pair, and all pairs of copies."""
        for a, b, value in _slices(near):
            for products in self._products(a, b, value):
                yield from self._pairs(_fans(products, self._members))
        inside = self._several()
        value = self._own_of(inside)
        if self.boundary is not None:
            within = self._across(inside, inside, value)
            yield from self._pairs(_fans(within, self._members))
            return
        yield from self._both_ways(_later(self._starts[inside], self._counts[inside], self._members, value))

    def stars_of(self, near: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Near pairs of representatives, and each other copy with its representative.

        Between two collections the first copies in either stand for their class: each is paired with all
        copies on the other side.
        """
        inside = self._several()
        value = self._own_of(inside)
        if self.boundary is None:
            yield from near
            firsts = Fans(inside, self._starts[inside] + 1, self._counts[inside] - 1, value)
            yield from self._both_ways(iter([firsts]))
            return
        for a, b, values in _slices(near):
            for products in self._products(a, b, values):
                yield from self._pairs(_firsts_of(products, self._members))
        yield from self._pairs(_firsts_of(self._across(inside, inside, value), self._members))

    def _several(self) -> I64:
        """The representatives that have copies."""
        return np.flatnonzero(self._counts > 1)

    def _own_of(self, rows: I64) -> Values:
        return np.ones(len(rows)) if self.own is None else self.own[rows]

    def _products(self, a: I64, b: I64, value: Values) -> Iterator[Products]:
        """What near pairs of representatives stand for."""
        if self.boundary is None:
            yield Products(self._starts[a], self._counts[a], self._starts[b], self._counts[b], value)
        else:
            yield self._across(a, b, value)
            yield self._across(b, a, value)

    def _across(self, one: I64, other: I64, value: Values) -> Products:
        """Members of one class in the first collection with members of the other in the second."""
        first, split = self._firsts[one], self._firsts[other]
        return Products(
            self._starts[one], first, self._starts[other] + split, self._counts[other] - split, value
        )

    def _pairs(self, fans: Iterator[Fans]) -> Iterator[pa.RecordBatch]:
        """Fans as pairs, in batches that are not too large."""
        for row, right, count, value in fans:
            ends = np.cumsum(count)
            begins = ends - count
            for low in range(0, int(ends[-1]) if len(ends) else 0, _AT_ONCE):
                high = min(low + _AT_ONCE, int(ends[-1]))
                here = slice(
                    int(np.searchsorted(ends, low, side="right")),
                    int(np.searchsorted(begins, high, side="left")),
                )
                first = np.maximum(begins[here], low)
                some = np.minimum(ends[here], high) - first
                b = self._members[_ranges(right[here] + first - begins[here], some)].astype(np.int64)
                a = np.repeat(row[here], some)
                if not self.directed:
                    a, b = np.minimum(a, b), np.maximum(a, b)
                yield _batch(a, b, np.repeat(value[here], some))

    def _both_ways(self, fans: Iterator[Fans]) -> Iterator[pa.RecordBatch]:
        """The same, and turned round where that says something else."""
        for batch in self._pairs(fans):
            yield batch
            if self.directed:
                a, b = rows_of(batch["pair"].to_numpy())
                yield _batch(b, a, batch["value"].to_numpy())


def _batch(a: I64 | U32, b: I64 | U32, value: Values) -> pa.RecordBatch:
    return pa.record_batch({"pair": pa.array(packed(a, b)), "value": pa.array(value)})


def _slices(near: Iterable[pa.RecordBatch]) -> Iterator[tuple[I64, I64, Values]]:
    """The columns of near pairs, some pairs at a time."""
    for batch in near:
        for start in range(0, len(batch), _AT_ONCE):
            some = batch.slice(start, _AT_ONCE)
            a, b = rows_of(some["pair"].to_numpy())
            yield a.astype(np.int64), b.astype(np.int64), some["value"].to_numpy()


def _ranges(starts: I64, counts: I64) -> I64:
    """The numbers of every range, one range after the other."""
    before = np.cumsum(counts) - counts
    numbers: I64 = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    return numbers


def _cut(counts: I64) -> Iterator[slice]:
    """Places to cut at so that no part counts for much more than a batch, a single one aside."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = int(ends[start] - counts[start])
        stop = max(start + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
        yield slice(start, stop)
        start = stop


def _fans(products: Products, members: U32) -> Iterator[Fans]:
    """A fan for every member on the left."""
    for part in _cut(products.left_count):
        left, left_count, right, right_count, value = (column[part] for column in products)
        rows = members[_ranges(left, left_count)].astype(np.int64)
        yield Fans(rows, *(np.repeat(column, left_count) for column in (right, right_count, value)))


def _firsts_of(products: Products, members: U32) -> Iterator[Fans]:
    """The first on the left with all on the right, and the others on the left with the first on the right."""
    there = products.pairs > 0
    left, left_count, right, right_count, value = (column[there] for column in products)
    yield Fans(members[left].astype(np.int64), right, right_count, value)
    others = Products(left + 1, left_count - 1, right, np.ones_like(right), value)
    yield from _fans(others, members)


def _later(starts: I64, counts: I64, members: U32, value: Values) -> Iterator[Fans]:
    """Of every class each member with those behind it."""
    for part in _cut(counts):
        places = _ranges(starts[part], counts[part])
        ends = np.repeat(starts[part] + counts[part], counts[part])
        rows = members[places].astype(np.int64)
        yield Fans(rows, places + 1, ends - places - 1, np.repeat(value[part], counts[part]))


def with_copies(
    near: Table, classes: Classes, copies: Copies | None, *, engine: Engine, watch: Watch
) -> Table:
    """The pairs that a user sees, as a table of pairs, in order.

    `near` are those of representatives, in order too. Of `copies`, all pairs or stars; None is all, unless
    there are more than `MOST`.

    Raises
    ------
    OptionError
        If there are too many and nobody asked for all of them.
    """
    if _without_copies(classes.representative):
        return near
    aside = engine.set_aside()
    aside.grow(classes.nbytes)
    total = None
    if copies != "stars":
        total = classes.pairs_inside
        for a, b, _ in _slices(near.batches):
            total += classes.pairs_of(a, b)
        _check(total - near.rows, most_from_copies(copies))
    with watch.stage("list copies", total, unit="pairs") as advance:
        made = classes.stars_of(near.batches) if copies == "stars" else classes.all_of(near.batches)

        def heard() -> Iterator[pa.RecordBatch]:
            for batch in made:
                advance(len(batch))
                yield batch

        return engine.sort(engine.scan(heard(), near.schema), ("pair",))
