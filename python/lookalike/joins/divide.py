"""Divide–Compute–Merge: the exact join, by counting what every two sets share.

    divide    items → (element, row), grouped by element
    compute   (a, b) for every two rows that hold an element, added up batch by batch
    merge     partial counts grouped by pair and added up; pairs whose similarity reaches the threshold stay

It finds exactly what comparing all sets with all sets finds. An element that n rows hold costs n²/2, so a few
that most rows hold cost nearly everything, which is said before; `common` leaves those out, and says what
that may have cost.

Memory: the engine's, for 12 bytes an element of each set and 12 a pair that shares something; at the driver
4 bytes a row for the sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.bands import packed, rows_of
from lookalike.charts import numbers
from lookalike.engines import Engine, Table, as_it_is
from lookalike.errors import OptionError
from lookalike.joins.crowded import MANY_MEETINGS, Crowding, crowding
from lookalike.joins.elements import Invert, lines_per_row, shingler_of
from lookalike.joins.found import Found
from lookalike.joins.items import Items
from lookalike.joins.left_out import LeftOut
from lookalike.joins.meetings import Lengths, count_meetings, meetings
from lookalike.measures.overlap import OverlapMeasure
from lookalike.runs.watch import Watch
from lookalike.theory.ranges import whole
from lookalike.theory.shares import most_count
from lookalike.types import U32, Bools

#: So few meetings are done in seconds.
_FEW_MEETINGS = 1e8


@dataclass(frozen=True, kw_only=True, eq=False)
class Divided(Found):
    """What Divide–Compute–Merge found: all there is, unless common elements were left out.

    Then the pairs that share nothing else are missing.
    """

    left_out: LeftOut | None

    def to_table(self) -> Table:
        """As a table to settle, with what was left out."""
        table = super().to_table()
        return table if self.left_out is None else self.left_out.beside(table)


def divide(
    items: Items,
    *,
    measure: OverlapMeasure,
    threshold: float,
    engine: Engine,
    watch: Watch,
    common: int | float | None = None,
) -> Divided:
    """Find all pairs of sets whose similarity reaches the threshold, exactly.

    Parameters
    ----------
    threshold
        Of the measure; over 0, for sets that share nothing never meet.
    common
        Leave out elements that more than this many rows hold; a float is a fraction of the rows. Pairs that
        share only such elements are missed. Those found are checked on their whole sets, so similarity is
        exact all the same. None, the default, leaves nothing out and misses nothing.
    """
    if not threshold > 0:
        raise OptionError(f"threshold={threshold!r} is out of range: over 0, for pairs that share something")
    over = None if common is None else most_rows(common, items.rows)
    with watch.stage("divide", items.rows, size=items.bytes) as advance:
        holdings = engine.map(items.table, Invert(shingler_of(items)), advance=advance)
        sizes = lines_per_row(engine, holdings, items.rows)
        crowd = crowding(engine, holdings, boundary=items.boundary, few=_FEW_MEETINGS)
    both_ways = measure.directed and items.boundary is None
    reaching = Reaching(measure, threshold, sizes, both_ways)
    if over is None and crowd.meetings > MANY_MEETINGS:
        watch.say(_warning(crowd))
    if over is not None:
        return _without_common(items, holdings, over, reaching, engine, watch)
    counted = _compute(items, holdings, sizes, engine, watch)
    with watch.stage("merge", counted.rows, unit="pairs"):
        return Divided.of(engine, engine.map(counted, reaching), counted.rows, left_out=None)


def _warning(crowd: Crowding) -> str:
    """What the join will cost, and how to have it for less."""
    said = (
        f"method divide has about {numbers.count(crowd.meetings)} meetings of two sets to count: "
        f"{crowd.cost}. Method prefix finds the same pairs by their rarest elements"
    )
    if crowd.over is None:
        return said
    common = numbers.several(crowd.elements, "most common element")
    return (
        f"{said}; or leave out the {common} by common={crowd.over} (--common {crowd.over}), and miss pairs "
        "that share nothing else"
    )


def most_rows(common: int | float, rows: int) -> int:
    """How many rows may hold an element that still counts."""
    if isinstance(common, float) and 0 < common < 1:
        return max(1, most_count(common, max(1, rows)))
    number = whole(common)
    if number is not None and number >= 1:
        # No element is in more rows than there are, and counts have 64 bits.
        return min(number, 2**63 - 1)
    raise OptionError(
        f"common={common!r} is out of range: a number of rows, 1 or more, or a fraction between 0 and 1"
    )


def _compute(items: Items, holdings: Table, sizes: U32, engine: Engine, watch: Watch) -> Table:
    """How many elements every two rows share that share any (`pair`, `times`)."""

    def counted() -> Table:
        met = meetings(engine, holdings, "element", boundary=items.boundary)
        return count_meetings(engine, met, most=int(sizes.max(initial=0)))

    with watch.stage("compute", holdings.rows, unit="elements"):
        return engine.settle("counted", counted)


def _without_common(
    items: Items, holdings: Table, over: int, reaching: Reaching, engine: Engine, watch: Watch
) -> Divided:
    """Count what rows share of the rarer elements, and check the pairs that may reach with the others."""
    rarer = engine.group(holdings, "element", as_it_is, least=2, most=over)
    common = engine.group(holdings, "element", as_it_is, least=over + 1)
    unseen = lines_per_row(engine, common, items.rows)
    counted = _compute(items, rarer, reaching.sizes, engine, watch)
    candidates = engine.map(counted, Hopeful(reaching, unseen))
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        exact = engine.fetch(items.table, candidates, ("a", "b"), items.exact(at_least=0.0), advance=advance)
        pairs = engine.map(engine.map(exact, Recount(reaching.sizes)), reaching)
    lengths = Lengths("element")
    names, _ = engine.fold(common, lengths, lengths.merge) or ((), ())
    left_out = LeftOut(
        over=over,
        elements=len(names),
        rows=int(np.count_nonzero(unseen)),
        at_risk=int(np.count_nonzero(reaching.by_these_alone(unseen))),
    )
    return Divided.of(engine, pairs, candidates.rows, left_out=left_out)


@dataclass(frozen=True, eq=False)
class Reaching:
    """A stage: pairs with what they share (`pair`, `times`) → those that reach the threshold.

    A directed measure is asked both ways, if there is one collection; between two, only for how much of a of
    the first is in b of the second.
    """

    measure: OverlapMeasure
    threshold: float
    sizes: U32
    both_ways: bool

    def by_these_alone(self, some: U32) -> Bools:
        """Which rows could reach the threshold by `some` of their elements, with a row of just those."""
        there = self.measure(some, self.sizes, some)
        # How much of the other is in this one is asked only where a measure is directed.
        back = self.measure(some, some, self.sizes) if self.measure.directed else there
        reached: Bools = (some > 0) & (np.maximum(there, back) >= self.threshold)
        return reached

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b = rows_of(batch["pair"].to_numpy())
        shared = batch["times"].to_numpy()
        if self.both_ways:
            a, b, shared = np.concatenate([a, b]), np.concatenate([b, a]), np.tile(shared, 2)
        similarity = self.measure(shared, self.sizes[a], self.sizes[b])
        reached = similarity >= self.threshold
        columns = {"a": a[reached], "b": b[reached], "similarity": similarity[reached]}
        return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


@dataclass(frozen=True, eq=False)
class Hopeful:
    """A stage: pairs with what they share of the rarer elements → candidates (`a`, `b`).

    Both may also share what was left out, up to what either holds of it; pairs that would not reach the
    threshold even then are let go.
    """

    reaching: Reaching
    unseen: U32

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b = rows_of(batch["pair"].to_numpy())
        most = batch["times"].to_numpy() + np.minimum(self.unseen[a], self.unseen[b])
        hoped = pa.record_batch({"pair": batch["pair"], "times": pa.array(most)})
        kept = self.reaching(hoped)
        # Both ways of a pair are one candidate.
        a, b = kept["a"].to_numpy(), kept["b"].to_numpy()
        pairs = np.unique(packed(np.minimum(a, b), np.maximum(a, b)))
        a, b = rows_of(pairs)
        return pa.record_batch({"a": pa.array(a), "b": pa.array(b)})


@dataclass(frozen=True, eq=False)
class Recount:
    """A stage: checked pairs → what they share (`pair`, `times`).

    The check hands back J = i / (a + b − i), from which i = J·(a + b) / (1 + J): off by less than a
    millionth, so the nearest whole number is i.
    """

    sizes: U32

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b = batch["a"].to_numpy(), batch["b"].to_numpy()
        similarity = batch["similarity"].to_numpy()
        both = self.sizes[a].astype(np.float64) + self.sizes[b]
        shared = np.rint(similarity * both / (1 + similarity)).astype(np.uint32)
        return pa.record_batch({"pair": pa.array(packed(a, b)), "times": pa.array(shared)})
