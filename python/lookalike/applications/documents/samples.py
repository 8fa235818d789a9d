"""Pairs near the threshold, on both sides of it, with their texts: what a person looks at to judge it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection
from lookalike.applications.documents.join import Search, name_of
from lookalike.applications.documents.options import PairOptions
from lookalike.applications.too_large import called
from lookalike.joins.pair_tables import nearest_to, nothing_found, pair_table
from lookalike.types import I64

#: Pairs kept a side, and how much of each text.
PAIRS = 50
CHARACTERS = 4000


def near_threshold(search: Search[Any], options: PairOptions) -> pa.Table:
    """The pairs least over the threshold and those least under it, with texts and `side`."""
    joined = search.joined
    over = nearest_to(joined.near, options.threshold, PAIRS)
    with called(partial(name_of, search.collections)):
        below = nothing_found() if joined.under is None else pair_table(*joined.under(PAIRS))
    under = nearest_to(below, options.threshold, PAIRS)
    a, b, similarity = (np.concatenate(columns) for columns in zip(over, under, strict=True))
    texts = [text[:CHARACTERS] for text in _texts(search.collections[0], np.concatenate([a, b]))]
    return pa.table(
        {
            "a": search.named(a),
            "b": search.named(b),
            options.column: pa.array(similarity),
            "side": pa.array(["over"] * len(over[0]) + ["under"] * len(under[0]), pa.string()),
            "text_a": pa.array(texts[: len(a)], pa.large_string()),
            "text_b": pa.array(texts[len(a) :], pa.large_string()),
        }
    )


def _texts(collection: Any, rows: I64) -> list[str]:
    # Together where that is less to read.
    if isinstance(collection, Collection):
        return collection.texts(rows)
    return [collection.text(int(row)) for row in rows]
