"""The main road: signatures → bands → candidates → verified pairs.

    plan        the banding of least expected cost that keeps the promised recall, from a sample of the rows
    sign        every row, one kernel call a batch, down to its bucket keys
    copies      same shingle set: star edges to a representative
    candidates  rows that share a bucket in some band
    verify      the exact similarity of every candidate

Each step is a verb of the engine over committed tables, so the same road runs wherever an engine does.
Tables hold 25 bytes a row and 8 a band (with `verify="signature"` also 4 a slot), 12 a row and band of some
bands at a time, and 16 a candidate; the driver 12 a row, 13 more while there are large buckets, and 25 a pair
found. Time: linear in text and rows, and in candidates, of which a row has at most `bands · LARGE / 2`; a
list of pairs may take some seconds more for large buckets (`joins/outright.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import Once, PairUp, buckets, contents, packed, rows_of
from lookalike.engines import Engine, Held, Stage, Table, as_it_is
from lookalike.families import MinHash
from lookalike.joins.account import Account
from lookalike.joins.items import Items
from lookalike.joins.joined import MARGIN, Joined
from lookalike.joins.large_earlier import join_large_with_earlier
from lookalike.joins.leaders import LeaderAccount, across_large, by_row, join_large
from lookalike.joins.meeting import shared_buckets
from lookalike.joins.outright import affordable, affordable_meetings
from lookalike.joins.prepare import Prepared, prepare
from lookalike.joins.sample import Drawn
from lookalike.measures.candidates import Agreement
from lookalike.runs.watch import Watch
from lookalike.theory import estimate_recall
from lookalike.types import F64, I64, U32, U64, Bools

#: Less than any two items that share something have: a union holds at most 2³² elements.
LEAST = 2.0**-33

#: Rows are looked up one by one if they are fewer than one in so many.
_SEVERAL = 4


def lsh(
    items: Items,
    *,
    threshold: float,
    recall: float,
    family: MinHash,
    verify: Literal["exact", "signature"],
    engine: Engine,
    watch: Watch,
    drawn: Drawn | None = None,
    listing: bool = False,
) -> Joined:
    """Join items by MinHash and bands.

    `drawn` is a sample of them, if there is one already. Who asks for a `listing` of pairs gets those of
    large buckets too, as far as that is affordable; else large buckets are compared with leaders.
    """
    ready = prepare(
        items,
        threshold=threshold,
        recall=recall,
        family=family,
        engine=engine,
        watch=watch,
        keep_signatures=verify == "signature",
        drawn=drawn,
    )
    return join_keyed(
        items,
        ready,
        threshold=threshold,
        verify=verify,
        engine=engine,
        watch=watch,
        meetings=affordable_meetings(items) if listing else 0,
    )


def join_keyed(
    items: Items,
    ready: Prepared,
    *,
    threshold: float,
    verify: Literal["exact", "signature"],
    engine: Engine,
    watch: Watch,
    meetings: int = 0,
) -> Joined:
    """The road from bucket keys on; large buckets are paired outright as far as so many `meetings` go."""
    representative, banding = ready.representative, ready.plan.banding
    with watch.stage("candidates", ready.representatives):
        sides = items.sides(representative)
        shared = _shared_buckets(engine, ready)
        # A run that goes on may not need to know.
        small = cache(lambda: affordable(engine, shared, meetings) if meetings else buckets.LARGE)
        candidates = engine.settle(
            "candidates", lambda: _candidates(engine, items.rows, shared, sides, banding.bands, small())
        )
    road = _Verification(engine, items, ready, threshold, verify)

    def verified() -> Table:
        road.take(candidates, advance)
        leaders = _leaders(road, engine, ready, shared, items, sides, small())
        return _with_account(road.found(), leaders)

    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        a, b, similarity, from_bands, leaders = _found(engine.settle("pairs", verified))
    reached = similarity >= threshold
    account = Account(
        method="lsh",
        threshold=threshold,
        plan=ready.plan,
        items=items.rows,
        empty=ready.empty,
        short=ready.short,
        unspaced=ready.unspaced,
        copies=ready.copies,
        representatives=ready.representatives,
        candidates=candidates.rows + leaders.checked,
        pairs=int(reached.sum()),
        recall=estimate_recall(similarity[reached & from_bands], ready.plan, threshold),
        large=leaders,
        median_similarity=ready.median_similarity,
    )
    return Joined(
        a=a[reached],
        b=b[reached],
        similarity=similarity[reached],
        representative=representative,
        flags=ready.flags,
        below=(a[~reached], b[~reached], similarity[~reached]),
        account=account,
        compare=lambda a, b: road.compare(*(representative[rows].astype(np.int64) for rows in (a, b))),
        keyed=ready.keyed,
    )


def _shared_buckets(engine: Engine, ready: Prepared) -> list[Table]:
    """The representatives of every bucket that holds two or more, or did before copies were set aside."""
    if ready.meeting is not None:
        return ready.meeting.among(ready.marked)
    return shared_buckets(engine, ready.keyed, ready.plan.banding.bands, ready.marked, "shared")


def _grouped(
    engine: Engine, shared: list[Table], stage: Stage, *, least: int = 2, most: int | None = None
) -> Table:
    """A stage applied to the buckets of some sizes."""
    return Table.together([engine.group(part, "bucket", stage, least=least, most=most) for part in shared])


@dataclass(frozen=True)
class WithContent:
    """A stage for `fetch` from keyed rows: items with a `row` → with its `content`."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        content = held.whole(contents)[held.at(batch["row"].to_numpy())]
        return batch.append_column("content", pa.array(content))


