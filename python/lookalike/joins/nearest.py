"""The most similar of every set, exactly: who holds what is held, a block of sets at a time, and all pass by.

A pair costs as much as it shares, and one that shares nothing costs nothing; so what all of it costs is known
beforehand from how many sets hold each element. Memory: 64 bytes an element of a block, of which as many are
held as the engine has room for; and in tables 8 bytes an element of all sets and 16 a neighbour and block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.best import best, lines_of, places_in_runs
from lookalike.joins.elements import SetTexts, sets_of, shingler_of
from lookalike.joins.items import Items
from lookalike.runs.side_by_side import still_wanted
from lookalike.runs.watch import Watch
from lookalike.types import F64, I64, U32, U64, Bools, Sets

#: Bytes of sets held at a time, if there is room for what is made of them.
BLOCK_BYTES = 32 << 20
#: So many times the bytes of its sets a block takes while it is held.
_HELD = 8
#: Nanoseconds of one core: an element held and found again, one that passes by a block, one that two share.
HELD_NS, PASSING_NS, SHARED_NS = 120.0, 25.0, 3.0
#: Elements looked up, and holders of them counted, in one call of a kernel: about a fifth of a second, as
#: nobody hears of Ctrl-C before it returns.
CALL_STEPS = 1 << 26
#: Elements are counted in 2 to the power of this many buckets.
_BITS = 20


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What exact neighbours cost.

    Attributes
    ----------
    elements
        Of all sets together.
    meetings
        About how often two sets share an element, each set with itself included.
    empty
        Sets that hold nothing.
    """

    elements: int
    meetings: float
    empty: int

    def to_table(self) -> Table:
        """As a table to settle."""
        return Table.of(elements=[self.elements], meetings=[self.meetings], empty=[self.empty])

    @classmethod
    def from_table(cls, table: Table) -> Effort:
        """Read back what `to_table` made."""
        (stored,) = table.batches[0].to_pylist()
        return cls(**stored)

    @property
    def seconds(self) -> float:
        """Of one core, by constants that are the same everywhere."""
        # As many as where there is room: a choice depends on the data alone.
        blocks = -(-8 * self.elements // BLOCK_BYTES)
        each = HELD_NS + blocks * PASSING_NS
        return (self.elements * each + self.meetings * SHARED_NS) * 1e-9


def effort(items: Items, engine: Engine) -> Effort:
    """What it would cost, from one pass over the items."""
    counted = engine.fold(items.table, Crowds(shingler_of(items)), Crowded.merge)
    if counted is None:
        return Effort(elements=0, meetings=0.0, empty=0)
    buckets = counted.buckets.astype(np.float64)
    elements = int(counted.buckets.sum())
    # Different elements of one bucket would count as met: each with as many as there are on average.
    met = float(buckets @ buckets) - elements**2 / len(buckets)
    return Effort(elements=elements, meetings=max(float(elements), met), empty=counted.empty)


@dataclass(frozen=True, kw_only=True, eq=False)
class Crowded:
    """A value for `fold`: how many elements fall into each bucket, and how many sets hold none."""

    buckets: U64
    empty: int

    def merge(self, other: Crowded) -> Crowded:
        """Those of both."""
        return Crowded(buckets=self.buckets + other.buckets, empty=self.empty + other.empty)


@dataclass(frozen=True)
class Crowds:
    """A stage for `fold`: items → `Crowded`."""

    shingler: _core.Shingler | None

    def __call__(self, batch: pa.RecordBatch) -> Crowded:
        sets = sets_of(batch, self.shingler)
        buckets = _core.bucket_counts((sets.elements, sets.offsets), bits=_BITS).astype(np.uint64)
        return Crowded(buckets=buckets, empty=int(np.count_nonzero(np.diff(sets.offsets) == 0)))


def nearest(items: Items, k: int, *, engine: Engine, watch: Watch) -> Table:
    """The `k` most similar items of every item, as lines; none that shares nothing.

    Of two collections: the neighbours that items of the first have in the second.
    """
    sets = items.table
    if items.shingle is not None:
        with watch.stage("sets", items.rows, size=items.bytes) as advance:
            sets = engine.map(sets, SetTexts(items.shingle.shingler(items.seed)), advance=advance)
    blocks = _blocks(sets, engine)
    with watch.stage("compare", blocks * items.rows) as advance:

        def block(number: int) -> Table:
            held = engine.fold(sets, Gather(None, OneIn(blocks, number, _from(items.boundary))), add)
            return engine.map(sets, Passing(_held(held), k, items.boundary), advance=advance)

        lines = [
            engine.settle(f"block-{number + 1}-of-{blocks}", partial(block, number))
            for number in range(blocks)
        ]
        return best(engine, Table.together(lines), k, most=k * blocks)


def nearest_of(items: Items, rows: I64, k: int, *, engine: Engine) -> tuple[I64, I64, F64]:
    """The `k` most similar items of a few rows (sorted): row, neighbour and similarity, by row and rank.

    The few are held and all items pass by once.
    """
    shingler = shingler_of(items)
    held = engine.fold(items.table, Gather(shingler, Among(rows)), add)
    beheld = Beheld(_held(held), shingler, k, _from(items.boundary))
    found = engine.fold(items.table, beheld, beheld.merge)
    return (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)) if found is None else found


