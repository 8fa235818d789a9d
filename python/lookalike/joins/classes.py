"""Exact copies and the most similar: found between representatives, handed to every row they stand for.

A class is the rows of one set. A representative's neighbours are classes, which become rows: each class gives
its first few, the best of them are the representative's list, and every row it stands for is handed that list
without itself. 32 bytes a row are with the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Held, Table
from lookalike.joins.best import lines_of, places_in_runs, similarity_of
from lookalike.types import I64, U32, U64, Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Some rows by the class they are in: `rows` from `firsts[c]` on are those of the representative c."""

    rows: I64
    firsts: I64

    @classmethod
    def of(cls, representative: I64, among: Bools) -> Members:
        """Those that are marked; the rows of a class in order."""
        rows = np.flatnonzero(among)
        rows = rows[np.argsort(representative[rows], kind="stable")]
        counts = np.bincount(representative[rows], minlength=len(representative))
        return cls(rows=rows, firsts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))

    def counts(self, classes: I64) -> I64:
        """How many rows classes have here."""
        return self.firsts[classes + 1] - self.firsts[classes]

    def spread(self, classes: I64, counts: I64) -> I64:
        """The first so many rows of each class, one class after the other."""
        before = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(self.firsts[classes] - before, counts)
        rows: I64 = self.rows[places]
        return rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """Whose neighbours are asked for, and who may be one.

    Of two collections, rows of the first ask and rows of the second are offered; of one, all do both. Empty
    rows do neither.
    """

    representative: I64
    asking: Members
    offered: Members
    #: Of one collection, where a row is not its own neighbour.
    within: bool

    @classmethod
    def of(cls, representative: I64, filled: Bools, boundary: int | None) -> Classes:
        """The classes of all rows that hold anything."""
        if boundary is None:
            members = Members.of(representative, filled)
            return cls(representative=representative, asking=members, offered=members, within=True)
        first = np.arange(len(representative)) < boundary
        asking, offered = (Members.of(representative, filled & side) for side in (first, ~first))
        return cls(representative=representative, asking=asking, offered=offered, within=False)

    def first_offered(self, classes: I64) -> I64:
        """The least row that each class offers, by which it is ranked among equals."""
        return self.offered.rows[self.offered.firsts[classes]]

    def own(self) -> pa.RecordBatch:
        """Lines: each class that asks is its own neighbour, if it offers any row but the one that asks."""
        everybody = np.arange(len(self.representative))
        enough = self.offered.counts(everybody) >= (2 if self.within else 1)
        classes = np.flatnonzero(enough & (self.asking.counts(everybody) > 0))
        return lines_of(classes, self.first_offered(classes), np.ones(len(classes)))

    def hand_out(self, engine: Engine, lines: Table, k: int) -> Table:
        """Lines between classes, the k + 1 best of each, best first → lines of every row, the k best.

        One class more than asked for, because a row's own class may have to be left out.
        """
        lists = engine.group(lines, "row", Listed(self, k), order=("unlike", "other"), most=k + 1)
        with_list = np.zeros(len(self.representative), np.bool_)
        with_list[lists.column("row")] = True
        rows = np.sort(self.asking.rows)
        rows = rows[with_list[self.representative[rows]]]
        asked = Table.of(row=rows, list=self.representative[rows])
        return engine.fetch(lists, asked, ("list",), HandOut(k))


@dataclass(frozen=True, eq=False)
class Listed:
    """A stage over the lines of classes: of each its best rows (`others`) and how `unlike` they are."""

    classes: Classes
    k: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        offered = self.classes.offered
        asks, unlike = batch["row"].to_numpy(), batch["unlike"].to_numpy()
        theirs = self.classes.representative[batch["other"].to_numpy()]
        # A row more than asked for: one of them may be the row that asks.
        counts = np.minimum(offered.counts(theirs), self.k + 1)
        others = offered.spread(theirs, counts)
        asks, unlike = np.repeat(asks, counts), np.repeat(unlike, counts)
        order = np.lexsort((others, unlike, asks))
        order = order[places_in_runs(asks[order]) <= self.k]
        starts = pa.array(run_starts(asks[order]))
        return pa.record_batch(
            {
                "row": pa.array(asks[order][run_starts(asks[order])[:-1]].astype(np.int64)),
                "others": pa.LargeListArray.from_arrays(starts, pa.array(others[order].astype(np.uint32))),
                "unlike": pa.LargeListArray.from_arrays(starts, pa.array(unlike[order])),
            }
        )


@dataclass(frozen=True)
class HandOut:
    """A stage for `fetch` from lists: rows and whose list is theirs → the lines of each, without itself."""

    k: int

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        others, unlike, firsts = held.whole(_lists)
        places = held.at(batch["list"].to_numpy()).astype(np.int64)
        counts = np.diff(firsts)[places]
        before = np.cumsum(counts) - counts
        at = np.arange(int(counts.sum())) + np.repeat(firsts[places] - before, counts)
        rows = np.repeat(batch["row"].to_numpy(), counts)
        at, rows = at[others[at] != rows], rows[others[at] != rows]
        wanted = places_in_runs(rows) < self.k
        return lines_of(rows[wanted], others[at[wanted]], similarity_of(unlike[at[wanted]]))


def _lists(batches: Sequence[pa.RecordBatch]) -> tuple[U32, U64, I64]:
    """All lists, one after the other, and where each begins."""
    columns = [
        pa.chunked_array([batch[name] for batch in batches], pa.large_list(kind)).combine_chunks()
        for name, kind in (("others", pa.uint32()), ("unlike", pa.uint64()))
    ]
    others, unlike = (column.flatten().to_numpy() for column in columns)
    lengths = columns[0].value_lengths().to_numpy()
    return others, unlike, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
