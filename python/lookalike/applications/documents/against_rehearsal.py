"""A dry run of new documents against earlier runs: what would be read again, and by which road."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lookalike.applications.documents.against import StoredPlan, items_of, road_against, shelf_of
from lookalike.applications.documents.against_result import NewAndEarlier
from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.earlier import EarlierRun
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.rehearsal import EarlierWork, Rehearsal, rehearse_collection
from lookalike.applications.documents.roads import family_of
from lookalike.applications.documents.summary import shingle_advice
from lookalike.applications.documents.units import UnitCollection, collect_units
from lookalike.engines import Engine
from lookalike.io import Source
from lookalike.joins.earlier import rows_that_meet
from lookalike.joins.prepare import set_copies_aside
from lookalike.joins.sign import key_all
from lookalike.runs.watch import Watch
from lookalike.theory import Choice
from lookalike.types import I64


def rehearse_against(
    source: Source, runs: Sequence[EarlierRun], options: DedupOptions, *, engine: Engine, watch: Watch
) -> Rehearsal:
    """Read and sign new documents, look up who of the earlier ones shares a bucket, and compare nothing.

    Without stored keys the new documents are rehearsed alone: all that the runs kept would take part, and
    nobody knows how much of it is like them.
    """
    collection = collect(source, engine, watch)
    new: Collection | UnitCollection = collection
    if options.unit != "document":
        with watch.stage("units", collection.rows):
            new = collect_units(collection, options.unit, engine)
    NewAndEarlier.of(new, runs)
    choice, stored = road_against(runs, options)
    if stored is None:
        alone = rehearse_collection(collection, options.by(choice.method), engine=engine, watch=watch)
        every = [np.arange(run.rows) for run in runs]
        return replace(alone, options=options, choice=choice, earlier=_work(runs, every))
    return _by_stored_keys(collection, new, runs, options, choice, stored, engine=engine, watch=watch)


def _by_stored_keys(
    collection: Collection,
    compared: Collection | UnitCollection,
    runs: Sequence[EarlierRun],
    options: DedupOptions,
    choice: Choice,
    stored: StoredPlan,
    *,
    engine: Engine,
    watch: Watch,
) -> Rehearsal:
    new = items_of(compared, int(collection.text_bytes.sum()), options)
    with watch.stage("sign", new.rows, size=new.bytes) as advance:
        key = key_all(new.key(family_of(options), stored.bands.banding), stored.bands)
        keyed = engine.map(new.table, key, advance=advance)
    bands = stored.bands.count
    ready = set_copies_aside(new, keyed, stored.plan, engine=engine, watch=watch, bands=bands)
    shelves = [shelf_of(run, new, stored, options, engine, watch) for run in runs]
    firsts = np.cumsum([0, *(run.rows for run in runs)])
    with watch.stage("meet", int(firsts[-1])):
        met = rows_that_meet(engine, new, keyed, shelves, bands)
    cuts = np.searchsorted(met, firsts)
    places = [met[cuts[at] : cuts[at + 1]] - firsts[at] for at in range(len(runs))]
    return Rehearsal(
        options=options,
        choice=choice,
        plan=stored.plan,
        documents=collection.rows,
        units=None if compared is collection else compared.rows,
        unreadable=collection.source.unreadable.rows,
        empty=ready.empty,
        short=ready.short,
        copies=ready.copies,
        text_bytes=new.bytes,
        threads=engine.threads,
        advice=shingle_advice(
            options, texts=new.rows - ready.empty, unspaced=ready.unspaced, median_similarity=None
        ),
        stages=watch.stages,
        earlier=_work(runs, places),
    )


def _work(runs: Sequence[EarlierRun], places: Sequence[I64]) -> EarlierWork:
    needed = [run.files_of(own) for run, own in zip(runs, places, strict=True)]
    return EarlierWork(
        runs=len(runs),
        documents=sum(run.rows for run in runs),
        met=sum(len(own) for own in places),
        files=sum(len(sizes) for sizes in needed),
        file_bytes=sum(sum(sizes) for sizes in needed),
    )
