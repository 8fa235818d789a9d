"""From what the user gave to joined rows, and from row numbers back to ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.options import PairOptions
from lookalike.applications.documents.roads import take_road
from lookalike.applications.sets import SetCollection, collect_sets
from lookalike.engines import Engine, Table
from lookalike.io import Source
from lookalike.joins import Items, Joined
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.types import F64, I64


class Named(Protocol):
    """A collection whose rows have ids."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    def ids(self, rows: I64) -> pa.Array:
        """The user ids of row numbers."""


C = TypeVar("C", bound=Named)


@dataclass(frozen=True, kw_only=True, eq=False)
class Search(Generic[C]):
    """Joined rows and the collections they came from."""

    joined: Joined
    collections: tuple[C, ...]

    def named(self, rows: I64) -> pa.Array:
        """User ids of row numbers; all rows of one call are of one collection."""
        first = self.collections[0].rows
        if len(self.collections) == 2 and len(rows) and rows[0] >= first:
            return self.collections[1].ids(rows - first)
        return self.collections[0].ids(rows)


def search_sources(
    sources: tuple[Source, ...],
    options: PairOptions,
    *,
    engine: Engine,
    watch: Watch,
    extra: str | None = None,
) -> Search[Collection]:
    """Read one source or two, and join them."""
    collections: list[Collection] = []
    for source in sources:
        before = sum(collection.rows for collection in collections)
        collections.append(collect(source, engine, watch, extra=extra, first_row=before))
    items = Items(
        table=Table.together([collection.table for collection in collections]),
        bytes=int(sum(collection.text_bytes.sum() for collection in collections)),
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
        boundary=collections[0].rows if len(collections) == 2 else None,
    )
    return Search(
        joined=take_road(items, options, engine=engine, watch=watch), collections=tuple(collections)
    )


def search_sets(
    given: tuple[Any, ...], options: PairOptions, *, engine: Engine, watch: Watch
) -> Search[SetCollection]:
    """Read one collection of sets or two, from whatever holds them, and join them."""
    collections: list[SetCollection] = []
    for one in given:
        before = sum(collection.rows for collection in collections)
        collections.append(collect_sets(one, engine, watch, seed=options.seed, first_row=before))
    items = Items(
        table=Table.together([collection.table for collection in collections]),
        bytes=8 * sum(collection.elements for collection in collections),
        shingle=None,
        seed=options.seed,
        boundary=collections[0].rows if len(collections) == 2 else None,
    )
    return Search(
        joined=take_road(items, options, engine=engine, watch=watch), collections=tuple(collections)
    )


def pair_columns(joined: Joined, *, boundary: int | None, expand: bool) -> tuple[I64, I64, F64]:
    """All pairs a user sees: near pairs between representatives and star edges to exact copies.

    Expanded, every pair of copies and of what they are near to. Between two collections, `a` is of the first
    and `b` of the second, and copies stand for themselves. Of a directed measure, copies are pairs both ways.
    """
    near = (joined.a, joined.b, joined.similarity)
    rows = np.arange(len(joined.representative), dtype=np.uint32)
    copies = np.flatnonzero(joined.representative != rows)
    of_copies = np.ones(len(copies)) if joined.own is None else joined.own[copies]
    stars = [(joined.representative[copies], copies, of_copies)]
    if joined.directed:
        stars.append((copies, joined.representative[copies], of_copies))
    if boundary is None and not expand:
        a, b, similarity = (np.concatenate(columns) for columns in zip(near, *stars, strict=True))
    else:
        own = np.ones(len(rows)) if joined.own is None else joined.own
        a, b, similarity = _expanded(near, joined.representative, own, boundary, directed=joined.directed)
    order = np.lexsort((b, a))
    return a[order], b[order], similarity[order]


def _expanded(
    near: tuple[I64, I64, F64], representative: I64, own: F64, boundary: int | None, *, directed: bool
) -> tuple[I64, I64, F64]:
    """Every pair of copies, and every copy of `a` with every copy of `b` for a near pair.

    If there is a boundary, only those across it.
    """
    members = np.argsort(representative, kind="stable")
    counts = np.bincount(representative, minlength=len(representative))
    starts = np.concatenate([[0], np.cumsum(counts)])
    inside = np.flatnonzero(counts > 1)
    left = np.concatenate([near[0], inside])
    right = np.concatenate([near[1], inside])
    similarity = np.concatenate([near[2], own[inside]])
    times = counts[left] * counts[right]
    pair = np.repeat(np.arange(len(left)), times)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
    a = members[starts[left[pair]] + within // counts[right[pair]]]
    b = members[starts[right[pair]] + within % counts[right[pair]]]
    within_class = left[pair] == right[pair]
    if directed:
        # Between two collections copies are of one of them, so a is of the first already.
        wanted = np.where(within_class, a != b, True)
        if boundary is not None:
            wanted &= (a < boundary) & (b >= boundary)
        return a[wanted], b[wanted], similarity[pair][wanted]
    low, high = np.minimum(a, b), np.maximum(a, b)
    # A class paired with itself gives each pair twice and each row with itself; the order of a pair tells
    # them apart.
    wanted = np.where(within_class, a < b, True)
    if boundary is not None:
        wanted &= (low < boundary) & (high >= boundary)
    return low[wanted], high[wanted], similarity[pair][wanted]
