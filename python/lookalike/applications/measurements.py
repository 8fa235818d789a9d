"""Items with many measurements, such as faces: matched where enough of these are close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.measurement_tables import (
    MeasurementMethod,
    MeasurementOptions,
    account_of,
    checked_method,
    join_measurements,
)
from lookalike.applications.pair_rows import PairRows
from lookalike.engines import Engine, Table, engine_of
from lookalike.errors import EmptySourceError, OptionError, SourceError
from lookalike.families import Ranges
from lookalike.io import check_unique
from lookalike.joins.expand import Classes, Copies, checked_copies, most_from_copies, with_copies
from lookalike.joins.ranges import range_join
from lookalike.keywords import suggesting
from lookalike.measures.closeness import as_measurements, checked_share, checked_within, close_share
from lookalike.runs.watch import Watch
from lookalike.theory import Choice
from lookalike.theory.ranges import checked_recall
from lookalike.types import I64, Pairs, Tabular
from lookalike.wording import several

#: Items of a batch: small enough that all threads have work.
_BATCH_ROWS = 8192


class Matches(Tabular):
    """Items that match a probe, the best first: `id` and the `share` of measurements that are close."""

    _names = ("match", "matches")


class Gallery:
    """Many items, held by their range buckets, to look one up among them.

    A probe is compared with every item that shares one of its buckets, and with no others.

    Parameters
    ----------
    items
        A matrix or list of rows, a row of measurements an item.
    ranges
        How they are put in buckets.
    ids
        What items are called, each differently; numbers from 0 by default.

    Examples
    --------
    >>> faces = [[61, 34, 47, 29], [58, 39, 44, 31], [70, 30, 52, 27]]
    >>> ranges = Ranges(dimensions=4, width=6, margin=2, rows=2, tables=4)
    >>> Gallery(faces, ranges=ranges, ids=["ann", "bob", "cid"]).match([60, 34, 48, 35], within=1, share=0.75)
    1 match
    id   share
    ann  0.7500
    """

    def __init__(self, items: Any, *, ranges: Ranges, ids: Sequence[Any] | None = None) -> None:
        self.ranges = _checked_ranges(ranges)
        self._values = as_measurements(items, ranges.dimensions)
        self._ids = pa.array(np.arange(len(self))) if ids is None else _checked_ids(ids, len(self))
        keys, rows = ranges.keys(self._values)
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], rows[order]

    def __len__(self) -> int:
        return len(self._values)

    def candidates(self, probe: Sequence[float]) -> I64:
        """The rows of the items that share a bucket with a probe."""
        keys = np.unique(self.ranges.keys([probe])[0])
        first, last = (np.searchsorted(self._keys, keys, side=side) for side in ("left", "right"))
        found = [self._rows[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return np.unique(np.concatenate(found)).astype(np.int64)

    def match(self, probe: Sequence[float], *, within: Any, share: float) -> Matches:
        """The candidates that differ from the probe by at most `within` in enough positions, a `share`."""
        rows = self.candidates(probe)
        shares = np.asarray(
            close_share(self._values[rows], probe, checked_within(within, self.ranges.dimensions))
        )
        enough = shares >= checked_share(share)
        rows, shares = rows[enough], shares[enough]
        order = np.lexsort((rows, -shares))
        return Matches(
            pa.table({"id": self._ids.take(pa.array(rows[order])), "share": pa.array(shares[order])})
        )


@suggesting()
def similar_measurements(
    items: Any,
    other: Any = None,
    *,
    within: Any,
    share: float,
    ranges: Ranges | None = None,
    recall: float = 0.95,
    method: MeasurementMethod = "auto",
    copies: Copies | None = None,
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Pairs:
    """Find pairs of items that share a range bucket and are close in enough of their measurements.

    Every pair was checked. Pairs that share no bucket are missed: at most 1 − `recall` of those that are
    close in exactly a `share` of their measurements, and fewer of the others (`Ranges.planned`). Of other
    `ranges`, `ranges.law` and its ANDs and ORs say how often that happens by how far values are apart.
    `method="exact"` misses none, and mostly looks at more pairs (`Ranges.exact`); `"lsh"` plans ranges for
    `recall`; `"auto"` takes what is expected to cost less, with something to spare for `"exact"`, and
    `account.choice` says why. With `other`, pairs go from an item of the first collection to one of the
    second. `similarity` is the share of measurements that differ by at most `within`, a number or one for
    each measurement. `threads` and `memory` (such as `"4GB"`) say what the search may take, and change
    nothing else.

    Items with the same measurements are pairs like others. By default, over 100 million pairs that only such
    copies make are an error, unless `copies="all"` is written out; `copies="stars"` lists each copy once.

    Examples
    --------
    >>> ranges = Ranges(dimensions=3, width=10, margin=2, rows=1, tables=3)
    >>> similar_measurements([[1, 2, 3], [50, 60, 70], [2, 2, 9]], ranges=ranges, within=1, share=0.6)
    1 pair
    a  b  similarity
    0  2  0.6667
    """
    first = as_measurements(items)
    if not first.shape[1]:
        raise EmptySourceError("there is nothing to read: the input has no measurements")
    if ranges is None:
        checked_recall(recall, method=method)
    if checked_method(method) == "exact" and ranges is not None:
        raise OptionError("method='exact' has ranges of its own: leave out ranges, or the method")
    if ranges is not None:
        ranges = _checked_ranges(ranges)
    options = MeasurementOptions(within=within, threshold=share, recall=recall, method=method)
    if ranges is None:
        options.ranges(first.shape[1])
    dimensions = first.shape[1] if ranges is None else ranges.dimensions
    collections = [as_measurements(given, dimensions) for given in (first, other) if given is not None]
    values = np.concatenate(collections)
    boundary = len(collections[0]) if len(collections) == 2 else None
    copies, watch = checked_copies(copies), Watch()
    most = most_from_copies(copies)
    engine = engine_of(engine, threads, memory)
    table = _table(values, engine)
    if ranges is None:
        found, account = join_measurements(
            table, options, boundary=boundary, most_from_copies=most, engine=engine, watch=watch
        )
    else:
        found = range_join(
            table,
            ranges=ranges,
            within=checked_within(within, dimensions),
            share=checked_share(share),
            boundary=boundary,
            most_from_copies=most,
            engine=engine,
            watch=watch,
        )
        asked = Choice(method="lsh", why="asked for", roads={})
        account = replace(account_of(found, asked, items=len(values), threshold=share), choice=None)
    classes = Classes(representative=found.representative, boundary=boundary)
    pairs = with_copies(found.near, classes, copies, engine=engine, watch=watch)
    return PairRows(
        pairs=pairs, names=(pa.array, pa.array), boundary=boundary, account=account, copies=copies
    ).collected(engine)


def _table(values: Any, engine: Engine) -> Table:
    schema = pa.schema([("row", pa.int64()), ("values", pa.list_(pa.float64(), values.shape[1]))])
    batches = (
        pa.record_batch(
            [
                pa.array(np.arange(at, min(at + _BATCH_ROWS, len(values)))),
                pa.FixedSizeListArray.from_arrays(
                    pa.array(values[at : at + _BATCH_ROWS].ravel()), values.shape[1]
                ),
            ],
            schema=schema,
        )
        for at in range(0, len(values), _BATCH_ROWS)
    )
    return engine.scan(batches, schema)


def _checked_ranges(ranges: Any) -> Ranges:
    if not isinstance(ranges, Ranges):
        raise OptionError(
            f"ranges={ranges!r:.40} says nothing of buckets: give la.Ranges(dimensions=…, width=…), or"
            " la.Ranges.planned(…)"
        )
    return ranges


def _checked_ids(ids: Any, count: int) -> pa.Array:
    """Ids as an Arrow array: as many as there are items, none of them null, each once."""
    try:
        names = pa.array(ids)
    except (TypeError, pa.ArrowInvalid, pa.ArrowTypeError) as reason:
        raise OptionError(f"ids={ids!r:.40} are no ids: give numbers or strings ({reason})") from None
    if len(names) != count:
        raise OptionError(
            f"there are {several(len(names), 'id')} for {several(count, 'item')}: give one for each"
        )
    if names.null_count:
        raise SourceError("an id is null: every item needs one")
    if pa.types.is_nested(names.type):
        raise OptionError(f"ids={ids!r:.40} are no ids: give numbers or strings")
    check_unique(names)
    return names
