"""Candidates for the most similar: rows that stand side by side where they share a slot.

Every slot of a signature is a band of its own, so that even rows with little in common meet somewhere. Of the
rows that share a slot's value those that agree in the following slots too are likely the most similar; so
they stand in the order of those, and each is paired with the few beside it. A bucket of n rows costs n
times those few, not n². A bucket that no batch should hold is cut by the following slots, and then by row.

Memory: the engine's, 20 bytes a row and slot and 8 a pair that stands there, of some slots at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike.bands.buckets import Once, packed, run_starts
from lookalike.engines import Engine, Table, as_it_is
from lookalike.joins.meetings import unpacked
from lookalike.measures.candidates import slot_matrix
from lookalike.types import I64, U64, Bools

#: How many rows to either side a row is paired with.
REACH = 8
#: The most rows of a bucket that is gone through whole.
LARGEST = 1 << 18
#: Slots are gone through some at a time: so many that their pairs are this many times what is grouped best.
_TIMES_AT_ONCE = 2
#: How many of the following slots decide the order, by a byte of each.
_FOLLOWING = 8

#: Mixes keys.
_ODD = 0xBF58476D1CE4E5B9

FOLLOWING, ROW = "following", "row"

Sides = tuple[Bools, Bools] | None


def side_by_side(
    engine: Engine, signed: Table, marked: Bools, sides: Sides, *, slots: int
) -> Iterator[Table]:
    """Pairs of marked rows that stand side by side in some slot (`a`, `b`), some slots at a time.

    Each comes once a table; a < b, but of two collections `a` stands for rows of the first and `b` for rows
    of the second. There is a table at least.
    """
    rows = int(np.count_nonzero(marked))
    # Few enough that their pairs, of which a row has up to `REACH` a slot, are no more than are grouped best.
    at_once = max(1, _TIMES_AT_ONCE * engine.group_rows // max(1, REACH * rows))
    for first in range(0, slots, at_once):
        some = min(at_once, slots - first)
        # A pair stands side by side once a slot at most, and so many stay together.
        yield engine.group(
            _of_slots(engine, signed, SlotKeys(first, first + some, marked), sides, rows),
            "pair",
            unpacked_once,
            most=some,
        )


def _of_slots(engine: Engine, signed: Table, keys: SlotKeys, sides: Sides, rows: int) -> Table:
    """Pairs that stand side by side in some slots, as often as they do (`pair`)."""
    shared = engine.group(engine.map(signed, keys), "bucket", as_it_is, least=2)
    pairs = [_beside(engine, shared, sides)]
    # No bucket holds more rows than there are.
    for slots_more in (1, 3, None) if rows > LARGEST else ():
        large = engine.group(shared, "bucket", as_it_is, least=LARGEST + 1)
        shared = engine.map(large, Cut(slots_more))
        pairs.append(_beside(engine, shared, sides))
    return Table.together(pairs)


def _beside(engine: Engine, shared: Table, sides: Sides) -> Table:
    order = (FOLLOWING, ROW)
    return engine.group(shared, "bucket", Beside(sides), order=order, least=2, most=LARGEST)


@dataclass(frozen=True, eq=False)
class SlotKeys:
    """A stage: signed rows → a row for each of some slots (`bucket`, `row`, `following`)."""

    first: int
    last: int
    marked: Bools

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        row = batch["row"].to_numpy()
        wanted = np.flatnonzero(self.marked[row])
        # A column is a slot's values one after the other.
        slots = np.ascontiguousarray(slot_matrix((batch,))[wanted].T)
        bucket = [slots[slot].astype(np.uint64) << np.uint64(16) | np.uint64(slot) for slot in self._slots]
        following = [_following(slots, slot) for slot in self._slots]
        columns = {
            "bucket": np.concatenate(bucket),
            ROW: np.tile(row[wanted].astype(np.uint32), len(bucket)),
            FOLLOWING: np.concatenate(following),
        }
        return pa.record_batch({name: pa.array(column) for name, column in columns.items()})

    @property
    def _slots(self) -> range:
        return range(self.first, self.last)


def _following(slots: np.ndarray[tuple[int, int], np.dtype[np.uint32]], slot: int) -> U64:
    """A byte of each of the slots that follow, the first of them the most important."""
    order = np.zeros(slots.shape[1], np.uint64)
    for step in range(1, _FOLLOWING + 1):
        order = order << np.uint64(8) | (slots[(slot + step) % len(slots)] & 0xFF)
    return order


@dataclass(frozen=True)
class Cut:
    """A stage: rows of buckets that are too large → the same in smaller ones.

    Rows stay together that agree in so many of the following slots too; if that is None, so many neighbours
    by number as a bucket may hold.
    """

    light: ClassVar[bool] = True

    slots_more: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.slots_more is None:
            part = batch[ROW].to_numpy().astype(np.uint64) // np.uint64(LARGEST)
        else:
            part = batch[FOLLOWING].to_numpy() >> np.uint64(8 * (_FOLLOWING - self.slots_more))
        with np.errstate(over="ignore"):
            mixed = (part + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (batch["bucket"].to_numpy() ^ mixed ^ mixed >> np.uint64(29)) * np.uint64(_ODD)
        return batch.set_column(0, "bucket", pa.array(mixed))


@dataclass(frozen=True, eq=False)
class Beside:
    """A stage over whole buckets in order: each row with the `REACH` before and after it (`pair`).

    Of two collections, a row of the first with those of the second that stand next to it.
    """

    sides: Sides

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = batch["row"].to_numpy().astype(np.int64)
        # Which bucket each is in: the numbers of buckets rise.
        starts = run_starts(batch["bucket"].to_numpy())
        bucket = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if self.sides is None:
            a, b = _next_to(bucket, bucket, np.arange(len(rows)), range(1, REACH + 1))
            pairs = packed(np.minimum(rows[a], rows[b]), np.maximum(rows[a], rows[b]))
        else:
            first, second = (np.flatnonzero(side[rows]) for side in self.sides)
            behind = np.searchsorted(second, first)
            a, b = _next_to(bucket[first], bucket[second], behind, range(-REACH, REACH))
            pairs = packed(rows[first[a]], rows[second[b]])
            # A row that stands for both sides is no neighbour of itself here.
            pairs = pairs[first[a] != second[b]]
        return pa.record_batch({"pair": pa.array(pairs)})


def _next_to(ones: I64, others: I64, at: I64, steps: range) -> tuple[I64, I64]:
    """Places of ones and of the others so many steps from `at` that are in the same bucket."""
    found: list[tuple[I64, I64]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for step in steps:
        place = at + step
        inside = np.flatnonzero((place >= 0) & (place < len(others)))
        same = inside[ones[inside] == others[place[inside]]]
        found.append((same, place[same]))
    a, b = (np.concatenate(column) for column in zip(*found, strict=True))
    return a, b


def unpacked_once(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A stage over grouped pairs: each once, as candidates to check."""
    return unpacked(Once()(batch))


def most_beside(slots: int) -> int:
    """The most rows that one row can be paired with."""
    return 2 * REACH * slots
