"""The sample of a collection, kept while it is read: where texts are not in memory, a passage is spared.

Rows are sampled by the least hashes of what one sees of them at a glance (`sample`), and which those are is
known to the end only. So somewhat more are kept on the way, and it is checked that they were enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.engines.spill import Batches
from lookalike.measures.candidates import text_buffers
from lookalike.types import I64, U32, U64, Bools, string_buffers

#: Rows sampled: half a million pairs, enough to see similarities that one pair in 100,000 has.
SAMPLE_ROWS = 1000
#: Of large collections one row in so many, up to eight million pairs: a million rows have half a trillion,
#: and what a sample cannot rule out counts as candidates.
_ONE_IN = 250
_MOST_ROWS = 4 * SAMPLE_ROWS

#: Twice as many as a collection of the rows so far would need: of those that come, some are needed too.
_SPARE = 2
#: Where so many rows differ for each glance, glances do not tell rows apart.
_ALIKE = 1.5
#: New rows wait until there are so many, to be sorted together.
_WAITING = 1 << 12


def sample_rows(rows: int) -> int:
    """How many rows of a collection are sampled."""
    return min(_MOST_ROWS, max(SAMPLE_ROWS, rows // _ONE_IN))


@dataclass(frozen=True, kw_only=True, eq=False)
class Glanced:
    """The rows of least glances of a table, each glance once, by the least row that has it.

    Attributes
    ----------
    glances, rows
        The least glances, sorted, and the row of each: as many as `sample_rows` says, or all there are.
    table
        These rows with their texts, in the order of their numbers.
    batches, seed
        Of which table, and by which hash.
    """

    glances: U64
    rows: I64
    table: Table
    batches: Batches
    seed: int


class Glancing:
    """Keeps the rows of least glances while texts are read.

    Parameters
    ----------
    room
        The most bytes of text to keep; if it takes more, nothing is kept, and the sample is drawn afterwards.
    """

    def __init__(self, seed: int, room: int) -> None:
        self._seed, self._room = seed, room
        self._seen = 0
        #: The least limit so far: of glances up to it none was lost.
        self._limit = _LAST
        self._glances: U64 = np.empty(0, np.uint64)
        self._rows: I64 = np.empty(0, np.int64)
        self._texts: pa.Array = pa.array([], pa.large_string())
        self._waiting: list[tuple[U64, I64, pa.Array]] = []
        self._given_up = False

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at the next rows (`row`, `text`), numbered as they arrived."""
        self._seen += len(batch)
        if self._given_up:
            return
        glances = _core.glances(text_buffers(batch), seed=self._seed)
        few = np.flatnonzero(glances <= np.uint64(self._limit))
        if len(few):
            texts = batch["text"].take(pa.array(few))
            self._waiting.append((glances[few], batch["row"].to_numpy()[few], texts))
        rows = sum(len(rows) for _, rows, _ in self._waiting)
        if rows > _WAITING or sum(texts.nbytes for _, _, texts in self._waiting) > self._room:
            self._sort()

    def kept(self, engine: Engine, table: Table, numbers: U32 | None, first: int) -> Glanced | None:
        """The sample of the table that was read; None if it could not be kept.

        `numbers` are those that rows have by now, in the order they arrived from number `first` on.
        """
        self._sort()
        if self._given_up:
            return None
        rows = self._rows if numbers is None else numbers[self._rows - first].astype(np.int64)
        order = np.lexsort((rows, self._glances))
        order = order[_fresh(self._glances[order])][: sample_rows(self._seen)]
        if len(order) < sample_rows(self._seen) and self._limit < _LAST:
            return None
        if len(order):
            under = self._glances <= self._glances[order].max()
            texts = string_buffers(self._texts.filter(pa.array(under)))
            hashes = _core.hash_strings(texts, seed=self._seed, threads=1)
            chosen = self._glances[order]
            if alike_at_a_glance(self._glances[under], chosen, hashes, asked=sample_rows(self._seen)):
                return None
        by_row = order[np.argsort(rows[order])]
        batch = pa.record_batch({"row": pa.array(rows[by_row]), "text": self._texts.take(pa.array(by_row))})
        return Glanced(
            glances=self._glances[order],
            rows=rows[order],
            table=engine.scan([batch], batch.schema),
            batches=table.batches,
            seed=self._seed,
        )

    def _sort(self) -> None:
        """Sort what waits in, and forget what is too large."""
        waiting, self._waiting = self._waiting, []
        glances = np.concatenate([self._glances, *(part for part, _, _ in waiting)])
        rows = np.concatenate([self._rows, *(part for _, part, _ in waiting)])
        texts = pa.concat_arrays([self._texts, *(part for _, _, part in waiting)])
        # Rows of one glance all stay: which of them has the least number may not be known yet.
        order = np.lexsort((rows, glances))
        distinct = np.cumsum(_fresh(glances[order]))
        order = order[distinct <= _SPARE * sample_rows(self._seen)]
        if len(order) < len(glances):
            self._limit = int(glances[order[-1]])
        self._glances, self._rows = glances[order], rows[order]
        self._texts = texts.take(pa.array(order))
        if self._texts.nbytes > self._room:
            self._given_up = True
            self._glances, self._rows, self._texts = self._glances[:0], self._rows[:0], self._texts[:0]


def alike_at_a_glance(glances: U64, chosen: U64, hashes: U64, *, asked: int) -> bool:
    """Whether rows look alike and are not, by hashes of all that those with chosen glances hold.

    Many of them do, or any at all where there are fewer glances than were `asked` for.
    """
    if not len(chosen):
        return False
    each = _ALIKE if len(chosen) == asked else 1.0
    return len(np.unique(hashes[glances <= chosen.max()])) > each * len(chosen)


_LAST = 2**64 - 1


def _fresh(ordered: U64) -> Bools:
    """Where a value is not the one before."""
    fresh = np.ones(len(ordered), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return fresh
