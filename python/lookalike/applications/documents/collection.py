"""A source, held: its texts as a table in id order, and what is needed to name rows again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.batching import batch_bytes_of
from lookalike.applications.too_large import called
from lookalike.engines import Aside, Engine, Origin, Table, renumbered
from lookalike.engines.spill import in_order
from lookalike.errors import SourceError
from lookalike.io import Source, as_ordered, as_values, ascend
from lookalike.joins.glanced import Glanced, Glancing
from lookalike.runs.watch import Watch
from lookalike.types import I64, U32, concatenate

#: What the driver comes to hold of a row, ids aside: its size, flags and representative, and the numbers of
#: its cluster. About as much again while these are made is taken from what verbs have, of which none is at
#: work then.
_DRIVER_BYTES = 32

_SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, kw_only=True, eq=False)
class Collection:
    """The rows of one source.

    `arrival[row]` is where the row of a number arrived, None if each arrived in its place; rows are numbered
    in id order, so that no result depends on how they arrived. The driver holds 4 or 8 bytes a row, and ids
    if there are any; `aside` counts what it will come to hold. `glanced` is a sample, if one was kept.
    """

    source: Source
    table: Table
    arrival: U32 | None
    text_bytes: U32 | I64
    extra: pa.ChunkedArray | None
    aside: Aside
    glanced: Glanced | None = None

    @property
    def rows(self) -> int:
        """How many rows were read."""
        return self.table.rows

    @property
    def order(self) -> U32:
        """Where the row of each number arrived, written out."""
        return np.arange(self.rows, dtype=np.uint32) if self.arrival is None else self.arrival

    @property
    def starts(self) -> I64:
        """Where the first row of each file arrived, and how many rows did."""
        return self.source.layout.starts

    def ids(self, rows: I64) -> pa.Array:
        """The user ids of row numbers."""
        return self.source.ids(rows if self.arrival is None else self.arrival[rows].astype(np.int64))

    def extra_values(self) -> pa.Array | None:
        """The extra column, in id order."""
        if self.extra is None:
            return None
        taken = self.extra if self.arrival is None else self.extra.take(pa.array(self.arrival))
        return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken

    def text(self, row: int) -> str:
        """The text of one row."""
        return self.texts(np.array([row]))[0]

    def texts(self, rows: I64) -> list[str]:
        """The texts of a few rows, found in one passage."""
        arrived = rows if self.arrival is None else self.arrival[rows].astype(np.int64)
        starts = np.cumsum([0, *(piece.num_rows for piece in self.table.batches.pieces)])
        places = np.searchsorted(starts, arrived, side="right") - 1
        touched = np.unique(places)
        found: dict[int, str] = {}
        batches = in_order(self.table.batches.pieces[place] for place in touched.tolist())
        for place, batch in zip(touched.tolist(), batches, strict=True):
            for row in arrived[places == place].tolist():
                found[row] = batch["text"][row - int(starts[place])].as_py()
        return [found[row] for row in arrived.tolist()]


def collect(
    source: Source,
    engine: Engine,
    watch: Watch,
    *,
    extra: str | None = None,
    first_row: int = 0,
    again: bool = False,
    seed: int | None = None,
) -> Collection:
    """Read a source and number its rows from `first_row` in id order.

    With `again`, texts that do not fit memory stay where they are if reading them again is fast.
    With a `seed`, a sample by that hash is kept on the way, unless all texts are in memory anyway.
    """
    sizes: list[U32 | I64] = []
    extras: list[pa.Array] = []
    aside = engine.set_aside()
    source.room, source.threads = engine.stage_bytes, engine.threads
    batch_bytes = batch_bytes_of(engine)
    glancing = None if seed is None or source.in_memory else Glancing(seed, engine.stage_bytes)

    def numbered() -> Iterator[pa.RecordBatch]:
        row = first_row
        for batch in source.scan(batch_bytes):
            sizes.append(_narrow(pc.binary_length(batch["text"]).to_numpy()))
            if extra is not None:
                # By position: the column may be called like the text or the id.
                extras.append(batch.columns[-1])
            aside.grow(_DRIVER_BYTES * len(batch) + (batch["id"].nbytes if "id" in batch.schema.names else 0))
            rows = np.arange(row, row + len(batch), dtype=np.int64)
            texts = pa.record_batch([pa.array(rows), batch["text"]], schema=_SCHEMA)
            if glancing is not None:
                glancing.add(texts)
            yield texts
            row += len(batch)
            advance(len(batch))

    with watch.stage("read", unit="documents") as advance:
        # Numbered as they arrive.
        with called(lambda row: source.ids(np.array([row - first_row]))[0]):
            table = engine.scan(
                numbered(),
                _SCHEMA,
                lasting=source.in_memory,
                expected=source.least_bytes,
                again=Texts(source, batch_bytes) if again and source.can_scan_on() else None,
            )
        order = _id_order(source, table.rows)
        numbers = None
        if order is not None:
            numbers = np.empty(table.rows, np.uint32)
            numbers[order] = np.arange(first_row, first_row + table.rows, dtype=np.uint32)
            table = renumbered(table, numbers) or engine.map(table, Renumber(numbers, first_row))
        glanced = None if glancing is None else glancing.kept(engine, table, numbers, first_row)
    text_bytes = concatenate(sizes, max((part.dtype for part in sizes), default=np.uint32))
    sizes.clear()
    return Collection(
        source=source,
        table=table,
        arrival=order,
        text_bytes=text_bytes if order is None else text_bytes[order],
        extra=None if extra is None else as_values(pa.chunked_array(extras)),
        aside=aside,
        glanced=glanced,
    )


@dataclass(frozen=True, eq=False)
class Texts(Origin):
    """The texts of a source, read again."""

    source: Source
    batch_bytes: int

    def read(self, start: int) -> Iterator[pa.RecordBatch]:
        """The texts from a row on, as they arrived."""
        return (batch.select(["text"]) for batch in self.source.scan_from(start, self.batch_bytes))

    def begins(self, row: int) -> int:
        """The beginning of the file that holds a row."""
        return self.source.scan_begins(row)


@dataclass(frozen=True, eq=False)
class Renumber:
    """A stage: rows numbered as they arrived, from `first` on → rows with these numbers."""

    light: ClassVar[bool] = True

    numbers: U32
    first: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = self.numbers[batch["row"].to_numpy() - self.first].astype(np.int64)
        return pa.record_batch([pa.array(rows), batch["text"]], schema=_SCHEMA)


def _narrow(sizes: I64) -> U32 | I64:
    """In half the bytes, unless there is a text of 4 GiB."""
    return sizes if len(sizes) and sizes.max() >= 2**32 else sizes.astype(np.uint32)


def _id_order(source: Source, read: int) -> U32 | None:
    """Rows as they arrived, in the order of their ids; None if they arrived in it, or have no other."""
    if read >= 2**32 - 1:
        raise SourceError(f"{read:,} rows are more than one run can tell apart: at most 4,294,967,294")
    if source.layout.ids is None:
        return None
    ids = as_ordered(source.layout.ids)
    if ascend(ids):
        return None
    order: U32 = pc.sort_indices(ids).to_numpy().astype(np.uint32)
    return None if np.array_equal(order, np.arange(read, dtype=np.uint32)) else order
