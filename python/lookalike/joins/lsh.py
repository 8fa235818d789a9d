"""The main road: signatures → bands → candidates → verified pairs.

    plan        the banding of least expected cost that keeps the promised recall, from a sample of the rows
    sign        every row, one kernel call a batch, down to its bucket keys
    copies      same shingle set: star edges to a representative
    candidates  rows that share a bucket in some band
    verify      the exact similarity of every candidate
    keep        what was found tells the recall of this draw; bands are added where it falls short
    lead        the rows of large buckets, once, by the final list of bands

Each step is a verb of the engine over committed tables, so the same road runs wherever an engine does.
Tables hold 25 bytes a row and 8 a band (where signatures are compared also 4 a slot), 12 a row and band of
some bands at a time, and 16 a candidate or a pair found; the driver 12 a row, and 13 more while there are
large buckets. Time: linear in text and rows, and in candidates, of which a row has at most
`bands · LARGE / 2`; a list of pairs may take some seconds more for large buckets (`joins/outright.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import Once, PairUp, buckets, contents, rows_of
from lookalike.engines import Engine, Held, Stage, Table, as_it_is
from lookalike.families import MinHash
from lookalike.joins.account import Account
from lookalike.joins.added_bands import Round, Walked, with_bands
from lookalike.joins.exact_look import Looked, NearOfItems, look_exactly, near_of_sets
from lookalike.joins.expand import refuse_too_many
from lookalike.joins.items import Items
from lookalike.joins.joined import MARGIN, Joined
from lookalike.joins.large_earlier import join_large_with_earlier
from lookalike.joins.leaders import Check, LeaderAccount, across_large, by_row, join_large
from lookalike.joins.meeting import shared_buckets
from lookalike.joins.outright import affordable, affordable_meetings
from lookalike.joins.pair_tables import AsPairs, Reaching, distinct_pairs, nearest_to, nothing_found
from lookalike.joins.prepare import Prepared, Verify, prepare
from lookalike.joins.promise import Kept, NearTable, Wanted, keep_promise
from lookalike.joins.recall_of_draw import draw_of_pairs, meet
from lookalike.joins.sample import Drawn
from lookalike.measures.candidates import Agreement
from lookalike.runs.watch import Watch
from lookalike.theory import Banding, Plan, RecallEstimate, estimate_recall
from lookalike.theory.added_bands import AddedBands, FinalBands
from lookalike.theory.agreeing import AgreeingSlots
from lookalike.theory.recall_of_draw import Draw
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
    verify: Verify,
    engine: Engine,
    watch: Watch,
    drawn: Drawn | None = None,
    listing: bool = False,
    banding: Banding | None = None,
) -> Joined:
    """Join items by MinHash and bands.

    `drawn` is a sample of them, if there is one already. Who asks for a `listing` of pairs gets those of
    large buckets too, as far as that is affordable; else large buckets are compared with leaders. A `banding`
    that was asked for is taken as it is.
    """
    ready = prepare(
        items,
        threshold=threshold,
        recall=recall,
        family=family,
        engine=engine,
        watch=watch,
        verify=verify,
        drawn=drawn,
        banding=banding,
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
    verify: Verify,
    engine: Engine,
    watch: Watch,
    meetings: int = 0,
    near_of: NearOfItems = near_of_sets,
    added: tuple[AddedBands, ...] = (),
) -> Joined:
    """The road from bucket keys on; large buckets are paired outright as far as so many `meetings` go.

    Where bands found next to nothing, `near_of` finds the near pairs of a few rows. Rows may be keyed by
    bands `added` in an earlier run too.
    """
    representative = ready.representative
    refuse_too_many(representative, items.most_from_copies, boundary=items.boundary)
    with watch.stage("candidates", ready.representatives):
        sides = items.sides(representative)
        bands = FinalBands(banding=ready.plan.banding, added=added).count
        shared = _shared_buckets(engine, ready, bands)
        small = affordable(engine, shared, meetings, named="affordable")
        candidates = engine.settle(
            "candidates", lambda: _candidates(engine, items.rows, shared, sides, bands, small)
        )
    first = Round(shared=shared, small=small, candidates=candidates)
    walked = Walked(ready=ready, rounds=(first,), added=added)
    road = KeyedRoad(
        items,
        walked,
        threshold=threshold,
        verify=verify,
        meetings=meetings,
        near_of=near_of,
        engine=engine,
        watch=watch,
    )
    road.verify("verified")
    if verify == "signature":
        law = AgreeingSlots(ready.plan.banding, ready.plan.slots)
        kept = Kept(estimate_recall(road.near().pairs.column("value"), law, threshold))
    else:
        kept = keep_promise(road, items.rows)
    with watch.stage("large buckets"):
        leaders = road.lead()
    walked = road.walked
    near = road.near().pairs
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
        candidates=walked.looked_at + leaders.checked,
        pairs=near.rows,
        recall=kept.recall,
        large=leaders,
        median_similarity=ready.median_similarity,
        added=walked.added,
        look=kept.look,
        short_by=kept.short_by,
        first_filter=ready.first_filter,
        dropped_first=road.dropped_first,
    )
    return Joined(
        near=near,
        representative=representative,
        flags=ready.flags,
        account=account,
        compare=road.compare,
        under=road.under,
        keyed=walked.ready.keyed,
    )


def _shared_buckets(engine: Engine, ready: Prepared, bands: int) -> list[Table]:
    """The representatives of every bucket that holds two or more, or did before copies were set aside."""
    if ready.meeting is not None:
        return ready.meeting.among(ready.marked)
    return shared_buckets(engine, ready.keyed, range(bands), ready.marked, "shared")


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
    sides, bands = items.sides(ready.representative), ready.plan.banding.bands
    shared = _shared_buckets(engine, ready, bands)
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


class KeyedRoad:
    """The main road from bucket keys on: candidates in, verified pairs kept, bands added where asked.

    Which of the pairs came from bands, and not from leaders, matters to the account of recall.
    """

    def __init__(
        self,
        items: Items,
        walked: Walked,
        *,
        threshold: float,
        verify: Verify,
        meetings: int,
        near_of: NearOfItems,
        engine: Engine,
        watch: Watch,
    ) -> None:
        self.items = items
        self.walked = walked
        self._threshold = threshold
        self._by_signature = verify == "signature"
        #: Candidates of bands that were dropped by their signatures, before the data was looked at.
        self.dropped_first = 0
        self._meetings = meetings
        self._near_of = near_of
        self._engine = engine
        self._watch = watch
        self._sides = items.sides(walked.ready.representative)
        # Without a floor, candidates that share nothing would come along as pairs of similarity 0.
        self._floor = max(threshold - MARGIN, LEAST)
        #: What was verified, as tables of pairs: those that bands brought together, each pair once, and then
        #: those of large buckets.
        self._parts: list[Table] = []
        self._near: Table | None = None

    @property
    def plan(self) -> Plan:
        """The plan of its first bands."""
        return self.walked.ready.plan

    @property
    def added(self) -> tuple[AddedBands, ...]:
        """The bands that were added since."""
        return self.walked.added

    @property
    def addable(self) -> bool:
        """Whether rows can be signed again."""
        return self.walked.ready.keying is not None

    def verify(self, name: str) -> None:
        """Verify the candidates of the last round, as a table settled under a name."""
        candidates = self.walked.rounds[-1].candidates
        with self._watch.stage("verify", candidates.rows, unit="candidates") as advance:
            if self.walked.ready.first_filter is None:
                verified = partial(self._verified, candidates, self._floor, advance)
            else:
                # Settled by itself, so that a resumed run knows how many were dropped.
                passing = self._engine.settle(
                    name.replace("verified", "passing"), partial(self._passing_first, candidates, advance)
                )
                self.dropped_first += candidates.rows - passing.rows
                verified = partial(self._verified, passing, self._floor)
            found = self._engine.settle(name, verified)
            self._parts.append(self._engine.map(found, AsPairs("similarity")))
        self._near = None

    def near(self) -> NearTable:
        """The pairs found so far that reach the threshold; before `lead` those of bands alone."""
        if self._near is None:
            reaching = self._engine.map(Table.together(self._parts), Reaching(self._threshold))
            self._near = self._engine.sort(reaching, ("pair",))
        return NearTable(self._near)

    def under(self, enough: int) -> tuple[I64, I64, F64]:
        """Pairs that were checked and fall short of the threshold, those nearest to it."""
        short = self._engine.map(Table.together(self._parts), Reaching(self._threshold, short=True))
        return nearest_to(short, self._threshold, enough)

    def draw(self, near: NearTable) -> Draw:
        """What these pairs tell of the draw."""
        walked = self.walked
        return draw_of_pairs(
            self._engine,
            walked.ready.keyed,
            near.pairs,
            self.plan.band_chances,
            bands=walked.bands,
            settled=f"hits-{len(walked.added)}",
        )

    def estimate(self, near: NearTable, draw: Draw) -> RecallEstimate:
        """The recall of this draw."""
        recall, first = draw.estimate(found=near.pairs.rows), self.walked.ready.first_filter
        return recall if first is None else first.together(recall, near.pairs.column("value"))

    def look(self) -> Looked:
        """Compare some rows exactly."""
        items, ready, engine = self.items, self.walked.ready, self._engine
        with self._watch.stage("look", items.rows, size=items.bytes):
            return look_exactly(
                engine,
                ready.keyed,
                ready.marked,
                self._large_rows,
                self._sides,
                partial(self._near_of, items, ready.marked, self._sides, self._threshold, engine.unsettled()),
                self._are_near,
            )

    def met(self, a: I64, b: I64) -> Bools:
        """Which of some pairs share a bucket of some band by now."""
        walked = self.walked
        name = f"seen-{len(walked.added)}"
        return meet(self._engine, walked.ready.keyed, a, b, bands=walked.bands, settled=name)

    def add(self, more: Wanted) -> None:
        """Go on with more bands."""
        self.walked = with_bands(
            self.walked,
            self.items,
            more,
            meetings=self._meetings,
            engine=self._engine,
            watch=self._watch,
        )
        self.verify(f"verified-{len(self.walked.added)}")

    def lead(self) -> LeaderAccount:
        """Check the rows of every large bucket; which rows are in them is brought to the driver."""
        found = self._engine.settle("led", self._led)
        if found.rows:
            # Bands may have found the same pairs.
            self._parts.append(Table(found.batches, found.schema.remove_metadata()))
            led = self._engine.map(self._parts[-1], Reaching(self._threshold))
            both = Table.together([self.near().pairs, led])
            self._near = distinct_pairs(self._engine, both, most=self.walked.bands + 2)
        return LeaderAccount.noted(found)

    def compare(self, a: I64, b: I64) -> F64:
        """The similarity of rows, whatever it is."""
        representative = self.walked.ready.representative
        asked = Table.of(a=representative[a].astype(np.int64), b=representative[b].astype(np.int64))
        # Nothing is left out at a floor of 0, so the answers stand in the order of the questions.
        similarity: F64 = self._verified(asked, 0.0).column("similarity")
        return similarity

    def _passing_first(self, candidates: Table, advance: Callable[[int], None] | None = None) -> Table:
        """The candidates whose signatures agree enough for the data to be looked at, in the same order."""
        ready = self.walked.ready
        assert ready.first_filter is not None
        stage = Agreement(ready.first_filter.at_least)
        return self._engine.fetch(ready.keyed, candidates, ("a", "b"), stage, advance=advance)

    def _verified(
        self, candidates: Table, floor: float, advance: Callable[[int], None] | None = None
    ) -> Table:
        ready = self.walked.ready
        table = ready.keyed if self._by_signature else ready.compared(self.items)
        stage = Agreement(floor) if self._by_signature else self.items.exact(at_least=floor)
        return self._engine.fetch(table, candidates, ("a", "b"), stage, advance=advance)

    def _are_near(self, a: I64, b: I64) -> Bools:
        """Which of some pairs reach the threshold, of whatever rows."""
        stage = self.items.exact(at_least=0.0)
        compared = self._engine.fetch(self.items.table, Table.of(a=a, b=b), ("a", "b"), stage)
        near: Bools = compared.column("similarity") >= self._threshold
        return near

    def _large_rows(self) -> Bools:
        """Which rows are in a large bucket."""
        large = np.zeros(self.items.rows, np.bool_)
        large[self._in_large_buckets().column("row").astype(np.int64)] = True
        return large

    def _in_large_buckets(self) -> Table:
        """The rows of large buckets of all rounds (`bucket`, `row`)."""
        return Table.together(
            [_grouped(self._engine, one.shared, as_it_is, least=one.small + 1) for one in self.walked.rounds]
        )

    def _led(self) -> Table:
        checked: list[Table] = []

        def check(a: I64 | U32, b: I64 | U32) -> tuple[I64 | U32, I64 | U32]:
            """Those that reach the threshold."""
            asked = Table.of(a=a, b=b)
            if self.walked.ready.first_filter is not None:
                asked = self._passing_first(asked)
            found = self._engine.map(self._verified(asked, self._floor), AsPairs("similarity"))
            checked.append(found)
            return rows_of(found.column("pair")[found.column("value") >= self._threshold])

        account = self._leaders(check)
        return account.noted_on(Table.together([nothing_found(), *checked]))

    def _leaders(self, check: Check) -> LeaderAccount:
        engine, items, keyed = self._engine, self.items, self.walked.ready.keyed
        large = self._in_large_buckets()
        # Few buckets are large, so their rows' content is looked up rather than carried along with every row.
        if self._sides is None:
            content_of = partial(_content_of, engine, keyed)
            small = self.walked.rounds[0].small
            return join_large(large, items.rows, self.near().ends(), content_of, check, small=small)
        large = engine.fetch(keyed, large, ("row",), WithContent())
        if items.first_within:
            assert items.boundary is not None
            return join_large_with_earlier(large, items.boundary, check)
        a, b, account = across_large(large, *self._sides)
        check(a, b)
        return account
