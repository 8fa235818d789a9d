"""Repeated paragraphs or lines: units are compared over the whole collection, documents lose what repeats.

The driver holds a number a document and, as for documents, a few bytes a unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.documents.assigning import ClusterRows, assigned
from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.join import Search, name_of
from lookalike.applications.documents.keys import with_keys_worth_storing
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.pairs import named_pairs
from lookalike.applications.documents.roads import take_road
from lookalike.applications.documents.unit_result import UnitResult
from lookalike.applications.too_large import called
from lookalike.clusters import parse_keep, priorities
from lookalike.engines import Engine, Table
from lookalike.io import Source
from lookalike.io.edits import Edits
from lookalike.io.units import Unit, split_units
from lookalike.joins import Items
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.types import I64, U32, Bools

_SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, eq=False)
class UnitTexts:
    """A stage: documents by `row` → their units, numbered on from each document's first."""

    unit: Unit
    first: I64

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        units = split_units(batch["text"], self.unit)
        rows = _spread(self.first[batch["row"].to_numpy()], units.counts)
        return pa.record_batch([pa.array(rows), units.contents()], schema=_SCHEMA)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitCollection:
    """The units of a collection of documents.

    `first[row]` is the number of a document's first unit; they are numbered in the order of document and
    place in it. A unit is called by its document's id and its number there, counted from 0: `ID:UNIT`.
    """

    documents: Collection
    unit: Unit
    table: Table
    first: I64

    @property
    def rows(self) -> int:
        """How many units there are."""
        return int(self.first[-1])

    @property
    def source(self) -> Source:
        """What the documents were read from."""
        return self.documents.source

    @property
    def order(self) -> I64:
        """Where each unit arrived, counted in units."""
        return _spread(self._arrived_first[self.documents.order], np.diff(self.first))

    @property
    def starts(self) -> I64:
        """Where the first unit of each file arrived, and how many units did."""
        return self._arrived_first[self.documents.starts]

    @property
    def _arrived_first(self) -> I64:
        """Where the first unit of each document arrived, by where the document did."""
        counts = np.empty(self.documents.rows, np.int64)
        counts[self.documents.order] = np.diff(self.first)
        return np.concatenate([[0], np.cumsum(counts)])

    def documents_of(self, rows: I64) -> I64:
        """The rows of the documents that units are in."""
        return np.searchsorted(self.first, rows, side="right") - 1

    def ids(self, rows: I64) -> pa.Array:
        """The ids of units."""
        documents = self.documents_of(rows)
        names = self.documents.ids(documents).cast(pa.string())
        numbers = pa.array(rows - self.first[documents]).cast(pa.string())
        return pc.binary_join_element_wise(names, numbers, ":")

    def text(self, row: int) -> str:
        """The text of one unit."""
        document = int(self.documents_of(np.array([row]))[0])
        units = split_units(pa.array([self.documents.text(document)], pa.large_string()), self.unit)
        return str(units.contents()[row - int(self.first[document])])

    def apart(self, rows: I64) -> dict[str, pa.Array]:
        """What the ids of units are made of: the `document`, and which `unit` of it."""
        documents = self.documents_of(rows)
        return {"document": self.documents.ids(documents), "unit": pa.array(rows - self.first[documents])}

    def edits(self, kept: Bools) -> Edits:
        """The texts of documents without the units that are not kept, by row numbers as they arrived."""
        left = np.concatenate([[0], np.cumsum(kept)])[self.first]
        trimmed = np.diff(left) < np.diff(self.first)
        row_of = np.empty(self.documents.rows, np.int64)
        row_of[self.documents.order] = np.arange(self.documents.rows)

        def text(arrived: I64, texts: pa.Array) -> pa.Array:
            units = split_units(texts, self.unit)
            return units.texts(kept[_spread(self.first[row_of[arrived]], units.counts)])

        return Edits(column=self.documents.source.wanted.text, changed=trimmed[row_of], text=text)