def candidates_to_come(items: Items, ready: Prepared, *, engine: Engine) -> tuple[int, int]:
    """How many pairs small buckets bring together, each once, and how many rows are in large ones.

    Nothing is compared: this is what `join_keyed` will have to do.
    """
    shared = _shared_buckets(engine, ready)
    sides, bands = items.sides(ready.representative), ready.plan.banding.bands
    pairs = _pairs_once(engine, shared, sides, bands, buckets.LARGE)
    return pairs.rows, _grouped(engine, shared, as_it_is, least=buckets.LARGE + 1).rows


def _pairs_once(
    engine: Engine,
    shared: list[Table],
    sides: tuple[Bools, Bools] | None,
    bands: int,
    small: int,
) -> Table:
    pairs = _grouped(engine, shared, PairUp(sides), most=small)
    # A pair meets once a band at most, and so many stay together.
    return engine.group(pairs, "pair", Once(), most=bands)


def _candidates(
    engine: Engine, rows: int, shared: list[Table], sides: tuple[Bools, Bools] | None, bands: int, small: int
) -> Table:
    """All pairs of small buckets, each once."""
    once = _pairs_once(engine, shared, sides, bands, small)
    families = _core.Forest(rows)
    engine.write(once, lambda batch: families.join(*rows_of(batch["pair"].to_numpy())))
    # Candidates of one family side by side: each of its texts is then fetched, and cut into shingles, once.
    return engine.group(engine.map(once, InFamilies(families.labels())), "family", as_it_is, order=("a", "b"))


@dataclass(frozen=True, eq=False)
class InFamilies:
    """A stage: pairs → candidates `a`, `b` and the `family` they are of."""

    light: ClassVar[bool] = True

    family: U32

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b = rows_of(batch["pair"].to_numpy())
        return pa.record_batch({"a": pa.array(a), "b": pa.array(b), "family": pa.array(self.family[a])})


def _with_account(found: tuple[I64, I64, F64, Bools], leaders: LeaderAccount) -> Table:
    """What was verified, and what leaders left out, as one table to settle."""
    return leaders.noted_on(Table.of(**dict(zip(("a", "b", "similarity", "from_bands"), found, strict=True))))


def _found(table: Table) -> tuple[I64, I64, F64, Bools, LeaderAccount]:
    """Read back what `_with_account` made."""
    columns = (table.column(name) for name in ("a", "b", "similarity", "from_bands"))
    a, b, similarity, from_bands = columns
    return a, b, similarity, from_bands.astype(np.bool_), LeaderAccount.noted(table)


