"""Keep one document of every group of near-duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.assigning import ClusterRows, assigned
from lookalike.applications.documents.collection import Collection
from lookalike.applications.documents.join import search_sources
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.pairs import named_pairs
from lookalike.applications.documents.result import DedupResult
from lookalike.applications.documents.units import dedup_units
from lookalike.clusters import Assignment, parse_keep, priorities
from lookalike.engines import Engine, local_engine
from lookalike.io import OnError, Source, open_source
from lookalike.runs.watch import Watch
from lookalike.types import U32


def dedup(
    docs: Any,
    *,
    text: str = "text",
    id: str | None = None,
    on_error: OnError = "raise",
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    **options: Any,
) -> DedupResult:
    """Keep one document of every group of near-duplicates.

    Exact copies are found first, then near-duplicates among what is left. Every pair that joins two documents
    was checked on the data; the result says how many it probably missed.

    Parameters
    ----------
    docs
        A list of strings; an Arrow, polars or pandas column or table; a Hugging Face dataset; or a path or
        paths of parquet, jsonl, csv, tsv or txt files, plain, .gz or .zst.
    text, id
        Columns: what to compare, and what to call a document. Without `id` documents are numbered, or known
        by file and row.
    on_error
        `raise` at the first row that cannot be read, or `skip` such rows and count them.
    threads, memory
        How many threads work (all cores by default), and how much memory they may take above what Python
        needs, such as `"4GB"` (half of what is free by default); more than fits goes to disk. Neither changes
        the result. `engine` is for those who bring their own.
    **options
        `threshold`, `recall`, `shingle`, `slots`, `seed`, `unit`, `keep`, `group`, `verify`, `method`: see
        `DedupOptions`.

    Examples
    --------
    >>> result = dedup(["the cat sat on the mat today", "a dog barked", "The cat sat on the mat, today!"])
    >>> result.kept
    ['the cat sat on the mat today', 'a dog barked']
    """
    chosen = DedupOptions.of(options)
    column = parse_keep(chosen.keep)[1]
    columns = () if column is None else (column,)
    source = open_source(docs, text=text, id=id, columns=columns, on_error=on_error)
    return dedup_source(source, chosen, engine=engine or local_engine(threads, memory), watch=Watch())


def dedup_source(source: Source, options: DedupOptions, *, engine: Engine, watch: Watch) -> DedupResult:
    """Deduplicate an open source."""
    if options.unit != "document":
        return dedup_units(source, options, engine=engine, watch=watch)
    column = parse_keep(options.keep)[1]
    search = search_sources((source,), options, engine=engine, watch=watch, extra=column)
    joined, collection = search.joined, search.collections[0]
    with watch.stage("cluster", collection.rows):
        assignment = assigned(joined, _priority(collection, options.keep), options, engine)
    return DedupResult(
        source=source,
        options=options,
        pairs=named_pairs(search, options),
        cluster_rows=ClusterRows(search, assignment, options),
        search=search,
        kept_rows=_arrived(collection, assignment),
        chained=assignment.chained,
        cluster_sizes=assignment.sizes(),
        account=joined.account,
        stages=watch.stages,
        text_bytes=int(collection.text_bytes.sum()),
    )


def _priority(collection: Collection, keep: str) -> U32:
    rows = np.arange(collection.rows, dtype=np.uint32)
    policy, _ = parse_keep(keep)
    if policy == "first":
        return priorities(rows, arrival=collection.arrival)
    if policy == "longest":
        return priorities(rows, values=pa.array(collection.text_bytes))
    return priorities(rows, values=collection.extra_values())


def _arrived(collection: Collection, assignment: Assignment) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows are kept, in the order they arrived."""
    if collection.arrival is None:
        return assignment.kept
    kept = np.empty(collection.rows, np.bool_)
    kept[collection.arrival] = assignment.kept
    return kept