def _blocks(sets: Table, engine: Engine) -> int:
    """In how many blocks the sets are held. It changes no answer."""
    size = sum(piece.nbytes for piece in sets.batches.pieces)
    blocks = -(-size // max(1, min(BLOCK_BYTES, engine.stage_bytes // _HELD)))
    return max(1, min(blocks, sets.rows))


def _from(boundary: int | None) -> int:
    """The first row that may be a neighbour."""
    return 0 if boundary is None else boundary


def _held(parts: list[tuple[Sets, U32]] | None) -> _core.HeldSets:
    parts = parts or [(Sets(np.empty(0, np.uint64), np.zeros(1, np.int64)), np.empty(0, np.uint32))]
    lengths = np.concatenate([np.diff(sets.offsets) for sets, _ in parts])
    elements = np.concatenate([sets.elements for sets, _ in parts])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return _core.HeldSets((elements, offsets), np.concatenate([rows for _, rows in parts]))


@dataclass(frozen=True)
class OneIn:
    """Which rows are of a block: every so many-th from `first` on. Who they are depends on nothing else."""

    blocks: int
    number: int
    first: int

    def __call__(self, rows: I64) -> Bools:
        among: Bools = (rows >= self.first) & (rows % self.blocks == self.number)
        return among


@dataclass(frozen=True, eq=False)
class Among:
    """Which rows are among a few, sorted ones."""

    few: I64

    def __call__(self, rows: I64) -> Bools:
        return np.isin(rows, self.few)


@dataclass(frozen=True, eq=False)
class Gather:
    """A stage for `fold`: items → the sets of the rows wanted, with their numbers."""

    shingler: _core.Shingler | None
    wanted: Callable[[I64], Bools]

    def __call__(self, batch: pa.RecordBatch) -> list[tuple[Sets, U32]]:
        batch = _only(batch, self.wanted(batch["row"].to_numpy()))
        return [(sets_of(batch, self.shingler), _numbers(batch))]


@dataclass(frozen=True, eq=False)
class Passing:
    """A stage: sets → lines of the best among those held, of the rows before the boundary."""

    held: _core.HeldSets
    k: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.boundary is not None:
            batch = _only(batch, batch["row"].to_numpy() < self.boundary)
        sets = sets_of(batch, None)
        found = list(_calls(partial(self.held.best_for_passing, k=self.k), sets, _numbers(batch)))
        return lines_of(*(np.concatenate(column) for column in zip(*found, strict=True)))


@dataclass(frozen=True, eq=False)
class Beheld:
    """A stage for `fold`: items → the best among them for those held, from the row `first` on."""

    held: _core.HeldSets
    shingler: _core.Shingler | None
    k: int
    first: int

    def __call__(self, batch: pa.RecordBatch) -> tuple[I64, I64, F64]:
        batch = _only(batch, batch["row"].to_numpy() >= self.first)
        sets = sets_of(batch, self.shingler)
        found = _calls(partial(self.held.best_for_held, k=self.k), sets, _numbers(batch))
        return reduce(
            self.merge,
            ((row.astype(np.int64), other.astype(np.int64), similarity) for row, other, similarity in found),
        )

    def merge(self, one: tuple[I64, I64, F64], other: tuple[I64, I64, F64]) -> tuple[I64, I64, F64]:
        """Of two answers the best of every row, in order."""
        row, neighbour, similarity = (np.concatenate(both) for both in zip(one, other, strict=True))
        order = np.lexsort((neighbour, -similarity, row))
        order = order[places_in_runs(row[order]) < self.k]
        return row[order], neighbour[order], similarity[order]


def _calls(
    look: Callable[..., tuple[U32, U32, F64, int]], sets: Sets, rows: U32
) -> Iterator[tuple[U32, U32, F64]]:
    """What a kernel finds for all sets, in calls that end soon, one at least."""
    start = 0
    while True:
        left = sets.elements, sets.offsets[start:]
        row, other, similarity, done = look(left, rows[start:], most=CALL_STEPS)
        yield row, other, similarity
        start += done
        if start == len(rows):
            return
        still_wanted()


def _only(batch: pa.RecordBatch, wanted: Bools) -> pa.RecordBatch:
    return batch if wanted.all() else batch.filter(pa.array(wanted))


def _numbers(batch: pa.RecordBatch) -> U32:
    numbers: U32 = batch["row"].to_numpy().astype(np.uint32)
    return numbers
