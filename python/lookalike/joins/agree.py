"""Signature agreement: all pairs whose signatures agree in at least a fraction of their slots.

Nothing is left to chance: the answer is exactly that of comparing all signatures with all. Two ways lead
there, and the signatures of a sample say which is the shorter.

pieces   Signatures that agree in c of k slots differ in k − c at most. Cut into one piece more than that, two
         of them are the same in a whole piece, so only rows that share one need be compared. Unlike the bands
         of `lsh`, which are fewer and longer, these lose nothing.
blocks   Every signature with every other: n²/2 comparisons (`blocks`). For small collections, low
         thresholds, and collections in which most rows are alike.

Memory: the engine's, for the signatures (twice for blocks), 12 bytes a row and piece of some pieces at a time
12 a candidate and 16 a pair found; at the driver 8 bytes a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.families import MinHash
from lookalike.joins.blocks import compare_blocks
from lookalike.joins.found import Found
from lookalike.joins.items import Items
from lookalike.joins.meetings import count_meetings, meetings, unpacked
from lookalike.joins.sample import draw
from lookalike.joins.signatures import least_agreeing, signatures
from lookalike.measures.candidates import Agreement, slot_matrix
from lookalike.runs.watch import Watch
from lookalike.theory import Banding

Way = Literal["pieces", "blocks"]

#: What a key, a meeting with its check, and a comparison cost, in nanoseconds of one core. Only their ratios
#: change the way, and none changes the answer.
KEY_NS, MEETING_NS, COMPARISON_NS = 60.0, 150.0, 6.0


def agree(
    items: Items,
    *,
    family: MinHash,
    threshold: float,
    engine: Engine,
    watch: Watch,
    way: Way | None = None,
) -> Found:
    """Find all pairs whose signatures agree in at least a fraction `threshold` of their slots.

    `way` is chosen from a sample of the signatures if it is None; the answer is the same.
    """
    least = least_agreeing(threshold, family.slots)
    signed = signatures(items, family, engine=engine, watch=watch)
    pieces = pieces_not_all_different(family.slots, least)
    if way is None:
        way = _shorter_way(items, signed, pieces, family, engine)
    if way == "blocks":
        return compare_blocks(
            signed, slots=family.slots, least=least, boundary=items.boundary, engine=engine, watch=watch
        )

    def met() -> Table:
        pairs = _sharing_a_piece(signed, pieces, items.boundary, engine)
        # Two keys in 2⁶⁴ may be equal by chance: room for a pair that met once more than there are pieces.
        return engine.map(count_meetings(engine, pairs, most=2 * pieces.bands), unpacked)

    with watch.stage("candidates", signed.rows):
        candidates = engine.settle("candidates", met)
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        check = Agreement(threshold)
        pairs = engine.fetch(signed, candidates, ("a", "b"), check, advance=advance)
    return Found.of(engine, pairs, candidates.rows)


def pieces_not_all_different(slots: int, least: int) -> Banding:
    """So many pieces that signatures which agree in `least` slots are the same in one of them at least.

    Examples
    --------
    >>> pieces_not_all_different(128, 103)
    Banding(bands=26, rows=4)
    """
    pieces = slots - least + 1
    return Banding(bands=pieces, rows=slots // pieces)


def _sharing_a_piece(signed: Table, pieces: Banding, boundary: int | None, engine: Engine) -> Iterator[Table]:
    """Rows that are the same in a piece, some pieces at a time."""
    at_once = max(1, engine.group_rows // max(1, signed.rows))
    for first in range(0, pieces.bands, at_once):
        keys = engine.map(signed, PieceKeys(pieces, first, min(first + at_once, pieces.bands)))
        yield from meetings(engine, keys, "bucket", boundary=boundary)


@dataclass(frozen=True)
class PieceKeys:
    """A stage: signed rows → a row for each of some pieces (`bucket`, `row`)."""

    pieces: Banding
    first: int
    last: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = _core.band_keys(
            slot_matrix((batch,)), bands=self.last - self.first, rows=self.pieces.rows, first=self.first
        )
        row = batch["row"].to_numpy().astype(np.uint32)
        return pa.record_batch(
            {"bucket": pa.array(keys.reshape(-1)), "row": pa.array(np.tile(row, len(keys)))}
        )


def _shorter_way(items: Items, signed: Table, pieces: Banding, family: MinHash, engine: Engine) -> Way:
    """Whether two rows of a sample meet in a piece so seldom that looking for meetings pays."""
    counts = np.array(draw(engine, items, family).counts, np.float64)
    shares = np.arange(family.slots + 1) / family.slots
    meetings_of_two = pieces.bands * float(counts @ shares**pieces.rows) / max(1.0, float(counts.sum()))
    pairs = signed.rows * (signed.rows - 1) / 2
    by_pieces = signed.rows * pieces.bands * KEY_NS + pairs * meetings_of_two * MEETING_NS
    return "pieces" if by_pieces < pairs * COMPARISON_NS else "blocks"
