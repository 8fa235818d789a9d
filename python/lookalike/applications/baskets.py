"""What is bought together: pairs of items that are in many baskets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, LocalEngine
from lookalike.errors import OptionError, SourceError
from lookalike.joins.baskets import BasketAccount, Method, together
from lookalike.runs.watch import Watch
from lookalike.types import Tabular

#: Baskets of a batch: some megabytes.
_AT_ONCE = 1 << 14


class FrequentPairs(Tabular):
    """Pairs of items `a` < `b` and in how many baskets (`count`), most frequent first, then by item."""

    _names = ("frequent pair", "frequent pairs")

    def __init__(self, table: pa.Table, account: BasketAccount) -> None:
        super().__init__(table)
        #: What was counted on the way.
        self.account = account


def frequent_pairs(
    baskets: Any,
    *,
    support: int | float,
    method: Method = "pcy",
    buckets: int = 1 << 20,
    engine: Engine | None = None,
    watch: Watch | None = None,
) -> FrequentPairs:
    """Find all pairs of items that are in many baskets together.

    Parameters
    ----------
    baskets
        Collections of integers or of strings, or an Arrow list array. An item counts once a basket.
    support
        In how many baskets at least; a float is a fraction of them.
    method
        `pcy` or `apriori`: the same answer, and `account.counted` says how many pairs each had to count.
    buckets
        Of `pcy`: 4 bytes each. The more there are, the fewer pairs are counted in vain; rounded up to a
        power of two.

    Examples
    --------
    >>> frequent_pairs([["milk", "bread", "beer"], ["bread", "milk"], ["beer", "bread"]], support=2)
    2 frequent pairs
    a      b      count
    beer   bread  2
    bread  milk   2
    """
    if method not in ("apriori", "pcy"):
        raise OptionError(f"method={method!r} is unknown: choose apriori or pcy")
    if isinstance(buckets, bool) or not isinstance(buckets, int) or not 2 <= buckets <= 1 << 32:
        raise OptionError(f"buckets={buckets!r} is out of range: 2 to 2³²")
    engine = engine or LocalEngine()
    column = _list_column(baskets)
    schema = pa.schema([("items", column.type)])
    batches = (pa.record_batch([piece], schema) for piece in _pieces(column))
    found = together(
        engine.scan(batches, schema),
        support=_least(support, len(column)),
        method=method,
        bits=(buckets - 1).bit_length(),
        engine=engine,
        watch=watch or Watch(),
    )
    # Items are numbered in their order, so numbers sort as items do.
    order = np.lexsort((found.b, found.a, -found.count))
    a, b = (found.items.take(pa.array(numbers[order])) for numbers in (found.a, found.b))
    return FrequentPairs(pa.table({"a": a, "b": b, "count": found.count[order]}), found.account)


def _least(support: int | float, baskets: int) -> int:
    """The support as a number of baskets."""
    if isinstance(support, float) and 0 < support < 1:
        return max(1, int(np.ceil(support * baskets)))
    if isinstance(support, int) and not isinstance(support, bool) and support >= 1:
        return support
    raise OptionError(
        f"support={support!r} is out of range: a number of baskets, 1 or more, or a fraction between 0 and 1"
    )


def _list_column(baskets: Any) -> pa.ChunkedArray:
    """Baskets as lists of integers or strings, none of them null."""
    if isinstance(baskets, pa.Array):
        baskets = pa.chunked_array([baskets])
    if not isinstance(baskets, pa.ChunkedArray):
        baskets = pa.chunked_array([_from_collections(baskets)])
    if pa.types.is_list(baskets.type):
        baskets = baskets.cast(pa.large_list(baskets.type.value_type))
    if not pa.types.is_large_list(baskets.type):
        raise SourceError(f"baskets must be Arrow lists, not {baskets.type}: one list of items a basket")
    kind = baskets.type.value_type
    if pa.types.is_null(kind):
        # Nothing but empty baskets.
        return baskets.cast(pa.large_list(pa.int64()))
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise SourceError(f"baskets must hold integers or strings, not {kind}")
    if baskets.null_count or any(chunk.values.null_count for chunk in baskets.chunks):
        raise SourceError("a basket or an item is null: leave it out, or give it a value of its own")
    return baskets


def _from_collections(baskets: Any) -> pa.Array:
    if not isinstance(baskets, Iterable) or isinstance(baskets, str | bytes):
        raise SourceError(f"{baskets!r:.40} holds no baskets: give a list of lists of integers or of strings")
    rows = []
    for number, basket in enumerate(baskets):
        if isinstance(basket, str | bytes) or not isinstance(basket, Iterable):
            raise SourceError(
                f"basket {number} is {basket!r:.40}, not a collection: give a list of integers or of strings"
            )
        rows.append(list(basket))
    try:
        array = pa.array(rows)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError) as reason:
        raise SourceError(f"baskets must hold integers of 64 bits or strings, not both: {reason}") from None
    return array.cast(pa.large_list(pa.int64())) if pa.types.is_null(array.type) else array


def _pieces(column: pa.ChunkedArray) -> Iterable[pa.Array]:
    for chunk in column.chunks:
        for start in range(0, len(chunk), _AT_ONCE):
            yield chunk.slice(start, _AT_ONCE)
