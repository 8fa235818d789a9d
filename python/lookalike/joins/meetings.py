"""Who meets whom: rows that share a key (an element, a slot's value, a bucket) → pairs, and how often.

A run of n rows with one key has n²/2 pairs, and none may be lost, however long the run is. Short runs give
all their pairs at once. Long ones are gone through in steps: the first takes the pairs whose rows stand close
together in the run, the next those farther apart, and so on, until the longest run is through. So every step
gives a bounded number of pairs a row.

Memory: the engine's, for the keys and for the pairs that met; a stage holds one run whole (4 bytes a row of
it, and its key) and as many pairs as the engine has room for, four million at most, or 16 a row of the
longest run. Time: linear in meetings, which is what is quadratic.
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
#: The most pairs a stage makes at once of long runs, and how many places a step goes at least. One call of a
#: kernel makes and sorts no more: a few tenths of a second, as nobody hears of Ctrl-C before it returns.
PAIRS_AT_ONCE = 1 << 22
LEAST_STEP = 16
#: A pair that is made takes this much: as the calls of a kernel hand it back, and put together.
_PAIR_BYTES = 24
#: So many calls of a kernel share the pairs there is room for: a call takes up to twice as much for its own.
_CALLS = 8


@dataclass(frozen=True)
class Meet:
    """A stage over whole runs: pairs of rows so many places apart in a run (`pair`, `times`)."""

    key: str
    nearest: int
    farthest: int
    boundary: int | None
    #: About how many pairs a call of the kernel makes.
    at_once: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = batch["row"].to_numpy().astype(np.uint32, copy=False)
        runs = run_starts(batch[self.key].to_numpy())
        found = []
        for first, last in lower_rows(rows, self._most(runs), self.at_once):
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


def lower_rows(rows: U32, pairs: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges that the lower rows of pairs are of, for about `at_once` of them in a call.

    A pair lies in one range with all its meetings, so that they are counted together in any case.
    """
    calls = -(-pairs // at_once)
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
    room = max(1, engine.stage_bytes // (engine.threads * _PAIR_BYTES))
    at_once, call = min(PAIRS_AT_ONCE, room), min(PAIRS_AT_ONCE, max(1, room // _CALLS))
    shared = engine.group(places, key, as_it_is, least=2)
    yield engine.group(shared, key, Meet(key, 1, LONG, boundary, call), most=LONG)
    long = engine.group(shared, key, as_it_is, least=LONG + 1)
    lengths = Lengths(key)
    _, rows = engine.fold(long, lengths, lengths.merge) or (None, np.empty(0, np.int64))
    longest = int(rows.max(initial=0))
    step = max(LEAST_STEP, at_once // max(1, longest))
    for nearest in range(1, longest, step):
        if 2 * rows[rows > nearest].sum() < long.rows:
            # Only longer runs than this have rows so far apart: the others need not be read again.
            long = engine.group(long, key, as_it_is, least=nearest + 1)
        meet = Meet(key, nearest, nearest + step - 1, boundary, call)
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
