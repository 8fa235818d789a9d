"""A dry run: everything is read, the road is chosen, copies are found, and nothing is compared or written.

By bands, candidates are counted in their buckets, not estimated: the sample that plans errs towards too many.
Deduplication is rehearsed, and the search for pairs of documents or sets, in one collection or between two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.join import name_of, read_collections_of_sets, read_sources
from lookalike.applications.documents.options import DedupOptions, PairOptions
from lookalike.applications.documents.roads import chosen_road, family_of, least_size
from lookalike.applications.documents.summary import rehearsal_lines, shingle_advice
from lookalike.applications.documents.units import collect_units
from lookalike.applications.sets import OpenSets, SetCollection
from lookalike.applications.too_large import called
from lookalike.engines import Engine
from lookalike.io import Source
from lookalike.joins.choice import Chosen
from lookalike.joins.distinct import Distinct, distinct
from lookalike.joins.items import Items
from lookalike.joins.lsh import candidates_to_come
from lookalike.joins.prepare import Prepared, prepare
from lookalike.joins.rare import by_rarest_words
from lookalike.runs import Stage
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.theory import Choice, Plan


@dataclass(frozen=True, kw_only=True)
class EarlierWork:
    """What earlier runs add to a run: how many there are, what they kept, and how much of it is needed.

    Of runs by paragraphs or lines, `documents` are those. `met` of them share a bucket with a new one, or all
    would take part; `files` hold one of them, have so many `file_bytes`, and would be read again.
    """

    runs: int
    documents: int
    met: int
    files: int
    file_bytes: int


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What a run would begin with, and what it would cost.

    `advice` is what the user may want to change first. `expected_seconds` are those that bands and checks are
    expected to take on `threads` threads, beyond the reading and signing that `stages` tells; by the
    committed costs, which know nothing of the machine.
    """

    options: PairOptions
    #: The road that a run would take, and why.
    choice: Choice
    #: Of the bands; None for other roads.
    plan: Plan | None
    documents: int
    #: Parts of documents that would be compared, if not documents.
    units: int | None
    unreadable: int
    empty: int
    short: int
    copies: int
    text_bytes: int
    threads: int
    advice: Sequence[str]
    stages: Sequence[Stage]
    #: What earlier runs would add; None without any.
    earlier: EarlierWork | None = None
    #: Of the bands: pairs that share a bucket, counted, and rows in buckets too large to pair all of them.
    to_come: tuple[int, int] | None = None
    #: Of sets, which are counted as documents are: the elements in them together.
    elements: int | None = None

    @property
    def expected_seconds(self) -> float | None:
        """Seconds still to come in a run, without the writing; None for a road that nobody estimates."""
        if self.plan is not None and self.plan.expected_cost is not None:
            return self.plan.expected_cost / self.threads
        road = self.choice.roads.get(self.choice.method)
        return None if road is None else road.seconds / self.threads

    @property
    def expected_candidates(self) -> float | None:
        """How many pairs would be looked at: counted, or estimated; None for a road that nobody estimates.

        A row of a large bucket counts as one: how many leaders it is compared with depends on the texts.
        """
        if self.to_come is not None:
            return float(sum(self.to_come))
        return self.choice.expected_candidates if self.plan is None else self.plan.expected_candidates

    def summary(self) -> str:
        """A few lines for a person."""
        expected = self.expected_candidates, self.expected_seconds
        lines = rehearsal_lines(
            self.counts,
            self.plan,
            self.choice,
            expected,
            self.stages,
            to_come=self.to_come,
            listing=not isinstance(self.options, DedupOptions),
        )
        return "\n".join(lines)

    @property
    def counts(self) -> dict[str, int]:
        """What was counted, under the names that a run uses."""
        if self.elements is not None:
            found = {name: getattr(self, name) for name in ("unreadable", "empty", "copies")}
            return {"sets": self.documents, "elements": self.elements, **found}
        names = ("documents", "units", "unreadable", "empty", "short", "copies", "text_bytes")
        counts = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.earlier is None:
            return counts
        work = asdict(self.earlier)
        if self.units is not None:
            work["units"] = work.pop("documents")
        return counts | {f"earlier_{name}": value for name, value in work.items()}

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "job": "dry-run",
            "parameters": self.options.to_dict(),
            "counts": self.counts,
            "choice": self.choice.to_dict(),
            "plan": None if self.plan is None else self.plan.to_dict(),
            "expected_candidates": self.expected_candidates,
            "expected_seconds": self.expected_seconds,
            "stages": [asdict(stage) for stage in self.stages],
        }


