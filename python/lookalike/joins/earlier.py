"""New rows against rows of earlier runs, whose bucket keys are stored: nothing earlier is signed again.

    sign     the new rows, by the bands that the stored keys were made with, added ones too
    meet     the earlier rows that share a bucket with a new row; all others are out of it from here on
    fetch    the texts of those, and of no others
    join     the main road from there, where two earlier rows are no candidates

New rows are numbered first, and the earlier rows that met one behind them. Stored keys are read once, and
once more for those that met. On the driver: a byte an earlier row, up to 64 MB of marks that turn most stored
keys away before they are sorted, and what the main road needs for new rows and those they met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike.bands import Buckets, key_names
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table
from lookalike.families import MinHash
from lookalike.joins.flags import EMPTY
from lookalike.joins.items import Items
from lookalike.joins.joined import Joined
from lookalike.joins.lsh import join_keyed
from lookalike.joins.prepare import set_copies_aside
from lookalike.joins.sign import key_all
from lookalike.runs.watch import Watch
from lookalike.theory import Plan
from lookalike.theory.added_bands import AddedBands, FinalBands
from lookalike.types import I64, U64, Bools

#: Marks a key of a new row has to itself, if memory allows so many: of keys that no new row has, one in
#: eight then passes.
_MARKS_A_KEY = 8
_MOST_MARK_BITS = 26


@dataclass(frozen=True, kw_only=True, eq=False)
class Shelf:
    """The rows of one earlier run.

    Attributes
    ----------
    rows
        How many there are; each has a place, 0, 1, …
    keyed
        `place`, `content`, `copy`, `flags` and the keys of its bands, a row each, in any order.
    texts
        The texts at some places, which are sorted: `row`, numbered on from a first one, and `text`.
    """

    rows: int
    keyed: Table
    texts: Callable[[I64, int], Table]


@dataclass(frozen=True, kw_only=True, eq=False)
class Met:
    """A join of new rows with earlier ones.

    `numbers` says which earlier rows, counted over all shelves, the rows behind the new ones are; `texts` are
    theirs.
    """

    joined: Joined
    numbers: I64
    texts: Table


def lsh_with_earlier(
    new: Items,
    shelves: Sequence[Shelf],
    *,
    plan: Plan,
    added: tuple[AddedBands, ...],
    family: MinHash,
    engine: Engine,
    watch: Watch,
) -> Met:
    """Join new items with each other and with earlier rows; candidates are checked on the texts.

    No bands can be added: most earlier texts are not read. The account tells if more would be needed.
    """
    bands = FinalBands(banding=plan.banding, added=added)
    with watch.stage("sign", new.rows, size=new.bytes) as advance:
        sign = key_all(new.key(family, plan.banding), bands)
        keyed = engine.map(new.table, sign, advance=advance, settled="keyed")
    firsts = np.cumsum([0, *(shelf.rows for shelf in shelves)])
    with watch.stage("meet", int(firsts[-1])):
        settled = engine.settle(
            "met", lambda: Table.of(number=rows_that_meet(engine, new, keyed, shelves, bands.count))
        )
        met: I64 = settled.column("number")
    cuts = np.searchsorted(met, firsts)
    shares = [met[cuts[at] : cuts[at + 1]] - firsts[at] for at in range(len(shelves))]
    numbers = new.rows + cuts
    with watch.stage("fetch", len(met)):
        texts = [
            shelf.texts(share, int(first))
            for shelf, share, first in zip(shelves, shares, numbers, strict=False)
        ]
        taken = [
            engine.map(shelf.keyed, Take(share, int(first), keyed.schema))
            for shelf, share, first in zip(shelves, shares, numbers, strict=False)
        ]
    items = Items(
        table=Table.together([new.table, *texts]),
        bytes=new.bytes,
        shingle=new.shingle,
        seed=new.seed,
        boundary=new.rows,
        first_within=True,
    )
    both = Table.together([keyed, *taken])
    ready = set_copies_aside(items, both, plan, engine=engine, watch=watch, bands=bands.count)
    joined = join_keyed(
        items, ready, threshold=plan.threshold, verify="exact", engine=engine, watch=watch, added=added
    )
    return Met(joined=joined, numbers=met, texts=Table.together(texts))


def rows_that_meet(engine: Engine, new: Items, keyed: Table, shelves: Sequence[Shelf], bands: int) -> I64:
    """The earlier rows that share a bucket with a new row, sorted, counted over all shelves."""
    filled = np.zeros(new.rows, np.bool_)
    for batch in keyed.batches:
        filled[batch["row"].to_numpy()] = (batch["flags"].to_numpy() & EMPTY) == 0
    own = engine.map(keyed, Buckets(0, bands, filled))
    marks = KeyMarks.of(own)
    parts, first = [own], new.rows
    for shelf in shelves:
        parts.append(engine.map(shelf.keyed, MarkedBuckets(bands, marks, first)))
        first += shelf.rows
    # New rows have the lower numbers, so the first of a run tells whether there is one.
    meeting = engine.group(
        Table.together(parts), "bucket", Meeting(new.rows), order=("row",), least=2, repeat_first=True
    )
    met = np.zeros(first - new.rows, np.bool_)

    def mark(batch: pa.RecordBatch) -> None:
        met[batch["row"].to_numpy().astype(np.int64) - new.rows] = True

    engine.write(meeting, mark)
    return np.flatnonzero(met)


@dataclass(frozen=True, eq=False)
class KeyMarks:
    """Which beginnings of bucket keys occur: no key of another beginning does."""

    marks: Bools
    shift: np.uint64

    @classmethod
    def of(cls, keys: Table) -> KeyMarks:
        """Of the keys of a table (`bucket`)."""
        bits = min(_MOST_MARK_BITS, max(8, (_MARKS_A_KEY * keys.rows).bit_length()))
        marks, shift = np.zeros(1 << bits, np.bool_), np.uint64(64 - bits)
        for batch in keys.batches:
            marks[batch["bucket"].to_numpy() >> shift] = True
        return cls(marks, shift)

    def __call__(self, keys: U64) -> Bools:
        """Which of some keys may occur."""
        marked: Bools = self.marks[keys >> self.shift]
        return marked


@dataclass(frozen=True, eq=False)
class MarkedBuckets:
    """A stage: keyed rows of a shelf → `bucket`, `row` for each key that some new row may have too."""

    bands: int
    marks: KeyMarks
    first: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        filled = (batch["flags"].to_numpy() & EMPTY) == 0
        places = batch["place"].to_numpy().astype(np.uint32) + np.uint32(self.first)
        buckets, rows = [np.empty(0, np.uint64)], [np.empty(0, np.uint32)]
        for name in key_names(self.bands):
            keys = batch[name].to_numpy()
            chosen = filled & self.marks(keys)
            buckets.append(keys[chosen])
            rows.append(places[chosen])
        columns = {"bucket": np.concatenate(buckets), "row": np.concatenate(rows)}
        return pa.record_batch({name: pa.array(column) for name, column in columns.items()})


@dataclass(frozen=True)
class Meeting:
    """A stage over grouped buckets: of those whose first row is new, the `row`s that are not."""

    light: ClassVar[bool] = True

    new_rows: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows, starts = batch["row"].to_numpy(), run_starts(batch["bucket"].to_numpy())
        led = np.repeat(rows[starts[:-1]] < self.new_rows, np.diff(starts))
        return pa.record_batch({"row": pa.array(rows[led & (rows >= self.new_rows)])})


@dataclass(frozen=True, eq=False)
class Take:
    """A stage: keyed rows of a shelf → those at some places, sorted, numbered on from `first`."""

    places: I64
    first: int
    schema: pa.Schema

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        places = batch["place"].to_numpy().astype(np.int64)
        at = np.searchsorted(self.places, places)
        wanted = np.append(self.places, -1)[at] == places
        batch = batch.filter(pa.array(wanted))
        columns = {"row": pa.array(at[wanted] + self.first)}
        columns |= {name: batch[name] for name in self.schema.names if name != "row"}
        return pa.record_batch(columns, schema=self.schema)
