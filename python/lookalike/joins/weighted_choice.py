"""`auto` for weighted sets and sparse vectors: bands or prefixes, whichever is expected to cost less.

The rows that bands are planned by tell what both roads cost. How similar they are says how many candidates
bands have. What prefixes cost follows from how often elements occur: those of all rows are counted, by
buckets of their hash, and the sampled rows are then put through the very stages of the exact join. A crowd
shows in the sample as what it is, all pairs of its rows, so the square that prefixes would cost is seen
before it is paid; one pair that was not seen is added, since it may be there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.bands import buckets
from lookalike.charts.numbers import seconds
from lookalike.engines import Engine, Table, as_it_is
from lookalike.joins.bucket_counts import added
from lookalike.joins.sample import Sign
from lookalike.joins.weighted import THEORY, DrawnWeighted, WeightedItems, affordable_meetings, draw_weighted
from lookalike.joins.weighted_exact import candidates_of, crowds_of
from lookalike.joins.weighted_prefixes import (
    CountElements,
    CutWeighted,
    Everybody,
    Reach,
    Sizes,
    Strip,
    bucket_bits,
)
from lookalike.runs.watch import Watch
from lookalike.theory import Choice, Plan, RoadEstimate, plan
from lookalike.theory.costs import (
    EXACT_WORTH,
    seconds_for_keys,
    seconds_for_weighted_checks,
    seconds_for_weighted_prefixes,
    seconds_for_weighted_signatures,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenWeighted:
    """A choice, and the plan of the bands, whichever road is taken."""

    choice: Choice
    plan: Plan


def choose_weighted(
    items: WeightedItems, *, threshold: float, recall: float, slots: int, engine: Engine, watch: Watch
) -> ChosenWeighted:
    """Choose the road to all pairs of weighted sets."""
    measure = THEORY[items.measure]
    # Said before any work is done: an unreachable promise is not worth a pass over the data.
    plan(threshold, measure=measure, recall=recall, slots=slots)
    with watch.stage("plan"):
        drawn = draw_weighted(engine, items)
        banded = plan(threshold, measure=measure, recall=recall, slots=slots, distances=drawn.distances)
        roads = {
            "lsh": _by_bands(items, banded, drawn),
            "exact": _by_prefixes(items, threshold, drawn, engine),
        }
    method = "exact" if roads["exact"].seconds <= EXACT_WORTH * roads["lsh"].seconds else "lsh"
    why = (
        f"exact prefixes would take about {seconds(roads['exact'].seconds)} of one core, bands"
        f" {seconds(roads['lsh'].seconds)}" + ("; the former miss nothing" if method == "exact" else "")
    )
    return ChosenWeighted(choice=Choice(method=method, why=why, roads=roads), plan=banded)


def _by_bands(items: WeightedItems, banded: Plan, drawn: DrawnWeighted) -> RoadEstimate:
    sample, banding = drawn.distances, banded.banding
    rows = sample.keyed_items
    # Of large buckets only so many pairs are compared; their rows are compared with leaders beside.
    most = rows * banding.bands * buckets.LARGE / 2 + affordable_meetings(banding.bands, rows)
    candidates = min(sample.likely_candidates(banding, banded.collision), most)
    spent = seconds_for_weighted_signatures(
        sample.values_per_item * items.rows, banding.slots, sides=items.measure == "cosine"
    )
    spent += seconds_for_keys(items.rows, banding.bands)
    spent += seconds_for_weighted_checks(candidates, sample.values_per_item)
    return RoadEstimate(seconds=spent, candidates=candidates)


def _by_prefixes(
    items: WeightedItems, threshold: float, drawn: DrawnWeighted, engine: Engine
) -> RoadEstimate:
    sample, boundary = drawn.distances, items.boundary
    elements, largest = engine.fold(items.table, Sizes(), Sizes.merge) or (0, 0)
    bits = bucket_bits(elements)
    counts = engine.fold(items.table, CountElements(bits), added)
    if counts is None:
        counts = np.zeros(1 << bits, np.uint32)
    reach, every = Reach(items.measure, threshold, largest), np.ones(items.rows, np.bool_)
    sides = (
        None if boundary is None else (np.arange(items.rows) < boundary, np.arange(items.rows) >= boundary)
    )
    whole = Strip(0, items.rows if boundary is None else boundary, sides)
    few = engine.fetch(items.table, Table.of(row=drawn.rows), ("row",), Sign(as_it_is))
    entries = engine.map(few, CutWeighted(reach, counts, every))
    crowds = crowds_of(engine, entries, bits, whole)
    met = crowds.meetings
    if boundary is None:
        # Of one collection nobody meets himself, and two meet once.
        met = (met - float(crowds.left.sum())) / 2
    # So many pairs stand behind each of the sample's.
    each = sample.total_pairs / max(1, sample.pairs)
    meetings = met * each
    if meetings > sample.total_pairs:
        # Where prefixes would meet more often than there are pairs, every two sets meet once.
        entries, meetings = engine.map(few, Everybody(every)), float(sample.total_pairs)
    candidates = candidates_of(engine, entries, bits, whole, reach).rows * each
    spent = seconds_for_weighted_prefixes(
        elements, entries.rows * sample.keyed_items / max(1, len(drawn.rows)), meetings
    )
    # What a sample does not show need not be absent, and may be a crowd.
    unseen = sample.total_pairs / (sample.pairs + 1)
    spent += seconds_for_weighted_checks(candidates + unseen, sample.values_per_item)
    return RoadEstimate(seconds=spent, candidates=candidates)
