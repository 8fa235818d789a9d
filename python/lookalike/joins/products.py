"""Every vector with every other: blocked products propose, our kernels verify.

A block of vectors is held while all others pass by. Their products come from BLAS in 32 bits, whose last
digits depend on the machine: so every pair is proposed whose product is near enough or might be, by a bound
on the rounding, and the exact distance decides. Angles go by products of directions, L2 by |a|² + |b|² − 2ab
around the block's mean; L1 is never under L2, so pairs within an L1 distance are among those within the same
L2 distance.

n²/2 products of some hundredths of a nanosecond a coordinate. Memory: the engine's, and for each of its
threads a block (4 MB as float32) and its products (32 MB).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from operator import add

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.account import Account
from lookalike.joins.best import places_in_runs
from lookalike.joins.joined import Joined
from lookalike.joins.near import joined, representatives
from lookalike.joins.pair_tables import sorted_pairs
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import DIRECTED, Nearness, matrix_of
from lookalike.runs.watch import Watch
from lookalike.theory import RecallEstimate
from lookalike.types import F64, I64, U64, Bools, Floats, concatenate

F32 = npt.NDArray[np.float32]

_NONE = Table.of(a=np.empty(0, np.int64), b=np.empty(0, np.int64), value=np.empty(0, np.float64))

#: Vectors of a block, and of those that pass by at a time.
HELD, PASSING = 8192, 1024


def exact(items: VectorItems, *, engine: Engine, watch: Watch) -> Joined:
    """Join vectors by comparing all of them; equal ones once."""
    with watch.stage("copies", items.rows, unit="vectors"):
        representative = representatives(engine, items)
        marked = representative == np.arange(items.rows)
    count = int(marked.sum())
    # Of two collections the first is held and the second passes by.
    holdable = marked if items.boundary is None else marked & (np.arange(items.rows) < items.boundary)
    blocks = list(_blocks(items.table))
    with watch.stage("compare", len(blocks) * items.rows, unit="vectors") as advance:

        def compared(block: Table) -> Table:
            held = engine.fold(block, Gather(holdable), add)
            if held is None or not any(len(rows) > 0 for _, rows in held):
                return _NONE
            return engine.map(items.table, Passing.of(held, marked, items), advance=advance)

        ends = np.cumsum([block.rows for block in blocks]).tolist()
        # Named by its rows: with another budget a run that goes on may cut the table elsewhere.
        parts = [
            engine.settle(f"compared-{end - block.rows}-to-{end}", partial(compared, block))
            for block, end in zip(blocks, ends, strict=True)
        ]
    found = sorted_pairs(engine, Table.together([_NONE, *parts]), "value")
    within = count * (count - 1) // 2
    if items.boundary is not None:
        first = int(marked[: items.boundary].sum())
        within = first * (count - first)
    account = Account(
        method="exact",
        measure=items.nearness.measure,
        threshold=items.nearness.threshold,
        plan=None,
        items=items.rows,
        empty=0,
        short=0,
        unspaced=0,
        copies=items.rows - count,
        representatives=count,
        candidates=within,
        pairs=found.rows,
        recall=RecallEstimate.certain(found.rows),
    )
    return joined(items, found, representative, account, engine)


def _blocks(table: Table) -> Iterator[Table]:
    """The table in parts of some `HELD` rows, whole batches each. How it is cut changes no answer."""
    waiting, rows = [], 0
    for piece in table.batches.pieces:
        waiting.append(piece)
        rows += piece.num_rows
        if rows >= HELD:
            yield Table(waiting, table.schema)
            waiting, rows = [], 0
    if waiting:
        yield Table(waiting, table.schema)


@dataclass(frozen=True, eq=False)
class Gather:
    """A stage for `fold`: the marked vectors and their numbers."""

    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> list[tuple[Floats, I64]]:
        rows = batch["row"].to_numpy()
        wanted = self.marked[rows]
        return [(matrix_of(batch)[wanted], rows[wanted])]


#: Near pairs of a row that are looked up.
_NEAR_A_ROW = 64


def near_of_vectors(items: VectorItems, marked: Bools, engine: Engine, rows: I64) -> tuple[I64, I64]:
    """Near pairs of some rows with all, 64 a row at most: those with the least hashes of both contents."""
    chosen = np.zeros(items.rows, np.bool_)
    chosen[rows] = True
    held = engine.fold(items.table, Gather(chosen), add) or []
    if not held:
        return rows, rows
    few = FewOfEach.of(Passing.of(held, marked, items, every=True), items.seed)
    found = engine.fold(items.table, few, few.merge)
    return (rows[:0], rows[:0]) if found is None else (found[0], found[1])


@dataclass(frozen=True, eq=False)
class FewOfEach:
    """A stage for `fold`: vectors → near pairs (held, other) with a hash, a few of each row held."""

    passing: Passing
    contents: U64
    seed: int

    @classmethod
    def of(cls, passing: Passing, seed: int) -> FewOfEach:
        """Of the vectors that a stage holds."""
        return cls(passing, _core.vector_contents(passing.vectors, seed=seed), seed)

    def __call__(self, batch: pa.RecordBatch) -> tuple[I64, I64, U64]:
        rows = batch["row"].to_numpy()
        held, other, _ = self.passing.pairs_of(rows, matrix_of(batch))
        order = np.argsort(rows)
        own = _core.vector_contents(matrix_of(batch), seed=self.seed)[order]
        both = own[np.searchsorted(rows[order], other)]
        place = np.argsort(self.passing.rows)
        both = both + self.contents[place][np.searchsorted(self.passing.rows[place], held)]
        return self.least(held, other, _core.mix_integers(both, seed=self.seed, threads=1))

    def merge(self, one: tuple[I64, I64, U64], two: tuple[I64, I64, U64]) -> tuple[I64, I64, U64]:
        """Of both the least of each row."""
        held, other, hashes = (np.concatenate(both) for both in zip(one, two, strict=True))
        return self.least(held, other, hashes)

    def least(self, held: I64, other: I64, hashes: U64) -> tuple[I64, I64, U64]:
        """The few of each row with the least hashes."""
        order = np.lexsort((other, hashes, held))
        order = order[places_in_runs(held[order]) < _NEAR_A_ROW]
        return held[order], other[order], hashes[order]


@dataclass(frozen=True, eq=False)
class Passing:
    """A stage: vectors → pairs with those held that reach the threshold, lower row first.

    With `every` a row held is paired with all others, be they lower or higher.
    """

    vectors: Floats
    rows: I64
    marked: Bools
    boundary: int | None
    nearness: Nearness
    proposal: Directions | Places
    every: bool = False

    @classmethod
    def of(
        cls,
        held: list[tuple[Floats, I64]],
        marked: Bools,
        items: VectorItems,
        *,
        every: bool = False,
    ) -> Passing:
        """With these vectors held."""
        vectors = np.ascontiguousarray(np.concatenate([part for part, _ in held]))
        rows = concatenate((numbers for _, numbers in held), np.int64)
        directed = items.nearness.measure in DIRECTED
        proposal = (Directions if directed else Places).of(vectors, items.nearness)
        return cls(vectors, rows, marked, items.boundary, items.nearness, proposal, every)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b, value = self.pairs_of(batch["row"].to_numpy(), matrix_of(batch))
        return pa.record_batch({"a": pa.array(a), "b": pa.array(b), "value": pa.array(value)})

    def pairs_of(self, rows: I64, matrix: Floats) -> tuple[I64, I64, F64]:
        """Rows held, rows that pass by, and how near they are."""
        found: list[tuple[I64, I64, F64]] = []
        for at in range(0, len(rows), PASSING):
            found.extend(self._pairs(rows[at : at + PASSING], matrix[at : at + PASSING]))
        a, b = (concatenate((part[side] for part in found), np.int64) for side in (0, 1))
        return a, b, concatenate((part[2] for part in found), np.float64)

    def _pairs(self, rows: I64, matrix: Floats) -> Iterator[tuple[I64, I64, F64]]:
        # Each pair once: the row that passes by is the higher one.
        wanted = self.marked[rows]
        if not self.every:
            wanted = wanted & (rows > self.rows.min())
            if self.boundary is not None:
                wanted &= rows >= self.boundary
        if not wanted.any():
            return
        rows, passing = rows[wanted], matrix[wanted]
        i, j = np.divmod(np.flatnonzero(self.proposal.proposed(passing)), len(self.rows))
        order = self._count(self.rows[j], rows[i])
        i, j = i[order], j[order]
        values = self.nearness.compare([passing, self.vectors], i, len(passing) + j)
        reached = self.nearness.reached(values)
        yield self.rows[j[reached]], rows[i[reached]], values[reached]

    def _count(self, held: I64, passing: I64) -> Bools:
        """Which pairs count."""
        if self.every:
            counts: Bools = held != passing
            if self.boundary is not None:
                counts &= (held < self.boundary) != (passing < self.boundary)
            return counts
        lower: Bools = held < passing
        return lower if self.boundary is None else lower & (held < self.boundary)


@dataclass(frozen=True, eq=False)
class Directions:
    """Vectors of length 1: their products are cosines."""

    units: F32
    at_least: float

    @classmethod
    def of(cls, held: Floats, nearness: Nearness) -> Directions:
        """Those of the vectors held."""
        at_least = nearness.threshold
        if nearness.measure == "angle":
            at_least = math.cos(math.radians(nearness.threshold))
        # A sum of d products of 24 bits is off by at most about d · 2⁻²⁴, if Σ|aᵢbᵢ| is at most 1.
        return cls(_units(held), at_least - (held.shape[1] + 16) * 2.0**-23)

    def proposed(self, passing: Floats) -> Bools:
        """Which of those passing by (lines) may be near which of those held (columns)."""
        mask: Bools = _units(passing) @ self.units.T >= np.float32(self.at_least)
        return mask


@dataclass(frozen=True, eq=False)
class Places:
    """Vectors around a centre near which they lie, so that what is subtracted is small."""

    centre: F64
    scale: float
    places: F32
    squares: F32
    radius: float
    longest: float

    @classmethod
    def of(cls, held: Floats, nearness: Nearness) -> Places:
        """Those of the vectors held."""
        centre = held.mean(axis=0, dtype=np.float64)
        around = held - centre
        # Numbers of 32 bits end at 10³⁸, and their squares sooner.
        scale = max(float(np.abs(around).max(initial=0.0)), nearness.threshold, 1e-300)
        places = (around / scale).astype(np.float32)
        longest = float(np.abs(held).max(initial=0.0))
        return cls(centre, scale, places, _squares(places), nearness.threshold, longest)

    def proposed(self, passing: Floats) -> Bools:
        """Which of those passing by (lines) may be near which of those held (columns)."""
        dimensions = len(self.centre)
        scaled = np.clip((passing - self.centre) / self.scale, -1e15, 1e15)
        places = scaled.astype(np.float32)
        # Taking the centre away loses digits of 53 bits, of every coordinate of either vector.
        longest = max(self.longest, float(np.abs(passing).max(initial=0.0)), float(np.abs(self.centre).max()))
        lost = 8 * math.sqrt(dimensions) * longest * 2.0**-53
        radius = (self.radius + lost) / self.scale
        # As for directions, with |a|² + |b|² at least 2·Σ|aᵢbᵢ|.
        kept = np.float32(1 - (dimensions + 16) * 2.0**-22)
        # Beyond that radius everything is proposed anyway: places end at 10¹⁵.
        reach = min(radius * radius * (1 + 2.0**-20) + 1e-30, 1e38)
        least = (kept * _squares(places))[:, None] - np.float32(reach)
        mask: Bools = 2 * (places @ self.places.T) >= least + kept * self.squares
        return mask


def _units(vectors: Floats) -> F32:
    wide = vectors.astype(np.float64)
    # Coordinates first near 1, then the length: squares of very large and very small ones are no numbers.
    wide /= np.abs(wide).max(axis=1, keepdims=True)
    wide /= np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return wide.astype(np.float32)


def _squares(places: F32) -> F32:
    wide = places.astype(np.float64)
    squares: F32 = (wide * wide).sum(axis=1).astype(np.float32)
    return squares
