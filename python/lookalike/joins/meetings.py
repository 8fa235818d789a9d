"""Who meets whom: rows that share a key (an element, a slot's value, a bucket) → pairs, and how often.

A run of n rows with one key has n²/2 pairs, and none may be lost, however long the run is. Short runs give
all their pairs at once. Long ones are gone through in steps: the first takes the pairs whose rows stand close
together in the run, the next those farther apart, and so on, until the longest run is through. So every step
gives a bounded number of pairs a row.

Memory: the engine's, for the keys and for the pairs that met; a stage holds one run whole (4 bytes a row of
it, and its key) and some four million pairs, or 16 a row of the longest run. Time: linear in meetings, which
is what is quadratic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands.buckets import rows_of, run_starts
from lookalike.engines import Engine, Table, as_it_is
from lookalike.runs.side_by_side import still_wanted
from lookalike.types import I64, U32, U64

#: A run of more rows than this is long.
LONG = 64
#: The pairs a stage may make at once of long runs, and how many places a step goes at least.
PAIRS_AT_ONCE = 1 << 22
LEAST_STEP = 16
#: About as many pairs as one call of a kernel makes and sorts: a few tenths of a second, as nobody hears of
#: Ctrl-C before it returns.
CALL_PAIRS = 1 << 22


@dataclass(frozen=True)
class Meet:
    """A stage over whole runs: pairs of rows so many places apart in a run (`pair`, `times`)."""

    key: str
    nearest: int
    farthest: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = batch["row"].to_numpy().astype(np.uint32, copy=False)
        runs = run_starts(batch[self.key].to_numpy())
        found = []
        for first, last in lower_rows(rows, self._most(runs)):
            still_wanted()
            found.append(
                _core.meetings(
                    *(rows, runs),
                    nearest=self.nearest,
                    farthest=self.farthest,
                    boundary=self.boundary,
                    first=first,
                    last=last,
                )
            )
        pairs, times = (np.concatenate(column) for column in zip(*found, strict=True))
        return pa.record_batch({"pair": pa.array(pairs), "times": pa.array(times)})

    def _most(self, runs: I64) -> int:
        """How many pairs the runs have at most."""
        # Rows that begin a pair, and how many the first of them begin; towards the end of a run each begins
        # one less.
        begin = np.maximum(np.diff(runs) - self.nearest, 0)
        wide = np.minimum(begin, self.farthest - self.nearest + 1)
        return int((wide * (2 * begin - wide + 1) // 2).sum())


def lower_rows(rows: U32, pairs: int) -> Iterator[tuple[int, int]]:
    """Ranges that the lower rows of pairs are of, for about `CALL_PAIRS` of them in a call.

    A pair lies in one range with all its meetings, so that they are counted together in any case.
    """
    calls = -(-pairs // CALL_PAIRS)
    cuts = [] if calls < 2 else np.unique(np.sort(rows)[len(rows) * np.arange(1, calls) // calls]).tolist()
    for first, end in pairwise([0, *(cut for cut in cuts if cut > 0), 1 << 32]):
        yield first, end - 1


@dataclass(frozen=True)
class Lengths:
    """A stage for `fold`: the keys there are and how many rows have each; runs may come in pieces."""

    key: str

    def __call__(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        keys = batch[self.key].to_numpy()
        starts = run_starts(keys)
        return keys[starts[:-1]], np.diff(starts)

    def merge(self, one: tuple[U64, I64], other: tuple[U64, I64]) -> tuple[U64, I64]:
        """The keys of both, with what they have together."""
        keys, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
        lengths = np.zeros(len(keys), np.int64)
        np.add.at(lengths, place, np.concatenate([one[1], other[1]]))
        return keys, lengths


def meetings(engine: Engine, places: Table, key: str, *, boundary: int | None) -> Iterator[Table]:
    """All pairs of rows that share a key, a table (`pair`, `times`) at a time.

    `places` holds a `row` for each key it has, once. A pair is packed as a·2³² + b, a < b; with a `boundary`
    a is below it and b is not. A pair may come several times, and has then met as often as all of them say.
    """
    shared = engine.group(places, key, as_it_is, least=2)
    yield engine.group(shared, key, Meet(key, 1, LONG, boundary), most=LONG)
    long = engine.group(shared, key, as_it_is, least=LONG + 1)
    lengths = Lengths(key)
    _, rows = engine.fold(long, lengths, lengths.merge) or (None, np.empty(0, np.int64))
    longest = int(rows.max(initial=0))
    step = max(LEAST_STEP, PAIRS_AT_ONCE // max(1, longest))
    for nearest in range(1, longest, step):
        if 2 * rows[rows > nearest].sum() < long.rows:
            # Only longer runs than this have rows so far apart: the others need not be read again.
            long = engine.group(long, key, as_it_is, least=nearest + 1)
        meet = Meet(key, nearest, nearest + step - 1, boundary)
        yield engine.group(long, key, meet, least=nearest + 1, most=longest)


def count_meetings(engine: Engine, met: Iterable[Table], *, most: int) -> Table:
    """Every pair once, with how often it met in all (`pair`, `times`).

    No pair may have met more than `most` times. That bounds the partial counts of one pair, so that they can
    be added up in one place.
    """
    return engine.group(Table.together(list(met)), "pair", _add_up, most=max(1, most))


def _add_up(batch: pa.RecordBatch) -> pa.RecordBatch:
    pairs, times = batch["pair"].to_numpy(), batch["times"].to_numpy()
    starts = run_starts(pairs)[:-1]
    total = np.add.reduceat(times, starts) if len(starts) else times
    return pa.record_batch({"pair": pa.array(pairs[starts]), "times": pa.array(total.astype(np.uint32))})


def unpacked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A stage: packed pairs → `a`, `b`, as candidates to check."""
    a, b = rows_of(batch["pair"].to_numpy())
    return pa.record_batch({"a": pa.array(a), "b": pa.array(b)})
