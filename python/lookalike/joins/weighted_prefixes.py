"""Weighted sets → entries of their prefixes → pairs that may reach a threshold: what `weighted_exact` needs.

The elements of a set stand in one order for all sets, rarest first. Its prefix ends where the rest is too
light to reach the threshold. Of two sets whose prefixes have no element in common, all that they share is in
the rest of the one whose prefix ends sooner. With a rest under t·W, where W is the weight of that whole set,
Σmin < t·W ≤ t·Σmax; and with a rest whose length is under t of the vector's, their product is under t of the
product of both lengths (Cauchy–Schwarz).

An entry knows which share of its set is left from its element on. At the first element that two sets share,
all that they share is still left, so pairs whose rests are too light there are let go; a pair that shares
enough is seen at that element at the latest. Shares are whole numbers of 2⁻⁵², rounded up, so their sums are
exact, in any order and any batch; thresholds are rounded down by more than sums of floats can be off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import packed
from lookalike.bands.buckets import run_starts
from lookalike.measures.weighted import WeightedMeasure, weighted_buffers
from lookalike.runs.side_by_side import still_wanted
from lookalike.types import F64, I64, U32, U64, Bools, concatenate

#: Entries of one element are dealt into blocks of about this many where there are over twice as many, so a
#: row of a run meets no more than some 256 others.
BLOCK = 128
#: Elements are counted by at most this many bits of their hash, 16 MB of counts.
_MOST_BITS = 22
#: Pairs looked at at a time: a few megabytes.
_AT_ONCE = 1 << 16
#: The share of a set that its weights add up to.
_WHOLE = 2.0**52
#: Less than this no threshold is worth a filter, and what is left of a set may be lost to rounding.
_LEAST = 1e-12
_ANEW = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Sizes:
    """A stage for `fold`: how many elements there are in all, and in the largest set."""

    def __call__(self, batch: pa.RecordBatch) -> tuple[int, int]:
        _, offsets, _ = weighted_buffers(batch)
        return int(offsets[-1]), int(np.diff(offsets).max(initial=0))

    @staticmethod
    def merge(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        """Of both together."""
        return one[0] + other[0], max(one[1], other[1])


@dataclass(frozen=True)
class Reach:
    """What a pair needs to reach the threshold, a little less of it than would do.

    `largest` is the size of the largest set: sums of so many floats are off by that many roundings.
    """

    measure: WeightedMeasure
    threshold: float
    largest: int

    @property
    def least(self) -> float:
        """The threshold, rounded down."""
        if self.threshold < _LEAST:
            return 0.0
        return self.threshold * (1 - 1e-9 - self.largest * 2.0**-49)

    @property
    def rest(self) -> float:
        """The share of a set under which the rest of it reaches nothing."""
        return self.least**2 if self.measure == "cosine" else self.least

    def reached(self, rests: tuple[F64, F64], weights: tuple[F64, F64]) -> Bools:
        """Whether pairs may share enough, of which so much is left, and which weigh so much in all."""
        if self.measure == "cosine":
            near: Bools = rests[0] * rests[1] >= self.rest
            return near
        # Σmin ≥ t·Σmax is Σmin ≥ t/(1 + t) of both weights together.
        both = weights[0] + weights[1]
        shared = np.minimum(rests[0] * (weights[0] / both), rests[1] * (weights[1] / both))
        enough: Bools = shared >= self.least / (1 + self.least)
        return enough


def bucket_bits(elements: int) -> int:
    """By how many bits of their hash so many elements are counted."""
    return min(_MOST_BITS, max(8, elements.bit_length()))


def _hashed(elements: U64) -> U64:
    """Premixed again, for sets whose elements nobody mixed."""
    return _core.mix_integers(np.ascontiguousarray(elements), seed=0, threads=1)


def _counted(elements: U64, bits: int) -> U32:
    return _core.bucket_counts((elements, np.array([0, len(elements)], np.int64)), bits=bits)


@dataclass(frozen=True)
class CountElements:
    """A stage for `fold`: weighted sets → how often elements occur, by bucket of their hash."""

    bits: int

    def __call__(self, batch: pa.RecordBatch) -> U32:
        return _counted(_hashed(weighted_buffers(batch)[0]), self.bits)


def added(one: U32, other: U32) -> U32:
    """Counts of both, in place of the first; one that does not fit stays as large as it can be."""
    np.add(one, other, out=one)
    one[one < other] = np.iinfo(np.uint32).max
    return one


@dataclass(frozen=True, eq=False)
class CutWeighted:
    """A stage: weighted sets → entries of their prefixes.

    An entry is the `element`, hashed, the `row`, which share of the set is left from it on (`rest`), and the
    `weight` of the whole set.
    """

    reach: Reach
    #: How often elements occur, by bucket of their hash.
    counts: U32
    #: Rows that are joined.
    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.filter(pa.array(self.marked[batch["row"].to_numpy()]))
        elements, offsets, weights = weighted_buffers(batch)
        elements = _hashed(elements)
        sizes = np.diff(offsets)
        of = np.repeat(np.arange(len(sizes)), sizes)
        shift = np.uint64(64 - (len(self.counts).bit_length() - 1))
        # Sets are sorted by element already, and so elements that are equally rare stay.
        counts = self.counts[(elements >> shift).astype(np.int64)]
        order = np.lexsort((elements, counts, of))
        elements = elements[order]
        shares = self._shares(np.abs(weights[order]), offsets, of)
        ends = np.cumsum(shares)
        # What was added up before a set began falls out of differences, whether or not it fitted.
        rest = ends[offsets[1:] - 1][of] - ends + shares if len(of) else shares
        kept = rest >= self.reach.rest * _WHOLE
        rows = batch["row"].to_numpy().astype(np.uint32)
        return pa.record_batch(
            {
                "element": pa.array(elements[kept]),
                "row": pa.array(rows[of[kept]]),
                "rest": pa.array(rest[kept] / _WHOLE),
                "weight": pa.array(_totals(weights, offsets)[of[kept]]),
            }
        )

    def _shares(self, weights: F64, offsets: I64, of: I64) -> I64:
        """Which share of its set each element is, in 2⁻⁵², rounded up; of its square where that counts."""
        starts = offsets[:-1][np.diff(offsets) > 0]
        if not len(starts):
            return np.empty(0, np.int64)
        filled = np.cumsum(np.diff(offsets) > 0) - 1
        # Beside the greatest of them weights are at most 1: neither they nor their squares are too large.
        parts = weights / np.maximum.reduceat(weights, starts)[filled[of]]
        if self.reach.measure == "cosine":
            parts *= parts
        parts /= np.add.reduceat(parts, starts)[filled[of]]
        shares: I64 = np.maximum(np.ceil(parts * _WHOLE), 1).astype(np.int64)
        return shares


def _totals(weights: F64, offsets: I64) -> F64:
    """What the weights of every set add up to."""
    totals = np.zeros(len(offsets) - 1)
    filled = np.diff(offsets) > 0
    if filled.any():
        totals[filled] = np.add.reduceat(weights, offsets[:-1][filled])
    return totals


@dataclass(frozen=True, eq=False)
class Everybody:
    """A stage: weighted sets → one entry a set, whole, under one element: every two of them meet, once."""

    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.filter(pa.array(self.marked[batch["row"].to_numpy()]))
        _, offsets, weights = weighted_buffers(batch)
        return pa.record_batch(
            {
                "element": pa.array(np.zeros(len(batch), np.uint64)),
                "row": pa.array(batch["row"].to_numpy().astype(np.uint32)),
                "rest": pa.array(np.full(len(batch), 2.0)),
                "weight": pa.array(_totals(weights, offsets)),
            }
        )


@dataclass(frozen=True, eq=False)
class Crowds:
    """How many entries are in each bucket: of all, or of those of either collection."""

    counts: tuple[U32, ...]

    @property
    def meetings(self) -> float:
        """How many pairs meet in the buckets."""
        one, other = self.counts[0].astype(np.float64), self.counts[-1].astype(np.float64)
        return float((one * other).sum()) if len(self.counts) == 2 else float((one * (one - 1)).sum()) / 2

    def merge(self, other: Crowds) -> Crowds:
        """Of both together."""
        return Crowds(tuple(added(one, more) for one, more in zip(self.counts, other.counts, strict=True)))


@dataclass(frozen=True, eq=False)
class CountEntries:
    """A stage for `fold`: entries → how many are in each bucket, of either side if there are `sides`."""

    bits: int
    sides: tuple[Bools, Bools] | None

    def __call__(self, batch: pa.RecordBatch) -> Crowds:
        elements, rows = batch["element"].to_numpy(), batch["row"].to_numpy()
        if self.sides is None:
            return Crowds((_counted(elements, self.bits),))
        return Crowds(tuple(_counted(elements[side[rows]], self.bits) for side in self.sides))


@dataclass(frozen=True, eq=False)
class Deal:
    """A stage: entries → entries under the `key`s of runs that are never long.

    A crowd is dealt into blocks by row, and an entry is there once for every block that its own meets. Which
    `side` of a run it is on says whom it meets: those on 0 each other, those on 1 those on 2.
    """

    crowds: Crowds
    sides: tuple[Bools, Bools] | None
    #: Rows from here on, as pairs of lower ones have been seen to.
    first: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.filter(pa.array(batch["row"].to_numpy() >= self.first))
        element, rows = batch["element"].to_numpy(), batch["row"].to_numpy()
        shift = np.uint64(64 - (len(self.crowds.counts[0]).bit_length() - 1))
        bucket = (element >> shift).astype(np.int64)
        if self.sides is None:
            places, codes, side = self._within(bucket, rows)
        else:
            places, codes, side = self._across(bucket, rows, self.sides)
        key = _hashed(element[places] + codes * _ANEW)
        dealt = {"key": pa.array(key), "side": pa.array(side)}
        return pa.record_batch({**dealt, **{name: batch[name].take(pa.array(places)) for name in _CARRIED}})

    def _within(self, bucket: I64, rows: U32) -> tuple[I64, U64, U32]:
        """Each block with itself and with every other one."""
        crowd = self.crowds.counts[0][bucket].astype(np.int64)
        blocks = np.where(crowd > 2 * BLOCK, -(-crowd // BLOCK), 1)
        own, places, other = _dealt(rows, blocks, blocks)
        low, high = np.minimum(own, other), np.maximum(own, other)
        side = np.where(own == other, 0, np.where(own < other, 1, 2)).astype(np.uint32)
        return places, _code(low, high), side

    def _across(self, bucket: I64, rows: U32, sides: tuple[Bools, Bools]) -> tuple[I64, U64, U32]:
        """Each block of one side with every one of the other."""
        crowds = [counts[bucket].astype(np.int64) for counts in self.crowds.counts]
        long = crowds[0] + crowds[1] > 2 * BLOCK
        # Who has nobody to meet is left out.
        meets = (crowds[0] > 0) & (crowds[1] > 0)
        blocks = [np.where(long, np.maximum(1, -(-crowd // BLOCK)), 1) for crowd in crowds]
        parts = []
        for side in (0, 1):
            here = np.flatnonzero(sides[side][rows] & meets)
            own, places, other = _dealt(rows[here], blocks[side][here], blocks[1 - side][here])
            code = _code(own, other) if side == 0 else _code(other, own)
            parts.append((here[places], code, np.full(len(places), side + 1, np.uint32)))
        places, codes, side_of = (np.concatenate(column) for column in zip(*parts, strict=True))
        return places, codes, side_of


_CARRIED = ("row", "rest", "weight")


def _dealt(rows: U32, blocks: I64, others: I64) -> tuple[I64, I64, I64]:
    """Of every row the block it is in, the row's place and a block it meets: as often as it meets one."""
    own = (_hashed(rows.astype(np.uint64)) % blocks.astype(np.uint64)).astype(np.int64)
    places = np.repeat(np.arange(len(rows)), others)
    other = np.arange(len(places)) - np.repeat(np.cumsum(others) - others, others)
    return own[places], places, other