def _leaders(
    road: _Verification,
    engine: Engine,
    ready: Prepared,
    shared: list[Table],
    items: Items,
    sides: tuple[Bools, Bools] | None,
    small: int,
) -> LeaderAccount:
    """Check the rows of every large bucket; what is in them is brought to the driver."""
    large = _grouped(engine, shared, as_it_is, least=small + 1)
    # Few buckets are large, so their rows' content is looked up rather than carried along with every row.
    if sides is None:
        a, b, similarity, _ = road.found()
        reached = similarity >= road.threshold
        pairs = (a[reached], b[reached])
        return join_large(
            large,
            items.rows,
            pairs,
            lambda inside: _content_of(engine, ready.keyed, inside),
            road.check,
            small=small,
        )
    large = engine.fetch(ready.keyed, large, ("row",), WithContent())
    if items.first_within:
        assert items.boundary is not None
        return join_large_with_earlier(large, items.boundary, road.check)
    a, b, account = across_large(large, *sides)
    road.check(a, b)
    return account


def _content_of(engine: Engine, keyed: Table, inside: Bools) -> U64:
    """The content of marked rows, by row number: looked up if they are few, or else of all."""
    rows = np.flatnonzero(inside)
    if _SEVERAL * len(rows) < len(inside):
        few = engine.fetch(keyed, Table.of(row=rows), ("row",), WithContent())
        return by_row(len(inside), rows, few.column("content"))
    content = np.zeros(len(inside), np.uint64)

    def note(batch: pa.RecordBatch) -> None:
        content[batch["row"].to_numpy()] = batch["content"].to_numpy()

    engine.write(keyed, note)
    return content


class _Verification:
    """Candidates in, verified pairs kept; which of them came from bands matters to the account of recall."""

    def __init__(self, engine: Engine, items: Items, ready: Prepared, threshold: float, verify: str) -> None:
        self.threshold = threshold
        self._engine = engine
        self._table: Callable[[], Table] = (
            (lambda: ready.keyed) if verify == "signature" else (lambda: ready.compared(items))
        )
        self._stage = (
            Agreement if verify == "signature" else (lambda at_least: items.exact(at_least=at_least))
        )
        # Without a floor, candidates that share nothing would come along as pairs of similarity 0.
        self._floor = max(threshold - MARGIN, LEAST)
        self._parts: list[tuple[U64, F64, Bools]] = []

    def take(self, candidates: Table, advance: Callable[[int], None] | None = None) -> None:
        """Verify candidates that bands brought together."""
        self._verify(candidates, True, advance)

    def check(self, a: I64 | U32, b: I64 | U32) -> tuple[I64 | U32, I64 | U32]:
        """Verify candidates that leaders brought together; returns those that reach the threshold."""
        pairs, similarity = self._verify(Table.of(a=a, b=b), False, None)
        reached = similarity >= self.threshold
        return rows_of(pairs if reached.all() else pairs[reached])

    def _verify(
        self, candidates: Table, from_bands: bool, advance: Callable[[int], None] | None
    ) -> tuple[U64, F64]:
        found = self._engine.fetch(
            self._table(), candidates, ("a", "b"), self._stage(self._floor), advance=advance
        )
        pairs, similarity = packed(found.column("a"), found.column("b")), found.column("similarity")
        self._parts.append((pairs, similarity, np.full(len(pairs), from_bands)))
        return pairs, similarity

    def compare(self, a: I64, b: I64) -> F64:
        """The similarity of rows, whatever it is."""
        # Nothing is left out at a floor of 0, so the answers stand in the order of the questions.
        similarity: F64 = self._engine.fetch(
            self._table(), Table.of(a=a, b=b), ("a", "b"), self._stage(0.0)
        ).column("similarity")
        return similarity

    def found(self) -> tuple[I64, I64, F64, Bools]:
        """Everything verified so far, sorted by a and b, each pair once; bands come before leaders."""
        pairs, similarity, from_bands = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        # Bands were asked first, and the sort is stable.
        pairs, order = _core.sorted_runs([pairs], threads=self._engine.threads)
        starts = buckets.run_starts(pairs)[:-1]
        a, b = rows_of(pairs[starts])
        first = order[starts]
        return a.astype(np.int64), b.astype(np.int64), similarity[first], from_bands[first]
