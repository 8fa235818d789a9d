"""How alike a collection's rows are, from a sample that does not depend on their order.

Rows are drawn by a hash of what one sees of them at a glance, the least first, and each glance once: copies
to the byte count as one. Only the rows drawn are signed, so a plan is made before the collection is. How many
glances there are at all follows from how small the least ones are. Rows that differ may look alike (long ones
of one length with the same beginning, middle and end); where many do, rows are drawn by hashes of all they
hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import add
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Held, Stage, Table
from lookalike.families import MinHash
from lookalike.joins.flags import EMPTY
from lookalike.joins.glanced import SAMPLE_ROWS, alike_at_a_glance, sample_rows
from lookalike.joins.items import Items
from lookalike.joins.least import about_distinct
from lookalike.measures.candidates import slot_matrix
from lookalike.types import I64, U8, U64

__all__ = ["SAMPLE_ROWS", "Drawn", "Sign", "Under", "draw", "least_glances"]

#: The bytes of a batch's rows, and where each begins.
View = Callable[[pa.RecordBatch], tuple[U8, I64]]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A sample.

    Attributes
    ----------
    counts
        How many of its pairs agree in 0, 1, … slots.
    distinct
        About how many different rows the collection has; exact if there are fewer than were asked for.
    rows
        The numbers of the rows drawn, sorted.
    """

    counts: tuple[int, ...]
    distinct: int
    rows: tuple[int, ...]

    @property
    def median_similarity(self) -> float | None:
        """Of two rows picked at random; None if there are not two."""
        pairs = sum(self.counts)
        if not pairs:
            return None
        return float(np.searchsorted(np.cumsum(self.counts), pairs / 2)) / (len(self.counts) - 1)

    def to_table(self) -> Table:
        """As a table to settle."""
        values = np.array([self.distinct, len(self.counts), *self.counts, *self.rows], np.int64)
        return Table.of(values=values)

    @classmethod
    def from_table(cls, table: Table) -> Drawn:
        """Read back what `to_table` made."""
        distinct, levels, *rest = (int(value) for value in table.column("values"))
        return cls(counts=tuple(rest[:levels]), distinct=distinct, rows=tuple(rest[levels:]))

    def share_at_least(self, similarity: float) -> float:
        """The share of its pairs whose signatures agree at least so much."""
        agreeing = np.arange(len(self.counts)) >= similarity * (len(self.counts) - 1)
        return float(np.array(self.counts)[agreeing].sum()) / max(1, sum(self.counts))


@dataclass(frozen=True, eq=False)
class Under:
    """A stage for `fold`: the rows with glances up to a limit, in parts as they come."""

    light: ClassVar[bool] = True

    limit: int
    view: View
    seed: int
    #: Draws by hashes of all of a row, which take longer, instead of what one sees at a glance.
    whole: bool = False

    def __call__(self, batch: pa.RecordBatch) -> list[tuple[U64, I64]]:
        look = _hashes if self.whole else _glances
        hashes = look(batch, self.view, self.seed)
        few = np.flatnonzero(hashes <= np.uint64(self.limit))
        return [(hashes[few], batch["row"].to_numpy()[few])]


@dataclass(frozen=True, eq=False)
class HashesUnder:
    """A stage for `fold`: items → glance and hash of all, of rows whose glance is at most `limit`."""

    limit: int
    view: View
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> list[tuple[U64, U64]]:
        glances = _glances(batch, self.view, self.seed)
        few = np.flatnonzero(glances <= np.uint64(self.limit))
        if not len(few):
            return []
        return [(glances[few], _hashes(batch.take(pa.array(few)), self.view, self.seed))]


def _glances(batch: pa.RecordBatch, view: View, seed: int) -> U64:
    return _core.glances(view(batch), seed=seed)


def _hashes(batch: pa.RecordBatch, view: View, seed: int) -> U64:
    return _core.hash_strings(view(batch), seed=seed, threads=1)


@dataclass(frozen=True, eq=False)
class Sign:
    """A stage for `fetch`: numbers of rows → these rows, signed."""

    sign: Stage

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        places = np.sort(held.at(batch["row"].to_numpy())).astype(np.int64)
        starts = np.cumsum([0, *(len(piece) for piece in held.batches)])
        cuts = np.searchsorted(places, starts)
        drawn = [
            held.batches[piece].take(pa.array(places[cuts[piece] : cuts[piece + 1]] - starts[piece]))
            for piece in np.flatnonzero(np.diff(cuts)).tolist()
        ]
        if not drawn:
            return self.sign(held.batches[0].slice(0, 0))
        return self.sign(pa.Table.from_batches(drawn).combine_chunks().to_batches()[0])


def draw(engine: Engine, items: Items, family: MinHash, *, rows: int | None = None) -> Drawn:
    """Draw a sample of the items and compare all its pairs; so many rows, or as their number asks for."""
    if rows is None:
        rows = sample_rows(items.rows)
    nothing = (0,) * (family.slots + 1)
    glances, chosen = least_glances(engine, items, rows)
    chosen.sort()
    if not len(chosen):
        return Drawn(counts=nothing, distinct=0, rows=())
    signed = engine.fetch(items.holding(chosen), Table.of(row=chosen), ("row",), Sign(items.sign(family)))
    filled = (signed.column("flags") & EMPTY) == 0
    # Copies in other dress count as one too.
    _, once = np.unique(signed.column("copy")[filled], return_index=True)
    matrix = np.ascontiguousarray(slot_matrix(signed.batches)[filled][once])
    counts = _core.agreement_histogram(matrix, threads=engine.threads) if len(matrix) else nothing
    return Drawn(
        counts=tuple(int(count) for count in counts),
        distinct=about_distinct(glances, rows, items.rows),
        rows=tuple(chosen.tolist()),
    )


def least_glances(engine: Engine, items: Items, count: int, *, whole: bool = False) -> tuple[U64, I64]:
    """The least glances, sorted, each once, and the least row of each.

    Where the rows of one glance mostly differ, glances tell too little: then hashes of whole rows are drawn.
    """
    kept = items.kept_sample
    if kept is not None and not whole and count <= sample_rows(items.rows):
        return kept.glances[:count], kept.rows[:count]
    # Many times as many as asked for, if all rows look different: few more are needed where most look alike.
    share = 16 * count / max(1, items.rows)
    while True:
        limit = min(_LAST, int(share * _LAST))
        parts = engine.fold(items.table, Under(limit, items.view, items.seed, whole), add)
        if parts is None:
            return np.empty(0, np.uint64), np.empty(0, np.int64)
        glances, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((rows, glances))
        new = np.ones(len(order), np.bool_)
        new[1:] = glances[order][1:] != glances[order][:-1]
        chosen = order[new][:count]
        if len(chosen) == count or limit == _LAST:
            if not whole and _alike(engine, items, glances[chosen], count):
                return least_glances(engine, items, count, whole=True)
            return glances[chosen], rows[chosen]
        share *= 64


def _alike(engine: Engine, items: Items, chosen: U64, asked: int) -> bool:
    """Whether many rows look alike and are not."""
    if not len(chosen):
        return False
    parts = engine.fold(items.table, HashesUnder(int(chosen.max()), items.view, items.seed), add)
    glances, hashes = (np.concatenate(column) for column in zip(*(parts or []), strict=True))
    return alike_at_a_glance(glances, chosen, hashes, asked=asked)


_LAST = 2**64 - 1
