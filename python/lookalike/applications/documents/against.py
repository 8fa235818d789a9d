"""New documents against those that earlier runs kept; nothing earlier is compared, or clustered, again.

Where the earlier runs went by bands and left their keys, new documents are signed by the same bands, and of
the earlier ones only those are read that share a bucket with a new one (`joins/earlier.py`). Otherwise
everything kept is read again: signed again for bands, or met by the exact road; pairs of two earlier
documents are no candidates there either. Paragraphs and lines go the same way, each a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.against_result import AgainstResult, AgainstUnitResult, NewAndEarlier
from lookalike.applications.documents.assigning import (
    ClusterRows,
    assigned,
    kept_as_arrived,
    priority_of,
)
from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.earlier import EarlierRun
from lookalike.applications.documents.join import Search
from lookalike.applications.documents.keys import with_keys_worth_storing
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.pairs import named_pairs
from lookalike.applications.documents.roads import family_of, take_road
from lookalike.applications.documents.units import (
    UnitCollection,
    read_units,
    unit_priority,
    what_is_left,
)
from lookalike.applications.too_large import called
from lookalike.bands import rows_of
from lookalike.clusters import Assignment, parse_keep
from lookalike.engines import Engine, Table
from lookalike.io import Source
from lookalike.joins import EMPTY, SHORT, UNSPACED, Account, Items, Joined
from lookalike.joins.earlier import Met, Shelf, lsh_with_earlier
from lookalike.joins.sign import key_all
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.theory import Choice, Plan, plan, plan_of
from lookalike.theory.added_bands import FinalBands
from lookalike.types import I64, U32, Bools, Pairs


def dedup_against(
    source: Source, runs: Sequence[EarlierRun], options: DedupOptions, *, engine: Engine, watch: Watch
) -> AgainstResult:
    """Deduplicate an open source, with itself and with what earlier runs kept."""
    collection = collect(source, engine, watch, extra=parse_keep(options.keep)[1])
    appended = append(
        collection,
        runs,
        options,
        text_bytes=int(collection.text_bytes.sum()),
        priority=lambda: priority_of(collection, options.keep),
        engine=engine,
        watch=watch,
    )
    return AgainstResult(
        kept_rows=kept_as_arrived(collection, appended.assignment), **appended.found(engine, watch)
    )


def dedup_units_against(
    source: Source, runs: Sequence[EarlierRun], options: DedupOptions, *, engine: Engine, watch: Watch
) -> AgainstUnitResult:
    """The same of paragraphs or lines, with those that earlier runs kept."""
    units = read_units(source, options, engine=engine, watch=watch)
    appended = append(
        units,
        runs,
        options,
        text_bytes=int(units.documents.text_bytes.sum()),
        priority=lambda: unit_priority(units, options.keep, engine),
        engine=engine,
        watch=watch,
    )
    left = what_is_left(units, appended.assignment.kept[: units.rows])
    return AgainstUnitResult(**left, **appended.found(engine, watch, units.apart))


@dataclass(frozen=True, kw_only=True, eq=False)
class Appended:
    """New rows, documents or units, with the rows kept for them, new or earlier."""

    new: Collection | UnitCollection
    runs: tuple[EarlierRun, ...]
    options: DedupOptions
    search: Search[NewAndEarlier]
    assignment: Assignment
    text_bytes: int

    def found(
        self, engine: Engine, watch: Watch, more: Callable[[I64], dict[str, pa.Array]] | None = None
    ) -> dict[str, Any]:
        """What a result says of documents and of units alike; `more` are further columns of clusters."""
        rows, joined, assignment = self.new.rows, self.search.joined, self.assignment
        return {
            "source": self.new.source,
            "options": self.options,
            "pairs": _pairs(self.search, self.options, rows, engine),
            "cluster_rows": ClusterRows(
                self.search,
                assignment,
                self.options,
                more,
                rows=rows,
                cluster_ids=self.search.collections[0].cluster_ids,
            ),
            "search": self.search,
            "chained": assignment.chained,
            "cluster_sizes": assignment.sizes(),
            "account": joined.account,
            "stages": watch.stages,
            "text_bytes": self.text_bytes,
            "runs": self.runs,
            "of_earlier": int(np.count_nonzero(assignment.representative[:rows] >= rows)),
            "bridging": _bridging(joined, rows),
        }


def append(
    new: Collection | UnitCollection,
    runs: Sequence[EarlierRun],
    options: DedupOptions,
    *,
    text_bytes: int,
    priority: Callable[[], U32],
    engine: Engine,
    watch: Watch,
) -> Appended:
    """Join new rows with each other and with earlier ones, and decide who is kept for whom."""
    named = NewAndEarlier.of(new, runs)
    items = items_of(new, text_bytes, options)
    with called(partial(_name_of, named)):
        met = _joined(items, named, options, engine=engine, watch=watch)
    named = named.that_met(met.numbers, met.texts)
    joined = with_keys_worth_storing(met.joined, options, rows=new.rows, text_bytes=text_bytes)
    joined = replace(joined, account=_of_new_rows(joined, new.rows, options))
    with watch.stage("cluster", new.rows), called(lambda row: named.ids(np.array([row]))[0]):
        assignment = assigned(joined, priority(), options, engine, new_rows=new.rows)
    return Appended(
        new=new,
        runs=tuple(runs),
        options=options,
        search=Search(joined=joined, collections=(named,)),
        assignment=assignment,
        text_bytes=text_bytes,
    )


def _name_of(named: NewAndEarlier, row: int) -> object:
    """The user id of a new row. Of earlier ones it depends on who is met which number they have."""
    return named.ids(np.array([row]))[0] if row < named.new_rows else "a document of an earlier run"


def _joined(new: Items, named: NewAndEarlier, options: DedupOptions, *, engine: Engine, watch: Watch) -> Met:
    """Join new rows with each other and with earlier ones."""
    runs = named.runs
    choice, stored = road_against(runs, options)
    met = None
    if stored is not None:
        met = lsh_with_earlier(
            new,
            [shelf_of(run, new, stored, options, engine, watch) for run in runs],
            plan=stored.plan,
            added=stored.bands.added,
            family=family_of(options),
            engine=engine,
            watch=watch,
        )
        if met.joined.account.short_by:
            # Bands are added to those of all rows alike, so what the runs kept is signed again.
            engine = engine.unsettled()
            met = None
    if met is None:
        every = replace(named, numbers=np.arange(sum(run.rows for run in runs)))
        with called(lambda row: every.ids(np.array([row]))[0]):
            met = _all_read(new, runs, options.by(choice.method), engine=engine, watch=watch)
    if options.method != "auto":
        return met
    account = replace(met.joined.account, choice=choice)
    return replace(met, joined=replace(met.joined, account=account))


def items_of(new: Collection | UnitCollection, text_bytes: int, options: DedupOptions) -> Items:
    """New rows as items to join."""
    return Items(
        table=new.table,
        bytes=text_bytes,
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
    )


@dataclass(frozen=True, kw_only=True)
class StoredPlan:
    """The bands by which stored keys were made, and what they promise."""

    plan: Plan
    bands: FinalBands


def road_against(runs: Sequence[EarlierRun], options: DedupOptions) -> tuple[Choice, StoredPlan | None]:
    """The road to take, and the plan that stored keys were made by; None where everything kept is read."""
    choice = _choice(runs, options)
    return choice, _stored_plan(runs, options) if choice.method == "lsh" else None


def _choice(runs: Sequence[EarlierRun], options: DedupOptions) -> Choice:
    """The road asked for; if that is left open, bands where the largest earlier run went by them."""
    if options.method != "auto":
        return Choice(method=options.method, why="asked for", roads={})
    largest = max(runs, key=lambda run: run.rows)
    asked = options.verify != "exact" or options.banding is not None
    by_bands = asked or (largest.method == "lsh" and options.measure == "jaccard")
    why = f"{largest.name} went by {largest.method}"
    return Choice(method="lsh" if by_bands else "prefix", why=why, roads={})


def _stored_plan(runs: Sequence[EarlierRun], options: DedupOptions) -> StoredPlan | None:
    """The bands that most stored keys are of, if they keep the promise; None if all is signed anew."""
    if options.verify != "exact":
        # Keys alone do not say how far signatures agree.
        return None
    stored = {run.bands: 0 for run in runs if run.bands is not None}
    for run in runs:
        if run.bands is not None:
            stored[run.bands] += run.rows
    for bands in sorted(stored, key=lambda bands: (-stored[bands], bands.count, _seeds(bands))):
        if options.banding is None:
            kept = plan_of(bands.banding, options.threshold, recall=options.recall, slots=options.slots)
        else:
            # As it was asked for, without bands that a run added to it.
            same = bands == FinalBands(banding=options.banding)
            kept = (
                plan(options.threshold, slots=options.slots, bands=options.bands, rows=options.rows)
                if same
                else None
            )
        if kept is not None:
            return StoredPlan(plan=kept, bands=bands)
    return None


def _seeds(bands: FinalBands) -> tuple[int, ...]:
    """What tells bands apart that are as many."""
    return (bands.banding.rows, *(number for added in bands.added for number in (added.bands, added.seed)))


def shelf_of(
    run: EarlierRun, new: Items, stored: StoredPlan, options: DedupOptions, engine: Engine, watch: Watch
) -> Shelf:
    """The rows of a run; signed again if its keys are of other bands, or are not there."""
    if run.bands == stored.bands:
        return Shelf(rows=run.rows, keyed=run.keyed, texts=partial(run.texts, engine))
    with watch.stage("sign earlier", run.rows, size=run.text_bytes):
        with called(lambda _: f"a document of {run.name}"):
            texts = run.texts(engine, None, 0)
        key = key_all(new.key(family_of(options), stored.bands.banding), stored.bands)
        keyed = engine.map(engine.map(texts, key), _as_places)

    def some(places: I64, first: int) -> Table:
        return engine.map(texts, TakeTexts(places, first))

    return Shelf(rows=run.rows, keyed=keyed, texts=some)


def _as_places(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A stage: rows of a run by their number are places of it."""
    return batch.rename_columns(["place" if name == "row" else name for name in batch.schema.names])


