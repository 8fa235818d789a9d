"""The external MinHash join: signatures compared slot by slot, by sorting alone.

For every slot, (minimum, row) is written and sorted, rows with the same minimum are paired up, and the pairs
of all slots are sorted and counted: no memory but the sort's. Two rows met in as many slots as their
signatures agree in, so the answer is exactly that of comparing all signatures with all (`agree`).

It counts every agreement of every two rows, however few those are, and `agree` gets the same answer for less.
This is the form that needs nothing but sorting, and a check of the other.

Memory: the engine's, for the signatures, 12 bytes a row and slot of some slots at a time, and 12 a pair that
agrees anywhere, and 16 a pair found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.bands import rows_of
from lookalike.charts import numbers
from lookalike.engines import Engine, Table
from lookalike.families import MinHash
from lookalike.joins.crowded import MANY_MEETINGS, CountElements, crowding
from lookalike.joins.found import Found
from lookalike.joins.items import Items
from lookalike.joins.meetings import count_meetings, meetings
from lookalike.joins.signatures import least_agreeing, signatures
from lookalike.measures.candidates import slot_matrix
from lookalike.runs.watch import Watch
from lookalike.types import I64


def external(items: Items, *, family: MinHash, threshold: float, engine: Engine, watch: Watch) -> Found:
    """Find all pairs whose signatures agree in at least a fraction `threshold` of their slots."""
    reaching = Reaching(least_agreeing(threshold, family.slots), family.slots)
    signed = signatures(items, family, engine=engine, watch=watch)
    counting = CountMinima(Minima(0, family.slots), items.boundary)
    crowd = crowding(engine, signed, boundary=items.boundary, few=0, counting=counting)
    if crowd.meetings > MANY_MEETINGS:
        watch.say(
            f"method external has about {numbers.count(crowd.meetings)} agreements of two slots to count: "
            f"{crowd.cost}. Method signature finds the same pairs and does not count them all"
        )

    def met() -> Table:
        pairs = _slot_by_slot(signed, family.slots, items.boundary, engine)
        return count_meetings(engine, pairs, most=family.slots)

    with watch.stage("slots", family.slots, unit="slots"):
        counted = engine.settle("counted", met)
    return Found.of(engine, engine.map(counted, reaching), counted.rows)


def _slot_by_slot(signed: Table, slots: int, boundary: int | None, engine: Engine) -> Iterator[Table]:
    """Who agrees with whom, some slots at a time."""
    at_once = max(1, engine.group_rows // max(1, signed.rows))
    for first in range(0, slots, at_once):
        minima = engine.map(signed, Minima(first, min(first + at_once, slots)))
        yield from meetings(engine, minima, "minimum", boundary=boundary)


@dataclass(frozen=True)
class Minima:
    """A stage: signed rows → a line a row and slot (`minimum`, `row`), slots from `first` to before `last`.

    A minimum carries the number of its slot, so that equal values of different slots do not meet.
    """

    first: int
    last: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        numbers = np.arange(self.first, self.last, dtype=np.uint64)
        values = slot_matrix((batch,))[:, self.first : self.last].astype(np.uint64)
        rows = batch["row"].to_numpy().astype(np.uint32)
        return pa.record_batch(
            {
                "minimum": pa.array((values | numbers << np.uint64(32)).reshape(-1)),
                "row": pa.array(np.repeat(rows, len(numbers))),
            }
        )


@dataclass(frozen=True)
class CountMinima:
    """A stage for `fold`: signed rows → how many have which minimum, by bucket (`crowded`)."""

    minima: Minima
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> I64:
        return CountElements(self.boundary)(self.minima(batch).rename_columns(["element", "row"]))


@dataclass(frozen=True)
class Reaching:
    """A stage: pairs and how often they met (`pair`, `times`) → those that agree in enough slots."""

    least: int
    slots: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        times = batch["times"].to_numpy()
        reached = times >= self.least
        a, b = rows_of(batch["pair"].to_numpy()[reached])
        similarity = times[reached].astype(np.float64) / self.slots
        return pa.record_batch({"a": pa.array(a), "b": pa.array(b), "similarity": pa.array(similarity)})
