"""How many near pairs large buckets left out, by a sample of the pairs they hold.

Pairs are drawn from all that large buckets have, a bucket's by a hash of its key and the order of contents:
so the sample depends on nothing but the rows and the seed. Of a drawn pair that is near and was compared
nowhere all shared buckets are large, for in a small one it would have been compared; and in each of them it
could have been drawn, so it counts for the less the more there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike import _core
from lookalike.bands import packed, rows_of
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table
from lookalike.joins.only import Only
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import Near
from lookalike.theory import Plan
from lookalike.types import I64, U32, U64, Bools

#: About how many pairs are drawn: next to nothing beside those that large buckets make.
DRAWN = 1 << 16
#: How many of a kind there may be, of which none was drawn: so many times what one would have stood for.
_NONE_SEEN = 3.0


@dataclass(frozen=True)
class DrawPairs:
    """A stage over whole buckets, in the order of contents: pairs (`pair`), a `share` of those of each."""

    share: float
    seed: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys, rows = batch["bucket"].to_numpy(), batch["row"].to_numpy()
        starts = run_starts(keys)
        sizes = np.diff(starts)
        before = sizes
        if self.boundary is not None:
            second = rows >= self.boundary
            rows = rows[np.lexsort((second, np.repeat(np.arange(len(sizes)), sizes)))]
            before = sizes - np.diff(np.concatenate([[0], np.cumsum(second)])[starts])
        possible = sizes * (sizes - 1) // 2 if self.boundary is None else before * (sizes - before)
        drawn_by = _core.mix_integers(keys[starts[:-1]], seed=self.seed, threads=1)
        # Rounded up as often as the rest says: on average exactly the share.
        drawn = np.floor(possible * self.share + (drawn_by >> np.uint64(11)) * 2.0**-53).astype(np.int64)
        bucket = np.repeat(np.arange(len(sizes)), drawn)
        draw = np.arange(len(bucket)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
        one, other = (
            _core.mix_integers(
                drawn_by[bucket] + (2 * draw + side).astype(np.uint64), seed=self.seed, threads=1
            )
            for side in (0, 1)
        )
        sizes, before = sizes[bucket].astype(np.uint64), before[bucket].astype(np.uint64)
        if self.boundary is None:
            one = one % np.maximum(sizes, 1)
            other = (one + 1 + other % np.maximum(sizes - 1, 1)) % np.maximum(sizes, 1)
        else:
            one, other = one % np.maximum(before, 1), before + other % np.maximum(sizes - before, 1)
        a, b = (rows[starts[:-1][bucket] + place.astype(np.int64)] for place in (one, other))
        return pa.record_batch({"pair": pa.array(packed(np.minimum(a, b), np.maximum(a, b)))})


@dataclass(frozen=True, eq=False)
class CrowdSample:
    """Pairs that were drawn from large buckets.

    Parameters
    ----------
    pairs
        Packed, and as often as they were drawn.
    each
        How many pairs of a bucket each stands for.
    shared
        Tells in how many bands pairs of rows share a bucket.
    """

    pairs: U64
    each: float
    shared: Callable[[U32, U32], I64]


@dataclass(frozen=True, kw_only=True)
class Missed:
    """How many near pairs there probably were beside those of bands, and half of its 95% interval."""

    pairs: float
    spread: float


def missed_by(
    sample: CrowdSample, compared: Table, *, items: VectorItems, plan: Plan, engine: Engine
) -> Missed:
    """What large buckets left out of `compared` (`pair`, sorted batches): near pairs, each by its chance.

    A near pair that shares a bucket with the chance P stands for 1/P, as those that were found do.
    """
    asked = Table.of(**dict(zip("ab", rows_of(sample.pairs), strict=True)))
    near = engine.fetch(items.table, asked, ("a", "b"), Near(items.nearness))
    a, b, value = (near.column(name) for name in ("a", "b", "value"))
    pairs = packed(a, b)
    among = Among(np.unique(pairs))
    known = engine.fold(compared, among, among.merge)
    if known is not None:
        new = ~known[np.searchsorted(among.sought, pairs)]
        a, b, value = a[new], b[new], value[new]
    weights = sample.each / (sample.shared(a, b) * plan.probabilities(value))
    if not len(weights):
        return Missed(pairs=0.0, spread=_NONE_SEEN * sample.each)
    # Drawn independently, and summed exactly, in whatever order they came.
    return Missed(pairs=math.fsum(weights), spread=1.959964 * math.sqrt(math.fsum(weights**2)))


@dataclass(frozen=True, eq=False)
class Among:
    """A stage for `fold`: which of the pairs sought are among sorted ones."""

    sought: U64

    def __call__(self, batch: pa.RecordBatch) -> Bools:
        pairs = batch["pair"].to_numpy()
        if not len(pairs):
            return np.zeros(len(self.sought), np.bool_)
        at = np.searchsorted(pairs, self.sought)
        found: Bools = pairs[np.minimum(at, len(pairs) - 1)] == self.sought
        return found

    def merge(self, one: Bools, other: Bools) -> Bools:
        """Those among either."""
        return one | other


def some_rows(table: Table, rows: npt.NDArray[np.integer], count: int, engine: Engine) -> tuple[Table, I64]:
    """A few rows of a table of `count`, and at which place of these each row is."""
    chosen = np.zeros(count, np.bool_)
    chosen[rows] = True
    few = engine.map(table, Only(chosen))
    place = np.zeros(count, np.int64)
    place[few.column("row")] = np.arange(few.rows)
    return few, place
