"""Repeated paragraphs or lines: units are compared over the whole collection, documents lose what repeats.

The driver holds a number a document and, as for documents, a few bytes a unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.documents.assigning import ClusterRows, assigned
from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.join import Search
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.pairs import named_pairs
from lookalike.applications.documents.roads import take_road
from lookalike.applications.documents.unit_result import UnitResult
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
    collection = collect(source, engine, watch, extra=parse_keep(options.keep)[1])
    with watch.stage("units", collection.rows):
        units = collect_units(collection, options.unit, engine)
    items = Items(
        table=units.table,
        bytes=int(collection.text_bytes.sum()),
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
    )
    joined = take_road(items, options, engine=engine, watch=watch)
    search = Search(joined=joined, collections=(units,))
    with watch.stage("cluster", units.rows, unit="units"):
        assignment = assigned(joined, _priority(units, options.keep, engine), options, engine)

    def apart(rows: I64) -> dict[str, pa.Array]:
        documents = units.documents_of(rows)
        return {"document": collection.ids(documents), "unit": pa.array(rows - units.first[documents])}

    all_units = np.diff(units.first)
    kept_units = np.diff(np.concatenate([[0], np.cumsum(assignment.kept)])[units.first])
    # An empty document has lost nothing, and stays.
    kept = (kept_units > 0) | (all_units == 0)
    kept_rows = np.empty(collection.rows, np.bool_)
    kept_rows[collection.order] = kept
    return UnitResult(
        source=source,
        options=options,
        pairs=named_pairs(search, options),
        cluster_rows=ClusterRows(search, assignment, options, apart),
        search=search,
        kept_rows=kept_rows,
        chained=assignment.chained,
        cluster_sizes=assignment.sizes(),
        account=joined.account,
        stages=watch.stages,
        text_bytes=items.bytes,
        edits=units.edits(assignment.kept),
        documents=pa.table(
            {
                "id": collection.ids(np.arange(collection.rows)),
                "units": pa.array(all_units),
                "kept_units": pa.array(kept_units),
                "kept": pa.array(kept),
            }
        ),
    )


def _priority(units: UnitCollection, keep: str, engine: Engine) -> U32:
    rows = np.arange(units.rows, dtype=np.int64)
    documents = units.documents_of(rows)
    policy, _ = parse_keep(keep)
    if policy == "first":
        arrived = units.documents.order[documents]
        order = np.lexsort((rows, arrived))
        place = np.empty_like(rows)
        place[order] = rows
        return priorities(rows, arrival=place)
    if policy == "longest":
        return priorities(rows, values=pa.array(_sizes(units, engine)))
    values = units.documents.extra_values()
    assert values is not None
    return priorities(rows, values=values.take(pa.array(documents)))


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
