"""Strings within a few edits of each other: names, titles, words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.join import name_of
from lookalike.applications.too_large import called
from lookalike.engines import Engine, Table, engine_of
from lookalike.errors import OptionError
from lookalike.io import Source, open_source
from lookalike.joins.strings import edit_join
from lookalike.keywords import suggesting
from lookalike.runs.watch import Watch
from lookalike.theory.ranges import whole
from lookalike.types import I64, Pairs

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
    expand: bool = False,
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Pairs:
    """Find all pairs of strings within a few edits of each other: no more, no fewer.

    Letters are code points, as they are: nothing is folded. Of equal strings the first stands for all: each
    other one is paired with it, at distance 0, and what is near to it is near to them.

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
    expand
        Give every pair of equal strings, and of what they are near to. Their number may be quadratic. Between
        two collections each string stands for itself in any case.
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
    return strings_within(sources, distance=distance, kind=kind, expand=expand, engine=engine, watch=Watch())[
        0
    ]


def strings_within(
    sources: Sequence[Source],
    *,
    distance: int,
    kind: str,
    engine: Engine,
    watch: Watch,
    expand: bool = False,
) -> tuple[Pairs, list[Collection], int]:
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
            expand=expand,
            engine=engine,
            watch=watch,
        )
    b: I64 = near.b if boundary is None else near.b - boundary
    columns = {
        "a": collections[0].ids(near.a),
        "b": collections[-1].ids(b),
        "distance": pa.array(near.distance.astype(np.int64)),
    }
    return Pairs(pa.table(columns)), collections, near.candidates
