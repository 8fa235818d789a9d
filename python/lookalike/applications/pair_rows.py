"""Pairs by row numbers → pairs by user ids, a row group of a file at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.bands import rows_of
from lookalike.charts import numbers
from lookalike.engines import Engine, Table
from lookalike.joins import Account, Joined
from lookalike.joins.expand import Classes, Copies, with_copies
from lookalike.runs.watch import Watch
from lookalike.types import I64, Pairs

#: So many pairs are named at a time.
_NAMED = 1 << 16
#: So many pairs, or so many bytes of them, are a group of a parquet file: a writer takes several times that.
_GROUP_ROWS, _GROUP_BYTES = 1 << 20, 8_000_000

#: The user ids of row numbers of one collection.
Names = Callable[[I64], pa.Array]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairRows:
    """All pairs that a user sees, in order, named when they are asked for.

    Parameters
    ----------
    pairs
        A table of pairs by row numbers, in order (`joins/pair_tables.py`).
    names
        Of the rows on either side. Those of a second collection are numbered from `boundary` on.
    column
        What the third column is called.
    whole
        Whether its values are whole numbers.
    account
        What the join did on the way; None of joins that keep none.
    copies
        Which pairs with exact copies are among them.
    """

    pairs: Table
    names: tuple[Names, Names]
    boundary: int | None = None
    column: str = "similarity"
    whole: bool = False
    account: Account | None = None
    copies: Copies | None = None

    @property
    def in_all(self) -> str:
        """How many there are, in words; empty where exact copies make no difference."""
        if self.account is None or not self.account.copies:
            return ""
        how = "each exact copy once" if self.copies == "stars" else "exact copies among them"
        return f"{numbers.count(len(self))} in all, {how}"

    def __len__(self) -> int:
        return self.pairs.rows

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        nothing: I64 = np.empty(0, np.int64)
        return self._named(nothing, nothing + (self.boundary or 0), np.empty(0)).schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All pairs, as many at a time as a group of a parquet file is to have, however the table is cut."""
        waiting: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in self._even():
            waiting.append(batch)
            rows, size = rows + len(batch), size + batch.nbytes
            if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
                yield pa.concat_batches(waiting)
                waiting, rows, size = [], 0, 0
        if waiting:
            yield pa.concat_batches(waiting)

    def collected(self, engine: Engine) -> Pairs:
        """The pairs as a value of the library; those that do not fit the budget are mapped from disk."""
        return Pairs(engine.hand_over(self.batches(), self.schema), account=self.account)

    def _even(self) -> Iterator[pa.RecordBatch]:
        """All pairs, each time as many but for the last."""
        waiting: list[pa.RecordBatch] = []
        rows = 0
        for batch in self.pairs.batches:
            start = 0
            while rows + len(batch) - start >= _NAMED:
                stop = start + _NAMED - rows
                yield self._batch([*waiting, batch.slice(start, stop - start)])
                waiting, rows, start = [], 0, stop
            if start < len(batch):
                waiting.append(batch.slice(start))
                rows += len(batch) - start
        if rows:
            yield self._batch(waiting)

    def _batch(self, parts: list[pa.RecordBatch]) -> pa.RecordBatch:
        pair, value = (
            np.concatenate([part[name].to_numpy() for part in parts]) for name in ("pair", "value")
        )
        a, b = rows_of(pair)
        return self._named(a.astype(np.int64), b.astype(np.int64), value)

    def _named(self, a: I64, b: I64, value: Any) -> pa.RecordBatch:
        first, second = self.names
        columns = {
            "a": _called(first, a),
            "b": _called(second, b - (self.boundary or 0)),
            self.column: pa.array(value.astype(np.int64) if self.whole else value),
        }
        return pa.record_batch(columns)


def _called(names: Names, rows: I64) -> pa.Array:
    """The ids of rows, each made once where rows repeat."""
    if not len(rows):
        return names(rows)
    least, most = int(rows.min()), int(rows.max())
    if most - least >= len(rows):
        return names(rows)
    return names(np.arange(least, most + 1)).take(pa.array(rows - least))


def pair_rows(
    joined: Joined,
    names: tuple[Names, Names],
    *,
    copies: Copies | None,
    boundary: int | None,
    column: str = "similarity",
    whole: bool = False,
    engine: Engine,
    watch: Watch,
) -> PairRows:
    """Near pairs between representatives, and copies as they are asked for (`with_copies`)."""
    classes = Classes(
        representative=joined.representative,
        own=joined.own,
        boundary=boundary,
        directed=joined.directed,
    )
    pairs = with_copies(joined.near, classes, copies, engine=engine, watch=watch)
    return PairRows(
        pairs=pairs,
        names=names,
        boundary=boundary,
        column=column,
        whole=whole,
        account=joined.account,
        copies=copies,
    )
