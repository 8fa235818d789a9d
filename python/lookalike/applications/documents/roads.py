"""Which road leads to the pairs, and taking it.

lsh          bands of MinHash signatures: most pairs, with a promised recall
prefix       exactly, by the rarest elements of sets
divide       exactly, by counting what every two sets share
signature    all pairs whose signatures agree enough, by pieces of them
external     the same, by sorting alone
pyramid      bands of a folded boolean matrix, with a promised recall
auto         lsh or prefix, whichever is expected to cost less
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.options import DedupOptions, Method, PairOptions
from lookalike.applications.documents.under import just_under
from lookalike.applications.too_large import numbered_anew
from lookalike.engines import Engine, Stage, Table
from lookalike.families import MinHash
from lookalike.joins import Account, Items, Joined, by_rarest_words, lsh
from lookalike.joins.agree import agree
from lookalike.joins.choice import Chosen, choose
from lookalike.joins.distinct import Distinct, distinct
from lookalike.joins.divide import divide
from lookalike.joins.expand import refuse_too_many
from lookalike.joins.external import external
from lookalike.joins.found import Found
from lookalike.joins.left_out import LeftOut
from lookalike.joins.pair_tables import Numbered
from lookalike.joins.prefix import prefix_join
from lookalike.joins.pyramid import pyramid
from lookalike.joins.top import Before
from lookalike.measures.candidates import Agreement
from lookalike.measures.overlap import OverlapMeasure, overlap_measure
from lookalike.runs.watch import Watch
from lookalike.theory import Choice, RecallEstimate
from lookalike.theory.pyramid import plan_pyramid
from lookalike.types import F64, I64, Bools


def take_road(items: Items, options: PairOptions, *, engine: Engine, watch: Watch) -> Joined:
    """Join items by the road that the options name."""
    items = by_rarest_words(items, engine=engine, watch=watch)
    chosen = chosen_road(items, options, engine=engine, watch=watch)
    if chosen.choice.method == "lsh":
        joined = lsh(
            items,
            threshold=options.threshold,
            recall=options.recall,
            family=family_of(options),
            verify=options.verify,
            engine=engine,
            watch=watch,
            drawn=chosen.drawn,
            # Who drops duplicates asks who belongs together, not for every pair.
            listing=not isinstance(options, DedupOptions),
            banding=options.banding,
        )
    else:
        joined = _by_sets(items, chosen, options, engine=engine, watch=watch)
    if options.method != "auto":
        return joined
    return replace(joined, account=replace(joined.account, choice=chosen.choice))


def family_of(options: PairOptions) -> MinHash:
    """The family of hash functions that options draw."""
    return MinHash(slots=options.slots, seed=options.seed)


def least_size(options: PairOptions) -> int:
    """How large a set is at least that matches anything: of smaller ones not even copies share so much."""
    return ceil(options.threshold) if options.measure == "overlap" else 1


def chosen_road(items: Items, options: PairOptions, *, engine: Engine, watch: Watch) -> Chosen:
    """The method that the options name or, if that is `auto`, ask for."""
    if options.method != "auto":
        return Chosen(choice=Choice(method=options.method, why="asked for", roads={}))
    if options.measure != "jaccard":
        why = f"of the roads that auto knows only prefix measures {options.measure}"
        return Chosen(choice=Choice(method="prefix", why=why, roads={}))
    if options.verify != "exact" or options.banding is not None:
        has = "bands and rows" if options.verify == "exact" else "signatures to verify by"
        why = f"of the roads that auto knows only lsh has {has}"
        return Chosen(choice=Choice(method="lsh", why=why, roads={}))
    made: list[Chosen] = []

    def choice() -> Table:
        made.append(
            choose(
                items,
                threshold=options.threshold,
                recall=options.recall,
                family=family_of(options),
                engine=engine,
                watch=watch,
            )
        )
        return made[0].to_table()

    settled = engine.settle("choice", choice)
    # Sets that were made on the way are at hand only in the run that made them.
    return made[0] if made else Chosen.from_table(settled)


def _by_sets(items: Items, chosen: Chosen, options: PairOptions, *, engine: Engine, watch: Watch) -> Joined:
    """Set exact copies aside, walk a road between the others, and number its pairs as before."""
    method = chosen.choice.method
    measure = overlap_measure(options.measure)
    counted = measure.name == "overlap"
    apart = distinct(items, least_size=least_size(options), sets=chosen.sets, engine=engine, watch=watch)
    refuse_too_many(
        apart.representative, items.most_from_copies, boundary=items.boundary, directed=measure.directed
    )
    with numbered_anew(apart.numbers):
        settled = engine.settle(
            "found",
            lambda: _walk_both(
                apart.items(), method, measure, options, engine=engine, watch=watch
            ).to_table(),
        )
    found, left_out = Found.from_table(settled), LeftOut.of_table(settled)
    certain = RecallEstimate.unknown if left_out is not None and left_out.misses else RecallEstimate.certain
    account = Account(
        method=method,
        measure=measure.name,
        threshold=options.threshold,
        plan=plan_pyramid(options.threshold, recall=options.recall) if method == "pyramid" else None,
        items=items.rows,
        empty=apart.empty,
        short=apart.short,
        unspaced=apart.unspaced,
        copies=apart.copies,
        representatives=len(apart.numbers),
        candidates=found.candidates,
        pairs=len(found),
        recall=found.recall or certain(len(found)),
        median_similarity=None if chosen.drawn is None else chosen.drawn.median_similarity,
        left_out=left_out,
    )
    return Joined(
        near=engine.map(found.near, Numbered(apart.numbers)),
        representative=apart.representative,
        flags=apart.flags,
        account=account,
        compare=_comparing(apart, method, measure, options, engine),
        own=apart.sizes.astype(np.float64) if counted else None,
        directed=measure.directed,
        under=None if items.boundary is not None else _under(apart, method, measure, options, engine),
    )


def _under(
    apart: Distinct, method: str, measure: OverlapMeasure, options: PairOptions, engine: Engine
) -> Callable[[int], tuple[I64, I64, F64]] | None:
    """How to find pairs just under the threshold of one collection, by a measure that goes up to 1."""
    if measure.directed or measure.name == "overlap":
        return None
    # What agreement of signatures is, only signatures tell; what sets share, prefixes find soonest.
    road: Method = "signature" if method in ("signature", "external") else "prefix"

    def walk(items: Items, threshold: float) -> Found:
        lower = replace(options, method=road, threshold=threshold, common=None)
        return _walk(items, road, measure, lower, engine=engine.unsettled(), watch=Watch())

    def under(enough: int) -> tuple[I64, I64, F64]:
        with numbered_anew(apart.numbers):
            a, b, similarity = just_under(
                apart.items(), walk, options.threshold, enough=enough, engine=engine
            )
        return apart.numbers[a], apart.numbers[b], similarity

    return under


def _walk_both(
    items: Items, method: str, measure: OverlapMeasure, options: PairOptions, *, engine: Engine, watch: Watch
) -> Found:
    """Walk between two collections and, where pairs within the first count, within that too."""
    found = _walk(items, method, measure, options, engine=engine, watch=watch)
    if not items.first_within:
        return found
    assert items.boundary is not None
    first = engine.map(items.table, Before(items.boundary))
    within = replace(items, table=first, boundary=None, first_within=False)
    # The tables of both walks have the same names; together they are settled as what was found.
    return found.and_also(
        _walk(within, method, measure, options, engine=engine.unsettled(), watch=watch), engine
    )


def _walk(
    items: Items, method: str, measure: OverlapMeasure, options: PairOptions, *, engine: Engine, watch: Watch
) -> Found:
    threshold = options.threshold
    match method:
        case "prefix":
            return prefix_join(
                items,
                measure=measure,
                threshold=threshold,
                engine=engine,
                watch=watch,
                suffix_filter=options.suffix_filter,
            )
        case "divide":
            return divide(
                items,
                measure=measure,
                threshold=threshold,
                engine=engine,
                watch=watch,
                common=options.common,
            )
        case "signature":
            return agree(items, family=family_of(options), threshold=threshold, engine=engine, watch=watch)
        case "external":
            return external(items, family=family_of(options), threshold=threshold, engine=engine, watch=watch)
    return pyramid(
        items, threshold=threshold, seed=options.seed, recall=options.recall, engine=engine, watch=watch
    )


def _comparing(
    apart: Distinct, method: str, measure: OverlapMeasure, options: PairOptions, engine: Engine
) -> Callable[[I64, I64], F64]:
    """How a road measures any two rows."""
    if method not in ("signature", "external"):
        return apart.compare(engine, measure)

    def agreement(a: I64, b: I64) -> F64:
        sets = apart.sets()
        # Signatures are not kept: the few rows that are asked for are signed again.
        asked = np.zeros(sets.rows, np.bool_)
        asked[a] = asked[b] = True
        signed = engine.map(sets.table, SignSome(asked, sets.sign(family_of(options))))
        agreeing = engine.fetch(signed, Table.of(a=a, b=b), ("a", "b"), Agreement(0.0))
        similarity: F64 = agreeing.column("similarity")
        return similarity

    return agreement


@dataclass(frozen=True, eq=False)
class SignSome:
    """A stage: items → signed rows, of the marked ones."""

    marked: Bools
    sign: Stage

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return self.sign(batch.filter(pa.array(self.marked[batch["row"].to_numpy()])))