def rehearse(source: Source, options: PairOptions, *, engine: Engine, watch: Watch) -> Rehearsal:
    """Read a source once, find its exact copies, and say what a run would do with the others."""
    collection = collect(source, engine, watch, again=True, seed=options.seed)
    return rehearse_collection(collection, options, engine=engine, watch=watch)


def rehearse_collection(
    collection: Collection, options: PairOptions, *, engine: Engine, watch: Watch
) -> Rehearsal:
    """The same of what has been read."""
    table = collection.table
    if isinstance(options, DedupOptions) and options.unit != "document":
        with watch.stage("units", collection.rows):
            table = collect_units(collection, options.unit, engine).table
    items = Items(
        table=table,
        glanced=collection.glanced,
        bytes=int(collection.text_bytes.sum()),
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
    )
    rehearsed = _rehearse_items(items, options, engine=engine, watch=watch)
    return replace(
        rehearsed,
        documents=collection.rows,
        units=None if table is collection.table else table.rows,
        unreadable=collection.source.unreadable.rows,
    )


def rehearse_pairs(given: Sequence[Any], options: PairOptions, *, engine: Engine, watch: Watch) -> Rehearsal:
    """The same of a search for pairs: of sources of documents or, where these are `OpenSets`, of sets."""
    how: dict[str, Any] = {"engine": engine, "watch": watch}
    of_sets = isinstance(given[0], OpenSets)
    collections: Sequence[Collection | SetCollection]
    collections, items = (read_collections_of_sets if of_sets else read_sources)(tuple(given), options, **how)
    with called(partial(name_of, collections)):
        rehearsed = _rehearse_items(items, options, **how)
    sources = [one.source for one in collections if one.source is not None]
    return replace(
        rehearsed,
        unreadable=sum(source.unreadable.rows for source in sources),
        elements=items.bytes // 8 if of_sets else None,
    )


def _rehearse_items(items: Items, options: PairOptions, *, engine: Engine, watch: Watch) -> Rehearsal:
    joined = by_rarest_words(items, engine=engine, watch=watch)
    chosen = chosen_road(joined, options, engine=engine, watch=watch)
    ready = _ready(joined, chosen, options, engine=engine, watch=watch)
    to_come = None
    if isinstance(ready, Prepared):
        with watch.stage("candidates", ready.representatives):
            to_come = candidates_to_come(joined, ready, engine=engine)
    median = chosen.drawn.median_similarity if chosen.drawn is not None else None
    return Rehearsal(
        options=options,
        choice=chosen.choice,
        plan=ready.plan if isinstance(ready, Prepared) else None,
        documents=items.rows,
        units=None,
        unreadable=0,
        empty=ready.empty,
        short=ready.short,
        copies=ready.copies,
        text_bytes=items.bytes,
        threads=engine.threads,
        # Advice about shingles is for documents.
        advice=()
        if items.shingle is None
        else shingle_advice(
            options,
            texts=items.rows - ready.empty,
            unspaced=ready.unspaced,
            median_similarity=ready.median_similarity if isinstance(ready, Prepared) else median,
        ),
        stages=watch.stages,
        to_come=to_come,
    )


def _ready(
    items: Items, chosen: Chosen, options: PairOptions, *, engine: Engine, watch: Watch
) -> Prepared | Distinct:
    if chosen.choice.method != "lsh":
        size = least_size(options)
        return distinct(items, least_size=size, sets=chosen.sets, engine=engine, watch=watch)
    return prepare(
        items,
        threshold=options.threshold,
        recall=options.recall,
        family=family_of(options),
        engine=engine,
        watch=watch,
        verify=options.verify,
        drawn=chosen.drawn,
        banding=options.banding,
    )
