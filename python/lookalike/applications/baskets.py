"""What is bought together: pairs of items that are in many baskets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, Table, engine_of
from lookalike.errors import EmptySourceError, OptionError, SourceError
from lookalike.io import OnError
from lookalike.io.columns import is_list, plain_lists
from lookalike.io.setfiles import is_table_file, open_set_lines
from lookalike.joins.baskets import BasketAccount, Method, together
from lookalike.keywords import suggesting
from lookalike.measures.tokens import checked_separator, lists_of_lines
from lookalike.runs.watch import Watch
from lookalike.theory.ranges import whole
from lookalike.theory.shares import least_count
from lookalike.types import Tabular

#: Baskets of a batch: some megabytes.
_AT_ONCE = 1 << 14
_AT_ONCE_BYTES = 4 << 20


class FrequentPairs(Tabular):
    """Pairs of items `a` < `b` and in how many baskets (`count`), most frequent first, then by item."""

    _names = ("frequent pair", "frequent pairs")

    def __init__(self, table: pa.Table, account: BasketAccount) -> None:
        super().__init__(table)
        #: What was counted on the way.
        self.account = account


@suggesting()
def frequent_pairs(
    baskets: Any,
    *,
    support: int | float,
    method: Method = "pcy",
    buckets: int = 1 << 20,
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
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
    threads, memory
        How many threads work (all cores by default), and how much memory they may take above what Python
        needs, such as `"4GB"` (half of what is free by default); more than fits goes to disk. Neither changes
        the result. `engine` is for those who bring their own.

    Examples
    --------
    >>> frequent_pairs([["milk", "bread", "beer"], ["bread", "milk"], ["beer", "bread"]], support=2)
    2 frequent pairs
    a      b      count
    beer   bread  2
    bread  milk   2
    """
    buckets = _checked(method, buckets)
    engine = engine_of(engine, threads, memory)
    column = _list_column(baskets)
    schema = pa.schema([("items", column.type)])
    batches = (pa.record_batch([piece], schema) for piece in _pieces(column))
    return _together(engine.scan(batches, schema), support, method, buckets, engine, watch or Watch())


def frequent_pairs_of_lines(
    inputs: Iterable[str | Path],
    *,
    support: int | float,
    method: Method = "pcy",
    buckets: int = 1 << 20,
    separator: str | None = None,
    on_error: OnError = "raise",
    engine: Engine | None = None,
    watch: Watch | None = None,
) -> FrequentPairs:
    """Find all pairs of items that are in many baskets together, in files with a basket a line.

    Items are what stands between white space, or between separators, as it is written. The files are read
    once; other parameters are those of `frequent_pairs`.

    Raises
    ------
    OptionError
        If a file looks like a table and no separator is given: its rows would be taken for baskets.
    """
    buckets = _checked(method, buckets)
    checked_separator(separator)
    inputs = list(inputs)
    for path in inputs if separator is None else ():
        if is_table_file(path):
            raise OptionError(
                f"{path} looks like a table, and baskets are lines: write a basket a line, or say which "
                "separator stands between the items of a line"
            )
    engine, watch = engine_of(engine), watch or Watch()
    with open_set_lines(inputs, on_error=on_error) as source:
        with watch.stage("read", unit="baskets") as advance:
            lines = engine.scan(_told(source.scan(_AT_ONCE_BYTES), advance), source.schema)
            baskets = engine.map(lines, Split(separator))
        if not baskets.rows:
            raise EmptySourceError("there is nothing to read: the input has no baskets")
        return _together(baskets, support, method, buckets, engine, watch)


@dataclass(frozen=True)
class Split:
    """A stage: lines → the `items` of each."""

    separator: str | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.record_batch({"items": lists_of_lines(batch.column(0), separator=self.separator)})


def _told(batches: Iterator[pa.RecordBatch], advance: Callable[[int], None]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        advance(len(batch))
        yield batch


def _checked(method: str, buckets: int) -> int:
    """The number of buckets, if that and the method are ones."""
    if method not in ("apriori", "pcy"):
        raise OptionError(f"method={method!r} is unknown: choose apriori or pcy")
    number = whole(buckets)
    if number is None or not 2 <= number <= 1 << 32:
        raise OptionError(f"buckets={buckets!r} is out of range: 2 to 2³²")
    return number


def _together(
    baskets: Table, support: int | float, method: Method, buckets: int, engine: Engine, watch: Watch
) -> FrequentPairs:
    found = together(
        baskets,
        support=_least(support, baskets.rows),
        method=method,
        bits=(buckets - 1).bit_length(),
        engine=engine,
        watch=watch,
    )
    # Items are numbered in their order, so numbers sort as items do.
    order = np.lexsort((found.b, found.a, -found.count))
    a, b = (found.items.take(pa.array(numbers[order])) for numbers in (found.a, found.b))
    return FrequentPairs(pa.table({"a": a, "b": b, "count": found.count[order]}), found.account)


def _least(support: int | float, baskets: int) -> int:
    """The support as a number of baskets."""
    if isinstance(support, float) and 0 < support < 1:
        return least_count(support, max(1, baskets))
    number = whole(support)
    if number is not None and number >= 1:
        # No pair is in more baskets than there are, and counts have 64 bits.
        return min(number, 2**63 - 1)
    raise OptionError(
        f"support={support!r} is out of range: a number of baskets, 1 or more, or a fraction between 0 and 1"
    )


def _list_column(baskets: Any) -> pa.ChunkedArray:
    """Baskets as lists of integers or strings, none of them null."""
    if isinstance(baskets, pa.Array):
        baskets = pa.chunked_array([baskets])
    if not isinstance(baskets, pa.ChunkedArray):
        baskets = pa.chunked_array([_from_collections(baskets)])
    if is_list(baskets.type):
        # One list at least, so that there is a type.
        chunks = baskets.chunks or [pa.array([], baskets.type)]
        baskets = pa.chunked_array([plain_lists(chunk) for chunk in chunks])
    else:
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
        try:
            array = pa.array(rows)
        except OverflowError:
            # Over 2⁶³, as 64-bit hashes are; Arrow has to be told.
            array = pa.array(rows, pa.large_list(pa.uint64()))
    except OverflowError as reason:
        raise SourceError(
            f"integers in baskets lie from −2⁶³ to 2⁶³−1, or from 0 to 2⁶⁴−1: {reason}"
        ) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as reason:
        raise SourceError(f"baskets must hold integers of 64 bits or strings, not both: {reason}") from None
    return array.cast(pa.large_list(pa.int64())) if pa.types.is_null(array.type) else array


def _pieces(column: pa.ChunkedArray) -> Iterable[pa.Array]:
    for chunk in column.chunks:
        for start in range(0, len(chunk), _AT_ONCE):
            yield chunk.slice(start, _AT_ONCE)
