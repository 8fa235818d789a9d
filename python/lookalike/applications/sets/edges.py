"""Edge tables: the ends are hashed batch by batch, and the engine groups them by set.

The driver holds the ids of the sets and 16 bytes for each; edges are the engine's, 16 bytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from lookalike.applications.sets.stages import SETS, EdgeKeys, Gather
from lookalike.applications.too_large import called
from lookalike.engines import Engine, Table
from lookalike.errors import OptionError
from lookalike.io import id_order
from lookalike.measures.tokens import hash_tokens
from lookalike.types import I64, U64, Sets, concatenate, list_buffers

#: Ids that are gathered before repeats among them are looked for.
_MANY = 1 << 20


@dataclass(frozen=True, eq=False)
class Distinct:
    """Values for `fold`: ids, some of them still more than once."""

    parts: tuple[pa.Array, ...]
    #: How many ids there were when repeats were last left out.
    settled: int = 0

    @classmethod
    def of_sets(cls, batch: pa.RecordBatch) -> Distinct:
        """The ids of the sets in a batch of edges."""
        return cls((batch.column(1).unique(),))

    def merge(self, other: Distinct) -> Distinct:
        """Those of both; looked through once they may have doubled, so that the work stays linear."""
        both = Distinct((*self.parts, *other.parts), max(self.settled, other.settled))
        if sum(map(len, both.parts)) < 2 * both.settled + _MANY:
            return both
        ids = both.ids()
        return Distinct((ids,), len(ids))

    def ids(self) -> pa.Array:
        """Each id once."""
        return pa.chunked_array(list(self.parts)).unique()


def sets_of_edges(
    edges: Table, engine: Engine, *, least: float | None, seed: int, first_row: int
) -> tuple[Table, pa.Array]:
    """The sets of a table of edges, a row each, numbered from `first_row` in the order of their ids.

    Also gives the ids in that order. A set whose every edge is under the least rating is empty.
    """
    ids, keys, order = named_sets(edges, engine, seed)
    hashed = engine.map(edges, EdgeKeys(least, seed))
    gathered = engine.group(hashed, "key", Gather(keys, order + first_row), order=("element",))
    missing = rows_without_edges(gathered, first_row, len(ids))
    empty = Sets(np.empty(0, np.uint64), np.zeros(len(missing) + 1, np.int64))
    none = pa.record_batch([pa.array(missing), empty.to_arrow()], schema=SETS)
    with called(lambda row: ids[row - first_row]):
        return engine.scan(chain(whole_sets(gathered, _one), [none]), SETS), ids


def named_sets(edges: Table, engine: Engine, seed: int) -> tuple[pa.Array, U64, I64]:
    """The ids of the sets in order; their keys sorted, and which id each is of."""
    found = engine.fold(edges, Distinct.of_sets, Distinct.merge)
    ids = found.ids() if found is not None else pa.array([], edges.schema.field(1).type)
    ids = ids.take(pa.array(id_order(ids)))
    keys = hash_tokens(ids, seed=seed, threads=engine.threads)
    order = np.argsort(keys)
    keys = keys[order]
    if bool(np.any(keys[1:] == keys[:-1])):
        raise OptionError(
            f"two of the {len(ids):,} sets have ids with the same 64-bit hash, which would join them: "
            "run again with another seed"
        )
    return ids, keys, order


def whole_sets(
    table: Table, one: Callable[[list[pa.RecordBatch]], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The batches, with sets that were too large for one put together: their pieces follow each other.

    What is on disk was cut and joined on its way there, so a batch may begin, hold and end with pieces.
    """
    waiting: list[pa.RecordBatch] = []
    for batch in table.batches:
        if not len(batch):
            continue
        rows = batch["row"].to_numpy()
        starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        sizes = np.diff(np.append(starts, len(rows)))
        # Sets that are there in pieces, or may have begun before, or may go on in the next batch.
        looked_at = np.union1d(np.flatnonzero(sizes > 1), [0, len(starts) - 1])
        done = 0
        for start, size in zip(starts[looked_at].tolist(), sizes[looked_at].tolist(), strict=True):
            stop = start + size
            if waiting and waiting[0]["row"][0].as_py() != rows[start]:
                yield one(waiting)
                waiting = []
            if waiting or size > 1 or stop == len(rows):
                if done < start:
                    yield batch.slice(done, start - done)
                waiting += [batch.slice(at, 1) for at in range(start, stop)]
                done = stop
    if waiting:
        yield one(waiting)


def _one(pieces: list[pa.RecordBatch]) -> pa.RecordBatch:
    """A set from its pieces, each sorted and behind the one before; an element may be in two."""
    if len(pieces) == 1:
        return pieces[0]
    elements = concatenate((_elements(piece) for piece in pieces), np.uint64)
    fresh = np.concatenate([[True], elements[1:] != elements[:-1]])
    sets = Sets(elements[fresh], np.array([0, fresh.sum()], np.int64))
    return pa.record_batch([pieces[0]["row"], sets.to_arrow()], schema=SETS)


def _elements(piece: pa.RecordBatch) -> U64:
    values, offsets = list_buffers(piece["elements"])
    return values[offsets[0] : offsets[-1]]


def rows_without_edges(table: Table, first_row: int, count: int) -> I64:
    """The sets that no edge is left of."""
    there = np.zeros(count, np.bool_)
    there[table.column("row") - first_row] = True
    return np.flatnonzero(~there) + first_row
