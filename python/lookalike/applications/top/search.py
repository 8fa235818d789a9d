"""From what was given to the most similar of each item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.join import name_of
from lookalike.applications.sets import SetCollection, collect_sets, holds_sets, listed
from lookalike.applications.too_large import called
from lookalike.applications.top.options import TopOptions
from lookalike.applications.top.result import TopResult
from lookalike.engines import Engine, Table, engine_of
from lookalike.errors import OptionError
from lookalike.families import MinHash
from lookalike.io import Source, open_source
from lookalike.joins.items import Items
from lookalike.joins.top import top as most_similar
from lookalike.keywords import suggesting
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.types import Vectors


@suggesting(TopOptions)
def top(
    items: Any,
    other: Any = None,
    *,
    text: str = "text",
    id: str | None = None,
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    **options: Any,
) -> TopResult:
    """Find the most similar of every item: its `k` nearest by Jaccard similarity.

    Every similarity is exact. Small collections are searched exhaustively and miss nothing; for large ones
    the share of true neighbours that was found is measured on a sample of the items, and `account.recall`
    and the summary say it. Items that share nothing are no neighbours, so some have fewer than `k` or none;
    exact copies are neighbours like others, and of equally similar ones the lower id comes first.

    Parameters
    ----------
    items
        Documents: a list of strings, an Arrow, polars or pandas column or table, a Hugging Face dataset, or
        paths. Or sets: lists of integers or tokens, Arrow, polars or pandas columns of lists, `Sets`, a
        sparse boolean matrix whose rows are sets, or what `read_sets` names.
    other
        A second collection: neighbours are then looked for in it.
    text, id
        Columns of a table: what to compare, and what to call a row. Without `id` rows are numbered.
    threads, memory
        How many threads work (all cores by default), and how much memory tables may take above what Python
        itself needs (`"4GB"`; half of what is free by default); the answer does not depend on them.
    **options
        `k`, `shingle`, `method`, `slots`, `seed`: see `TopOptions`.

    Examples
    --------
    >>> likes = [["jazz", "blues"], ["jazz", "blues", "soul"], ["opera"], ["soul", "blues"]]
    >>> top(likes, k=1).neighbours
    3 neighbours
    id  rank  neighbour  similarity
    0   1     1          0.6667
    1   1     0          0.6667
    3   1     1          0.6667
    """
    watch = Watch()
    chosen = TopOptions.of(options)
    for one in (items, other):
        if isinstance(one, Vectors) or (isinstance(one, np.ndarray) and one.dtype.kind == "f"):
            raise OptionError(
                "a matrix of floats holds vectors, and top compares documents and sets:"
                " choose similar_pairs with measure='angle', or RangeSearch"
            )
    engine = engine_of(engine, threads, memory)
    given = tuple(listed(one) for one in ((items,) if other is None else (items, other)))
    if holds_sets(given[0]):
        result = top_of_sets(given, chosen, engine=engine, watch=watch)
    else:
        sources = tuple(open_source(one, text=text, id=id) for one in given)
        result = top_of(sources, chosen, engine=engine, watch=watch)
    watch.stages.stop()
    return result


def top_of(sources: Sequence[Source], options: TopOptions, *, engine: Engine, watch: Watch) -> TopResult:
    """The most similar documents of one source, or those that one source has in another."""
    collections: list[Collection] = []
    for source in sources:
        before = sum(collection.rows for collection in collections)
        collections.append(collect(source, engine, watch, first_row=before))
    size = int(sum(collection.text_bytes.sum() for collection in collections))
    return _found(collections, options.form, size, options, engine, watch)


def top_of_sets(given: Sequence[Any], options: TopOptions, *, engine: Engine, watch: Watch) -> TopResult:
    """The most similar sets of one collection, or those that one has in another."""
    collections = collect_sets(given, engine, watch, seed=options.seed)
    size = 8 * sum(collection.elements for collection in collections)
    return _found(collections, None, size, options, engine, watch)


def _found(
    collections: Sequence[Collection] | Sequence[SetCollection],
    shingle: Shingle | None,
    size: int,
    options: TopOptions,
    engine: Engine,
    watch: Watch,
) -> TopResult:
    items = Items(
        table=Table.together([collection.table for collection in collections]),
        bytes=size,
        shingle=shingle,
        seed=options.seed,
        boundary=collections[0].rows if len(collections) == 2 else None,
    )
    with called(partial(name_of, collections)):
        found = most_similar(
            items,
            options.k,
            family=MinHash(slots=options.slots, seed=options.seed),
            method=None if options.method == "auto" else options.method,
            engine=engine,
            watch=watch,
        )
    return TopResult(
        options=options, collections=collections, found=found, text_bytes=size, stages=watch.stages
    )
