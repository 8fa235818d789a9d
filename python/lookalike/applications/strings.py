"""Strings within a few edits of each other: names, titles, words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.join import name_of
from lookalike.applications.pair_rows import PairRows
from lookalike.applications.too_large import called
from lookalike.engines import Engine, Table, engine_of
from lookalike.errors import OptionError
from lookalike.io import Source, open_source
from lookalike.joins.expand import Copies, checked_copies
from lookalike.joins.strings import edit_join
from lookalike.keywords import suggesting
from lookalike.runs.watch import Watch
from lookalike.theory.ranges import whole
from lookalike.types import Pairs

Kind = Literal["levenshtein", "indel"]
#: What strings can be compared by.
KINDS: tuple[str, ...] = get_args(Kind)


@suggesting()
def similar_strings(
    strings: Any,
    other: Any = None,
    *,
    distance: int = 2,
    kind: Kind = "levenshtein",
    text: str = "text",
    id: str | None = None,
    copies: Copies | None = None,
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Pairs:
    """Find all pairs of strings within a few edits of each other: no more, no fewer.

    Letters are code points, as they are: nothing is folded. Equal strings are pairs at distance 0.

    Parameters
    ----------
    strings, other
        Lists of strings, Arrow, polars or pandas columns or tables, or paths; with `other`, pairs go from a
        string of the first to one of the second.
    distance
        The most edits.
    kind
        `levenshtein` inserts, deletes and replaces letters; `indel` only inserts and deletes.
    text, id
        Columns of a table: what to compare, and what to call a row.
    copies
        `"all"` lists every pair, those between exact copies too: that is the default, but over 100 million
        pairs that only copies make are an error, unless `"all"` is written out. `"stars"` lists each copy
        once, with the first of them.
    threads, memory
        How many threads work (all cores by default), and how much memory they may take above what Python
        needs, such as `"4GB"` (half of what is free by default); more than fits goes to disk. Neither changes
        the result. `engine` is for those who bring their own.

    Examples
    --------
    >>> similar_strings(["smith", "smyth", "jones", "smithe"], distance=1)
    2 pairs
    a  b  distance
    0  1  1
    0  3  1
    """
    given = (strings,) if other is None else (strings, other)
    sources = [open_source(one, text=text, id=id) for one in given]
    engine = engine_of(engine, threads, memory)
    found, _, _ = strings_within(
        sources,
        distance=distance,
        kind=kind,
        copies=checked_copies(copies),
        engine=engine,
        watch=Watch(),
    )
    return found.collected(engine)


def strings_within(
    sources: Sequence[Source],
    *,
    distance: int,
    kind: str,
    engine: Engine,
    watch: Watch,
    copies: Copies | None = None,
) -> tuple[PairRows, list[Collection], int]:
    """Near strings of one source or two, the collections they came from, and how many were looked at."""
    edits = whole(distance)
    if edits is None or edits < 0:
        raise OptionError(f"distance={distance!r} is out of range: a whole number of edits, 0 or more")
    distance = edits
    collections: list[Collection] = []
    for source in sources:
        before = sum(collection.rows for collection in collections)
        collections.append(collect(source, engine, watch, first_row=before))
    boundary = collections[0].rows if len(collections) == 2 else None
    with called(partial(name_of, collections)):
        near = edit_join(
            Table.together([collection.table for collection in collections]),
            distance=distance,
            kind=kind,  # type: ignore[arg-type]
            boundary=boundary,
            copies=copies,
            engine=engine,
            watch=watch,
        )
    found = PairRows(
        pairs=near.pairs,
        names=(collections[0].ids, collections[-1].ids),
        boundary=boundary,
        column="distance",
        whole=True,
    )
    return found, collections, near.candidates
