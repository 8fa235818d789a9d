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
from lookalike.joins.bucket_counts import added
from lookalike.measures.weighted import WeightedMeasure, weighted_buffers
from lookalike.runs.side_by_side import still_wanted
from lookalike.types import F64, I64, U32, U64, Bools, concatenate

#: Entries of one element are dealt into blocks of about this many where there are over twice as many on both
#: sides together, so no run is much longer than two of them.
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
    """By how many bits of their hash so many elements are counted: some ten a bucket are far from a crowd."""
    return min(_MOST_BITS, max(8, elements.bit_length() - 4))


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
        batch = _only(batch, self.marked)
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


def _only(batch: pa.RecordBatch, marked: Bools) -> pa.RecordBatch:
    wanted = marked[batch["row"].to_numpy()]
    return batch if wanted.all() else batch.filter(pa.array(wanted))


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
        batch = _only(batch, self.marked)
        _, offsets, weights = weighted_buffers(batch)
        return pa.record_batch(
            {
                "element": pa.array(np.zeros(len(batch), np.uint64)),
                "row": pa.array(batch["row"].to_numpy().astype(np.uint32)),
                "rest": pa.array(np.ones(len(batch))),
                "weight": pa.array(_totals(weights, offsets)),
            }
        )


@dataclass(frozen=True, eq=False)
class Crowds:
    """How many entries are in each bucket of their elements' hash: of `left` rows, and of all they meet."""

    left: U32
    right: U32

    @property
    def meetings(self) -> float:
        """How often a row on the left meets one on the right."""
        return float((self.left.astype(np.float64) * self.right).sum())

    def merge(self, other: Crowds) -> Crowds:
        """Of both together."""
        return Crowds(added(self.left, other.left), added(self.right, other.right))


@dataclass(frozen=True, eq=False)
class CountEntries:
    """A stage for `fold`: entries → how many are in each bucket."""

    bits: int
    strip: Strip

    def __call__(self, batch: pa.RecordBatch) -> Crowds:
        elements, rows = batch["element"].to_numpy(), batch["row"].to_numpy()
        left, right = self.strip.left(rows), self.strip.right(rows)
        return Crowds(_counted(elements[left], self.bits), _counted(elements[right], self.bits))


@dataclass(frozen=True, eq=False)
class Strip:
    """Pairs of a row from `first` to before `last`, which is on the left, and one on the right.

    Of one collection that is any higher row. Of two, rows that stand for the first (`sides`) are on the left,
    and those that stand for the second on the right.
    """

    first: int
    last: int
    sides: tuple[Bools, Bools] | None

    def left(self, rows: U32) -> Bools:
        """Which rows are on the left."""
        here: Bools = (rows >= self.first) & (rows < self.last)
        return here if self.sides is None else here & self.sides[0][rows]

    def right(self, rows: U32) -> Bools:
        """Which rows are on the right; of one collection those on the left as well."""
        higher: Bools = rows >= self.first
        return higher if self.sides is None else self.sides[1][rows]

    def counts(self, left: U32, right: U32) -> Bools:
        """Which pairs count."""
        counts: Bools = left < right if self.sides is None else left != right
        return counts


