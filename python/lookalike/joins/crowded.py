"""How much two sets at a time share an element, foretold from counts of elements by bucket of their hash.

An element that n rows hold brings n²/2 pairs together. The counts of 2¹⁶ buckets say how many that will be in
all: other elements of a bucket add to it, by chance alone and so by an amount that is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.charts import numbers
from lookalike.engines import Engine, Stage, Table
from lookalike.types import F64, I64

#: More meetings than this, about a minute and a half of one core, are worth a word before.
MANY_MEETINGS = 1e9
#: What a meeting costs to make, sort and add up: nanoseconds of one core, as measured, and bytes.
_MEETING_NS, _MEETING_BYTES = 90.0, 12
_BITS = 16
#: An odd number: the top bits of its products depend on all bits of an element.
_ANEW = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class CountElements:
    """A stage for `fold`: who holds what (`element`, `row`) → rows by bucket, of both collections."""

    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> I64:
        bucket = (batch["element"].to_numpy() * _ANEW >> np.uint64(64 - _BITS)).astype(np.int64)
        if self.boundary is None:
            return np.bincount(bucket, minlength=1 << _BITS)
        second = (batch["row"].to_numpy() >= self.boundary).astype(np.int64)
        return np.bincount(bucket + (second << _BITS), minlength=2 << _BITS)


@dataclass(frozen=True, kw_only=True)
class Crowding:
    """Meetings to come, and how to have fewer.

    Attributes
    ----------
    meetings
        About how often two rows share an element.
    over
        Without the elements that more rows hold than this, there would be few meetings; None if elements are
        not to blame.
    elements
        About how many elements those are.
    """

    meetings: float
    over: int | None
    elements: int

    @property
    def cost(self) -> str:
        """What it takes to count so many meetings, in words."""
        seconds, size = self.meetings * _MEETING_NS / 1e9, _MEETING_BYTES * self.meetings
        return f"some {numbers.seconds(seconds)} of one core, and up to {numbers.bytes_(size)} on disk"


def crowding(
    engine: Engine, holdings: Table, *, boundary: int | None, few: float, counting: Stage | None = None
) -> Crowding:
    """How many meetings rows will have, and from how many rows on elements are too common for a `few`.

    `counting` counts holdings that are no lines of an element and a row.
    """
    counts = engine.fold(holdings, counting or CountElements(boundary), np.add)
    if counts is None:
        return Crowding(meetings=0.0, over=None, elements=0)
    first = counts[: 1 << _BITS].astype(np.float64)
    second = None if boundary is None else counts[1 << _BITS :].astype(np.float64)
    own = first * (first - 1) / 2 if second is None else first * second
    held = first if second is None else first + second
    # The fullest buckets first: those of elements that very many hold.
    order = np.argsort(-held, kind="stable")
    left = own.sum() - np.cumsum(own[order])
    enough = int(np.searchsorted(-left, -few)) if left[-1] <= few else None
    total = max(0.0, (float(own.sum()) - _by_chance(first, second)) / (1 - 2.0**-_BITS))
    if enough is None or total <= few:
        return Crowding(meetings=total, over=None, elements=0)
    # What a bucket holds besides its common element is about what most buckets hold.
    besides = float(np.median(held))
    over = held[order[enough]] - besides - 4 * np.sqrt(besides) - 1
    return Crowding(meetings=total, over=max(1, int(over)), elements=enough + 1)


def _by_chance(first: F64, second: F64 | None) -> float:
    """Meetings within buckets that lines would have if each had an element of its own."""
    lines = float(first.sum())
    pairs = lines * (lines - 1) / 2 if second is None else lines * float(second.sum())
    return pairs / 2.0**_BITS