def _code(one: I64, other: I64) -> U64:
    return ((one.astype(np.uint64) << np.uint64(32)) | other.astype(np.uint64)) + np.uint64(1)


@dataclass(frozen=True)
class CountKeys:
    """A stage for `fold`: dealt entries → how many have each beginning of a key, and so at most each key."""

    bits: int = 16

    def __call__(self, batch: pa.RecordBatch) -> U32:
        return _counted(batch["key"].to_numpy(), self.bits)


@dataclass(frozen=True)
class MeetWeighted:
    """A stage over dealt entries, grouped by key and sorted by row: → pairs that may reach the threshold.

    Only pairs whose lower row is from `first` to before `last`.
    """

    reach: Reach
    first: int
    last: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = list(self._pairs(batch))
        return pa.record_batch({"pair": pa.array(concatenate(found, np.uint64))})

    def _pairs(self, batch: pa.RecordBatch) -> Iterator[U64]:
        row, side, rest, weight = (batch[name].to_numpy() for name in ("row", "side", "rest", "weight"))
        starts = run_starts(batch["key"].to_numpy())
        ends = np.repeat(starts[1:], np.diff(starts))
        lower = np.flatnonzero((row >= self.first) & (row < self.last))
        # How many stand behind each of them in its run.
        behind = ends[lower] - lower - 1
        before = np.concatenate([[0], np.cumsum(behind)])
        cuts = np.searchsorted(before, np.arange(0, before[-1] + _AT_ONCE, _AT_ONCE))
        cuts = np.minimum(cuts, len(lower))
        for start, stop in pairwise(cuts.tolist()):
            still_wanted()
            times = behind[start:stop]
            a = np.repeat(lower[start:stop], times)
            b = a + 1 + np.arange(len(a)) - np.repeat(before[start:stop] - before[start], times)
            met = side[a] + side[b]
            kept = ((met == 0) | (met == 3)) & (row[a] != row[b])
            a, b = a[kept], b[kept]
            reached = self.reach.reached((rest[a], rest[b]), (weight[a], weight[b]))
            yield packed(row[a[reached]], row[b[reached]])
