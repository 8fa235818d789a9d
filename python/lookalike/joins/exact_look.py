"""An exact look at some rows, where bands found next to nothing: it tells "there is nothing" from "it was
unlucky".

    beside    up to 300 rows that are in no large bucket are compared with all others
    within    up to 100 rows of large buckets are compared with each other: two crowds that the bands did not
              bring together both have rows among them

Rows are chosen by the hashes of their contents. Of sets, only those are made that may hold one of the
elements a near one must share (`sieve`), so a look costs about as much as signing. Where many rows may be
near the chosen ones, because most of the collection is one crowd, those are compared with each other alone:
that a whole crowd is alike is not what was missed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import add
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import packed, rows_of
from lookalike.engines import Engine, Table
from lookalike.joins.elements import shingler_of
from lookalike.joins.items import Items
from lookalike.joins.least import Least
from lookalike.joins.nearest import Among, Gather, nearest_of
from lookalike.joins.only import Only
from lookalike.theory.added_bands import ExactLook
from lookalike.types import I64, U32, U64, Bools, Sets, concatenate, list_buffers, string_buffers

#: Rows compared exactly with all others: if one row in a hundred has a near pair, one is seen with chance
#: .95.
LOOKED_AT = 300
#: Rows of large buckets that are compared with each other.
LOOKED_AT_WITHIN = 100
#: The near pairs of a row that are looked up.
_NEAR_A_ROW = 64
#: Elements that a near set must share with the rarest of a set: more, and fewer sets pass by chance.
_SEVERAL = 8
#: Where more than this share of all rows may be near those looked at, to compare all would take too long.
_CROWDED = 0.1
#: So many pairs of rows are soon compared in any case.
_SOON = 1 << 17
#: Numbers of 53 bits lose so little when a threshold is multiplied by a size.
_ROUNDED = 1 - 2.0**-40

#: Finds near pairs (a, b) of some rows, which are sorted, with all rows; None if that would take too long.
NearOf = Callable[[I64], tuple[I64, I64] | None]
#: The same of items: those, which rows are joined, the sides of two collections, the threshold, an engine,
#: and the rows.
NearOfItems = Callable[[Items, Bools, tuple[Bools, Bools] | None, float, Engine, I64], tuple[I64, I64] | None]
#: Which of some pairs are near.
AreNear = Callable[[I64, I64], Bools]


@dataclass(frozen=True, kw_only=True, eq=False)
class Looked:
    """The near pairs of rows that were compared exactly.

    `beside` rows were compared with all others, and `within` crowds so many with each other.
    """

    beside: int
    within: int
    pairs: U64

    def outcome(self, met: Callable[[I64, I64], Bools]) -> ExactLook:
        """What the look showed; `met` tells which pairs share a bucket by now."""
        a, b = rows_of(self.pairs)
        found = int(np.count_nonzero(met(a.astype(np.int64), b.astype(np.int64)))) if len(a) else 0
        return ExactLook(rows=self.beside, within=self.within, near=len(a), found=found)


def look_exactly(
    engine: Engine,
    keyed: Table,
    marked: Bools,
    in_large: Callable[[], Bools],
    sides: tuple[Bools, Bools] | None,
    near_of: NearOf,
    are_near: AreNear,
) -> Looked:
    """Compare the rows with the least contents exactly; of two collections pairs across them count.

    Parameters
    ----------
    keyed
        Rows with the hashes of their contents (`content`).
    marked
        The rows that are joined.
    in_large
        Tells those of large buckets; it is asked only if nothing is settled yet.
    """

    def looked() -> Table:
        large = in_large()
        beside = _chosen(engine, keyed, marked & ~large, LOOKED_AT)
        found = near_of(beside) if len(beside) else (beside, beside)
        if found is None:
            # Nothing tells apart who is in a crowd.
            beside = beside[:0]
            within = _chosen(engine, keyed, marked, LOOKED_AT_WITHIN)
        else:
            within = _chosen(engine, keyed, marked & large, LOOKED_AT_WITHIN)
        a, b = found or (beside, beside)
        one, other = np.triu_indices(len(within), 1)
        c, d = within[one], within[other]
        c, d = across(sides, c, d)
        near = are_near(c, d) if len(c) else np.zeros(0, np.bool_)
        a, b = np.concatenate([a, c[near]]), np.concatenate([b, d[near]])
        pairs = np.unique(packed(np.minimum(a, b), np.maximum(a, b)))
        counted = {_BESIDE: str(len(beside)), _WITHIN: str(len(within))}
        table = Table.of(pair=pairs)
        return Table(table.batches, table.schema.with_metadata(counted))

    settled = engine.settle("looked", looked)
    beside, within = (int(settled.schema.metadata[name.encode()]) for name in (_BESIDE, _WITHIN))
    return Looked(beside=beside, within=within, pairs=settled.column("pair"))


def _chosen(engine: Engine, keyed: Table, among: Bools, count: int) -> I64:
    """So many rows with the least contents among some, sorted."""
    if not among.any():
        return np.empty(0, np.int64)
    return LeastContents(count, 0, len(among), among).drawn(engine, keyed)


@dataclass(frozen=True, eq=False)
class LeastContents(Least):
    """A stage for `fold`: marked rows with the least contents."""

    light: ClassVar[bool] = True

    marked: Bools

    def hashes(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        """Of the marked rows."""
        rows = batch["row"].to_numpy()
        there = self.marked[rows]
        return batch["content"].to_numpy()[there], rows[there].astype(np.int64)


def near_of_sets(
    items: Items,
    marked: Bools,
    sides: tuple[Bools, Bools] | None,
    threshold: float,
    engine: Engine,
    rows: I64,
) -> tuple[I64, I64] | None:
    """The near pairs of some rows, of sets or texts; None where a tenth of all rows may be near them."""
    # Of two collections, too, all rows pass by: a representative may stand for rows of either.
    items = replace(items, boundary=None)
    shingler = shingler_of(items)
    held = engine.fold(items.table, Gather(shingler, Among(rows)), add) or []
    rarest = rarest_of(_sets(held), threshold)
    crowded = sum(some.passing for some in rarest) > _CROWDED * len(rows)
    if crowded and len(rows) * items.rows > _SOON:
        return None
    passing = Passes(tuple(some.sieve() for some in rarest), shingler, marked)
    passed = np.zeros(items.rows, np.bool_)
    passed[rows] = True
    passed[concatenate(engine.fold(items.table, passing, add) or [], np.int64)] = True
    few = replace(items, table=engine.map(items.table, Only(passed)))
    a, b, similarity = nearest_of(few, rows, _NEAR_A_ROW, engine=engine)
    near = (similarity >= threshold) & marked[b]
    return across(sides, a[near], b[near])


def across(sides: tuple[Bools, Bools] | None, a: I64, b: I64) -> tuple[I64, I64]:
    """Of two collections the pairs that have a row of each, whichever comes first; of one all pairs."""
    if sides is None:
        return a, b
    first, second = sides
    counts = (first[a] & second[b]) | (second[a] & first[b])
    return a[counts], b[counts]


def _sets(held: list[tuple[Sets, U32]]) -> Sets:
    """Parts as one."""
    lengths = concatenate((np.diff(sets.offsets) for sets, _ in held), np.int64)
    elements = concatenate((sets.elements for sets, _ in held), np.uint64)
    return Sets(elements, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def _some(sets: Sets, chosen: Bools) -> Sets:
    """Some of the sets."""
    sizes = np.diff(sets.offsets)
    offsets = np.concatenate([[0], np.cumsum(sizes[chosen])]).astype(np.int64)
    return Sets(sets.elements[np.repeat(chosen, sizes)], offsets)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rarest:
    """Of each of a few sets as many elements that a near set holds at least so many of them (`least`).

    A near set lacks at most `size − ⌈threshold · size⌉` elements of a set, so of any `least` more than those
    it holds that many. Those that the fewest of the few sets hold are taken: other sets seldom hold several.
    """

    least: int
    elements: U64
    #: How many of these sets hold as many of what others gave.
    passing: int

    @classmethod
    def of(cls, sets: Sets, shared: I64, least: int) -> Self:
        """Of some sets with which near ones share so many elements, `least` of them or more."""
        sizes = np.diff(sets.offsets)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        known, numbers, held_by = np.unique(sets.elements, return_inverse=True, return_counts=True)
        order = np.lexsort((sets.elements, held_by[numbers], owner))
        rank = np.arange(len(order)) - np.repeat(sets.offsets[:-1] - sets.offsets[0], sizes)
        chosen = order[rank < np.repeat(sizes - shared + least, sizes)]
        given = np.bincount(numbers[chosen], minlength=len(known))
        own = np.zeros(len(numbers), np.int64)
        own[chosen] = 1
        met = np.bincount(owner[given[numbers] > own], minlength=len(sizes))
        return cls(least=least, elements=known[given > 0], passing=int(np.count_nonzero(met >= least)))

    def sieve(self) -> _core.Sieve:
        """The kernel's form of these elements."""
        return _core.Sieve(self.elements, least=self.least)


def rarest_of(sets: Sets, threshold: float) -> list[Rarest]:
    """The rarest elements of some sets: apart for small ones, of which fewer must do."""
    shared = np.ceil(threshold * _ROUNDED * np.diff(sets.offsets)).astype(np.int64)
    few = shared < _SEVERAL
    return [
        Rarest.of(_some(sets, chosen), shared[chosen], least)
        for chosen, least in ((few, 1), (~few, _SEVERAL))
        if chosen.any()
    ]


@dataclass(frozen=True, eq=False)
class Passes:
    """A stage for `fold`: items → the marked rows that pass a sieve."""

    sieves: tuple[_core.Sieve, ...]
    shingler: _core.Shingler | None
    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> list[I64]:
        rows = batch["row"].to_numpy()
        passed = np.zeros(len(rows), np.bool_)
        for sieve in self.sieves:
            if self.shingler is None:
                passed |= sieve.sets_that_pass(list_buffers(batch["elements"]))
            else:
                passed |= sieve.texts_that_pass(string_buffers(batch["text"]), self.shingler)
        return [rows[passed & self.marked[rows]].astype(np.int64)]


_BESIDE, _WITHIN = "beside", "within"
