"""The promise, kept by the draw at hand: what was found is measured, and bands are added where it falls
short.

    measure    the bands in which found pairs met say how many pairs this draw missed (`recall_of_draw`)
    look       where next to nothing was found, some rows are compared with all others exactly: that tells
               "there is nothing" from "it was unlucky"
    add        rows are signed again from a fresh seed, and the pairs of the new buckets verified; three
    rounds at most

Which pairs are found depends on the final list of bands alone: large buckets are gone through once, at the
end. A round costs a signing pass, 8 bytes a row and band, and the candidates it adds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import PairUp, packed, rows_of
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table
from lookalike.joins.flags import EMPTY
from lookalike.joins.items import Items
from lookalike.joins.least import Least
from lookalike.joins.meeting import shared_buckets
from lookalike.joins.nearest import nearest_of
from lookalike.joins.outright import affordable
from lookalike.joins.prepare import Prepared
from lookalike.joins.recall_of_draw import draw_of
from lookalike.joins.sign import AddedKeys, WithAddedKeys
from lookalike.runs.watch import Watch
from lookalike.theory import Plan
from lookalike.theory.added_bands import AddedBands, ExactLook, FinalBands, Reason, seed_of_round
from lookalike.theory.recall_of_draw import ROUNDS, TOLERANCE, Draw
from lookalike.types import F64, I64, U64, Bools

#: Rows compared exactly with all others: if one row in a hundred has a near pair, one is seen with chance
#: .95.
LOOKED_AT = 300
#: The near pairs of a row that are looked up.
_NEAR_A_ROW = 64
#: With fewer groups of pairs than this, masks tell little: all may have been found by one stroke of luck.
_GROUPS = 20
#: So many pairs are looked at first to count groups.
_MANY_PAIRS = 1 << 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """The buckets of the first bands, or of bands added at once, and the candidates they gave."""

    #: The rows of every bucket that holds two or more.
    shared: list[Table]
    #: Buckets of up to so many rows were paired outright.
    small: int
    #: The pairs of small buckets that no round before gave.
    candidates: Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Walked:
    """How far a run has come: rows and their keys, the rounds, and what was added to keep the promise."""

    ready: Prepared
    rounds: tuple[Round, ...]
    added: tuple[AddedBands, ...] = ()

    @property
    def bands(self) -> int:
        """How many bands there are by now."""
        return self.final_bands.count

    @property
    def final_bands(self) -> FinalBands:
        """The bands of the plan, and those added since."""
        return FinalBands(banding=self.ready.plan.banding, added=self.added)

    @property
    def looked_at(self) -> int:
        """How many candidates were looked at."""
        return sum(one.candidates.rows for one in self.rounds)


class NearPairs(NamedTuple):
    """Pairs that bands found and that reach the threshold, sorted."""

    a: I64
    b: I64
    similarity: F64


def measured(walked: Walked, near: NearPairs, engine: Engine) -> Draw:
    """What the near pairs that bands found tell of the draw."""
    chances = walked.ready.plan.band_chances(near.similarity)
    named = f"hits-{len(walked.added)}"
    return draw_of(engine, walked.ready.keyed, near.a, near.b, chances, bands=walked.bands, settled=named)


class Wanted(NamedTuple):
    """So many bands are to be added, and why."""

    bands: int
    reason: Reason


def wanted(walked: Walked, draw: Draw, looked: ExactLook | None) -> Wanted | None:
    """How many bands to add and why; None where the promise is kept, or as much was done as may be."""
    plan = walked.ready.plan
    if len(walked.added) >= ROUNDS:
        return None
    bands = draw.bands_to_add(at_threshold=plan.band_chance_at_threshold, promised=plan.recall)
    reason: Reason = "alike" if draw.hard else "short"
    unseen = looked is not None and looked.recall is not None and looked.recall < plan.recall - TOLERANCE
    if unseen and bands < plan.banding.bands:
        bands, reason = plan.banding.bands, "unseen"
    # A fresh draw has no more slots than the first.
    return Wanted(min(bands, plan.slots // plan.banding.rows), reason) if bands else None


def with_bands(
    walked: Walked, items: Items, more: Wanted, *, meetings: int, engine: Engine, watch: Watch
) -> Walked:
    """Add bands from a fresh seed; the candidates of the last round are those that no band gave before.

    Large buckets are paired outright as far as so many `meetings` go, in each round anew.
    """
    ready, first, number = walked.ready, walked.bands, len(walked.added) + 1
    assert ready.keying is not None
    bands = more.bands
    seed = seed_of_round(items.seed, number)
    with watch.stage("add bands", items.rows, size=items.bytes) as advance:
        key = AddedKeys(ready.keying.again(seed, bands), first, bands)

        def keyed_too() -> Table:
            more = engine.map(items.table, key, advance=advance)
            return engine.fetch(more, ready.keyed, ("row",), WithAddedKeys(first, bands))

        keyed = engine.settle(f"keyed-too-{number}", keyed_too)
        added = range(first, first + bands)
        meeting = ready.meeting
        if meeting is None:
            fresh = shared_buckets(engine, keyed, added, ready.marked, "shared")
        else:
            filled: Bools = (ready.flags & EMPTY) == 0
            before = len(meeting.buckets)
            meeting = meeting.and_also(shared_buckets(engine, keyed, added, filled, "meeting", soon=False))
            fresh = meeting.among(ready.marked, before)
        ready = replace(ready, keyed=keyed, meeting=meeting)

        small = affordable(engine, fresh, meetings)

        def candidates() -> Table:
            return _not_among(engine, walked, items, fresh, small)

        found = engine.settle(f"candidates-{number}", candidates)
    return Walked(
        ready=ready,
        rounds=(*walked.rounds, Round(shared=fresh, small=small, candidates=found)),
        added=(*walked.added, AddedBands(seed=seed, bands=bands, reason=more.reason)),
    )


def _not_among(engine: Engine, walked: Walked, items: Items, fresh: list[Table], small: int) -> Table:
    """The pairs of small buckets that were no candidates before, each once."""
    sides = items.sides(walked.ready.representative)
    pairs = [engine.group(part, "bucket", PairUp(sides), least=2, most=small) for part in fresh]
    lines = [engine.map(table, _Fresh(True)) for table in pairs]
    lines += [engine.map(one.candidates, _Fresh(False)) for one in walked.rounds]
    # A pair comes once a band at most, and once more if it was a candidate.
    most = walked.ready.plan.slots + 1
    return engine.group(Table.together(lines), "pair", _OnlyFresh(), order=("fresh",), most=most)


@dataclass(frozen=True)
class _Fresh:
    """A stage: pairs, packed or as candidates → `pair` and whether it may be `fresh`."""

    fresh: bool

    light: ClassVar[bool] = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if "pair" in batch.schema.names:
            pair = batch["pair"].to_numpy()
        else:
            pair = packed(batch["a"].to_numpy(), batch["b"].to_numpy())
        fresh = np.full(len(pair), self.fresh, np.uint64)
        return pa.record_batch({"pair": pa.array(pair), "fresh": pa.array(fresh)})


@dataclass(frozen=True)
class _OnlyFresh:
    """A stage over grouped pairs: as candidates those that are fresh whenever they come."""

    light: ClassVar[bool] = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        pairs, fresh = batch["pair"].to_numpy(), batch["fresh"].to_numpy()
        # What is not fresh comes first.
        starts = run_starts(pairs)[:-1]
        a, b = rows_of(pairs[starts[fresh[starts] == 1]])
        return pa.record_batch({"a": pa.array(a), "b": pa.array(b)})


@dataclass(frozen=True, kw_only=True, eq=False)
class Looked:
    """The near pairs of rows that were compared with all others exactly."""

    rows: int
    pairs: U64

    def outcome(self, near: NearPairs) -> ExactLook:
        """What the look showed, now that these pairs are found."""
        seen = np.isin(self.pairs, packed(near.a, near.b))
        return ExactLook(rows=self.rows, near=len(self.pairs), found=int(seen.sum()))


def tells_little(near: NearPairs, draw: Draw, plan: Plan) -> bool:
    """Whether so little was found, or nothing near the threshold, that bands alone cannot be believed."""
    if draw.none_near_threshold(plan.band_chance_at_threshold):
        return True
    # The first of many pairs will mostly do, and a few are soon told.
    for some in (_MANY_PAIRS, None):
        a, b = near.a[:some], near.b[:some]
        rows, ends = np.unique(np.concatenate([a, b]), return_inverse=True)
        one, other = np.split(ends.astype(np.uint32), 2)
        forest = _core.Forest(len(rows))
        forest.join(one, other)
        if len(np.unique(forest.labels())) >= _GROUPS:
            return False
    return True


#: Finds the near pairs (a, b) of some rows among all that are compared.
NearOf = Callable[[Items, Prepared, I64, float, Engine], tuple[I64, I64]]


def look_exactly(
    items: Items, ready: Prepared, threshold: float, near_of: NearOf, *, engine: Engine, watch: Watch
) -> Looked:
    """Compare the rows with the least contents with all others; about a signing pass."""

    def near() -> Table:
        rows = LeastContents(LOOKED_AT, 0, items.rows, ready.marked).drawn(engine, ready.keyed)
        a, b = near_of(items, ready, rows, threshold, engine.unsettled())
        pairs = np.unique(packed(np.minimum(a, b), np.maximum(a, b)))
        table = Table.of(pair=pairs)
        return Table(table.batches, table.schema.with_metadata({_ROWS: str(len(rows))}))

    with watch.stage("look", items.rows, size=items.bytes):
        looked = engine.settle("looked", near)
    return Looked(rows=int(looked.schema.metadata[_ROWS.encode()]), pairs=looked.column("pair"))


def near_of_sets(
    items: Items, ready: Prepared, rows: I64, threshold: float, engine: Engine
) -> tuple[I64, I64]:
    """The near pairs of some rows, of sets or texts: the few are held, and all pass by once."""
    # Of two collections, too, all rows pass by: a representative may stand for rows of either.
    a, b, similarity = nearest_of(replace(items, boundary=None), rows, _NEAR_A_ROW, engine=engine)
    near = (similarity >= threshold) & ready.marked[b]
    a, b = a[near], b[near]
    sides = items.sides(ready.representative)
    if sides is None:
        return a, b
    first, second = sides
    across = (first[a] & second[b]) | (second[a] & first[b])
    return a[across], b[across]


@dataclass(frozen=True, eq=False)
class LeastContents(Least):
    """A stage for `fold`: marked rows with the least contents."""

    marked: Bools

    def hashes(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        """Of the marked rows."""
        rows = batch["row"].to_numpy()
        there = self.marked[rows]
        return batch["content"].to_numpy()[there], rows[there].astype(np.int64)


_ROWS = "rows"
