"""Which row of a cluster is kept: the first, the longest, or the one with the most of something."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import OptionError, SourceError
from lookalike.types import I64, U32

#: Types of values of which one is the greatest; true is greater than false.
_ORDERED = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_temporal,
    pa.types.is_boolean,
)


def parse_keep(keep: str) -> tuple[str, str | None]:
    """Read a keep policy: its name, and the column it looks at if any.

    Examples
    --------
    >>> parse_keep("max:stars")
    ('max', 'stars')
    """
    name, _, column = keep.partition(":") if isinstance(keep, str) else ("", "", "")
    if name in ("first", "longest") and not column:
        return name, None
    if name == "max" and column:
        return name, column
    raise OptionError(f"keep={keep!r} is not understood: write first, longest, or max:COLUMN")


def priorities(rows: I64 | U32, *, arrival: I64 | U32 | None = None, values: pa.Array | None = None) -> U32:
    """Each row's place in the order of preference, 0 for the row anyone would keep first.

    `rows` are row numbers in id order. `arrival` prefers what came first; `values` prefers what is greatest,
    nulls and NaN last, ties by id.
    """
    if values is None:
        wish = rows if arrival is None else arrival
        if np.all(wish[1:] > wish[:-1]):
            return np.arange(len(rows), dtype=np.uint32)
        order = np.argsort(wish, kind="stable")
    else:
        if not any(kind(values.type) for kind in _ORDERED):
            raise SourceError(_unordered(values))
        if pa.types.is_floating(values.type):
            # NaN says as little about a row as null, and Arrow would prefer it.
            values = pc.if_else(pc.is_nan(values), None, values)
        table = pa.table({"value": values, "row": pa.array(rows)})
        keys = [("value", "descending"), ("row", "ascending")]
        order = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)
    places = np.empty(len(rows), np.uint32)
    places[order] = np.arange(len(rows), dtype=np.uint32)
    return places


def _unordered(values: pa.Array) -> str:
    wrong = f"keep=max needs a column of numbers, dates or booleans, not of {values.type}"
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        wrong += (
            "; text may stand for such if all of it does: numbers, true and false, or dates such as "
            "2026-01-31 or 2026-01-31T12:00:00Z, with a zone in all or in none"
        )
    return wrong
