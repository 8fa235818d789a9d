"""From a join to who is kept for whom, in the words of a result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.join import Search
from lookalike.applications.documents.options import DedupOptions
from lookalike.clusters import Assignment, assign
from lookalike.engines import Engine, Table
from lookalike.joins import EMPTY, SHORT, Joined
from lookalike.types import I64


def assigned(joined: Joined, priority: I64, options: DedupOptions, engine: Engine) -> Assignment:
    """Every row of a join with the row kept for it."""

    def made() -> Table:
        assignment = assign(
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
    # 0 and 1 name what is odd about a row, 2 says nothing is.
    odd = np.where(empty, 0, np.where((flags & SHORT) != 0, 1, 2))
    return {
        "id": ids,
        "cluster": ids.take(pa.array(assignment.cluster)),
        "representative": ids.take(pa.array(assignment.representative)),
        # Nothing is like an empty document, not even itself.
        options.column: pa.array(assignment.similarity, mask=empty),
        "via": ids.take(pa.array(assignment.via, mask=assignment.via < 0)),
        "kept": pa.array(assignment.kept),
        "flag": pa.array(["empty", "short"]).take(pa.array(odd, mask=odd == 2)),
    }
