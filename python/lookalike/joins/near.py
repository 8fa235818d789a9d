"""The main road for vectors: signatures → bands → candidates → verified pairs.

    plan        the banding of least expected cost that keeps the promised recall, from a sample of distances
    sign        every row, one kernel call a batch, down to its bucket keys
    copies      the same numbers: star edges to a representative
    candidates  rows that share a bucket in some band (`crowds`), or that look into each other's (`lookers`);
                what large buckets leave out is sampled (`crowd_sample`), for the account
    verify      the exact distance of every candidate

Angles and cosines are signed by sides of hyperplanes, L2 and L1 by places on lines. Tables hold the vectors,
16 bytes a row and 8 a band, 12 a row and band of some bands at a time, and 8 a candidate; the driver 9 a row
and 24 a pair found. Time: linear in rows, slots and coordinates, and in candidates, of which a row has
at most `bands · FOLLOWING`, or there are few (`crowds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import key_columns
from lookalike.engines import Engine, Table
from lookalike.joins.account import Account
from lookalike.joins.copies import Stars
from lookalike.joins.crowd_sample import missed_by
from lookalike.joins.crowds import candidates as of_buckets
from lookalike.joins.joined import Joined
from lookalike.joins.leaders import LeaderAccount
from lookalike.joins.lookers import candidates as of_neighbouring
from lookalike.joins.meetings import unpacked
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import Compared, Near, SameVector, matrix_of
from lookalike.runs.watch import Watch
from lookalike.theory import Banding, Plan
from lookalike.theory.probed_plans import ProbedPlan
from lookalike.theory.recall import recall_from_chances
from lookalike.types import F64, I64


@dataclass(frozen=True)
class KeyVectors:
    """A stage: vectors → `row`, `content`, and a bucket key a band."""

    projections: _core.Projections
    banding: Banding
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        vectors = matrix_of(batch)
        keys = self.projections.keys(vectors, bands=self.banding.bands, rows=self.banding.rows)
        content = _core.vector_contents(vectors, seed=self.seed)
        return pa.record_batch({"row": batch["row"], "content": pa.array(content), **key_columns(keys)})


@dataclass(frozen=True)
class ContentOf:
    """A stage: vectors → `row`, `content`, and a key that copies of one collection share (`copy`)."""

    seed: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        content = _core.vector_contents(matrix_of(batch), seed=self.seed)
        second = batch["row"].to_numpy() >= (2**63 - 1 if self.boundary is None else self.boundary)
        return pa.record_batch({"row": batch["row"], "copy": pa.array(np.where(second, ~content, content))})


def representatives(engine: Engine, items: VectorItems) -> I64:
    """Of every row: itself, or the first row of its collection with the same numbers."""

    def told() -> Table:
        representative = np.arange(items.rows, dtype=np.int64)
        keyed = engine.map(items.table, ContentOf(items.seed, items.boundary))
        stars = engine.group(keyed, "copy", Stars("copy"), order=("row",), least=2, repeat_first=True)
        same = engine.fetch(items.table, stars, ("a", "b"), SameVector())
        representative[same.column("b")] = same.column("a")
        return Table.of(representative=representative)

    representative: I64 = engine.settle("copies", told).column("representative")
    return representative


def near(
    items: VectorItems,
    *,
    plan: Plan,
    engine: Engine,
    watch: Watch,
    chances: Callable[[F64], F64] | None = None,
) -> Joined:
    """Join vectors by the bands of a plan, each looked at in one bucket or in as many as the plan says.

    `chances` are those of the draw, by value, where more is known of it than of all draws.
    """
    # With probes, bands are signed some at a time: there are too many keys to hold those of all.
    keyed = None if isinstance(plan, ProbedPlan) else _signed(items, plan, engine, watch)
    with watch.stage("copies", items.rows, unit="vectors"):
        representative = representatives(engine, items)
    with watch.stage("candidates", items.rows, unit="vectors"):
        marked = representative == np.arange(items.rows)

        def met() -> Table:
            if keyed is None:
                assert isinstance(plan, ProbedPlan)
                pairs, large, sample = of_neighbouring(engine, items, marked, plan)
            else:
                pairs, large, sample = of_buckets(
                    engine,
                    keyed,
                    marked,
                    bands=plan.banding.bands,
                    boundary=items.boundary,
                    seed=items.seed,
                )
            if sample is not None:
                missed = missed_by(sample, pairs, items=items, plan=plan, engine=engine.unsettled())
                large = replace(large, missed=missed.pairs, missed_spread=missed.spread)
            return large.noted_on(engine.map(pairs, unpacked))

        candidates = engine.settle("candidates", met)
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        check = Near(items.nearness)
        found = engine.settle(
            "found", lambda: engine.fetch(items.table, candidates, ("a", "b"), check, advance=advance)
        )
        a, b, value = found_pairs(found)
    large = LeaderAccount.noted(candidates)
    chance = plan.probabilities(value) if chances is None else chances(value)
    account = Account(
        method="lsh",
        measure=items.nearness.measure,
        threshold=items.nearness.threshold,
        plan=plan,
        items=items.rows,
        empty=0,
        short=0,
        unspaced=0,
        copies=items.rows - int(marked.sum()),
        representatives=int(marked.sum()),
        candidates=candidates.rows,
        pairs=len(a),
        recall=recall_from_chances(
            chance, missed=large.missed or 0.0, missed_spread=large.missed_spread or 0.0
        ),
        large=large,
    )
    return joined(items, (a, b, value), representative, account, engine)


def _signed(items: VectorItems, plan: Plan, engine: Engine, watch: Watch) -> Table:
    with watch.stage("sign", items.rows, unit="vectors") as advance:
        stage = KeyVectors(items.drawn(plan), plan.banding, items.seed)
        return engine.map(items.table, stage, advance=advance, settled="keyed")


def found_pairs(found: Table) -> tuple[I64, I64, F64]:
    """Pairs brought to the driver, by a and b."""
    a, b = (found.column(name).astype(np.int64) for name in ("a", "b"))
    order = np.lexsort((b, a))
    return a[order], b[order], found.column("value")[order]


def joined(
    items: VectorItems, found: tuple[I64, I64, F64], representative: I64, account: Account, engine: Engine
) -> Joined:
    """What a road between vectors found, in the form that all roads share."""

    def compare(a: I64, b: I64) -> F64:
        asked = Table.of(a=representative[a], b=representative[b])
        values: F64 = engine.fetch(items.table, asked, ("a", "b"), Compared(items.nearness)).column("value")
        return values

    none = np.empty(0, np.int64)
    return Joined(
        a=found[0],
        b=found[1],
        similarity=found[2],
        representative=representative,
        flags=np.zeros(items.rows, np.uint8),
        below=(none, none, np.empty(0, np.float64)),
        account=account,
        compare=compare,
        own=np.full(items.rows, items.nearness.own),
    )
