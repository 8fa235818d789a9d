"""From a join to who is kept for whom, in the words of a result."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection
from lookalike.applications.documents.join import Search
from lookalike.applications.documents.options import DedupOptions
from lookalike.clusters import Assignment, assign, assign_with_earlier, parse_keep, priorities
from lookalike.engines import Engine, Table
from lookalike.joins import EMPTY, SHORT, Joined
from lookalike.types import I64, U8, U32, Bools


def assigned(
    joined: Joined,
    priority: I64 | U32,
    options: DedupOptions,
    engine: Engine,
    *,
    new_rows: int | None = None,
) -> Assignment:
    """Every row of a join with the row kept for it; rows from `new_rows` on were kept by earlier runs."""

    def made() -> Table:
        how = assign if new_rows is None else partial(assign_with_earlier, new_rows=new_rows)
        assignment = how(
            joined.representative,
            joined.a,
            joined.b,
            joined.similarity,
            priority=priority,
            threshold=options.threshold,
            group=options.group,
            compare=joined.compare,
        )
        return Table.of(**{name: getattr(assignment, name) for name in _COLUMNS})

    table = engine.settle("clusters", made)
    columns = {name: table.column(name) for name in _COLUMNS}
    chained = int(np.count_nonzero(columns["similarity"] < options.threshold))
    return Assignment(**columns, chained=chained)


_COLUMNS = ("cluster", "representative", "via", "similarity", "kept")


def cluster_columns(
    search: Search[Any], assignment: Assignment, options: DedupOptions
) -> dict[str, pa.Array]:
    """The columns of clusters.parquet, a row an item."""
    rows = np.arange(len(assignment.kept), dtype=np.int64)
    ids = search.named(rows)
    flags = search.joined.flags
    empty = (flags & EMPTY) != 0
    return {
        "id": ids,
        "cluster": ids.take(pa.array(assignment.cluster)),
        "representative": ids.take(pa.array(assignment.representative)),
        # Nothing is like an empty document, not even itself.
        options.column: pa.array(assignment.similarity, mask=empty),
        "via": ids.take(pa.array(assignment.via, mask=assignment.via < 0)),
        "kept": pa.array(assignment.kept),
        "flag": flag_names(flags),
    }


def flag_names(flags: U8) -> pa.Array:
    """What is odd about rows, in words; null where nothing is."""
    # 0 and 1 name what is odd about a row, 2 says nothing is.
    odd = np.full(len(flags), 2, np.uint8)
    odd[(flags & SHORT) != 0] = 1
    odd[(flags & EMPTY) != 0] = 0
    return pa.array(["empty", "short"]).take(pa.array(odd, mask=odd == 2))


def priority_of(collection: Collection, keep: str) -> U32:
    """Each row's place in the order of preference."""
    rows = np.arange(collection.rows, dtype=np.uint32)
    policy, _ = parse_keep(keep)
    if policy == "first":
        return priorities(rows, arrival=collection.order)
    if policy == "longest":
        return priorities(rows, values=pa.array(collection.text_bytes))
    return priorities(rows, values=collection.extra_values())


def kept_as_arrived(collection: Collection, assignment: Assignment) -> Bools:
    """Which rows of a collection are kept, in the order they arrived."""
    kept = np.empty(collection.rows, np.bool_)
    kept[collection.order] = assignment.kept[: collection.rows]
    return kept
