"""Buckets of vectors → candidates, of any size and yet never their square.

Vectors that are all near each other share buckets in most bands, and a bucket's pairs grow with its square.
Up to `2 · FOLLOWING + 1` rows a bucket gives all its pairs. In a larger one a row is paired with the
`FOLLOWING` rows behind it, or with more as long as all large buckets together give no more than `AFFORDABLE`
pairs, in an order that goes by content and is another one in every band: so the pairs of a crowd are seen in
some band with a chance that its size says, and what a bucket left out is counted; a sample of it is compared
(`crowd_sample`), to know how many near pairs that cost. Of two collections each row of the side that is
larger in a bucket meets as many of the smaller one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import Buckets, Once, bands_of, contents
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Held, Table, as_it_is
from lookalike.joins.crowd_sample import DRAWN, CrowdSample, DrawPairs, some_rows
from lookalike.joins.leaders import LeaderAccount
from lookalike.types import I64, U32, U64, Bools

#: How many of the rows behind it a row of a large bucket is paired with, at least.
FOLLOWING = 256
#: So many pairs take a second or two, and a quarter of a gigabyte: a few thousand rows are all compared.
AFFORDABLE = 1 << 25
#: A bucket of more rows than this is large.
ALL_PAIRS = 2 * FOLLOWING + 1


@dataclass(frozen=True)
class CrowdPairs:
    """A stage over whole buckets: pairs of rows that share one (`pair`), so many a row at most."""

    boundary: int | None
    following: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        runs = run_starts(batch["bucket"].to_numpy())
        rows = batch["row"].to_numpy()
        pairs, _ = _core.crowd_pairs(rows, runs, most=self.following, boundary=self.boundary)
        return pa.record_batch({"pair": pa.array(pairs)})


@dataclass(frozen=True)
class InBandOrder:
    """A stage for `fetch` from keyed rows: rows of buckets → with their `place` among those of their band."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        content = held.whole(contents)[held.at(batch["row"].to_numpy())]
        band = bands_of(batch["bucket"].to_numpy()).astype(np.uint64)
        # An odd factor of its own for every band: the products' upper bits stand in another order.
        place = content * (band * np.uint64(0x9E37_79B9_7F4A_7C16) + np.uint64(0xD6E8_FEB8_6659_FD93))
        return pa.record_batch({"bucket": batch["bucket"], "row": batch["row"], "place": pa.array(place)})


@dataclass(frozen=True)
class Sizes:
    """A stage for `fold`: buckets, how many rows each has, and how many of those are before the boundary."""

    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> tuple[U64, I64, I64]:
        keys = batch["bucket"].to_numpy()
        starts = run_starts(keys)
        before = batch["row"].to_numpy() < (2**32 if self.boundary is None else self.boundary)
        counted = np.concatenate([[0], np.cumsum(before)])
        return keys[starts[:-1]], np.diff(starts), np.diff(counted[starts])

    def merge(self, one: tuple[U64, I64, I64], other: tuple[U64, I64, I64]) -> tuple[U64, I64, I64]:
        """Those of both: a bucket may come in pieces."""
        keys, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
        sizes, before = np.zeros((2, len(keys)), np.int64)
        np.add.at(sizes, place, np.concatenate([one[1], other[1]]))
        np.add.at(before, place, np.concatenate([one[2], other[2]]))
        return keys, sizes, before


