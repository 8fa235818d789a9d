"""Keep one document of every group of near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lookalike.applications.documents.against import dedup_against, dedup_units_against
from lookalike.applications.documents.assigning import (
    ClusterRows,
    assigned,
    kept_as_arrived,
    priority_of,
)
from lookalike.applications.documents.earlier import Earlier, EarlierRun, open_runs
from lookalike.applications.documents.join import name_of, search_sources
from lookalike.applications.documents.keys import with_keys_worth_storing
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.pairs import named_pairs
from lookalike.applications.documents.result import DedupResult
from lookalike.applications.documents.units import dedup_units
from lookalike.applications.too_large import called
from lookalike.clusters import parse_keep
from lookalike.engines import Engine, engine_of
from lookalike.io import OnError, Source, open_source
from lookalike.io.frames import FrameSource
from lookalike.keywords import suggesting
from lookalike.runs.watch import Watch


@suggesting(DedupOptions)
def dedup(
    docs: Any,
    *,
    text: str = "text",
    id: str | None = None,
    on_error: OnError = "raise",
    against: Earlier = (),
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
    against
        An earlier run, or several, each by the folder it wrote or by its result: new documents are compared
        with those that these kept, which stay as they are, and with each other. Nothing earlier is compared
        again. Where neither have ids, and the runs are results, new documents are numbered on from theirs.
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
    watch = Watch()
    chosen = DedupOptions.of(options)
    column = parse_keep(chosen.keep)[1]
    columns = () if column is None else (column,)
    source = open_source(docs, text=text, id=id, columns=columns, on_error=on_error)
    runs = open_runs(against, chosen)
    if isinstance(source, FrameSource) and runs and all(run.temporary is not None for run in runs):
        source.number_on(run.next_number for run in runs)
    engine = engine_of(engine, threads, memory)
    result = dedup_source(source, chosen, engine=engine, watch=watch, against=runs)
    watch.stages.stop()
    return result


def dedup_source(
    source: Source,
    options: DedupOptions,
    *,
    engine: Engine,
    watch: Watch,
    against: Sequence[EarlierRun] = (),
) -> DedupResult:
    """Deduplicate an open source, with itself and with what earlier runs kept."""
    if against:
        append = dedup_against if options.unit == "document" else dedup_units_against
        return append(source, against, options, engine=engine, watch=watch)
    if options.unit != "document":
        return dedup_units(source, options, engine=engine, watch=watch)
    column = parse_keep(options.keep)[1]
    search = search_sources((source,), options, engine=engine, watch=watch, extra=column)
    collection = search.collections[0]
    text_bytes = int(collection.text_bytes.sum())
    joined = with_keys_worth_storing(search.joined, options, rows=collection.rows, text_bytes=text_bytes)
    with watch.stage("cluster", collection.rows), called(partial(name_of, search.collections)):
        assignment = assigned(joined, priority_of(collection, options.keep), options, engine)
    joined = joined.compared()
    search = replace(search, joined=joined)
    return DedupResult(
        source=source,
        options=options,
        pairs=named_pairs(search, options, "stars", engine=engine, watch=Watch()).collected(engine),
        cluster_rows=ClusterRows(search, assignment, options),
        search=search,
        kept_rows=kept_as_arrived(collection, assignment),
        chained=assignment.chained,
        cluster_sizes=assignment.sizes(),
        account=joined.account,
        stages=watch.stages,
        text_bytes=text_bytes,
    )