class TakeTexts:
    """A stage: rows of texts → those of some numbers, sorted, numbered on from `first`."""

    light = True

    def __init__(self, rows: I64, first: int) -> None:
        self._rows, self._first = rows, first

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = batch["row"].to_numpy()
        at = np.searchsorted(self._rows, rows)
        wanted = np.append(self._rows, -1)[at] == rows
        text = batch["text"].filter(pa.array(wanted))
        return pa.record_batch([pa.array(at[wanted] + self._first), text], schema=batch.schema)


def _all_read(
    new: Items, runs: Sequence[EarlierRun], options: DedupOptions, *, engine: Engine, watch: Watch
) -> Met:
    """Read everything that the runs kept, and take a road where pairs of it are none."""
    earlier = sum(run.rows for run in runs)
    with watch.stage("read earlier", earlier):
        parts, first = [], new.rows
        for run in runs:
            parts.append(run.texts(engine, None, first))
            first += run.rows
    texts = Table.together(parts)
    items = replace(
        new,
        table=Table.together([new.table, texts]),
        bytes=new.bytes + sum(run.text_bytes for run in runs),
        boundary=new.rows,
        first_within=True,
    )
    joined = take_road(items, options, engine=engine, watch=watch)
    return Met(joined=joined, numbers=np.arange(earlier), texts=texts)


