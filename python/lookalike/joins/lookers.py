"""Multi-probe between vectors: rows that are at home in a bucket, and rows that look into it.

Every row is at home in one bucket a band, and looks into several: its own, and those in which near rows
probably are (`theory.multiprobe`, `probes.rs`). A pair is a candidate if one of its rows looks into a bucket
in which the other is at home. Of two collections the smaller one looks. Within one, of two rows it is the
one of the lesser content hash: so a pair's chance is that of a query and an item, and a pair that only shares
buckets by accident is met from one side alone.

Both take part as numbers: homes from 0 on, in the order of their contents, and lookers behind them, so that
pairs across that boundary are what is looked for, and `crowds` finds them.

Memory: 12 bytes a row, band and bucket (one at home, and as many as the plan says) of some bands at a time;
the driver holds 16 bytes a row while it brings them in order, and 8 then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike import _core
from lookalike.bands import Once, bands_of, packed, rows_of
from lookalike.engines import Engine, Table
from lookalike.errors import OptionError
from lookalike.joins.crowd_sample import CrowdSample, some_rows
from lookalike.joins.crowds import gathered
from lookalike.joins.leaders import LeaderAccount
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import matrix_of
from lookalike.theory.multiprobe import steps_of
from lookalike.theory.probed_plans import ProbedPlan
from lookalike.types import I64, U32, U64, Bools

#: About how many pairs of large buckets are drawn to be compared: the driver holds the vectors of those that
#: were left out while it looks how often they could have met.
DRAWN = 1 << 13
#: The number of a row that takes no part.
_NOBODY = 2**32 - 1


@dataclass(frozen=True, eq=False)
class Numbered:
    """Who is at home and who looks.

    Parameters
    ----------
    homes, lookers
        Rows by their numbers; a looker's is counted from the last home on.
    number_at_home, number_looking
        The numbers of every row.
    """

    homes: U32
    lookers: U32
    number_at_home: U32
    number_looking: U32

    @classmethod
    def of(cls, contents: U64, marked: Bools, boundary: int | None) -> Numbered:
        """Marked rows, numbered in the order of their contents."""
        order = np.lexsort((np.arange(len(contents)), contents)).astype(np.uint32)
        order = order[marked[order]]
        homes = lookers = order
        if boundary is not None:
            first, second = order[order < boundary], order[order >= boundary]
            homes, lookers = (second, first) if len(first) <= len(second) else (first, second)
        if len(homes) + len(lookers) >= _NOBODY:
            raise OptionError(
                f"{len(homes) + len(lookers):,} rows are too many to look into several buckets: use probes=1"
            )
        at_home, looking = (np.full(len(contents), _NOBODY, np.uint32) for _ in range(2))
        at_home[homes] = np.arange(len(homes))
        looking[lookers] = len(homes) + np.arange(len(lookers))
        return cls(homes, lookers, at_home, looking)


@dataclass(frozen=True, eq=False)
class LookIn:
    """A stage: vectors → numbers in buckets (`bucket`, `row`), at home and looking."""

    functions: _core.Projections
    bands: int
    rows: int
    sets: npt.NDArray[np.int16]
    numbered: Numbered

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        row, vectors = batch["row"].to_numpy(), matrix_of(batch)
        at_home, looking = self.numbered.number_at_home[row], self.numbered.number_looking[row]
        looks, stays = looking != _NOBODY, (at_home != _NOBODY) & (looking == _NOBODY)
        keys = self._keys(vectors, looks, self.sets)
        buckets, members = [keys.ravel()], [np.tile(looking[looks], len(keys))]
        # The first of a looker's buckets is that in which it is at home, if it is.
        lives = at_home[looks] != _NOBODY
        buckets.append(keys[:: len(self.sets) + 1, lives].ravel())
        members.append(np.tile(at_home[looks][lives], self.bands))
        keys = self._keys(vectors, stays, self.sets[:0])
        buckets.append(keys.ravel())
        members.append(np.tile(at_home[stays], self.bands))
        return pa.record_batch(
            {"bucket": pa.array(np.concatenate(buckets)), "row": pa.array(np.concatenate(members))}
        )

    def _keys(self, vectors: npt.NDArray[Any], here: Bools, sets: npt.NDArray[np.int16]) -> U64:
        """The keys of some rows, a line a band and set."""
        if not here.any():
            return np.empty((self.bands * (len(sets) + 1), 0), np.uint64)
        some = vectors if here.all() else vectors[here]
        return self.functions.probe_keys(some, bands=self.bands, rows=self.rows, sets=sets)


@dataclass(frozen=True)
class InNumberOrder:
    """A stage: numbers in buckets → with their `place` there, another order in every band."""

    light: ClassVar[bool] = True

    homes: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        number = batch["row"].to_numpy().astype(np.uint64)
        band = bands_of(batch["bucket"].to_numpy()).astype(np.uint64)
        # Numbers go by content. An odd factor of its own for every band: products stand in another order.
        factor = band * np.uint64(0x9E37_79B9_7F4A_7C16) + np.uint64(0xD6E8_FEB8_6659_FD93)
        place = (number % np.uint64(max(1, self.homes)) + np.uint64(1)) * factor
        return pa.record_batch({"bucket": batch["bucket"], "row": batch["row"], "place": pa.array(place)})


@dataclass(frozen=True, eq=False)
class ByRows:
    """A stage: pairs of a home and a looker → pairs of rows; within one collection, from one side alone."""

    numbered: Numbered
    within: bool

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        home, looker = rows_of(batch["pair"].to_numpy())
        looker = looker - np.uint32(len(self.numbered.homes))
        if self.within:
            ahead = looker < home
            home, looker = home[ahead], looker[ahead]
        one, other = self.numbered.homes[home], self.numbered.lookers[looker]
        return pa.record_batch({"pair": pa.array(packed(np.minimum(one, other), np.maximum(one, other)))})


@dataclass(frozen=True)
class Contents:
    """A stage: vectors → `row`, and a hash of the vector (`content`)."""

    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        content = _core.vector_contents(matrix_of(batch), seed=self.seed)
        return pa.record_batch({"row": batch["row"], "content": pa.array(content)})


def candidates(
    engine: Engine, items: VectorItems, marked: Bools, plan: ProbedPlan
) -> tuple[Table, LeaderAccount, CrowdSample | None]:
    """Pairs of marked rows one of which looks into a bucket of the other (`pair`, each once).

    And what large buckets left out, counted for every home and looker in them, and pairs drawn from these.
    """
    hashed = engine.map(items.table, Contents(items.seed))
    contents = np.empty(items.rows, np.uint64)
    contents[hashed.column("row")] = hashed.column("content")
    numbered = Numbered.of(contents, marked, items.boundary)
    homes = len(numbered.homes)
    pairs, account, drawn = gathered(
        engine,
        _parts(engine, items, plan, numbered),
        lambda crowds: engine.map(crowds, InNumberOrder(homes)),
        homes,
        seed=items.seed,
        draws=DRAWN,
    )
    by_rows = ByRows(numbered, within=items.boundary is None)
    pairs = engine.map(pairs, by_rows)
    sample = None
    if drawn is not None:
        named = by_rows(pa.record_batch({"pair": pa.array(drawn)}))["pair"].to_numpy()
        meetings = Meetings(items, plan, numbered, engine)
        sample = CrowdSample(named, account.possible / DRAWN, meetings.shared)
    # A home is in one of a looker's buckets of a band at most.
    return engine.group(pairs, "pair", Once(), most=plan.banding.bands), account, sample


@dataclass(frozen=True, eq=False)
class Meetings:
    """Tells how often pairs meet."""

    items: VectorItems
    plan: ProbedPlan
    numbered: Numbered
    engine: Engine

    def shared(self, a: U32, b: U32) -> I64:
        """In how many bands one row of each pair looks into the bucket in which the other is at home."""
        met = np.zeros(len(a), np.int64)
        if not len(a):
            return met
        few, place = some_rows(self.items.table, np.concatenate([a, b]), self.items.rows, self.engine)
        vectors = np.concatenate([matrix_of(batch) for batch in few.batches])
        looking, at_home = self.numbered.number_looking, self.numbered.number_at_home
        # Of two rows that may both do so the one with the lesser number looks.
        looks = (looking[a] < looking[b]) if self.items.boundary is None else (at_home[a] == _NOBODY)
        looker, home = place[np.where(looks, a, b)], place[np.where(looks, b, a)]
        bands, rows = self.plan.banding.bands, self.plan.banding.rows
        sets = steps_of(self.plan.collision, rows, self.plan.probes)
        for band in range(bands):
            functions = self.items.drawn(self.plan, band, band + 1)
            seen = functions.probe_keys(vectors, bands=1, rows=rows, sets=sets)
            met += (seen[:, looker] == seen[0][home]).any(axis=0)
        return met


def _parts(engine: Engine, items: VectorItems, plan: ProbedPlan, numbered: Numbered) -> Iterator[Table]:
    bands, rows = plan.banding.bands, plan.banding.rows
    sets = steps_of(plan.collision, rows, plan.probes)
    keys_a_band = len(numbered.homes) + plan.probes * len(numbered.lookers)
    at_once = max(1, engine.group_rows // max(1, keys_a_band))
    for first in range(0, bands, at_once):
        last = min(first + at_once, bands)
        stage = LookIn(items.drawn(plan, first, last), last - first, rows, sets, numbered)
        yield engine.map(items.table, stage)
