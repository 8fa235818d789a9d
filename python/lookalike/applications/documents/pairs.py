"""All similar pairs, in one collection or between two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lookalike.applications.documents.collection import Collection
from lookalike.applications.documents.join import Search, search_sets, search_sources
from lookalike.applications.documents.options import PairOptions
from lookalike.applications.documents.weighted import (
    MEASURES,
    WeightedOptions,
    pairs_by_meaning,
    pairs_by_weight,
)
from lookalike.applications.pair_rows import PairRows, pair_rows
from lookalike.applications.sets import SetCollection, holds_sets, listed
from lookalike.engines import Engine, engine_of
from lookalike.errors import OptionError, UnknownOptionError
from lookalike.io import OnError, Source, open_source
from lookalike.joins.expand import Copies, checked_copies, most_from_copies
from lookalike.keywords import suggesting
from lookalike.runs.watch import Watch
from lookalike.types import Bits, Pairs


@suggesting(PairOptions, WeightedOptions, "probes")
def similar_pairs(
    items: Any,
    other: Any = None,
    *,
    text: str = "text",
    id: str | None = None,
    on_error: OnError = "raise",
    copies: Copies | None = None,
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    **options: Any,
) -> Pairs:
    """Find all pairs of items at least as similar as the threshold.

    Every pair was checked on the data. Pairs exactly at the threshold are found with at least the promised
    recall, more similar ones more often. Where so many items are alike, such as variants of one template,
    that to compare all of them would take over some seconds, `lsh` pairs each with a few rather than with
    all: `account.large` counts what was not compared, and `method="prefix"` lists every pair.

    Parameters
    ----------
    items
        Documents: a list of strings, an Arrow, polars or pandas column or table, a Hugging Face dataset, or
        paths. Or sets: lists of integers or tokens, Arrow, polars or pandas columns of lists, `Sets`, a
        sparse boolean matrix whose rows are sets, or what `read_sets` names. Or, with a measure of vectors
        (`angle`, `l2`, `l1`, and `cosine` of floats): a NumPy matrix, a column of lists of numbers, a table
        with one (of whole numbers too, by cosine), or a path to .npy, .fvecs, .bvecs, .ivecs or .parquet.
    other
        A second collection: pairs then go from an item of the first to one of the second.
    text, id
        Columns of a table: what to compare, and what to call a row. Without `id` rows are numbered.
    on_error
        Of documents: `raise` at the first that cannot be read, or `skip` and count them.
    copies
        `"all"` lists every pair, those between exact copies too: that is the default, but over 100 million
        pairs that only copies make are an error, unless `"all"` is written out. `"stars"` lists each copy
        once, with the first of them; between two collections, the first copies on
        either side are paired with all on the other.
    threads, memory
        How many threads work (all cores by default), and how much memory they may take above what Python
        needs, such as `"4GB"` (half of what is free by default). Neither changes the result. `engine` is for
        those who bring their own.
    **options
        `threshold`, `recall`, `shingle`, `slots`, `seed`, `measure`, `method`, `verify`, `common`,
        `suffix_filter`, `bands`, `rows`: see `PairOptions`.
        With `measure` of `tfidf` (documents by meaning), `weighted-jaccard` or `weighted-cosine` (mappings
        from items to weights, bags, sparse matrices, what `read_sets` names): see `WeightedOptions`.
        Of vectors: see `VectorOptions`. The column is then `distance`, or `similarity` of cosines. Of bits
        (`Bits`, or `measure="hamming"`): see `similar_bits`.

    Examples
    --------
    >>> similar_pairs(["the cat sat on the mat today", "a dog", "The cat sat on the mat, today!"])
    1 pair
    a  b  similarity
    0  2  1.0000
    >>> similar_pairs([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1]], measure="angle", threshold="20deg")
    1 pair
    a  b  distance
    0  2  5.7106
    """
    # Vectors are named and expanded as documents are, by what is here: so they come in only when called.
    from lookalike.applications.bits import BIT_OPTIONS, COLUMN, similar_bits
    from lookalike.applications.vectors import VectorOptions, holds_vectors, pairs_of_vectors

    copies = checked_copies(copies)
    engine = engine_of(engine, threads, memory)
    if isinstance(items, Bits) or options.get("measure") == "hamming":
        if unknown := sorted(set(options) - set(BIT_OPTIONS)):
            raise UnknownOptionError.of(unknown[0], BIT_OPTIONS, where=" of bits")
        _check_skips(on_error, "bits")
        column = COLUMN if text == "text" else text
        return similar_bits(items, other, column=column, id=id, copies=copies, engine=engine, **options)
    weighted = WeightedOptions.of(options) if options.get("measure") in MEASURES else None
    if weighted is None and holds_vectors(items, options.get("measure", PairOptions.measure), text=text):
        _check_skips(on_error, "vectors")
        vectors = (items,) if other is None else (items, other)
        near = VectorOptions.of(options)
        lists = None if text == "text" else text
        found, _ = pairs_of_vectors(
            vectors, near, engine=engine, watch=Watch(), column=lists, id=id, copies=copies
        )
        return found.collected(engine)
    chosen = PairOptions.of({} if weighted else options)
    given = tuple(listed(one) for one in ((items,) if other is None else (items, other)))
    if weighted is not None and weighted.measure != "tfidf":
        _check_skips(on_error, "sets")
        found, _ = pairs_by_weight(given, weighted, engine=engine, watch=Watch(), copies=copies)
        return found.collected(engine)
    if weighted is not None:
        sources = tuple(open_source(one, text=text, id=id, on_error=on_error) for one in given)
        found, _ = pairs_by_meaning(sources, weighted, engine=engine, watch=Watch(), copies=copies)
        return found.collected(engine)
    for one in given:
        if isinstance(one, np.ndarray) and one.ndim == 1 and one.dtype == np.uint64:
            raise OptionError(
                "an array of uint64 may be hashes: add measure='hamming' to compare their bits; a set is a"
                " list of such numbers"
            )
    if holds_sets(given[0]):
        _check_skips(on_error, "sets")
        found, _ = pairs_of_sets(given, chosen, engine=engine, watch=Watch(), copies=copies)
        return found.collected(engine)
    sources = tuple(open_source(one, text=text, id=id, on_error=on_error) for one in given)
    found, _ = pairs_of(sources, chosen, engine=engine, watch=Watch(), copies=copies)
    return found.collected(engine)


def _check_skips(on_error: OnError, what: str) -> None:
    if on_error != "raise":
        hint = ": say so to read_sets" if what == "sets" else ""
        raise OptionError(f"on_error={on_error!r} goes with documents, not with {what}{hint}")


def pairs_of(
    sources: Sequence[Source],
    options: PairOptions,
    *,
    engine: Engine,
    watch: Watch,
    copies: Copies | None = None,
) -> tuple[PairRows, Search[Collection]]:
    """Similar pairs of one source, or of two."""
    most = most_from_copies(copies)
    search = search_sources(tuple(sources), options, engine=engine, watch=watch, most_from_copies=most)
    return named_pairs(search, options, copies, engine=engine, watch=watch), search


def pairs_of_sets(
    given: Sequence[Any],
    options: PairOptions,
    *,
    engine: Engine,
    watch: Watch,
    copies: Copies | None = None,
) -> tuple[PairRows, Search[SetCollection]]:
    """Similar pairs of one collection of sets, or of two."""
    most = most_from_copies(copies)
    search = search_sets(tuple(given), options, engine=engine, watch=watch, most_from_copies=most)
    return named_pairs(search, options, copies, engine=engine, watch=watch), search


def named_pairs(
    search: Search[Any], options: PairOptions, copies: Copies | None, *, engine: Engine, watch: Watch
) -> PairRows:
    """The pairs of a search by user ids."""
    return pair_rows(
        search.joined,
        search.names,
        copies=copies,
        boundary=search.boundary,
        column=options.column,
        engine=engine,
        watch=watch,
    )
