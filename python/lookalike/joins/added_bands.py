"""Bands from a fresh seed, beside those that rows are keyed by already.

Rows are signed again, and the pairs of the new buckets that no band gave before are the candidates of the
round. Large buckets are gone through once, when all bands are there. A round costs a signing pass, 8 bytes
a row and band, and the candidates it adds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike.bands import PairUp, packed, rows_of
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table
from lookalike.joins.flags import EMPTY
from lookalike.joins.items import Items
from lookalike.joins.meeting import shared_buckets
from lookalike.joins.outright import affordable
from lookalike.joins.prepare import Prepared
from lookalike.joins.promise import Wanted
from lookalike.joins.sign import AddedKeys, WithAddedKeys
from lookalike.runs.watch import Watch
from lookalike.theory.added_bands import AddedBands, FinalBands, seed_of_round
from lookalike.types import Bools


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

        small = affordable(engine, fresh, meetings, named=f"affordable-{number}")

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
    return only_new(engine, pairs, [one.candidates for one in walked.rounds], bands=walked.ready.plan.slots)


def only_new(engine: Engine, pairs: list[Table], earlier: list[Table], *, bands: int) -> Table:
    """Of packed pairs (`pair`), of which each comes once a band at most, those that were no candidates.

    As candidates (`a`, `b`), each once; `earlier` are tables of such.
    """
    lines = [engine.map(table, _Fresh(True)) for table in pairs]
    lines += [engine.map(table, _Fresh(False)) for table in earlier]
    # A pair comes once more if it was a candidate before.
    return engine.group(Table.together(lines), "pair", _OnlyFresh(), order=("fresh",), most=bands + 1)


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
