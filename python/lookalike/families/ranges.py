"""Range buckets: a few chosen measurements of many, each cut into half-open ranges."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.families.family import Family
from lookalike.families.range_tables import tables_for
from lookalike.measures.closeness import as_measurements, checked_share, checked_within
from lookalike.theory.collisions import RangeCollision
from lookalike.theory.ranges import checked_recall, checked_seed, whole
from lookalike.theory.shares import least_count
from lookalike.types import F64, I64, U32, U64, Signatures

#: With copies near edges a value has two ranges, and a bucket of so many values 2¹² copies.
_MOST_ROWS = 12
_MOST_TABLES = 65_536
#: Keeps the draws of shifts apart from those of measurements: "shifts".
_SHIFTS = 0x7368_6966_7473_0000


@dataclass(frozen=True, kw_only=True)
class Ranges(Family):
    """Buckets of items with many measurements, such as faces.

    Every table looks at `rows` measurements. Range number i of a measurement holds the values from
    start + i·width on, up to the next range and without its beginning. A value within `margin` of an edge
    also counts as one of the range on the other side, so an item may be in several buckets of a table. Two
    items meet if they share a bucket in some table.

    The first table that looks at a measurement cuts it from `start` on. In every further table its ranges are
    shifted by some part of the width, drawn by `seed` (see `starts`), so that two values which an edge
    separates in one table may share a range in the next. Tables are then independent even where they look at
    the same measurements, and `ranges.and_(3).or_(20)` is the chance that two items meet, by how much all
    their measurements differ.

    Parameters
    ----------
    dimensions
        How many measurements an item has.
    width, start, margin
        Of the ranges: a number for all measurements, or one for each. The margin is at most half the width.
    rows, tables
        How many measurements a table looks at, and how many tables there are.
    chosen
        Which measurements each table looks at, by number; drawn by `seed` if it is not given.
    seed
        Draws the measurements that tables look at, and the shifts of their ranges.

    Examples
    --------
    Ranges [10, 17), [17, 24), [24, 31) … and [0, 5), [5, 10) …: 27 is in the third (numbers begin with 0), 9
    in the second and, being near the edge, also in the third.

    >>> ranges = Ranges(dimensions=2, width=(7, 5), start=(10, 0), margin=1, chosen=((0, 1),))
    >>> ranges.buckets((27, 9))
    [[(2, 1), (2, 2)]]
    """

    dimensions: int
    width: float | tuple[float, ...]
    start: float | tuple[float, ...] = 0.0
    margin: float | tuple[float, ...] = 0.0
    rows: int = 3
    tables: int = 10
    seed: int = 0
    chosen: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimensions", _checked("dimensions", self.dimensions, 1, 1 << 20))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        for name in ("width", "start", "margin"):
            object.__setattr__(self, name, self._settled(name))
        width, margin = self._each(self.width), self._each(self.margin)
        if not np.all(width > 0):
            raise OptionError(f"width={width.min():g} is out of range: over 0")
        if not np.all((margin >= 0) & (2 * margin <= width)):
            raise OptionError(f"margin={self.margin!r} is out of range: from 0 to half the width")
        if self.chosen is None:
            most = min(_MOST_ROWS, self.dimensions)
            object.__setattr__(self, "rows", _checked("rows", self.rows, 1, most))
            object.__setattr__(self, "tables", _checked("tables", self.tables, 1, _MOST_TABLES))
            object.__setattr__(self, "chosen", self._drawn())
        else:
            object.__setattr__(self, "chosen", self._checked_tables(self.chosen))
        object.__setattr__(self, "tables", len(self.chosen or ()))
        object.__setattr__(self, "rows", max(map(len, self.chosen or ())))

    @classmethod
    def planned(
        cls,
        dimensions: int,
        *,
        within: float | tuple[float, ...],
        share: float,
        recall: float = 0.95,
        width: float | tuple[float, ...] | None = None,
        rows: int | None = None,
        seed: int = 0,
    ) -> Self:
        """Ranges in which items that are close in a share of their measurements meet as often as promised.

        Values that differ by up to twice the margin always share a range, so the margin is half of `within`:
        two items meet in every table that looks at nothing but measurements in which they are close. As many
        different tables are drawn as it takes that one of them does so with a chance of `recall`, whichever
        measurements those are; items that are close in more meet more often. Unless they are given, ranges
        are three times as wide as `within`, and a table looks at three measurements, or at as many as must be
        close if they are fewer.

        Examples
        --------
        >>> ranges = Ranges.planned(20, within=2, share=0.8)
        >>> ranges.width, ranges.margin, ranges.tables
        (6.0, 1.0, 5)
        """
        dimensions, seed = _checked("dimensions", dimensions, 1, 1 << 20), checked_seed(seed)
        apart, share = checked_within(within, dimensions), checked_share(share)
        if width is None and not np.all(apart > 0):
            raise OptionError(
                "within=0 asks for equal values, and their ranges need a width: give width=1, say"
            )
        if width is not None and np.any(apart > np.asarray(width, np.float64)):
            raise OptionError(
                f"width={width!r} is narrower than within={within!r}: close values would share no range"
            )
        close = least_count(share, dimensions)
        rows = _checked("rows", min(3, close) if rows is None else rows, 1, min(_MOST_ROWS, dimensions))
        chance = math.comb(close, rows) / math.comb(dimensions, rows)
        if not chance:
            raise OptionError(
                f"items close in {close} of {dimensions} measurements share no table of {rows}: use"
                f" rows={close} or fewer"
            )
        missed = math.log1p(-chance) if chance < 1 else -math.inf
        share_missed = math.log1p(-checked_recall(recall, exact="Ranges.exact"))
        tables = min(math.comb(dimensions, rows), max(1, math.ceil(share_missed / missed)))
        if tables > _MOST_TABLES:
            raise OptionError(
                f"recall={recall:g} of items close in {close} of {dimensions} measurements takes {tables:,}"
                f" tables of {rows}, more than {_MOST_TABLES:,}: use fewer rows, or a higher share"
            )
        each = apart[0] if np.ndim(within) == 0 else apart
        return cls(
            dimensions=dimensions,
            width=_plain(3 * each) if width is None else width,
            margin=_plain(each / 2),
            seed=seed,
            chosen=tables_for(dimensions, close, rows, least=tables, recall=recall, seed=seed),
        )

    @classmethod
    def exact(
        cls,
        dimensions: int,
        *,
        within: float | tuple[float, ...],
        share: float,
        width: float | tuple[float, ...] | None = None,
    ) -> Self:
        """Ranges in which all items meet that are close in a share of their measurements.

        Of so many measurements that one of them is surely close, each has a table of its own, and every value
        is in two ranges. So whatever is close is found, and buckets are large: an item meets all those that
        are near it in one measurement. Unless it is given, the width is three times `within`, the least that
        will do: twice would, but for rounding.

        Examples
        --------
        >>> Ranges.exact(4, within=2, share=0.5).chosen
        ((0,), (1,), (2,))
        """
        dimensions = _checked("dimensions", dimensions, 1, 1 << 20)
        apart, share = checked_within(within, dimensions), checked_share(share)
        if width is None and not np.all(apart > 0):
            raise OptionError(
                "within=0 asks for equal values, and their ranges need a width: give width=1, say"
            )
        each = 3 * (apart[0] if np.ndim(within) == 0 else apart)
        if width is not None:
            if np.any(np.asarray(width, np.float64) < each):
                raise OptionError(f"width={width!r} is under three times within={within!r}: no exact ranges")
            each = np.asarray(width, np.float64)
        tables = dimensions - least_count(share, dimensions) + 1
        if tables > _MOST_TABLES:
            raise OptionError(
                f"exact ranges of {dimensions:,} measurements at a share of {share:g} take {tables:,} tables,"
                f" more than {_MOST_TABLES:,}: use a higher share"
            )
        return cls(
            dimensions=dimensions,
            width=_plain(each),
            margin=_plain(each / 2),
            chosen=tuple((measurement,) for measurement in range(min(tables, dimensions))),
        )

    @property
    def law(self) -> RangeCollision:
        """How often two values share a range by their difference, where all measurements are cut alike."""
        laws = {self.law_of(measurement) for measurement in range(self.dimensions)}
        if len(laws) > 1:
            raise OptionError("measurements are cut differently, so each has its own law: ask law_of(number)")
        return laws.pop()

    def law_of(self, measurement: int) -> RangeCollision:
        """The same for one measurement; items on both sides are copied near edges, each by its margin."""
        measurement = _checked("measurement", measurement, 0, self.dimensions - 1)
        width, margin = self._each(self.width)[measurement], self._each(self.margin)[measurement]
        return RangeCollision(float(width), float(2 * margin))

    @property
    def starts(self) -> tuple[tuple[float, ...], ...]:
        """Where range number 0 begins in each table, for the measurements the table looks at.

        Examples
        --------
        The second table looks at measurement 1 once more.

        >>> first, second = Ranges(dimensions=2, width=4, start=10, chosen=((0, 1), (1,))).starts
        >>> first, 10 <= second[0] < 14
        ((10.0, 10.0), True)
        """
        return tuple(tuple(begins.tolist()) for begins in self._begins)

    def buckets(self, vector: Sequence[float]) -> list[list[tuple[int, ...]]]:
        """The buckets of one item, table by table: the number of a range for each measurement looked at."""
        values = as_measurements([vector], self.dimensions)
        found = []
        for number in range(self.tables):
            low, high = self._numbers(values, number)
            touched = (
                sorted({first, last}) for first, last in zip(low[0].tolist(), high[0].tolist(), strict=True)
            )
            found.append(list(product(*touched)))
        return found

    def keys(self, vectors: Any) -> tuple[U64, U32]:
        """All buckets of all items: a hash of each, and the item it is of."""
        values = as_measurements(vectors, self.dimensions)
        keys, rows = [np.empty(0, np.uint64)], [np.empty(0, np.uint32)]
        for number, table in enumerate(self._tables):
            low, high = self._numbers(values, number)
            for copied in product((False, True), repeat=len(table)):
                # A copy differs from the item's first bucket wherever the mask says so, or is none.
                moved = np.flatnonzero(copied)
                there = np.flatnonzero(np.all(low[:, moved] < high[:, moved], axis=1))
                numbers = [(high if other else low)[there, at] for at, other in enumerate(copied)]
                keys.append(self._hashed(number, numbers, len(there)))
                rows.append(there.astype(np.uint32))
        return np.concatenate(keys), np.concatenate(rows)

    def signatures(self, items: Any) -> Signatures:
        """A slot for each measurement of each table: the number of the range it is in, without copies."""
        values = as_measurements(items, self.dimensions)
        looked_at = [i for table in self._tables for i in table]
        own = _floors(
            (values[:, looked_at] - np.concatenate(self._begins)) / self._each(self.width)[looked_at]
        )
        slots = own.astype(np.uint32)
        content = _core.band_keys(np.ascontiguousarray(slots), bands=1, rows=slots.shape[1])[0]
        return Signatures(slots, content, content, np.zeros(len(slots), np.uint8))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `Ranges(**…)` reads them back."""
        return asdict(self)

    @property
    def _tables(self) -> tuple[tuple[int, ...], ...]:
        assert self.chosen is not None
        return self.chosen

    @cached_property
    def _begins(self) -> list[F64]:
        """Where the ranges of each table begin, for the measurements it looks at."""
        sizes = np.array([len(table) for table in self._tables])
        looked_at = np.concatenate(self._tables)
        places = np.arange(len(looked_at)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        numbers = (np.repeat(np.arange(len(sizes)), sizes) * _MOST_ROWS + places).astype(np.uint64)
        drawn = _core.mix_integers(numbers, seed=self.seed ^ _SHIFTS, threads=1)
        shifts = (drawn >> np.uint64(11)) * 2.0**-53
        # Only what an earlier table has cut needs to be cut elsewhere.
        shifts[np.unique(looked_at, return_index=True)[1]] = 0
        begins = self._each(self.start)[looked_at] + shifts * self._each(self.width)[looked_at]
        return np.split(begins, np.cumsum(sizes)[:-1])

    def _numbers(self, values: F64, table: int) -> tuple[I64, I64]:
        """The first and the last range of a table that values within the margin of an item's own lie in."""
        looked_at = list(self._tables[table])
        values, begin = values[:, looked_at], self._begins[table]
        width, margin = (self._each(given)[looked_at] for given in (self.width, self.margin))
        return _floors((values - margin - begin) / width), _floors((values + margin - begin) / width)

    def _hashed(self, table: int, numbers: list[I64], count: int) -> U64:
        state = np.full(count, table, np.uint64)
        for column in [*numbers, np.zeros(count, np.int64)]:
            state = _core.mix_integers(state, seed=self.seed, threads=1) ^ column.view(np.uint64)
        return state

    def _drawn(self) -> tuple[tuple[int, ...], ...]:
        """Each table its own measurements, no two of them the same, by hashes of their numbers."""
        numbers = np.arange(self.tables * self.dimensions, dtype=np.uint64)
        ranks = _core.mix_integers(numbers, seed=self.seed, threads=1).reshape(self.tables, self.dimensions)
        least = np.sort(np.argsort(ranks, axis=1, kind="stable")[:, : self.rows], axis=1)
        return tuple(tuple(row) for row in least.tolist())

    def _checked_tables(self, chosen: Any) -> tuple[tuple[int, ...], ...]:
        try:
            tables = tuple(tuple(operator.index(i) for i in table) for table in chosen)
        except (TypeError, ValueError):
            raise OptionError(
                f"chosen={chosen!r:.60} names no tables: write chosen=((0, 1), (2, 5))"
            ) from None
        for table in tables or ((),):
            if not 1 <= len(set(table)) == len(table) <= _MOST_ROWS:
                raise OptionError(f"a table looks at 1 to {_MOST_ROWS} different measurements, not {table}")
            if not all(0 <= i < self.dimensions for i in table):
                raise OptionError(f"chosen names {table}, but measurements are 0 to {self.dimensions - 1}")
        return tables

    def _settled(self, name: str) -> float | tuple[float, ...]:
        given = getattr(self, name)
        try:
            numbers = np.asarray(given, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise OptionError(f"{name}={given!r:.40} is no number, nor one for each measurement") from None
        if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != self.dimensions):
            raise OptionError(f"{name} has {numbers.size} numbers: give one, or {self.dimensions}")
        if not np.isfinite(numbers).all():
            raise OptionError(f"{name}={given!r} is out of range: finite numbers")
        return _plain(numbers)

    def _each(self, given: float | tuple[float, ...]) -> F64:
        return np.broadcast_to(np.asarray(given, np.float64), (self.dimensions,))


def _plain(numbers: Any) -> float | tuple[float, ...]:
    return float(numbers) if np.ndim(numbers) == 0 else tuple(numbers.tolist())


def _floors(numbers: F64) -> I64:
    if np.any(np.abs(numbers) >= 2.0**62):
        raise OptionError("a value is more than 2⁶² ranges from the start: widen the ranges")
    return np.floor(numbers).astype(np.int64)


def _checked(name: str, value: object, least: int, most: int) -> int:
    number = whole(value)
    if number is None or not least <= number <= most:
        raise OptionError(f"{name}={value!r} is out of range: a whole number from {least} to {most:,}")
    return number
