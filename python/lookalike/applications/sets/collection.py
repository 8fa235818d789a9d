"""Sets, read and held: a table in id order, and what is needed to name them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.batching import batch_bytes_of
from lookalike.applications.sets.beside import Look, check_beside
from lookalike.applications.sets.edges import sets_of_edges
from lookalike.applications.sets.opening import OpenSets, open_sets
from lookalike.applications.sets.reading import SetInput
from lookalike.applications.sets.stages import SETS, LineSets, ListSets, Renumber
from lookalike.applications.too_large import called
from lookalike.engines import Engine, Stage, Table
from lookalike.errors import EmptySourceError, MalformedRowError, OptionError
from lookalike.io import Source, check_unique, id_order
from lookalike.io.matrices import read_matrix
from lookalike.measures.sets import as_sets
from lookalike.runs.watch import Watch
from lookalike.types import I64, Kinds, list_buffers

#: Sets of a batch, of those that were in memory already.
_BATCH_ROWS = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class SetCollection:
    """The sets of one source, numbered in the order of their ids."""

    table: Table
    names: Callable[[I64], pa.Array]
    source: Source | None = None
    kinds: Kinds = field(default_factory=Kinds)

    @property
    def rows(self) -> int:
        """How many sets there are."""
        return self.table.rows

    @property
    def elements(self) -> int:
        """How many elements they hold together."""
        return sum(_held(batch) for batch in self.table.batches)

    def ids(self, rows: I64) -> pa.Array:
        """The user ids of row numbers."""
        return self.names(rows)


def collect_sets(given: Sequence[Any], engine: Engine, watch: Watch, *, seed: int = 0) -> list[SetCollection]:
    """Read one collection of sets, or two that can be compared, and number both in one row."""
    collections: list[SetCollection] = []
    for one in given:
        before = sum(collection.rows for collection in collections)
        collections.append(_collected(one, engine, watch, seed, before, beside=len(given) > 1))
    check_beside(given, [collection.kinds for collection in collections])
    return collections


def _collected(
    given: Any, engine: Engine, watch: Watch, seed: int, first_row: int, *, beside: bool
) -> SetCollection:
    with watch.stage("read", unit="sets") as advance:
        collection = _collect(given, engine, advance, seed, first_row, beside)
    if not collection.rows:
        raise EmptySourceError("there is nothing to read: the input has no sets")
    return collection


def _collect(
    given: Any, engine: Engine, advance: Callable[[int], None], seed: int, first_row: int, beside: bool
) -> SetCollection:
    if isinstance(given, SetInput):
        given = open_sets(given)
    if not isinstance(given, OpenSets):
        return _in_memory(given, engine, seed, first_row)
    asked, source = given.given, given.source
    if asked.weight is not None:
        raise OptionError(
            f"weight={asked.weight!r} counts only by weight: choose measure='weighted-jaccard' or"
            " measure='weighted-cosine', or leave it out"
        )
    if source is None:
        return _in_memory(read_matrix(asked.paths[0]), engine, seed, first_row, sets=asked.of or "rows")
    source.room = engine.stage_bytes
    look = Look(asked, on=beside)
    if asked.form == "edges":
        held = engine.scan(told(look.at(source.scan(batch_bytes_of(engine))), advance), source.schema)
        table, ids = sets_of_edges(held, engine, least=asked.least_rating, seed=seed, first_row=first_row)
        return SetCollection(
            table=table, names=lambda rows: ids.take(pa.array(rows)), source=source, kinds=look.kinds
        )
    if asked.form == "lists":
        return row_by_row(source, ListSets(seed), engine, advance, first_row, look=look)
    stage = LineSets(asked.separator, asked.id == "first", seed)
    return row_by_row(source, stage, engine, advance, first_row, look=look, named=stage.first)


def _in_memory(given: Any, engine: Engine, seed: int, first_row: int, sets: str = "rows") -> SetCollection:
    held = as_sets(given, seed=seed, sets=sets)
    lists, rows = held.to_arrow(), np.arange(first_row, first_row + len(held), dtype=np.int64)
    pieces = (
        pa.record_batch([pa.array(rows[at : at + step]), lists.slice(at, step)], schema=SETS)
        for step in [_BATCH_ROWS * engine.threads]
        for at in range(0, len(held), step)
    )
    return SetCollection(table=engine.scan(pieces, SETS), names=pa.array, kinds=held.kinds)


def row_by_row(
    source: Source,
    stage: Stage,
    engine: Engine,
    advance: Callable[[int], None],
    first_row: int,
    *,
    look: Look,
    named: bool = False,
    sets: pa.Schema = SETS,
) -> SetCollection:
    """A set a row of the source, in the columns of `sets`. Rows go by their ids, else as they arrive."""
    schema = pa.schema([("row", pa.int64()), source.schema.field(0)])
    numbered = _numbered(schema, look.at(source.scan(batch_bytes_of(engine))))
    with called(lambda row: source.ids(np.array([row]))[0]):
        table = engine.map(engine.scan(told(numbered, advance), schema), stage)
    ids = _names(table, source) if named else source.layout.ids
    numbers = np.arange(table.rows, dtype=np.int64)
    order = numbers
    if ids is not None:
        order = id_order(ids)
        numbers = np.empty_like(order)
        numbers[order] = np.arange(len(order))

    def names(rows: I64) -> pa.Array:
        arrived = order[rows]
        return _taken(ids, arrived) if ids is not None else source.ids(arrived)

    renumbered = engine.map(table, Renumber(numbers + first_row, sets))
    return SetCollection(table=renumbered, names=names, source=source, kinds=look.kinds)


def _numbered(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        rows = np.arange(done, done + len(batch), dtype=np.int64)
        yield pa.record_batch([pa.array(rows), batch.column(0)], schema=schema)
        done += len(batch)


def _names(table: Table, source: Source) -> pa.ChunkedArray:
    """The ids that lines begin with, in the order they arrived."""
    ids = pa.chunked_array([batch["id"] for batch in table.batches], pa.large_string())

    def place(row: int) -> str:
        return str(source.ids(np.array([row]))[0])

    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null().to_numpy())[0])
        raise MalformedRowError(f"{place(row)}: a blank line has no first token to be its id: name the set")
    check_unique(ids, place=place)
    return ids


def _taken(ids: pa.ChunkedArray, rows: I64) -> pa.Array:
    taken = ids.take(pa.array(rows)).combine_chunks()
    return taken.chunk(0) if isinstance(taken, pa.ChunkedArray) else taken


def told(batches: Iterator[pa.RecordBatch], advance: Callable[[int], None]) -> Iterator[pa.RecordBatch]:
    """The batches, each told of as it comes."""
    for batch in batches:
        advance(len(batch))
        yield batch


def _held(batch: pa.RecordBatch) -> int:
    offsets = list_buffers(batch["elements"])[1]
    return int(offsets[-1] - offsets[0])
