"""Every row of bits with every other, a block of them with a block at a time: exact, by either measure.

n²/2 comparisons of 64 folded bits each, a tenth of a nanosecond or so; what those do not tell apart is
compared in full. Rows stand in the order of how many bits they have set, and blocks whose numbers differ too
much for any pair are left out: of molecules at a Tanimoto similarity of .8 that is half of all pairs or
more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.bitrows import BitItems, FoundBits, words_of
from lookalike.joins.blocked import CompareBlocks, Matrix, as_lines
from lookalike.runs.watch import Watch
from lookalike.types import U32

BitMeasure = Literal["hamming", "jaccard"]

#: Rows of a block at least: their folded bits stay in a core's own cache. And the most blocks there should
#: be, for the table of their pairs is made at the driver.
BLOCK_ROWS, MOST_BLOCKS = 1024, 1024
#: Pairs of blocks compared before what they gave is settled: of a million rows some seconds of work.
STRIP = 1 << 14


def compare_bit_blocks(
    items: BitItems, *, measure: BitMeasure, threshold: float, sizes: U32, engine: Engine, watch: Watch
) -> FoundBits:
    """All pairs that reach the threshold: that differ in at most so many bits, or are so similar at least.

    Parameters
    ----------
    sizes
        How many bits each row has set, by row number. Rows without a bit are no pairs by `jaccard`.
    """
    with watch.stage("blocks", items.rows):
        rows = items.table.column("row")
        order = rows[np.lexsort((rows, sizes[rows]))]
        per_block = max(BLOCK_ROWS, -(-len(rows) // MOST_BLOCKS))
        places = np.zeros(len(sizes), np.uint32)
        places[order] = np.arange(len(order), dtype=np.uint32)

        def cut() -> Table:
            placed = engine.map(items.table, Place(places, per_block))
            return engine.group(placed, "block", as_bit_blocks, order=("place",), most=per_block)

        blocks = engine.settle("blocks", cut)
        pairs = _pairs_of_blocks(sizes[order], per_block, measure, threshold)
    with watch.stage("compare", pairs.rows, unit="pairs of blocks") as advance:
        stage = CompareBits(items.boundary, measure, threshold)

        def compared(some: Table) -> Table:
            return engine.fetch(blocks, some, ("a", "b"), stage, advance=advance)

        a, b = pairs.column("a"), pairs.column("b")
        parts = [
            engine.settle(
                f"compared-{at}", partial(compared, Table.of(a=a[at : at + STRIP], b=b[at : at + STRIP]))
            )
            for at in range(0, max(1, pairs.rows), STRIP)
        ]
    return FoundBits.of(Table.together(parts), _pairs_within(pairs, len(rows), per_block))


def _pairs_of_blocks(sizes: U32, per_block: int, measure: str, threshold: float) -> Table:
    """Every block with itself and with every later one that is not too large for it."""
    starts = np.arange(0, len(sizes), per_block)
    largest = sizes[np.minimum(starts + per_block, len(sizes)) - 1].astype(np.float64)
    least = sizes[starts].astype(np.float64)
    one, other = np.triu_indices(len(starts))
    if measure == "hamming":
        near = least[other] - largest[one] <= threshold
    else:
        # |a| ≥ t·|b|, a little less for the sake of rounding.
        near = largest[one] >= threshold * least[other] - 1e-6
    return Table.of(a=one[near].astype(np.int64), b=other[near].astype(np.int64))


def _pairs_within(pairs: Table, rows: int, per_block: int) -> int:
    """Pairs of rows in pairs of blocks."""
    a, b = pairs.column("a"), pairs.column("b")
    last = (rows - 1) // per_block
    count = np.where(np.arange(last + 1) == last, rows - last * per_block, per_block) if rows else np.zeros(1)
    within = np.where(a == b, count[a] * (count[a] - 1) // 2, count[a] * count[b])
    return int(within.sum())


@dataclass(frozen=True, eq=False)
class Place:
    """A stage: rows → with their `place` in the order of sizes, and the `block` it is in."""

    places: U32
    per_block: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        place = self.places[batch["row"].to_numpy()]
        block = pa.array((place // self.per_block).astype(np.uint64))
        return pa.record_batch(
            {"block": block, "place": pa.array(place), "number": batch["row"], "bits": batch["bits"]}
        )


def as_bit_blocks(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A stage over whole blocks: a line a block."""
    return as_lines(batch["block"].to_numpy(), batch["number"].to_numpy(), words_of(batch))


@dataclass(frozen=True)
class CompareBits(CompareBlocks):
    """A stage for `fetch` from blocks: pairs of blocks → the pairs of their rows that reach the threshold."""

    measure: BitMeasure
    threshold: float

    def near(self, values: Matrix, others: Matrix | None) -> tuple[U32, U32, U32]:
        """Rows that reach the threshold, and in how many bits they differ."""
        return _core.bit_pairs(values, others, measure=self.measure, threshold=self.threshold)

    def column(self, counts: U32) -> dict[str, Matrix]:
        """The bits as they are."""
        return {"apart": counts}
