"""Weighted sets and sparse vectors, by Σmin/Σmax or cosine: the main road with other keys and checks.

    terms       documents → tf-idf vectors; two passes over the texts
    plan        the banding of least expected cost that keeps the promised recall, from a sample of distances
    sign        every row, down to its bucket keys: weighted samples, or sides of random hyperplanes
    copies      same elements and weights: star edges to a representative
    then        candidates and checks as in `joins/lsh.py`

Memory: the engine's, for 16 bytes an element, 33 a row, 8 a band and 8 a pair that meets; at the driver
what `lsh` holds there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import buckets, key_columns
from lookalike.engines import Engine, Table
from lookalike.joins.account import DocumentFrequencies
from lookalike.joins.copies import Stars
from lookalike.joins.exact_look import NearOfItems
from lookalike.joins.flags import EMPTY
from lookalike.joins.items import Items
from lookalike.joins.joined import Joined
from lookalike.joins.least import Least, distinct_noted, draw_pairs
from lookalike.joins.lsh import join_keyed
from lookalike.joins.prepare import Prepared
from lookalike.joins.sign import Keying
from lookalike.measures.weighted import SameWeights, WeightedExact, WeightedMeasure, weighted_buffers
from lookalike.runs.watch import Watch
from lookalike.shingles import terms
from lookalike.shingles.terms import CountTerms, TermWeights, add_counts
from lookalike.theory import Banding, DistanceSample, Plan, plan
from lookalike.theory.thresholds import scale_of
from lookalike.types import F64, I64, U8, U64, Bools

#: Rows sampled for a plan: a hundred thousand pairs.
SAMPLE_ROWS = 450

#: So many pairs that meet take some seconds, and a quarter of a gigabyte.
_SOME_SECONDS = 1 << 25

#: What the theory calls the measures of weighted sets.
THEORY: dict[WeightedMeasure, str] = {"jaccard": "weighted-jaccard", "cosine": "cosine"}


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedItems(Items):
    """Rows to join: `row`, `elements` and `weights` of a table, and what they are compared by."""

    measure: WeightedMeasure = "jaccard"
    #: Of documents as vectors of terms: whether each term was counted by itself, or in counters it shares.
    frequencies: DocumentFrequencies | None = None

    def exact(self, *, at_least: float) -> WeightedExact:
        """The stage that checks candidates among these items."""
        return WeightedExact(None, at_least, self.measure)


def by_terms(items: Items, *, engine: Engine, watch: Watch) -> WeightedItems:
    """Texts as tf-idf vectors, to be compared by cosine; of two collections, documents of both count.

    Two passes over the texts: one counts in how many documents each term occurs, one weighs. What the driver
    holds of it, up to 50 MB, is set aside.
    """
    shingle = items.shingle
    assert shingle is not None

    def weighted() -> Table:
        count = CountTerms(shingle, items.seed, most=terms.MOST_TERMS)
        counted = engine.fold(items.table, count, add_counts)
        if counted is None:
            counted = count(pa.RecordBatch.from_pylist([], items.table.schema))
        aside = engine.set_aside()
        aside.grow(counted.nbytes)
        made = engine.map(items.table, TermWeights(shingle, items.seed, counted, items.rows), advance=advance)
        how: DocumentFrequencies = "exact" if counted.exact else "shared"
        return Table(made.batches, made.schema.with_metadata({_FREQUENCIES: how}))

    with watch.stage("terms", items.rows, size=items.bytes) as advance:
        table = engine.settle("terms", weighted)
    exact = table.schema.metadata[_FREQUENCIES.encode()] == b"exact"
    return WeightedItems(
        table=table,
        bytes=items.bytes,
        shingle=None,
        seed=items.seed,
        boundary=items.boundary,
        most_from_copies=items.most_from_copies,
        measure="cosine",
        frequencies="exact" if exact else "shared",
    )


def join_weighted(
    items: WeightedItems,
    *,
    threshold: float,
    recall: float,
    slots: int,
    near_of: NearOfItems,
    engine: Engine,
    watch: Watch,
    banded: Plan | None = None,
) -> Joined:
    """Join weighted sets by bands of their signatures; `near_of` finds the near pairs of a few of them.

    `banded` is their plan, if there is one already.
    """
    measure = THEORY[items.measure]
    chosen = banded or plan_weighted(
        items, threshold=threshold, recall=recall, slots=slots, engine=engine, watch=watch
    )
    stage = KeyWeighted(items.measure, chosen.banding, items.seed)
    with watch.stage("sign", items.rows) as advance:
        keyed = engine.map(items.table, stage, advance=advance, settled="keyed")
    ready = _without_copies(items, keyed, stage, chosen, engine=engine, watch=watch)
    meetings = affordable_meetings(chosen.banding.bands, ready.representatives)
    joined = join_keyed(
        items,
        ready,
        threshold=chosen.threshold,
        verify="exact",
        engine=engine,
        watch=watch,
        meetings=meetings,
        near_of=near_of,
    )
    return replace(joined, account=replace(joined.account, measure=measure, frequencies=items.frequencies))


def plan_weighted(
    items: WeightedItems, *, threshold: float, recall: float, slots: int, engine: Engine, watch: Watch
) -> Plan:
    """The banding of least expected cost that keeps the promise, by a sample."""
    measure = THEORY[items.measure]
    # Said before any work is done: an unreachable promise is not worth a pass over the data.
    plan(threshold, measure=measure, recall=recall, slots=slots)
    with watch.stage("plan"):
        sample = draw_weighted(engine, items).distances
        return plan(threshold, measure=measure, recall=recall, slots=slots, distances=sample)


def affordable_meetings(bands: int, rows: int) -> int:
    """How many pairs may meet in large buckets.

    Unlike documents, most rows are somewhat like many others: buckets grow large without any crowd. As many
    pairs may meet as if every row had its fill of buckets that are just not large, or as take some seconds.
    """
    return max(_SOME_SECONDS, buckets.LARGE // 2 * bands * rows)


@dataclass(frozen=True)
class KeyWeighted:
    """A stage: weighted sets → keyed rows."""

    measure: WeightedMeasure
    banding: Banding
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sets, bands, rows = weighted_buffers(batch), self.banding.bands, self.banding.rows
        slots = self.banding.slots
        if self.measure == "cosine":
            keys, content, bag, flags = _core.key_sparse(
                sets, slots=slots, seed=self.seed, bands=bands, rows=rows
            )
        else:
            signed, content, bag, flags = _core.sign_weighted(sets, slots=slots, seed=self.seed, threads=1)
            keys = _core.band_keys(signed, bands=bands, rows=rows)
        columns = {"content": content, "copy": bag, "flags": flags}
        plain = {name: pa.array(column) for name, column in columns.items()}
        return pa.record_batch({"row": batch["row"], **plain, **key_columns(keys)})

    def again(self, seed: int, bands: int) -> KeyWeighted:
        """The stage that keys the same sets by so many bands of a fresh draw."""
        return replace(self, seed=seed, banding=replace(self.banding, bands=bands))


def _without_copies(
    items: WeightedItems, keyed: Table, keying: Keying, chosen: Plan, *, engine: Engine, watch: Watch
) -> Prepared:
    """Set rows with the same elements and weights aside."""
    with watch.stage("copies", items.rows):
        representative, flags = representatives_by_weight(items, keyed, engine)
    return Prepared(
        keyed=keyed,
        marked=((flags & EMPTY) == 0) & (representative == np.arange(items.rows)),
        representative=representative,
        flags=flags,
        plan=chosen,
        median_similarity=None,
        keying=keying,
    )


def representatives_by_weight(items: WeightedItems, told: Table, engine: Engine) -> tuple[I64, U8]:
    """Of every row the first with its elements and weights, and its flags; `told` has `copy` and `flags`."""
    flags = np.zeros(items.rows, np.uint8)
    for batch in told.batches:
        flags[batch["row"].to_numpy()] = batch["flags"].to_numpy()

    def representatives() -> Table:
        narrow = engine.map(told, Filled((flags & EMPTY) == 0))
        stars = engine.group(narrow, "copy", Stars("copy"), order=("row",), least=2, repeat_first=True)
        same = engine.fetch(items.table, stars, ("a", "b"), SameWeights())
        representative = np.arange(items.rows, dtype=np.int64)
        representative[same.column("b")] = same.column("a")
        return Table.of(representative=representative)

    representative: I64 = engine.settle("copies", representatives).column("representative")
    return representative, flags


@dataclass(frozen=True)
class DigestWeighted:
    """A stage: weighted sets → `row`, `copy` and `flags`: what tells copies, and no keys."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        _, _, digest, flags = _core.key_sparse(weighted_buffers(batch), slots=1, seed=0, bands=1, rows=1)
        columns = {"copy": digest, "flags": flags}
        return pa.record_batch({"row": batch["row"], **{k: pa.array(v) for k, v in columns.items()}})


