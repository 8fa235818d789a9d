"""Sets → pairs that share enough, exactly: the step that joins of sets and of strings have in common.

    census      one pass: how often elements occur, by bucket of their hash, and which sizes sets have
    order       every set with its elements as codes, rarest first
    prefixes    the first codes of every set, as many as its size and those of the others call for
    candidates  sets that meet in a prefix, and pass the filters of length, position and bits
    count       what candidates share, exactly; each pair once

Every set says of itself, in 64 bits, whether it holds an odd number of elements of each of 64 classes. Two
sets differ in at least as many elements as those bits do, so most pairs are turned away where their entries
lie side by side, without a look at the sets. A pair that meets at several elements counts at the first:
entries know the element before theirs, and the count looks at all of them.

Containment asks little of small sets, so one of them makes all others show many elements, frequent ones among
them. But of two sets the smaller one asks: it does so by a prefix that is as short as if all sets were of its
size, and what larger sets show beyond that meets nobody but those that ask.

On the driver: 4 bytes a bucket, of which there are half as many as rows and at most 16 MB, and the different
sizes; of containment 8 bytes a bucket. In tables: 8 bytes an element, 37 a prefix entry, 24 a candidate. An
element that is in the prefixes of a crowd is dealt into blocks that meet two by two, so that no run is longer
than about `2 · BLOCK`. Where prefixes would meet more often than there are pairs, every two sets meet once:
the worst case is one test of bits a pair.

One core takes .27 s for 500,000 sets of 23 Zipf tokens at threshold .8, .41 at .7 and .88 at .5; for 200,000
sets of 23 out of 2,000 equally frequent tokens .32, .56 and 1.8 (`benchmarks/prefix.py`). Most of it is
sorting and gathering entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.engines.verbs import Held
from lookalike.joins.bucket_counts import CountKeys, added
from lookalike.measures.bounds import Bound
from lookalike.runs.watch import Watch
from lookalike.types import I64, U32, list_buffers

#: Entries of one element are dealt into blocks of about this many where there are over twice as many: two
#: blocks give some 2²⁴ candidates, and no more are made at a time.
BLOCK = 1 << 12
#: Elements are counted by at most this many bits of their hash, 16 MB of counts. Half a bucket a row is best
#: where it was measured: 500,000 sets of 23 take .36 s at threshold .8 with 2¹⁸ buckets and .66 s with 2²⁰,
#: since the counts of a batch then no longer fit the cache; what meets in vain falls by a twentieth only.
_MOST_BITS = 22
#: Keys of entries are counted by this many bits.
_KEY_BITS = 18
#: An odd number: the top bits of its products depend on all bits of a code.
_ANEW = np.uint64(0x9E3779B97F4A7C15)
#: Says of a table of candidates that they met for no element in particular, each pair once.
_WHOLE = b"whole"
_COLUMNS = ("key", "row", "size", "position", "previous", "bits", "side")


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """Pairs that share enough: `a`, `b`, `shared`, `size_a`, `size_b`; and how many candidates there were."""

    pairs: Table
    candidates: int


def sharing_enough(
    sets: Table,
    bound: Bound,
    *,
    boundary: int | None,
    engine: Engine,
    watch: Watch,
    suffix_filter: bool = False,
    name: str = "candidates",
) -> Counted:
    """Every pair of sets that shares as much as the bound asks, each once.

    Parameters
    ----------
    sets
        `row` and `elements`, premixed hashes, each set sorted and without repeats.
    boundary
        Rows from here on are of a second collection, and only pairs across count.
    suffix_filter
        Look for differences behind the common element by halving, before counting.
    name
        Under which candidates are settled.
    """
    bits = bucket_bits(sets.rows)
    with watch.stage("order", sets.rows) as advance:
        census = engine.fold(sets, TakeCensus(bits, boundary), Census.merge)
        if census is None:
            census = Census.of_nothing(bits)
        ordered = engine.map(sets, InOrder(_core.bucket_ranks(census.counts)), advance=advance)
    with watch.stage("candidates", sets.rows):
        met = engine.settle(name, lambda: _met(engine, ordered, census, bound, boundary))
    with watch.stage("verify", met.rows, unit="candidates") as advance:
        stage = CountShared(bound, suffix_filter, whole=_WHOLE in (met.schema.metadata or ()))
        pairs = engine.fetch(ordered, met, ("a", "b"), stage, advance=advance)
    return Counted(pairs=pairs, candidates=met.rows)


def _met(engine: Engine, ordered: Table, census: Census, bound: Bound, boundary: int | None) -> Table:
    """Candidates, and where in each set they met; or marked as `_WHOLE`, where every two sets meet."""
    rows = ordered.rows
    bits = bucket_bits(rows)
    lengths = PrefixLengths.of(census, bound, boundary)
    crowds = engine.fold(ordered, CountPrefixes(lengths, bits), Crowds.merge)
    if crowds is None:
        crowds = Crowds.of_nothing(bits)
    whole = too_many_meetings(crowds, rows, boundary)
    if whole:
        # A bucket may hold many elements, and of large sets it does: count again by finer ones.
        finer = engine.fold(ordered, CountPrefixes(lengths, _MOST_BITS, anew=True), Crowds.merge)
        whole = finer is not None and too_many_meetings(finer, rows, boundary)
    entries = engine.map(ordered, CutPrefixes(lengths, crowds, BLOCK, rows if whole else None))
    longest = _longest_run(engine, entries, rows if whole else int(crowds.counts.max()))
    met = engine.group(entries, "key", Meet(bound), least=2, most=longest)
    return Table(met.batches, met.schema.with_metadata({_WHOLE: b""})) if whole else met


def bucket_bits(rows: int) -> int:
    """By how many bits of their hash the elements of so many sets are counted."""
    return min(_MOST_BITS, max(8, rows.bit_length() - 1))


def too_many_meetings(crowds: Crowds, rows: int, boundary: int | None) -> bool:
    """Whether sets would meet in their prefixes more often than if every two met once.

    So it is with sets of a few frequent elements, such as bigrams of four letters.
    """
    meetings, pairs = _squares(crowds.counts), float(rows) ** 2
    if crowds.asking is not None:
        # Those that do not ask do not meet each other; nor, between two collections, do those that ask.
        meetings -= _squares(crowds.counts - crowds.asking)
        if boundary is not None:
            meetings -= _squares(crowds.asking)
            pairs = 2.0 * boundary * (rows - boundary)
    return meetings > pairs


def _squares(counts: U32) -> float:
    return float(np.square(counts, dtype=np.float64).sum())


def _longest_run(engine: Engine, entries: Table, crowd: int) -> int:
    """As many entries as have one key, or more; `crowd` are those of one element, or more."""
    if crowd <= 2 * BLOCK:
        return 2 * BLOCK
    # Blocks are drawn, so their sizes are only nearly known: count.
    runs = engine.fold(entries, CountKeys(_KEY_BITS), added)
    return 0 if runs is None else int(runs.max())


@dataclass(frozen=True, eq=False)
class Census:
    """How many elements are in each bucket, and the sizes of sets in the first collection and the second."""

    counts: U32
    sizes: tuple[U32, U32]

    def merge(self, other: Census) -> Census:
        """Of both together."""
        first, second = (np.union1d(a, b) for a, b in zip(self.sizes, other.sizes, strict=True))
        return Census(added(self.counts, other.counts), (first, second))

    @classmethod
    def of_nothing(cls, bits: int) -> Census:
        """Of no sets."""
        none = np.empty(0, np.uint32)
        return cls(np.zeros(1 << bits, np.uint32), (none, none))


@dataclass(frozen=True, eq=False)
class Crowds:
    """How many prefix codes are in each bucket; and how many of those ask, where not all do."""

    counts: U32
    asking: U32 | None = None

    def merge(self, other: Crowds) -> Crowds:
        """Of both together."""
        asking = None
        if self.asking is not None and other.asking is not None:
            asking = added(self.asking, other.asking)
        return Crowds(added(self.counts, other.counts), asking)

    @classmethod
    def of_nothing(cls, bits: int) -> Crowds:
        """Of no sets."""
        return cls(np.zeros(1 << bits, np.uint32))


@dataclass(frozen=True)
class TakeCensus:
    """A stage for `fold`: `row`, `elements` → their census."""

    bits: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> Census:
        elements, offsets = list_buffers(batch["elements"])
        sizes = np.diff(offsets).astype(np.uint32)
        second = _is_second(batch, self.boundary)
        counts = _core.bucket_counts((elements, offsets), bits=self.bits)
        return Census(counts, (np.unique(sizes[~second]), np.unique(sizes[second])))


@dataclass(frozen=True, eq=False)
class InOrder:
    """A stage: `row`, `elements` → `row`, `codes`, which stand for the elements, rarest first."""

    ranks: U32

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        elements, offsets = list_buffers(batch["elements"])
        codes = _core.order_sets((elements, offsets), self.ranks)
        lists = pa.LargeListArray.from_arrays(pa.array(offsets - offsets[0]), pa.array(codes))
        return pa.record_batch({"row": batch["row"], "codes": lists})


@dataclass(frozen=True, eq=False)
class PrefixLengths:
    """How long the prefix of a set is, by its size and its collection; and of how much of it the set asks."""

    sizes: tuple[U32, U32]
    lengths: tuple[U32, U32]
    boundary: int | None
    #: Where not all that is shown asks: of containment, which asks for the larger set of one collection, and
    #: for the set of the second collection.
    asking_lengths: tuple[U32, U32] | None = None

    @classmethod
    def of(cls, census: Census, bound: Bound, boundary: int | None) -> PrefixLengths:
        """As the sizes that there are call for."""
        first, second = census.sizes
        if boundary is None:
            lengths = bound.prefix_lengths(first, first), second
        else:
            lengths = bound.prefix_lengths(first, second), bound.prefix_lengths(second, first, second=True)
        if bound.measure != "containment":
            return cls(census.sizes, lengths, boundary)
        asking = bound.asking_lengths(first) if boundary is None else lengths[0]
        return cls(census.sizes, lengths, boundary, (asking, np.zeros_like(second)))

    def __call__(self, batch: pa.RecordBatch, offsets: I64) -> U32:
        """Of every row of a batch."""
        return self._of_rows(batch, offsets, self.lengths)

    def asking(self, batch: pa.RecordBatch, offsets: I64) -> U32 | None:
        """Of every row of a batch, how much of the prefix asks; None where all of it does."""
        return None if self.asking_lengths is None else self._of_rows(batch, offsets, self.asking_lengths)

    def _of_rows(self, batch: pa.RecordBatch, offsets: I64, by_size: tuple[U32, U32]) -> U32:
        sizes = np.diff(offsets).astype(np.uint32)
        second = _is_second(batch, self.boundary)
        of_rows = np.zeros(len(sizes), np.uint32)
        for side, known, lengths in zip((~second, second), self.sizes, by_size, strict=True):
            of_rows[side] = lengths[np.searchsorted(known, sizes[side])]
        return of_rows


@dataclass(frozen=True, eq=False)
class CountPrefixes:
    """A stage for `fold`: ordered sets → how many prefix codes are in each bucket, and how many ask."""

    lengths: PrefixLengths
    bits: int
    #: Other buckets than those the order goes by, so that elements of one of those fall apart.
    anew: bool = False

    def __call__(self, batch: pa.RecordBatch) -> Crowds:
        codes, offsets = list_buffers(batch["codes"])
        if self.anew:
            codes = codes * _ANEW
        counts = _core.prefix_counts((codes, offsets), self.lengths(batch, offsets), bits=self.bits)
        asking = self.lengths.asking(batch, offsets)
        if asking is None:
            return Crowds(counts)
        return Crowds(counts, _core.prefix_counts((codes, offsets), asking, bits=self.bits))


@dataclass(frozen=True, eq=False)
class CutPrefixes:
    """A stage: ordered sets → the entries of their prefixes."""

    lengths: PrefixLengths
    crowds: Crowds
    block: int
    #: Instead of prefixes: one entry a set, of so many sets, all under one key.
    everybody_of: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        codes, offsets = list_buffers(batch["codes"])
        asking = self.lengths.asking(batch, offsets)
        of_asking = self.crowds.asking
        columns = _core.prefix_entries(
            (codes, offsets),
            batch["row"].to_numpy().astype(np.uint32),
            self.lengths(batch, offsets),
            self.crowds.counts,
            block=self.block,
            boundary=self.lengths.boundary,
            everybody_of=self.everybody_of,
            asking=None if asking is None or of_asking is None else (asking, of_asking),
        )
        return pa.record_batch(dict(zip(_COLUMNS, map(pa.array, columns), strict=True)))


@dataclass(frozen=True)
class Meet:
    """A stage over entries grouped by key: → candidates, and where in each set they met."""

    bound: Bound

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        key, row, size, position, previous, bits, side = (batch[name].to_numpy() for name in _COLUMNS)
        entries = key, row, size, position, previous, bits, side
        a, b, at_a, at_b = _core.prefix_candidates(entries, self.bound.kernel(), across=self.bound.across)
        return pa.record_batch(
            {
                "a": pa.array(a.astype(np.int64)),
                "b": pa.array(b.astype(np.int64)),
                "at_a": pa.array(at_a),
                "at_b": pa.array(at_b),
            }
        )


@dataclass(frozen=True)
class CountShared:
    """A stage for `fetch` from ordered sets: candidates → pairs, counted where they first met."""

    bound: Bound
    suffix_filter: bool
    #: The candidates met for no element in particular, each pair once.
    whole: bool

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        places = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        shared, size_a, size_b = _core.prefix_shared(
            [list_buffers(piece["codes"]) for piece in held.batches],
            (*places, batch["at_a"].to_numpy(), batch["at_b"].to_numpy()),
            self.bound.kernel(),
            across=self.bound.across,
            suffix=self.suffix_filter,
            whole=self.whole,
        )
        columns = {"a": batch["a"], "b": batch["b"]}
        columns |= {"shared": pa.array(shared), "size_a": pa.array(size_a), "size_b": pa.array(size_b)}
        return pa.record_batch(columns).filter(pa.array(shared > 0))


def _is_second(batch: pa.RecordBatch, boundary: int | None) -> np.ndarray:
    rows = batch["row"].to_numpy()
    return np.zeros(len(rows), np.bool_) if boundary is None else rows >= boundary