def _of_new_rows(joined: Joined, rows: int, options: DedupOptions) -> Account:
    """The account of a join, in numbers of new rows."""
    flags = joined.flags[:rows]
    empty, short, unspaced = (int(np.count_nonzero(flags & flag)) for flag in (EMPTY, SHORT, UNSPACED))
    stands: Bools = joined.representative[:rows] == np.arange(rows)
    # A row that stands for its copies is one itself if an earlier one is among them. Roads from set to set
    # find those as pairs.
    stands[joined.representative[rows:][joined.representative[rows:] < rows]] = False
    if options.column == "similarity":
        a, b, similarity = joined.columns
        same = (b >= rows) & (similarity == 1.0)
        stands[a[same & (a < rows)]] = False
    copies = rows - int(np.count_nonzero(stands))
    return replace(
        joined.account,
        items=rows,
        empty=empty,
        short=short,
        unspaced=unspaced,
        copies=copies,
        representatives=rows - empty - copies,
    )


def _pairs(search: Search[NewAndEarlier], options: DedupOptions, rows: int, engine: Engine) -> Pairs:
    """Pairs of which one at least is new; that is a."""
    found = named_pairs(search, options, "stars", engine=engine, watch=Watch())
    # Two runs may have kept copies of each other: no news.
    return replace(found, pairs=engine.map(found.pairs, FirstBefore(rows))).collected(engine)


@dataclass(frozen=True)
class FirstBefore:
    """A stage: keeps the pairs whose first row is under a number."""

    light: ClassVar[bool] = True

    number: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.filter(pa.array(rows_of(batch["pair"].to_numpy())[0] < self.number))


def _bridging(joined: Joined, rows: int) -> int:
    """New documents that are alike to several earlier ones."""
    # Classes of copies by the row that stands for them, each with every earlier row it is alike to.
    copied = np.arange(rows, len(joined.representative))
    a, b, _ = joined.columns
    classes = np.concatenate([joined.representative[copied], a[(a < rows) & (b >= rows)]])
    several = np.bincount(classes, minlength=len(joined.representative)) > 1
    return int(np.count_nonzero(several[joined.representative[:rows]]))
