"""Every signature with every other, a block of them with a block at a time.

n²/2 comparisons of a few nanoseconds each. Pairs of blocks are gone through a strip at a time, each of them
settled; within a strip by tiles, so that what has been brought into memory meets all that is there.

Memory: the engine's, for the signatures twice, several blocks at a time and 16 bytes a pair found; at the
driver 8 bytes a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.blocked import CompareBlocks, Matrix, as_lines
from lookalike.joins.found import Found
from lookalike.measures.candidates import slot_matrix
from lookalike.runs.watch import Watch
from lookalike.types import I64, U32

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
    compare = Compare(boundary, slots, least)
    with watch.stage("compare", len(numbers) * (len(numbers) + 1) // 2, unit="pairs of blocks") as advance:

        def compared(pairs: Table) -> Table:
            return engine.fetch(blocks, pairs, ("a", "b"), compare, advance=advance)

        found = [
            engine.settle(f"compared-{at + 1}-by-{per_block}", partial(compared, pairs))
            for at, pairs in enumerate(_strips(numbers, per_block, boundary))
        ]
    first = 0 if boundary is None else int(np.count_nonzero(rows < boundary))
    within, across = len(rows) * (len(rows) - 1) // 2, first * (len(rows) - first)
    return Found.of(engine, Table.together(found), within if boundary is None else across)


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
    """A stage over whole blocks: a line a block."""
    return as_lines(batch["block"].to_numpy(), batch["row"].to_numpy(), slot_matrix((batch,)))


@dataclass(frozen=True)
class Compare(CompareBlocks):
    """A stage for `fetch` from blocks: pairs of blocks → the pairs of their rows that agree enough."""

    slots: int
    least: int

    def near(self, values: Matrix, others: Matrix | None) -> tuple[U32, U32, U32]:
        """Signatures that agree in enough slots, and in how many."""
        return _core.agreeing_pairs(values, others, least=self.least)

    def column(self, counts: U32) -> dict[str, Matrix]:
        """Their share of all slots."""
        return {"similarity": counts.astype(np.float64) / self.slots}
