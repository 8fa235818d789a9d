"""Every signature with every other, a block of them with a block at a time.

n²/2 comparisons of a few nanoseconds each. A block of signatures is one line of a table, so that an engine
can bring any two together wherever they are. Pairs of blocks are gone through a strip at a time, each of them
settled; within a strip by tiles, so that what has been brought into memory meets all that is there.

Memory: the engine's, for the signatures twice, several blocks at a time and the pairs of a strip; at the
driver 8 bytes a row and the pairs found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Held, Table
from lookalike.joins.found import Found
from lookalike.measures.candidates import slot_matrix
from lookalike.runs.watch import Watch
from lookalike.types import I64, U32, concatenate

#: Rows of a block: signatures that stay in a core's own cache. Fewer where memory is scarce.
BLOCK_ROWS = 256
#: Blocks a side of a tile, and pairs of blocks in a strip, if it is wider than a tile.
TILE, STRIP = 16, 1 << 18
#: So many blocks must fit what a stage may hold.
_IN_REACH = 8


def compare_blocks(
    signed: Table, *, slots: int, least: int, boundary: int | None, engine: Engine, watch: Watch
) -> Found:
    """All pairs of signed rows that agree in at least `least` of their slots."""
    rows = signed.column("row")
    # A row is its number and 4 bytes a slot.
    per_block = max(1, min(BLOCK_ROWS, engine.stage_bytes // (_IN_REACH * (4 * slots + 8))))
    with watch.stage("blocks", signed.rows):
        numbered = engine.map(signed, Number(per_block))
        blocks = engine.group(numbered, "block", as_blocks, order=("row",), most=per_block)
        numbers = np.sort(blocks.column("row"))
    compare = Compare(slots, least, boundary)
    with watch.stage("compare", len(numbers) * (len(numbers) + 1) // 2, unit="pairs of blocks") as advance:

        def compared(pairs: Table) -> Table:
            return engine.fetch(blocks, pairs, ("a", "b"), compare, advance=advance)

        found = [
            engine.settle(f"compared-{at + 1}-by-{per_block}", partial(compared, pairs))
            for at, pairs in enumerate(_strips(numbers, per_block, boundary))
        ]
    first = 0 if boundary is None else int(np.count_nonzero(rows < boundary))
    within, across = len(rows) * (len(rows) - 1) // 2, first * (len(rows) - first)
    return Found.of(Table.together(found), within if boundary is None else across)


def _strips(numbers: I64, per_block: int, boundary: int | None) -> Iterator[Table]:
    """Every block with itself and with every later one; of two collections, those that reach across."""
    width = max(TILE, STRIP // max(1, len(numbers)))
    for first in range(0, max(1, len(numbers)), width):
        one, other = np.meshgrid(
            np.arange(first, min(first + width, len(numbers))), np.arange(first, len(numbers)), indexing="ij"
        )
        later = one <= other
        one, other = one[later], other[later]
        order = np.lexsort((other, one, other // TILE, one // TILE))
        a, b = numbers[one[order]], numbers[other[order]]
        if boundary is not None:
            across = (a * per_block < boundary) & ((b + 1) * per_block > boundary)
            a, b = a[across], b[across]
        yield Table.of(a=a, b=b)


@dataclass(frozen=True)
class Number:
    """A stage: signed rows → with the number of the `block` each is in."""

    per_block: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        blocks = batch["row"].to_numpy() // self.per_block
        return pa.record_batch(
            {"block": pa.array(blocks.astype(np.uint64)), "row": batch["row"], "slots": batch["slots"]}
        )


def as_blocks(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A stage over whole blocks: a line a block, its number (`row`), its `rows` and all their `slots`."""
    numbers = batch["block"].to_numpy()
    starts = run_starts(numbers)
    matrix = slot_matrix((batch,))
    rows = pa.array(batch["row"].to_numpy().astype(np.int64))
    slots = pa.array(matrix.reshape(-1))
    return pa.record_batch(
        {
            "row": pa.array(numbers[starts[:-1]].astype(np.int64)),
            "rows": pa.LargeListArray.from_arrays(pa.array(starts), rows),
            "slots": pa.LargeListArray.from_arrays(pa.array(starts * matrix.shape[1]), slots),
        }
    )


@dataclass(frozen=True)
class Compare:
    """A stage for `fetch` from blocks: pairs of blocks → the pairs of their rows that agree enough."""

    slots: int
    least: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        first_of = np.concatenate([[0], np.cumsum([len(piece) for piece in held.batches])])
        found: list[tuple[I64, I64, U32]] = []
        places = (held.at(batch[side].to_numpy()).tolist() for side in ("a", "b"))
        for one, other in zip(*places, strict=True):
            rows, slots = self._block(held, first_of, one)
            others, more = (rows, None) if one == other else self._block(held, first_of, other)
            i, j, agreeing = _core.agreeing_pairs(slots, more, least=self.least)
            found.append((rows[i], others[j], agreeing))
        a, b = (concatenate((part[side] for part in found), np.int64) for side in (0, 1))
        similarity = concatenate((part[2] for part in found), np.float64) / self.slots
        pairs = pa.record_batch({"a": pa.array(a), "b": pa.array(b), "similarity": pa.array(similarity)})
        if self.boundary is None:
            return pairs
        return pairs.filter(pa.array((a < self.boundary) & (b >= self.boundary)))

    def _block(self, held: Held, first_of: I64, place: int) -> tuple[I64, U32]:
        """The rows of the block that stands at a place, and their signatures."""
        piece = int(np.searchsorted(first_of, place, side="right")) - 1
        batch, line = held.batches[piece], place - int(first_of[piece])
        slots = batch["slots"][line].values.to_numpy().reshape(-1, self.slots)
        return batch["rows"][line].values.to_numpy(), slots
