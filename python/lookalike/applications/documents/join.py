"""From what the user gave to joined rows, and from row numbers back to ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.options import PairOptions
from lookalike.applications.documents.roads import take_road
from lookalike.applications.pair_rows import Names
from lookalike.applications.sets import SetCollection, collect_sets
from lookalike.applications.too_large import called
from lookalike.engines import Engine, Table
from lookalike.io import Source
from lookalike.joins import Items, Joined
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.types import I64


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

    @property
    def names(self) -> tuple[Names, Names]:
        """How the rows of either side of a pair are called."""
        return self.collections[0].ids, self.collections[-1].ids

    @property
    def boundary(self) -> int | None:
        """Where the rows of a second collection begin, if there is one."""
        return self.collections[0].rows if len(self.collections) == 2 else None

    def named(self, rows: I64) -> pa.Array:
        """User ids of row numbers; all rows of one call are of one collection."""
        first = self.collections[0].rows
        if len(self.collections) == 2 and len(rows) and rows[0] >= first:
            return self.collections[1].ids(rows - first)
        return self.collections[0].ids(rows)


def name_of(collections: Sequence[Named], row: int) -> object:
    """The user id of one row."""
    first = collections[0].rows
    inside, row = (collections[0], row) if row < first else (collections[1], row - first)
    return inside.ids(np.array([row]))[0]


def search_sources(
    sources: tuple[Source, ...],
    options: PairOptions,
    *,
    engine: Engine,
    watch: Watch,
    extra: str | None = None,
    most_from_copies: int | None = None,
) -> Search[Collection]:
    """Read one source or two, and join them; copies may make so many pairs, or any number."""
    collections, items = read_sources(sources, options, engine=engine, watch=watch, extra=extra)
    items = replace(items, most_from_copies=most_from_copies)
    with called(partial(name_of, collections)):
        joined = take_road(items, options, engine=engine, watch=watch)
    return Search(joined=joined, collections=collections)


def read_sources(
    sources: tuple[Source, ...],
    options: PairOptions,
    *,
    engine: Engine,
    watch: Watch,
    extra: str | None = None,
) -> tuple[tuple[Collection, ...], Items]:
    """Read one source or two, and lay them side by side."""
    collections: list[Collection] = []
    for source in sources:
        before = sum(collection.rows for collection in collections)
        # A sample of one collection says nothing of how alike those of two are.
        seed = options.seed if len(sources) == 1 else None
        collections.append(
            collect(source, engine, watch, extra=extra, first_row=before, again=True, seed=seed)
        )
    one = collections[0]
    items = Items(
        table=one.table if len(sources) == 1 else Table.together([each.table for each in collections]),
        glanced=one.glanced,
        bytes=int(sum(collection.text_bytes.sum() for collection in collections)),
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
        boundary=collections[0].rows if len(collections) == 2 else None,
    )
    return tuple(collections), items


def search_sets(
    given: tuple[Any, ...],
    options: PairOptions,
    *,
    engine: Engine,
    watch: Watch,
    most_from_copies: int | None = None,
) -> Search[SetCollection]:
    """Read one collection of sets or two, from whatever holds them, and join them."""
    collections, items = read_collections_of_sets(given, options, engine=engine, watch=watch)
    items = replace(items, most_from_copies=most_from_copies)
    with called(partial(name_of, collections)):
        joined = take_road(items, options, engine=engine, watch=watch)
    return Search(joined=joined, collections=collections)


def read_collections_of_sets(
    given: tuple[Any, ...], options: PairOptions, *, engine: Engine, watch: Watch
) -> tuple[tuple[SetCollection, ...], Items]:
    """Read one collection of sets or two, and lay them side by side."""
    collections = collect_sets(given, engine, watch, seed=options.seed)
    items = Items(
        table=Table.together([collection.table for collection in collections]),
        bytes=8 * sum(collection.elements for collection in collections),
        shingle=None,
        seed=options.seed,
        boundary=collections[0].rows if len(collections) == 2 else None,
    )
    return tuple(collections), items
