"""The main road for vectors: signatures → bands → candidates → verified pairs.

    plan        the banding of least expected cost that keeps the promised recall, from a sample of distances
    sign        every row, one kernel call a batch, down to its bucket keys
    copies      the same numbers: star edges to a representative
    candidates  rows that share a bucket in some band (`crowds`), or that look into each other's (`lookers`);
                what large buckets leave out is sampled (`crowd_sample`), for the account
    verify      the exact distance of every candidate
    keep        what was found tells the recall of this draw; bands are added where it falls short (`promise`)

Angles and cosines are signed by sides of hyperplanes, L2 and L1 by places on lines. Tables hold the vectors,
16 bytes a row and 8 a band, 12 a row and band of some bands at a time, and 8 a candidate; the driver 9 a row
and 24 a pair found. Time: linear in rows, slots and coordinates, and in candidates, of which a row has
at most `bands · FOLLOWING`, or there are few (`crowds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import key_columns
from lookalike.engines import Engine, Table
from lookalike.joins.account import Account
from lookalike.joins.added_bands import only_new
from lookalike.joins.copies import Stars
from lookalike.joins.crowd_sample import missed_by
from lookalike.joins.crowds import candidates as of_buckets
from lookalike.joins.exact_look import Looked, look_exactly
from lookalike.joins.expand import refuse_too_many
from lookalike.joins.joined import Joined
from lookalike.joins.leaders import LeaderAccount
from lookalike.joins.lookers import candidates as of_neighbouring
from lookalike.joins.meetings import unpacked
from lookalike.joins.pair_tables import pair_table
from lookalike.joins.promise import Kept, NearPairs, Wanted, keep_promise
from lookalike.joins.recall_of_draw import draw_of, meet
from lookalike.joins.sign import AddedKeys, WithAddedKeys
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import Compared, Near, SameVector, matrix_of
from lookalike.runs.watch import Watch
from lookalike.theory import Banding, Plan, RecallEstimate
from lookalike.theory.added_bands import AddedBands, FinalBands
from lookalike.theory.probed_plans import ProbedPlan
from lookalike.theory.recall import recall_from_chances
from lookalike.theory.recall_of_draw import FEW, Draw
from lookalike.types import F64, I64, Bools


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
    refuse_too_many(representative, items.most_from_copies, boundary=items.boundary)
    return representative


#: Finds near pairs (a, b) of some rows with all others: of items, which rows are joined, an engine, and the
#: rows.
NearOfVectors = Callable[[VectorItems, Bools, Engine, I64], tuple[I64, I64]]


def near(
    items: VectorItems,
    *,
    plan: Plan,
    near_of: NearOfVectors,
    engine: Engine,
    watch: Watch,
    chances: Callable[[F64], F64] | None = None,
) -> Joined:
    """Join vectors by the bands of a plan, each looked at in one bucket or in as many as the plan says.

    `near_of` finds the near pairs of a few vectors, for a look where bands found next to nothing. `chances`
    are those of the draw, by value, where more is known of it than of all draws. With probes the promise is
    that of all draws.
    """
    # With probes, bands are signed some at a time: there are too many keys to hold those of all.
    keyed = None if isinstance(plan, ProbedPlan) else _signed(items, plan, engine, watch)
    with watch.stage("copies", items.rows, unit="vectors"):
        representative = representatives(engine, items)
    marked = representative == np.arange(items.rows)
    road = VectorRoad(
        items, plan, marked, keyed, near_of=near_of, chances=chances, engine=engine, watch=watch
    )
    road.find()
    kept = Kept(road.by_law()) if keyed is None else keep_promise(road, items.rows)
    a, b, value = road.near()
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
        candidates=sum(candidates.rows for candidates in road.candidates),
        pairs=len(a),
        recall=kept.recall,
        large=road.large,
        added=road.added,
        look=kept.look,
    )
    return joined(items, (a, b, value), representative, account, engine)


class VectorRoad:
    """The road of vectors from their keys on: candidates in, verified pairs kept, bands added where asked."""

    addable = True

    def __init__(
        self,
        items: VectorItems,
        plan: Plan,
        marked: Bools,
        keyed: Table | None,
        *,
        near_of: NearOfVectors,
        chances: Callable[[F64], F64] | None,
        engine: Engine,
        watch: Watch,
    ) -> None:
        self.items = items
        self.plan = plan
        self.added: tuple[AddedBands, ...] = ()
        self.candidates: list[Table] = []
        self.large = LeaderAccount()
        self._marked = marked
        self._keyed = keyed
        self._found: list[tuple[I64, I64, F64]] = []
        self._near_of = near_of
        self._chances = chances
        self._engine = engine
        self._watch = watch

    @property
    def bands(self) -> int:
        """How many bands there are by now."""
        return FinalBands(banding=self.plan.banding, added=self.added).count

    @property
    def keyed(self) -> Table:
        """The keys of all bands; with probes there is no such table."""
        assert self._keyed is not None
        return self._keyed

    def find(self) -> None:
        """Find and verify the candidates of the bands there are, but for those of earlier rounds."""
        ending = f"-{len(self.added)}" if self.added else ""
        with self._watch.stage("candidates", self.items.rows, unit="vectors"):
            candidates = self._engine.settle(f"candidates{ending}", self._met)
            self.candidates.append(candidates)
            self.large = LeaderAccount.noted(candidates)
        with self._watch.stage("verify", candidates.rows, unit="candidates") as advance:
            check = Near(self.items.nearness)
            verified = partial(
                self._engine.fetch, self.items.table, candidates, ("a", "b"), check, advance=advance
            )
            found = self._engine.settle(f"found{ending}", verified)
            self._found.append(tuple(found.column(name) for name in ("a", "b", "value")))

    def near(self) -> NearPairs:
        """The pairs found so far, by a and b."""
        a, b, value = (np.concatenate(column) for column in zip(*self._found, strict=True))
        return NearPairs(*_in_order(a.astype(np.int64), b.astype(np.int64), value))

    def draw(self, near: NearPairs) -> Draw:
        """What these pairs tell of the draw."""
        chances = self.plan.band_chances(near.value)
        name = f"hits-{len(self.added)}"
        return draw_of(self._engine, self.keyed, near.a, near.b, chances, bands=self.bands, settled=name)

    def estimate(self, near: NearPairs, draw: Draw) -> RecallEstimate:
        """The recall of this draw; what large buckets left out is part of it."""
        if self._chances is not None and (self.bands == 1 or (draw.follows_law and not draw.hard)):
            return replace(self.by_law(), few=len(near.a) < FEW)
        missed, spread = self.large.missed or 0.0, self.large.missed_spread or 0.0
        return draw.estimate(found=len(near.a), missed=missed, missed_spread=spread)

    def by_law(self) -> RecallEstimate:
        """The recall by the law of the plan, or by that of its draw where more is known."""
        value = self.near().value
        return recall_from_chances(
            self.plan.probabilities(value) if self._chances is None else self._chances(value),
            missed=self.large.missed or 0.0,
            missed_spread=self.large.missed_spread or 0.0,
        )

    def look(self) -> Looked:
        """Compare some rows exactly."""
        items, engine = self.items, self._engine
        sides = None
        if items.boundary is not None:
            first = np.arange(items.rows) < items.boundary
            sides = first, ~first
        near_of = partial(self._near_of, items, self._marked, engine.unsettled())
        with self._watch.stage("look", items.rows, unit="vectors"):
            return look_exactly(engine, self.keyed, self._marked, self._nobody, sides, near_of, _none_near)

    def _nobody(self) -> Bools:
        """All rows are compared with all, those of large buckets too."""
        return np.zeros(self.items.rows, np.bool_)

    def met(self, a: I64, b: I64) -> Bools:
        """Which of some pairs share a bucket of some band by now."""
        name = f"seen-{len(self.added)}"
        return meet(self._engine, self.keyed, a, b, bands=self.bands, settled=name)

    def add(self, more: Wanted) -> None:
        """Go on with more bands: the functions that follow those there are."""
        first, number = self.bands, len(self.added) + 1
        with self._watch.stage("add bands", self.items.rows, unit="vectors") as advance:
            banding = replace(self.plan.banding, bands=more.bands)
            drawn = self.items.drawn(self.plan, first, first + more.bands)
            key = AddedKeys(KeyVectors(drawn, banding, self.items.seed), first, more.bands)

            def keyed_too() -> Table:
                keys = self._engine.map(self.items.table, key, advance=advance)
                return self._engine.fetch(keys, self.keyed, ("row",), WithAddedKeys(first, more.bands))

            self._keyed = self._engine.settle(f"keyed-too-{number}", keyed_too)
        added = AddedBands(seed=self.items.seed, bands=more.bands, reason=more.reason)
        self.added = (*self.added, added)
        self.find()

    def _met(self) -> Table:
        """The candidates, and what large buckets left out."""
        items, engine, plan = self.items, self._engine, self.plan
        if isinstance(plan, ProbedPlan):
            pairs, large, sample = of_neighbouring(engine, items, self._marked, plan)
        else:
            pairs, large, sample = of_buckets(
                engine,
                self.keyed,
                self._marked,
                bands=self.bands,
                boundary=items.boundary,
                seed=items.seed,
            )
        if sample is not None:
            missed = missed_by(sample, pairs, items=items, plan=plan, engine=engine.unsettled())
            large = replace(large, missed=missed.pairs, missed_spread=missed.spread)
        if not self.candidates:
            return large.noted_on(engine.map(pairs, unpacked))
        return large.noted_on(only_new(engine, [pairs], self.candidates, bands=1))


def _none_near(a: I64, b: I64) -> Bools:
    """Rows of large buckets are compared with all others, too: nothing is left to ask."""
    return np.zeros(len(a), np.bool_)


def _signed(items: VectorItems, plan: Plan, engine: Engine, watch: Watch) -> Table:
    with watch.stage("sign", items.rows, unit="vectors") as advance:
        stage = KeyVectors(items.drawn(plan), plan.banding, items.seed)
        return engine.map(items.table, stage, advance=advance, settled="keyed")


def found_pairs(found: Table) -> tuple[I64, I64, F64]:
    """Pairs brought to the driver, by a and b."""
    a, b = (found.column(name).astype(np.int64) for name in ("a", "b"))
    return _in_order(a, b, found.column("value"))


def _in_order(a: I64, b: I64, value: F64) -> tuple[I64, I64, F64]:
    order = np.lexsort((b, a))
    return a[order], b[order], value[order]


def joined(
    items: VectorItems,
    found: Table | tuple[I64, I64, F64],
    representative: I64,
    account: Account,
    engine: Engine,
) -> Joined:
    """What a road between vectors found, at the driver or as a table, in the form that all roads share."""

    def compare(a: I64, b: I64) -> F64:
        asked = Table.of(a=representative[a], b=representative[b])
        values: F64 = engine.fetch(items.table, asked, ("a", "b"), Compared(items.nearness)).column("value")
        return values

    return Joined(
        near=pair_table(*found) if isinstance(found, tuple) else found,
        representative=representative,
        flags=np.zeros(items.rows, np.uint8),
        account=account,
        compare=compare,
        own=np.full(items.rows, items.nearness.own),
    )