def collect_units(collection: Collection, unit: Unit, engine: Engine) -> UnitCollection:
    """Cut the documents of a collection into units."""

    def counted(batch: pa.RecordBatch) -> list[tuple[I64, I64]]:
        return [(batch["row"].to_numpy(), split_units(batch["text"], unit).counts)]

    counts = np.zeros(collection.rows, np.int64)
    for rows, own in engine.fold(collection.table, counted, lambda one, other: one + other) or []:
        counts[rows] = own
    first = np.concatenate([[0], np.cumsum(counts)])
    table = engine.map(collection.table, UnitTexts(unit, first))
    return UnitCollection(documents=collection, unit=unit, table=table, first=first)


def dedup_units(source: Source, options: DedupOptions, *, engine: Engine, watch: Watch) -> UnitResult:
    """Deduplicate the paragraphs or lines of an open source."""
    units = read_units(source, options, engine=engine, watch=watch)
    text_bytes = int(units.documents.text_bytes.sum())
    items = Items(
        table=units.table,
        bytes=text_bytes,
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
    )
    with called(partial(name_of, (units,))):
        joined = take_road(items, options, engine=engine, watch=watch)
    joined = with_keys_worth_storing(joined, options, rows=units.rows, text_bytes=text_bytes)
    search = Search(joined=joined, collections=(units,))
    with watch.stage("cluster", units.rows, unit="units"), called(partial(name_of, search.collections)):
        assignment = assigned(joined, unit_priority(units, options.keep, engine), options, engine)
    return UnitResult(
        source=source,
        options=options,
        pairs=named_pairs(search, options, "stars", engine=engine, watch=Watch()).collected(engine),
        cluster_rows=ClusterRows(search, assignment, options, units.apart),
        search=search,
        chained=assignment.chained,
        cluster_sizes=assignment.sizes(),
        account=joined.account,
        stages=watch.stages,
        text_bytes=text_bytes,
        **what_is_left(units, assignment.kept),
    )


def read_units(source: Source, options: DedupOptions, *, engine: Engine, watch: Watch) -> UnitCollection:
    """Read an open source and cut its documents into units."""
    collection = collect(source, engine, watch, extra=parse_keep(options.keep)[1])
    with watch.stage("units", collection.rows):
        return collect_units(collection, options.unit, engine)


def what_is_left(units: UnitCollection, kept: Bools) -> dict[str, Any]:
    """What becomes of documents of which these units are kept: fields of a `UnitResult`."""
    collection = units.documents
    all_units = np.diff(units.first)
    kept_units = np.diff(np.concatenate([[0], np.cumsum(kept)])[units.first])
    # An empty document has lost nothing, and stays.
    kept_documents = (kept_units > 0) | (all_units == 0)
    kept_rows = np.empty(collection.rows, np.bool_)
    kept_rows[collection.order] = kept_documents
    documents = {
        "id": collection.ids(np.arange(collection.rows)),
        "units": pa.array(all_units),
        "kept_units": pa.array(kept_units),
        "kept": pa.array(kept_documents),
    }
    return {
        "kept_rows": kept_rows,
        "kept_units": kept,
        "edits": units.edits(kept),
        "documents": pa.table(documents),
    }


def unit_priority(units: UnitCollection, keep: str, engine: Engine) -> U32:
    """Each unit's place in the order of preference."""
    rows = np.arange(units.rows, dtype=np.int64)
    policy, _ = parse_keep(keep)
    if policy == "first":
        return priorities(rows, arrival=units.order)
    if policy == "longest":
        return priorities(rows, values=pa.array(_sizes(units, engine)))
    values = units.documents.extra_values()
    assert values is not None
    return priorities(rows, values=values.take(pa.array(units.documents_of(rows))))


def _sizes(units: UnitCollection, engine: Engine) -> I64:
    """The bytes of every unit."""

    def measured(batch: pa.RecordBatch) -> list[tuple[I64, I64]]:
        return [(batch["row"].to_numpy(), pc.binary_length(batch["text"]).to_numpy())]

    sizes = np.zeros(units.rows, np.int64)
    for rows, own in engine.fold(units.table, measured, lambda one, other: one + other) or []:
        sizes[rows] = own
    return sizes


def _spread(first: I64, counts: I64) -> I64:
    """first, first + 1, … as many as counted, one after the other."""
    before = np.cumsum(counts) - counts
    spread: I64 = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
    return spread
