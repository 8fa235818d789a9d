"""The promise, kept by the draw at hand: what was found is measured, and bands are added where it falls
short.

    measure    the bands in which found pairs met say how many pairs this draw missed (`recall_of_draw`)
    look       where next to nothing was found, some rows are compared exactly (`exact_look`)
    add        rows are signed again by fresh functions, and the pairs of the new buckets verified; three
    rounds at most

Every road by bands keeps its promise this way. Which pairs it finds depends on the final list of bands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from lookalike import _core
from lookalike.bands import rows_of
from lookalike.engines import Table
from lookalike.joins.exact_look import Looked
from lookalike.theory import Plan, RecallEstimate
from lookalike.theory.added_bands import AddedBands, ExactLook, Reason
from lookalike.theory.recall_of_draw import ROUNDS, TOLERANCE, Draw
from lookalike.types import F64, I64, U32, Bools

#: With fewer groups of pairs than this, masks tell little: all may have been found by one stroke of luck.
_GROUPS = 20


class Ends(Protocol):
    """Pairs, wherever they are."""

    def ends(self) -> Iterable[tuple[U32, U32]]:
        """Both rows of every pair, some pairs at a time."""


class NearPairs(NamedTuple):
    """Pairs that bands found and that reach the threshold, sorted, with their similarity or distance."""

    a: I64
    b: I64
    value: F64

    def ends(self) -> Iterable[tuple[U32, U32]]:
        """Both rows of every pair."""
        return [(self.a.astype(np.uint32), self.b.astype(np.uint32))]


class NearTable(NamedTuple):
    """The same as a table of pairs, which stays with the engine."""

    pairs: Table

    def ends(self) -> Iterable[tuple[U32, U32]]:
        """Both rows of every pair, a batch at a time."""
        return (rows_of(batch["pair"].to_numpy()) for batch in self.pairs.batches)


P = TypeVar("P", bound=Ends)


class Wanted(NamedTuple):
    """So many bands are to be added, and why."""

    bands: int
    reason: Reason


class BandedRoad(Protocol[P]):
    """A road by bands, as far as it has come."""

    @property
    def plan(self) -> Plan:
        """The plan of its first bands."""

    @property
    def added(self) -> tuple[AddedBands, ...]:
        """The bands that were added since."""

    @property
    def addable(self) -> bool:
        """Whether bands can be added."""

    def near(self) -> P:
        """The pairs found so far that reach the threshold."""

    def draw(self, near: P) -> Draw:
        """What these pairs tell of the draw."""

    def estimate(self, near: P, draw: Draw) -> RecallEstimate:
        """The recall of this draw."""

    def look(self) -> Looked:
        """Compare some rows exactly."""

    def met(self, a: I64, b: I64) -> Bools:
        """Which of some pairs share a bucket of some band by now."""

    def add(self, more: Wanted) -> None:
        """Go on with more bands."""


class Kept(NamedTuple):
    """What is known of a road that has all the bands it will have."""

    recall: RecallEstimate
    look: ExactLook | None = None
    #: How many more bands the promise would need, where none can be added.
    short_by: int = 0


def keep_promise(road: BandedRoad[P], rows: int) -> Kept:
    """Measure what a road of so many rows found, and add bands until its own draw keeps the promise."""
    looked: Looked | None = None
    while True:
        near = road.near()
        draw = road.draw(near)
        if looked is None and road.addable and tells_little(near, draw, road.plan, rows):
            looked = road.look()
        outcome = None if looked is None else looked.outcome(road.met)
        more = _wanted(road, draw, outcome)
        if more is None or not road.addable:
            recall = road.estimate(near, draw)
            if outcome is not None:
                recall = outcome.seen_by(recall)
            return Kept(recall, outcome, 0 if more is None else more.bands)
        road.add(more)


def _wanted(road: BandedRoad[P], draw: Draw, looked: ExactLook | None) -> Wanted | None:
    """How many bands to add and why; None where the promise is kept, or as much was done as may be."""
    plan = road.plan
    # Who asked for a banding gets that, and what it gives is the promise.
    if len(road.added) >= ROUNDS or plan.given:
        return None
    bands = 0
    if plan.banding.bands > 1 or road.added:
        # Of a single band nothing can be told: no other one shows what it missed.
        bands = draw.bands_to_add(at_threshold=plan.band_chance_at_threshold, promised=plan.recall)
    reason: Reason = "alike" if draw.hard else "short"
    unseen = looked is not None and looked.recall is not None and looked.recall < plan.recall - TOLERANCE
    if unseen and bands < plan.banding.bands:
        bands, reason = plan.banding.bands, "unseen"
    # A fresh draw has no more slots than the first.
    return Wanted(min(bands, plan.slots // plan.banding.rows), reason) if bands else None


def tells_little(near: Ends, draw: Draw, plan: Plan, rows: int) -> bool:
    """Whether so little was found, or nothing near the threshold, that bands alone cannot be believed.

    Takes 8 bytes a row for a moment.
    """
    return draw.none_near_threshold(plan.band_chance_at_threshold) or few_groups(near.ends(), rows)


def few_groups(ends: Iterable[tuple[U32, U32]], rows: int) -> bool:
    """Whether pairs of so many rows make so few groups that one stroke of luck may have found them all."""
    forest = _core.Forest(rows)
    for a, b in ends:
        forest.join(a, b)
    labels = forest.labels()
    # A group has one row that is its own label.
    return len(np.unique(labels[labels != np.arange(rows, dtype=np.uint32)])) < _GROUPS
