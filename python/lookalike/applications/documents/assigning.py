"""From a join to who is kept for whom, in the words of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
            *joined.columns,
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


class ClusterRows:
    """The rows of clusters.parquet, one an item, named a million at a time.

    Parameters
    ----------
    more
        Further columns of items, by their numbers; they follow the id.
    rows
        How many items have a row; all of them by default.
    cluster_ids
        What a cluster is called, by the row that stands for it; like that row by default.
    """

    def __init__(
        self,
        search: Search[Any],
        assignment: Assignment,
        options: DedupOptions,
        more: Callable[[I64], dict[str, pa.Array]] | None = None,
        *,
        rows: int | None = None,
        cluster_ids: Callable[[I64], pa.Array] | None = None,
    ) -> None:
        self._search = search
        self._assignment = assignment
        self._column = options.column
        self._more = more
        self._rows = len(assignment.kept) if rows is None else rows
        self._cluster_ids = cluster_ids

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self._batch(0, 0).schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, in order."""
        starts = range(0, self._rows, _NAMED)
        return (self._batch(start, min(start + _NAMED, self._rows)) for start in starts)

    def _batch(self, start: int, stop: int) -> pa.RecordBatch:
        rows, here = np.arange(start, stop, dtype=np.int64), slice(start, stop)
        cluster, representative, via = (
            getattr(self._assignment, name)[here].astype(np.int64)
            for name in ("cluster", "representative", "via")
        )
        names = _Names(self._search, rows, cluster, representative, via[via >= 0])
        flags = self._search.joined.flags[here]
        empty = (flags & EMPTY) != 0
        return pa.record_batch(
            {
                "id": names.of(rows),
                **({} if self._more is None else self._more(rows)),
                "cluster": names.of(cluster) if self._cluster_ids is None else self._cluster_ids(cluster),
                "representative": names.of(representative),
                # Nothing is like an empty document, not even itself.
                self._column: pa.array(self._assignment.similarity[here], mask=empty),
                "via": names.of(via),
                "kept": pa.array(self._assignment.kept[here]),
                "flag": flag_names(flags),
            }
        )


#: As many rows as a group of a parquet file has.
_NAMED = 1 << 20


class _Names:
    """The ids of some rows that follow one another, and of others that they name; each is made once."""

    def __init__(self, search: Search[Any], rows: I64, *others: I64) -> None:
        self._first, self._count = (int(rows[0]) if len(rows) else 0), len(rows)
        outside = np.concatenate([other[~self._inside(other)] for other in others])
        self._outside = np.unique(outside)
        self._ids = search.named(np.concatenate([rows, self._outside]))

    def of(self, rows: I64) -> pa.Array:
        """The ids of rows; null of those under 0."""
        places = np.where(
            self._inside(rows), rows - self._first, self._count + np.searchsorted(self._outside, rows)
        )
        return self._ids.take(pa.array(places, mask=rows < 0))

    def _inside(self, rows: I64) -> Bools:
        inside: Bools = (rows >= self._first) & (rows < self._first + self._count)
        return inside


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
        return priorities(rows, arrival=collection.arrival)
    if policy == "longest":
        return priorities(rows, values=pa.array(collection.text_bytes))
    return priorities(rows, values=collection.extra_values())


def kept_as_arrived(collection: Collection, assignment: Assignment) -> Bools:
    """Which rows of a collection are kept, in the order they arrived."""
    kept = assignment.kept[: collection.rows]
    if collection.arrival is None:
        return kept
    arrived = np.empty(collection.rows, np.bool_)
    arrived[collection.arrival] = kept
    return arrived
