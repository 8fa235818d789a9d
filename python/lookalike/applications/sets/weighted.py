"""Weighted sets, read and held: edges with a column of weights, lines of `item:weight`, lists, matrices.

Weights of one element add up from the least to the greatest, wherever its entries lay: so a set is the same
bits in whatever order and pieces it was read. Sets are checked as they are made (`measures.weights`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.batching import batch_bytes_of
from lookalike.applications.sets.beside import Look, check_beside
from lookalike.applications.sets.collection import SetCollection, row_by_row, told
from lookalike.applications.sets.edges import named_sets, rows_without_edges, whole_sets
from lookalike.applications.sets.opening import OpenSets, open_sets
from lookalike.applications.sets.reading import SetInput
from lookalike.applications.too_large import called
from lookalike.engines import Engine, Stage, Table
from lookalike.errors import EmptySourceError
from lookalike.io import Source, Wanted
from lookalike.io.edges import EdgeColumns
from lookalike.io.matrices import read_matrix
from lookalike.measures.tokens import flaws_of_lines, hash_tokens, list_offsets, weights_of_lines
from lookalike.measures.weighted import SCHEMA, weighted_batch, weighted_buffers
from lookalike.measures.weights import as_weighted_sets, canonical_weights, check_weights, checked_sums
from lookalike.runs.watch import Watch
from lookalike.types import F64, I64, U64, WeightedSets, concatenate

#: Sets of a batch, of those that were in memory already.
_BATCH_ROWS = 4096
_SIGN = np.uint64(1 << 63)


def collect_weighted_sets(
    given: Sequence[Any], engine: Engine, watch: Watch, *, signed: bool, seed: int = 0
) -> list[SetCollection]:
    """Read one collection of weighted sets, or two that can be compared, and number both in one row.

    Tables have the columns `row`, `elements` and `weights`. `signed` sets may have weights under 0.
    """
    collections: list[SetCollection] = []
    for one in given:
        before = sum(collection.rows for collection in collections)
        collections.append(_collected(one, engine, watch, signed, seed, before, beside=len(given) > 1))
    check_beside(given, [collection.kinds for collection in collections])
    return collections


def _collected(
    given: Any, engine: Engine, watch: Watch, signed: bool, seed: int, first_row: int, *, beside: bool
) -> SetCollection:
    with watch.stage("read", unit="sets") as advance:
        collection = _collect(given, engine, advance, signed, seed, first_row, beside)
    if not collection.rows:
        raise EmptySourceError("there is nothing to read: the input has no sets")
    return collection


def _collect(
    given: Any,
    engine: Engine,
    advance: Callable[[int], None],
    signed: bool,
    seed: int,
    first_row: int,
    beside: bool,
) -> SetCollection:
    if isinstance(given, SetInput):
        given = open_sets(given)
    if not isinstance(given, OpenSets):
        return _in_memory(given, engine, signed, seed, first_row)
    asked, source = given.given, given.source
    if source is None:
        matrix = read_matrix(asked.paths[0])
        return _in_memory(matrix.T if asked.of == "columns" else matrix, engine, signed, seed, first_row)
    source.room = engine.stage_bytes
    look = Look(asked, on=beside, weighted=True)
    if asked.form == "edges":
        if asked.least_rating is None and isinstance(source.wanted, EdgeColumns):
            # Edges that the rating leaves out may weigh what they want.
            source.read_as(replace(source.wanted, signed=signed))
        held = engine.scan(told(look.at(source.scan(batch_bytes_of(engine))), advance), source.schema)
        table, ids = _weighted_edges(held, engine, asked, signed, seed, first_row)
        return SetCollection(
            table=table, names=lambda rows: ids.take(pa.array(rows)), source=source, kinds=look.kinds
        )
    stage: Stage = BagLists(seed)
    if asked.form == "lines":
        stage = WeightedLines(source, asked.separator, asked.id == "first", signed, seed)
        if source.skips:
            source.read_as(SoundLines(separator=stage.separator, first=stage.first, signed=signed))
    named = isinstance(stage, WeightedLines) and stage.first
    return row_by_row(source, stage, engine, advance, first_row, look=look, named=named, sets=SCHEMA)


def _in_memory(given: Any, engine: Engine, signed: bool, seed: int, first_row: int) -> SetCollection:
    held = as_weighted_sets(given, seed=seed, signed=signed)
    rows = pa.array(np.arange(first_row, first_row + len(held), dtype=np.int64))
    whole = weighted_batch(rows, held)
    pieces = (whole.slice(at, _BATCH_ROWS) for at in range(0, len(held), _BATCH_ROWS))
    return SetCollection(table=engine.scan(pieces, SCHEMA), names=pa.array, kinds=held.kinds)


@dataclass(frozen=True, eq=False)
class WeightedLines:
    """A stage: `row` and a line → `row`, `elements`, `weights`, and `id` if lines begin with theirs."""

    source: Source
    separator: str | None
    first: bool
    signed: bool
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = batch.column(0)

        def name(line: int) -> str:
            file, _, row = str(self.source.ids(np.array([rows[line].as_py()]))[0]).rpartition(":")
            return f"{file}, line {int(row) + 1}"

        elements, offsets, weights, names = weights_of_lines(
            batch.column(1),
            separator=self.separator,
            first=self.first,
            signed=self.signed,
            seed=self.seed,
            name=name,
        )
        sets = canonical_weights(elements, offsets, weights)
        made = weighted_batch(rows, checked_sums(sets, signed=self.signed))
        return made.append_column("id", names) if self.first else made


@dataclass(frozen=True, kw_only=True)
class SoundLines(Wanted):
    """Lines of which those that `WeightedLines` would stop at are flaws: for sources that skip them.

    Where nothing is skipped they are not looked at twice.
    """

    separator: str | None
    first: bool
    signed: bool

    def convert(self, name: str, array: pa.Array, flaws: dict[int, str]) -> pa.Array:
        """Lines as they are."""
        lines = array.cast(pa.large_string()).fill_null("")
        found = flaws_of_lines(lines, separator=self.separator, first=self.first, signed=self.signed)
        for line, why in found.items():
            flaws.setdefault(line, why)
        return array


@dataclass(frozen=True)
class BagLists:
    """A stage: `row` and a list → `row`, `elements` and, as `weights`, how often each is in the list."""

    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        lists = batch.column(1)
        offsets = list_offsets(lists)
        tokens = lists.values.slice(offsets[0], offsets[-1] - offsets[0])
        elements = hash_tokens(tokens, seed=self.seed)
        return weighted_batch(
            batch.column(0), canonical_weights(elements, offsets - offsets[0], np.ones(len(elements)))
        )


def _weighted_edges(
    edges: Table, engine: Engine, asked: SetInput, signed: bool, seed: int, first_row: int
) -> tuple[Table, pa.Array]:
    """The sets of a table of edges in the order of their ids, and the ids; as `edges.sets_of_edges`."""
    ids, keys, order = named_sets(edges, engine, seed)
    hashed = engine.map(edges, WeightedEdgeKeys(asked.least_rating, asked.weight, signed, seed))
    gathered = engine.group(
        hashed, "key", GatherWeights(keys, order + first_row), order=("element", "weight")
    )
    missing = rows_without_edges(gathered, first_row, len(ids))
    empty = WeightedSets(np.empty(0, np.uint64), np.zeros(len(missing) + 1, np.int64), np.empty(0))
    none = weighted_batch(pa.array(missing), empty)
    with called(lambda row: ids[row - first_row]):
        raw = engine.scan(chain(whole_sets(gathered, _one), [none]), SCHEMA)
        return engine.map(raw, AddUp(signed)), ids


@dataclass(frozen=True)
class WeightedEdgeKeys:
    """A stage: an item, its set, and numbers of the edge → the `key` of the set, `element` and `weight`.

    A weight is a whole number here that stands in the order of weights, for the engine to sort by.
    """

    least: float | None
    weight: str | None
    signed: bool
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.least is not None:
            batch = batch.filter(pa.array(batch.column(2).to_numpy() >= self.least))
        weights = np.ones(len(batch))
        if self.weight is not None:
            # A rating comes before the weight, unless it is the weight.
            weights = batch.columns[-1].to_numpy()
            check_weights(weights, signed=self.signed)
        return pa.record_batch(
            {
                "key": pa.array(hash_tokens(batch.column(1), seed=self.seed)),
                "element": pa.array(hash_tokens(batch.column(0), seed=self.seed)),
                "weight": pa.array(_ranked(weights)),
            }
        )


@dataclass(frozen=True, eq=False)
class GatherWeights:
    """A stage for `group`: edges sorted by `key`, `element` and `weight` → `row`, `elements`, `weights`.

    As they are: an element that is there twice is added up when its set is whole.
    """

    keys: U64
    rows: I64

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        key = batch["key"].to_numpy()
        starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else key
        rows = self.rows[np.searchsorted(self.keys, key[starts.astype(np.int64)])]
        offsets = np.append(starts, len(key)).astype(np.int64)
        weights = _unranked(batch["weight"].to_numpy())
        return weighted_batch(pa.array(rows), WeightedSets(batch["element"].to_numpy(), offsets, weights))


@dataclass(frozen=True)
class AddUp:
    """A stage: gathered sets → each element once, its weights added up."""

    signed: bool

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sets = canonical_weights(*weighted_buffers(batch))
        return weighted_batch(batch["row"], checked_sums(sets, signed=self.signed))


def _one(pieces: list[pa.RecordBatch]) -> pa.RecordBatch:
    """A set from its pieces, one behind the other."""
    if len(pieces) == 1:
        return pieces[0]
    parts = [weighted_buffers(piece) for piece in pieces]
    elements = concatenate((part[0] for part in parts), np.uint64)
    weights = concatenate((part[2] for part in parts), np.float64)
    sets = WeightedSets(elements, np.array([0, len(elements)], np.int64), weights)
    return weighted_batch(pieces[0]["row"], sets)


def _ranked(weights: F64) -> U64:
    """Numbers in the order of the weights: the bits of a float, turned over under 0."""
    bits = np.ascontiguousarray(weights).view(np.uint64)
    ranked: U64 = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return ranked


def _unranked(ranks: U64) -> F64:
    bits: U64 = np.where(ranks & _SIGN, ranks & ~_SIGN, ~ranks)
    return bits.view(np.float64)
