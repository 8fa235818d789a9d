"""Pairs of items that are often in one basket, in two passes over the baskets.

apriori   A pair is not more frequent than either of its items. The first pass counts items, the second only
          pairs of frequent ones.
pcy       The first pass also counts pairs, hashed into buckets (Park, Chen and Yu). A pair is not more
          frequent than its bucket either, so the second pass counts still fewer.

Memory: at the driver every distinct item and its count, and for `pcy` 4 bytes a bucket; the engine's, for 12
bytes a pair and batch it is counted in. Time: quadratic in the frequent items of a basket; `pcy` pays for the
pairs of all items once, but for no more of a basket than there are buckets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike import _core
from lookalike.bands import rows_of
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table
from lookalike.joins.meetings import count_meetings
from lookalike.measures.sets import as_sets
from lookalike.runs.watch import Watch
from lookalike.types import I64, U32, U64, Bools

Method = Literal["apriori", "pcy"]


@dataclass(frozen=True, kw_only=True)
class BasketAccount:
    """What was counted to find the frequent pairs.

    `possible` are the pairs of frequent items, `counted` those of them that were in a basket together and
    (`pcy`) in a frequent bucket, `pairs` those that turned out frequent.
    """

    method: Method
    support: int
    baskets: int
    items: int
    frequent_items: int
    buckets: int
    frequent_buckets: int
    possible: int
    counted: int
    pairs: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Together:
    """Frequent pairs: `a` and `b` are numbers of the frequent `items`, `count` says in how many baskets."""

    items: pa.Array
    a: I64
    b: I64
    count: I64
    account: BasketAccount


def together(
    baskets: Table, *, support: int, method: Method, bits: int, engine: Engine, watch: Watch
) -> Together:
    """Find all pairs of items that are in at least `support` baskets together.

    `baskets` has a column `items`, a list of whole numbers or strings a basket; an item that is in a basket
    twice counts once. `pcy` counts 2^`bits` buckets.
    """
    with watch.stage("items", baskets.rows, unit="baskets"):
        first = FirstPass(bits if method == "pcy" else None)
        seen = engine.fold(baskets, first, first.merge) or first(_nothing(baskets))
    items = seen.frequent(support)
    second = SecondPass(items, None if seen.buckets is None else seen.buckets >= support)
    with watch.stage("pairs", baskets.rows, unit="baskets"):
        counted = count_meetings(engine, [engine.map(baskets, second)], most=seen.baskets)
        frequent = engine.map(counted, AtLeast(support))
    a, b = (rows.astype(np.int64) for rows in rows_of(frequent.column("pair")))
    account = BasketAccount(
        method=method,
        support=support,
        baskets=seen.baskets,
        items=seen.items.num_rows,
        frequent_items=len(items),
        buckets=0 if seen.buckets is None else len(seen.buckets),
        frequent_buckets=0 if second.frequent is None else int(np.count_nonzero(second.frequent)),
        possible=len(items) * (len(items) - 1) // 2,
        counted=counted.rows,
        pairs=len(a),
    )
    return Together(items=items, a=a, b=b, count=frequent.column("times").astype(np.int64), account=account)


def _nothing(baskets: Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], baskets.schema)


@dataclass(frozen=True, eq=False)
class Seen:
    """What the first pass saw: how many baskets, every `item` with its `count`, pairs a bucket."""

    baskets: int
    items: pa.Table
    buckets: U32 | None

    def frequent(self, support: int) -> pa.Array:
        """The items that are in at least `support` baskets, in their order."""
        frequent = self.items.filter(pc.greater_equal(self.items["count"], support)).sort_by("item")["item"]
        return frequent.combine_chunks()


@dataclass(frozen=True)
class FirstPass:
    """A stage for `fold`: counts items, and pairs by bucket if there are `bits`."""

    bits: int | None

    def __call__(self, batch: pa.RecordBatch) -> Seen:
        tokens, basket = _flat(batch)
        encoded = tokens.dictionary_encode()
        _, codes = _distinct(basket, encoded.indices.to_numpy())
        counts = np.bincount(codes, minlength=len(encoded.dictionary))
        items = pa.table({"item": encoded.dictionary, "count": pa.array(counts, pa.int64())})
        if self.bits is None:
            return Seen(len(batch), items, None)
        return Seen(len(batch), items, self._buckets(batch, self.bits))

    def _buckets(self, batch: pa.RecordBatch, bits: int) -> U32:
        """How many pairs fall into each bucket, or more."""
        sizes = pc.list_value_length(batch["items"]).to_numpy().astype(np.int64)
        # No pair is in a basket twice. So one for every bucket is enough for a basket that has more pairs
        # than there are buckets, which would fill most of them anyway.
        giant = sizes * (sizes - 1) // 2 > 1 << bits
        hashed = as_sets(batch["items"].filter(pa.array(~giant)))
        buckets = _core.pair_buckets((hashed.elements, hashed.offsets), bits=bits)
        return _added(buckets, np.full_like(buckets, np.count_nonzero(giant)))

    def merge(self, one: Seen, other: Seen) -> Seen:
        """What both saw."""
        added = pa.concat_tables([one.items, other.items]).group_by("item").aggregate([("count", "sum")])
        items = added.rename_columns({"item": "item", "count_sum": "count"}).select(["item", "count"])
        if one.buckets is None or other.buckets is None:
            return Seen(one.baskets + other.baskets, items, None)
        return Seen(one.baskets + other.baskets, items, _added(one.buckets, other.buckets))


def _added(one: U32, other: U32) -> U32:
    """Counts of both. One that would wrap around stays at the top: a full bucket must not look empty."""
    return one + np.minimum(other, ~one)


@dataclass(frozen=True, eq=False)
class SecondPass:
    """A stage: baskets → pairs of frequent items (`pair`, `times`), of frequent buckets if there are such."""

    items: pa.Array
    frequent: Bools | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        tokens, basket = _flat(batch)
        numbers = pc.index_in(tokens, value_set=self.items)
        known = numbers.is_valid().to_numpy(zero_copy_only=False)
        of, members = _distinct(basket[known], numbers.drop_null().to_numpy())
        sets = (members.astype(np.uint32), run_starts(of))
        pairs, times = _core.basket_pairs(sets, self._hashes, self.frequent)
        return pa.record_batch({"pair": pa.array(pairs), "times": pa.array(times)})

    @cached_property
    def _hashes(self) -> U64:
        """The hash of every frequent item, as the first pass had it."""
        alone = pa.LargeListArray.from_arrays(pa.array(np.arange(len(self.items) + 1)), self.items)
        return as_sets(alone).elements


@dataclass(frozen=True)
class AtLeast:
    """A stage: counted pairs → those that occur often enough."""

    support: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.filter(pa.array(batch["times"].to_numpy() >= self.support))


def _flat(batch: pa.RecordBatch) -> tuple[pa.Array, I64]:
    """All items of a batch of baskets, and the basket each is in."""
    baskets = batch["items"]
    offsets = np.asarray(baskets.offsets).astype(np.int64)
    tokens = baskets.values.slice(offsets[0], offsets[-1] - offsets[0])
    return tokens, np.repeat(np.arange(len(baskets)), np.diff(offsets))


def _distinct(basket: I64, items: I64) -> tuple[U64, I64]:
    """Every item of a basket once, ascending."""
    both = np.unique((basket.astype(np.uint64) << np.uint64(32)) | items.astype(np.uint64))
    return both >> np.uint64(32), (both & np.uint64(0xFFFF_FFFF)).astype(np.int64)
