"""Found pairs as tables of the engine: 16 bytes each, in memory or on disk.

`pair` is both row numbers as one, the first in its upper half, so pairs stand in order of `a`, then `b`, when
they stand in order of it; `value` is what is between them, a similarity or a distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike.bands import packed, rows_of
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table
from lookalike.types import F64, I64, U32


def pair_table(a: I64 | U32, b: I64 | U32, value: npt.NDArray[Any]) -> Table:
    """Pairs that the driver has, as they stand."""
    return Table.of(pair=packed(a, b), value=value)


def sorted_pairs(engine: Engine, pairs: Table, value: str = "similarity") -> Table:
    """Pairs of row numbers `a` and `b`, in any order, as a table of pairs; `value` is a column's name."""
    return engine.sort(engine.map(pairs, AsPairs(value)), ("pair",))


def distinct_pairs(engine: Engine, pairs: Table, most: int) -> Table:
    """A table of pairs of which none is there more than `most` times, each once and in order."""
    return engine.sort(engine.group(pairs, "pair", FirstOfEach(), most=most), ("pair",))


def nothing_found() -> Table:
    """A table of no pairs."""
    none: I64 = np.empty(0, np.int64)
    return pair_table(none, none, np.empty(0, np.float64))


def nearest_to(pairs: Table, threshold: float, count: int) -> tuple[I64, I64, F64]:
    """So many pairs whose values are nearest to a threshold, each once; of equally near ones the first."""
    nearest = nothing_found().batches[0]
    for batch in pairs.batches:
        pair, first = np.unique(_both(nearest, batch, "pair"), return_index=True)
        value = _both(nearest, batch, "value")[first]
        chosen = np.lexsort((pair, np.abs(value - threshold)))[:count]
        nearest = pa.record_batch({"pair": pa.array(pair[chosen]), "value": pa.array(value[chosen])})
    return columns_of(Table((nearest,), nearest.schema))


def _both(one: pa.RecordBatch, other: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    return np.concatenate([one[name].to_numpy(), other[name].to_numpy()])


def columns_of(pairs: Table) -> tuple[I64, I64, F64]:
    """Both rows of every pair and its value, brought to the driver."""
    a, b = rows_of(pairs.column("pair"))
    return a.astype(np.int64), b.astype(np.int64), pairs.column("value")


class OfPairs:
    """What holds a table of pairs, `near`, and brings its columns to the driver where they are asked for."""

    near: Table

    @property
    def columns(self) -> tuple[I64, I64, F64]:
        """Both rows of every pair and its value."""
        return columns_of(self.near)

    @property
    def a(self) -> I64:
        """The first row of every pair."""
        return self.columns[0]

    @property
    def b(self) -> I64:
        """The second row of every pair."""
        return self.columns[1]

    @property
    def similarity(self) -> F64:
        """The value of every pair."""
        return self.columns[2]


@dataclass(frozen=True)
class AsPairs:
    """A stage: `a`, `b` and a column → `pair` and `value`."""

    light: ClassVar[bool] = True

    value: str

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        pair = packed(batch["a"].to_numpy(), batch["b"].to_numpy())
        return pa.record_batch({"pair": pa.array(pair), "value": batch[self.value]})


@dataclass(frozen=True, eq=False)
class Numbered:
    """A stage: pairs by numbers that others gave the rows → by the rows' own, which rise alike."""

    light: ClassVar[bool] = True

    numbers: I64

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b = rows_of(batch["pair"].to_numpy())
        pair = packed(self.numbers[a], self.numbers[b])
        return pa.record_batch({"pair": pa.array(pair), "value": batch["value"]})


@dataclass(frozen=True)
class FirstOfEach:
    """A stage over grouped pairs: each once."""

    light: ClassVar[bool] = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.take(pa.array(run_starts(batch["pair"].to_numpy())[:-1]))


@dataclass(frozen=True)
class Reaching:
    """A stage: keeps pairs whose value reaches a threshold, or those that fall short."""

    light: ClassVar[bool] = True

    threshold: float
    short: bool = False

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        reached = batch["value"].to_numpy() >= self.threshold
        plain = batch.select(["pair", "value"])
        wanted = ~reached if self.short else reached
        return plain if wanted.all() else plain.filter(pa.array(wanted))


def by_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A stage: pairs → `a`, `b` and `value`, as those want them who look rows up."""
    a, b = rows_of(batch["pair"].to_numpy())
    return pa.record_batch({"a": pa.array(a), "b": pa.array(b), "value": batch["value"]})