def candidates(
    engine: Engine, keyed: Table, marked: Bools, *, bands: int, boundary: int | None, seed: int
) -> tuple[Table, LeaderAccount, CrowdSample | None]:
    """Pairs of marked rows that share a bucket (`pair`, each once), and what large buckets left out.

    And pairs drawn from large buckets, if these left any out.
    """
    at_once = max(1, engine.group_rows // max(1, int(marked.sum())))
    parts = (
        engine.map(keyed, Buckets(first, min(first + at_once, bands), marked))
        for first in range(0, bands, at_once)
    )

    def in_order(crowds: Table) -> Table:
        return engine.fetch(keyed, crowds, ("row",), InBandOrder())

    def shared(a: U32, b: U32) -> I64:
        few, place = some_rows(keyed, np.concatenate([a, b]), len(marked), engine)
        met = np.zeros(len(a), np.int64)
        for name in few.schema.names[-bands:]:
            key = few.column(name)
            met += key[place[a]] == key[place[b]]
        return met

    pairs, account, drawn = gathered(engine, parts, in_order, boundary, seed=seed, draws=DRAWN)
    sample = None if drawn is None else CrowdSample(drawn, account.possible / DRAWN, shared)
    # A pair meets once a band at most, and so many stay together.
    return engine.group(pairs, "pair", Once(), most=bands), account, sample


def gathered(
    engine: Engine,
    parts: Iterable[Table],
    in_order: Callable[[Table], Table],
    boundary: int | None,
    *,
    seed: int,
    draws: float,
) -> tuple[Table, LeaderAccount, U64 | None]:
    """Pairs of rows that share a bucket, once a bucket, and what large buckets left out.

    Parts are rows of buckets (`bucket`, `row`), those of one bucket in one part. `in_order` gives rows of
    large buckets their `place` there. If something was left out, about so many `draws` from all the pairs of
    large buckets come along, whether they are among those or not.
    """
    pairs: list[Table] = []
    large: list[Table] = []
    for keys in parts:
        shared = engine.group(keys, "bucket", as_it_is, least=2)
        pairs.append(engine.group(shared, "bucket", CrowdPairs(boundary, FOLLOWING), most=ALL_PAIRS))
        crowded = engine.group(shared, "bucket", as_it_is, least=ALL_PAIRS + 1)
        if crowded.rows:
            large.append(crowded)
    account, drawn = LeaderAccount(), None
    if large:
        crowds = Table.together(large)
        sizes = Sizes(boundary)
        counted = engine.fold(crowds, sizes, sizes.merge)
        assert counted is not None
        within = PairsWithin.of(*counted[1:], boundary)
        following = within.affordable()
        account = within.account(following)
        ordered = in_order(crowds)
        whole = partial(engine.group, ordered, "bucket", order=("place", "row"), most=account.largest)
        pairs.append(whole(CrowdPairs(boundary, following)))
        if account.not_compared > 0:
            drawn = whole(DrawPairs(draws / account.possible, seed, boundary)).column("pair")
    return Table.together(pairs), account, drawn


@dataclass(frozen=True, kw_only=True, eq=False)
class PairsWithin:
    """How many pairs large buckets have, and how many are made.

    Parameters
    ----------
    sizes
        How many rows each bucket has.
    paired
        How many of them are paired with those behind them: all, or of two collections the larger side.
    possible
        The pairs of each.
    """

    sizes: I64
    paired: I64
    possible: I64

    @classmethod
    def of(cls, sizes: I64, before: I64, boundary: int | None) -> PairsWithin:
        """Of buckets of these sizes, of whose rows so many are before the boundary."""
        if boundary is None:
            return cls(sizes=sizes, paired=sizes, possible=sizes * (sizes - 1) // 2)
        small = np.minimum(before, sizes - before)
        return cls(sizes=sizes, paired=sizes - small, possible=small * (sizes - small))

    def made(self, following: int) -> I64:
        """The pairs of each, if a row is paired with so many behind it."""
        return np.minimum(self.possible, self.paired * following)

    def affordable(self) -> int:
        """With how many behind it a row is paired: `FOLLOWING`, doubled as long as that can be afforded."""
        following = FOLLOWING
        while following < self.sizes.max() and int(self.made(2 * following).sum()) <= AFFORDABLE:
            following *= 2
        return following

    def account(self, following: int) -> LeaderAccount:
        """What that leaves out."""
        made = self.made(following)
        return LeaderAccount(
            buckets=len(self.sizes),
            rows=int(self.sizes.sum()),
            largest=int(self.sizes.max()),
            checked=int(made.sum()),
            not_compared=int((self.possible - made).sum()),
        )