#: Where an entry stands in a run: anybody, who meets all others; on the left, and on the right of a pair.
_ANY, _LEFT, _RIGHT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Deal:
    """A stage: entries → entries under the `key`s of runs that are never long, each on a `side`.

    Of a crowd, those on the left are dealt into blocks by row, and so are those on the right. An entry is
    there once for every block of the other side.
    """

    crowds: Crowds
    strip: Strip

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        element, rows = batch["element"].to_numpy(), batch["row"].to_numpy()
        shift = np.uint64(64 - (len(self.crowds.left).bit_length() - 1))
        bucket = (element >> shift).astype(np.int64)
        left, right = (counts[bucket].astype(np.int64) for counts in (self.crowds.left, self.crowds.right))
        # Who has nobody to meet is left out.
        meets = (left > 0) & (right > 0)
        crowded = left + right > 2 * BLOCK
        on_left, on_right = (meets & side for side in (self.strip.left(rows), self.strip.right(rows)))
        anybody = np.empty(0, np.int64)
        if self.strip.sides is None:
            anybody = np.flatnonzero(on_right & ~crowded)
            on_left, on_right = on_left & crowded, on_right & crowded
        lefts, rights = (np.where(crowded, -(-counts // BLOCK), 1) for counts in (left, right))
        parts = [(anybody, np.zeros(len(anybody), np.uint64), _ANY)]
        for side, here, blocks, others in (
            (_LEFT, np.flatnonzero(on_left), lefts, rights),
            (_RIGHT, np.flatnonzero(on_right), rights, lefts),
        ):
            own, places, other = _dealt(rows[here], blocks[here], others[here])
            pair = (own, other) if side == _LEFT else (other, own)
            parts.append((here[places], _code(*pair), side))
        places = np.concatenate([part[0] for part in parts])
        key = _hashed(element[places] + np.concatenate([part[1] for part in parts]) * _ANEW)
        side_of = np.repeat(
            np.array([part[2] for part in parts], np.uint32), [len(part[0]) for part in parts]
        )
        dealt = {"key": pa.array(key), "side": pa.array(side_of)}
        return pa.record_batch({**dealt, **{name: batch[name].take(pa.array(places)) for name in _CARRIED}})


_CARRIED = ("row", "rest", "weight")


def _dealt(rows: U32, blocks: I64, others: I64) -> tuple[I64, I64, I64]:
    """Of every row the block it is in, the row's place and a block it meets: as often as it meets one."""
    own = (_hashed(rows.astype(np.uint64)) % blocks.astype(np.uint64)).astype(np.int64)
    places = np.repeat(np.arange(len(rows)), others)
    other = np.arange(len(places)) - np.repeat(np.cumsum(others) - others, others)
    return own[places], places, other


def _code(left: I64, right: I64) -> U64:
    return ((left.astype(np.uint64) << np.uint64(32)) | right.astype(np.uint64)) + np.uint64(1)


@dataclass(frozen=True, eq=False)
class MeetWeighted:
    """A stage over dealt entries, grouped by key, in order of side and row: → pairs that may reach."""

    reach: Reach
    strip: Strip

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = list(self._pairs(batch))
        return pa.record_batch({"pair": pa.array(concatenate(found, np.uint64))})

    def _pairs(self, batch: pa.RecordBatch) -> Iterator[U64]:
        row, side, rest, weight = (batch[name].to_numpy() for name in ("row", "side", "rest", "weight"))
        starts = run_starts(batch["key"].to_numpy())
        run = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        begin = np.flatnonzero((side == _LEFT) | ((side == _ANY) & self.strip.left(row)))
        # Those on the left meet those on the right, who stand behind them; anybody meets all behind.
        from_ = np.where(side[begin] == _LEFT, self._first_right(starts, run, row, side)[begin], begin + 1)
        times = starts[1:][run[begin]] - from_
        before = np.concatenate([[0], np.cumsum(times)])
        cuts = np.searchsorted(before, np.arange(0, before[-1] + _AT_ONCE, _AT_ONCE))
        for first, last in pairwise(np.minimum(cuts, len(begin)).tolist()):
            still_wanted()
            a = np.repeat(begin[first:last], times[first:last])
            b = np.arange(len(a)) + np.repeat(
                from_[first:last] - before[first:last] + before[first], times[first:last]
            )
            kept = self.strip.counts(row[a], row[b])
            a, b = a[kept], b[kept]
            reached = self.reach.reached((rest[a], rest[b]), (weight[a], weight[b]))
            a, b = row[a[reached]], row[b[reached]]
            yield packed(np.minimum(a, b), np.maximum(a, b))

    def _first_right(self, starts: I64, run: I64, row: U32, side: U32) -> I64:
        """For every place the first on the right in its run; of one collection, with a higher row."""
        on_right = np.flatnonzero(side == _RIGHT)
        counts = np.bincount(run[on_right], minlength=len(starts) - 1)
        first: I64 = (starts[1:] - counts)[run]
        if self.strip.sides is None:
            # Those on the right are in the order of runs, and of rows in a run.
            ranks = (run.astype(np.uint64) << np.uint64(32)) | row
            lower = np.searchsorted(ranks[on_right], ranks, side="right")
            first += lower - (np.cumsum(counts) - counts)[run]
        return first