@dataclass(frozen=True, eq=False)
class Filled:
    """A stage: keyed rows → `row` and `copy` of those that hold something."""

    light: ClassVar[bool] = True

    filled: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.select(["row", "copy"]).filter(pa.array(self.filled[batch["row"].to_numpy()]))


@dataclass(frozen=True)
class LeastWeighted(Least):
    """A stage for `fold`: rows that hold something, with the least digests."""

    def hashes(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        """Of rows that are not empty."""
        _, _, digest, flags = _core.key_sparse(weighted_buffers(batch), slots=1, seed=0, bands=1, rows=1)
        filled = (flags & EMPTY) == 0
        return digest[filled], batch["row"].to_numpy()[filled]


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnWeighted:
    """A sample: rows, how similar its pairs are, sorted, and how far apart they are, to plan by."""

    rows: I64
    similarity: F64
    distances: DistanceSample


def draw_weighted(engine: Engine, items: WeightedItems, *, rows: int = SAMPLE_ROWS) -> DrawnWeighted:
    """How far apart rows are: all pairs of a sample that depends on no order, or all that go across."""

    def compared() -> Table:
        drawn = draw_pairs(engine, items.table, LeastWeighted, count=rows, boundary=items.boundary)
        asked = Table.of(a=drawn.a, b=drawn.b)
        made = engine.fetch(items.table, asked, ("a", "b"), items.exact(at_least=-1.0))
        elements = engine.fold(items.table, _elements, int.__add__) or 0
        return drawn.noted_on(made, **{_ELEMENTS: str(elements)})

    sample = engine.settle("sample", compared)
    elements = int(sample.schema.metadata[_ELEMENTS.encode()])
    similarity: F64 = np.sort(sample.column("similarity"))
    # Copies are set aside: as many rows go on as are different.
    first, *second = distinct_noted(sample)
    return DrawnWeighted(
        rows=np.unique(np.concatenate([sample.column("a"), sample.column("b")])).astype(np.int64),
        similarity=similarity,
        distances=DistanceSample.from_distances(
            scale_of(THEORY[items.measure]).distances(similarity),
            items=first,
            values_per_item=elements / max(1, items.rows),
            other_items=second[0] if second else None,
        ),
    )


_ELEMENTS = "elements"
_FREQUENCIES = "frequencies"


def _elements(batch: pa.RecordBatch) -> int:
    return len(weighted_buffers(batch)[0])
