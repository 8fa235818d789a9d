"""Pairs just under the threshold, for roads that look at none such themselves.

An exact road turns pairs away before it knows how similar they are. To show what the threshold kept out, a
few rows are drawn by a hash of their content and joined with all, a little below the threshold: every pair of
a drawn row that falls short by less than `MARGIN` is found, and nothing else is claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike.applications.too_large import numbered_anew
from lookalike.engines import Engine, Table
from lookalike.joins import Items
from lookalike.joins.found import Found
from lookalike.joins.joined import MARGIN
from lookalike.joins.sample import least_glances
from lookalike.types import F64, I64

#: Rows drawn at first, and if that gives too few pairs. Few at first: of a crowd of which all are a little
#: under the threshold, every row drawn brings as many pairs as there are rows.
_DRAWN = (64, 4096)


def just_under(
    items: Items, walk: Callable[[Items, float], Found], threshold: float, *, enough: int, engine: Engine
) -> tuple[I64, I64, F64]:
    """Pairs of drawn rows that fall short of the threshold by less than `MARGIN`, sorted, each once.

    `walk` joins two collections at any threshold. More rows are drawn where the first few have not `enough`
    such pairs, up to 4,096.
    """
    under = _of_no_pairs()
    for count in _DRAWN:
        _, rows = least_glances(engine, items, count)
        under = _of(items, np.sort(rows), walk, threshold, engine)
        if len(under[0]) >= enough or len(rows) < count:
            break
    return under


def _of(
    items: Items, drawn: I64, walk: Callable[[Items, float], Found], threshold: float, engine: Engine
) -> tuple[I64, I64, F64]:
    """Of the drawn rows."""
    again = engine.map(items.table, Again(drawn, items.rows))
    both = replace(items, table=Table.together([items.table, again]), boundary=items.rows)
    # Whatever the threshold: pairs that share nothing are never near it.
    with numbered_anew(np.concatenate([np.arange(items.rows), drawn])):
        found = walk(both, max(threshold - MARGIN, threshold / 2))
    a, b, similarity = found.columns
    b = drawn[b - items.rows]
    short = similarity < threshold
    a, b, similarity = np.minimum(a, b)[short], np.maximum(a, b)[short], similarity[short]
    # A pair of which both were drawn has come twice.
    _, once = np.unique(np.stack([a, b]), axis=1, return_index=True)
    return a[once], b[once], similarity[once]


def _of_no_pairs() -> tuple[I64, I64, F64]:
    none: I64 = np.empty(0, np.int64)
    return none, none, np.empty(0, np.float64)


@dataclass(frozen=True, eq=False)
class Again:
    """A stage: keeps the rows drawn, as rows of a second collection from number `first` on."""

    light: ClassVar[bool] = True

    drawn: I64
    first: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = batch["row"].to_numpy()
        places = np.minimum(np.searchsorted(self.drawn, rows), max(0, len(self.drawn) - 1))
        there = self.drawn[places] == rows if len(self.drawn) else np.zeros(len(rows), np.bool_)
        kept = batch.filter(pa.array(there))
        at = kept.schema.get_field_index("row")
        return kept.set_column(at, "row", pa.array(places[there] + self.first))
