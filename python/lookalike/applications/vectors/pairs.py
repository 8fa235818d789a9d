"""All near pairs of vectors, in one collection or between two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lookalike.applications.documents.join import Search
from lookalike.applications.pair_rows import PairRows, pair_rows
from lookalike.applications.vectors.collection import VectorCollection, collect_vectors
from lookalike.applications.vectors.options import VectorOptions
from lookalike.charts.numbers import seconds
from lookalike.engines import Engine, Table
from lookalike.errors import UnreachableRecallError
from lookalike.joins import Joined
from lookalike.joins.drawn_lines import DrawnChances, directions_of, kept_by_draw
from lookalike.joins.expand import Copies, most_from_copies
from lookalike.joins.near import near
from lookalike.joins.products import exact, near_of_vectors
from lookalike.joins.vector_items import VectorItems
from lookalike.joins.vector_sample import draw_vectors
from lookalike.measures.vectors import Nearness
from lookalike.runs.watch import Watch
from lookalike.theory import Choice, Plan, RoadEstimate, plan
from lookalike.theory.costs import EXACT_WORTH, seconds_for_products
from lookalike.theory.distances import DistanceSample
from lookalike.theory.probed_plans import ProbedPlan, plan_probes
from lookalike.wording import several

#: Looking into several buckets is thought of where a join is expected to take so many seconds, and done where
#: it is expected to take less than this share of them: measured, it gains less than it is expected to.
_LONG, _WORTH = 5.0, 0.5


def pairs_of_vectors(
    given: tuple[Any, ...],
    options: VectorOptions,
    *,
    engine: Engine,
    watch: Watch,
    column: str | None = None,
    id: str | None = None,
    copies: Copies | None = None,
) -> tuple[PairRows, Search[VectorCollection]]:
    """Near pairs of one collection of vectors, or between two."""
    collections = collect_vectors(given, engine, watch, measure=options.measure, column=column, id=id)
    boundary = collections[0].rows if len(collections) == 2 else None
    items = VectorItems(
        table=Table.together([collection.table for collection in collections]),
        dimensions=collections[0].dimensions,
        nearness=Nearness(options.measure, options.level),
        seed=options.seed,
        boundary=boundary,
        most_from_copies=most_from_copies(copies),
    )
    search = Search(joined=take_road(items, options, engine=engine, watch=watch), collections=collections)
    pairs = pair_rows(
        search.joined,
        search.names,
        copies=copies,
        boundary=boundary,
        column=options.column,
        engine=engine,
        watch=watch,
    )
    return pairs, search


def take_road(items: VectorItems, options: VectorOptions, *, engine: Engine, watch: Watch) -> Joined:
    """Compare all vectors, or those that meet in bands, as asked for or as is expected to cost less."""
    if options.method == "exact":
        return exact(items, engine=engine, watch=watch)
    with watch.stage("plan", unit="vectors"):
        choice, banded, chances = _planned(items, options, engine)
    if choice.method == "exact":
        joined = exact(items, engine=engine, watch=watch)
    else:
        assert banded is not None
        joined = near(
            items, plan=banded, near_of=near_of_vectors, engine=engine, watch=watch, chances=chances
        )
    return replace(joined, account=replace(joined.account, choice=choice))


def _planned(
    items: VectorItems, options: VectorOptions, engine: Engine
) -> tuple[Choice, Plan | None, DrawnChances | None]:
    """The banding, whether `auto` takes it, and what is known of its draw."""
    drawn = draw_vectors(engine, items)
    sample = drawn.distances
    try:
        banded = _banded(options, sample)
    except UnreachableRecallError:
        if options.method == "lsh":
            raise
        why = f"no banding of {several(options.slots, 'slot')} keeps the promise"
        return Choice(method="exact", why=why, roads={}), None, None
    chances = None
    if options.measure in ("l1", "l2") and not isinstance(banded, ProbedPlan):
        directions = directions_of(engine, items, drawn.nearest)
        banded, chances = kept_by_draw(items, banded, directions, sample)
    if options.method == "lsh":
        return Choice(method="lsh", why="asked for", roads={}), banded, chances
    assert banded.expected_cost is not None
    assert banded.expected_candidates is not None
    # Products say little of L1: most pairs may have to be compared.
    proposed = sample.total_pairs if options.measure == "l1" else 0
    products = seconds_for_products(sample.total_pairs, items.dimensions, proposed=proposed)
    roads = {
        "lsh": RoadEstimate(seconds=banded.expected_cost, candidates=banded.expected_candidates),
        "exact": RoadEstimate(seconds=products, candidates=float(sample.total_pairs)),
    }
    cheap = products <= EXACT_WORTH * banded.expected_cost
    why = (
        f"to compare all with all would take {seconds(products)} of one core, bands"
        f" {seconds(banded.expected_cost)}" + ("; the former misses nothing" if cheap else "")
    )
    return Choice(method="exact" if cheap else "lsh", why=why, roads=roads), banded, chances


def _banded(options: VectorOptions, sample: DistanceSample) -> Plan:
    """Bands that keep the promise, each looked at in as many buckets as asked for or as seems worth it."""
    asked: dict[str, Any] = {
        "measure": options.measure,
        "recall": options.recall,
        "slots": options.slots,
        "distances": sample,
    }
    if options.probes is not None and options.probes > 1:
        return plan_probes(options.written, probes=options.probes, **asked)
    plain = plan(options.written, **asked)
    assert plain.expected_cost is not None
    if options.probes == 1 or plain.expected_cost < _LONG:
        return plain
    probed = plan_probes(options.written, **asked)
    assert probed.expected_cost is not None
    return probed if probed.expected_cost < _WORTH * plain.expected_cost else plain
