"""What a join does before it looks for candidates: sign, set exact copies aside, plan.

A dry run stops here: it has seen every row and knows the banding and what it is expected to cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.engines import Engine, Table
from lookalike.families import MinHash
from lookalike.joins.copies import representatives
from lookalike.joins.flags import EMPTY, SHORT, UNSPACED
from lookalike.joins.items import Items
from lookalike.joins.sample import agreement_counts
from lookalike.runs.watch import Watch
from lookalike.theory import Plan, SimilaritySample, plan
from lookalike.types import I64, U8, Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """Rows ready for the bands.

    Attributes
    ----------
    signed
        Signatures of all rows.
    marked
        The representatives: rows that are neither empty nor exact copies of others. Only these go on.
    representative
        Of every row: itself, or the row it is an exact copy of.
    flags
        What was odd about each row, as bits.
    plan
        The banding, and what it promises and costs.
    median_similarity
        Of two rows picked at random; None if there are not two.
    """

    signed: Table
    marked: Bools
    representative: I64
    flags: U8
    plan: Plan
    median_similarity: float | None

    @property
    def representatives(self) -> int:
        """How many rows go on."""
        return int(np.count_nonzero(self.marked))

    @property
    def empty(self) -> int:
        """Rows without a single shingle."""
        return self._flagged(EMPTY)

    @property
    def short(self) -> int:
        """Rows shorter than a shingle."""
        return self._flagged(SHORT)

    @property
    def unspaced(self) -> int:
        """Texts written without spaces between words."""
        return self._flagged(UNSPACED)

    @property
    def copies(self) -> int:
        """Rows that are exact copies of their representative."""
        return int(np.count_nonzero(self.representative != np.arange(len(self.representative))))

    def _flagged(self, flag: int) -> int:
        return int(np.count_nonzero(self.flags & flag))


def prepare(
    items: Items, *, threshold: float, recall: float, family: MinHash, engine: Engine, watch: Watch
) -> Prepared:
    """Sign every row, find exact copies, and choose the banding from a sample of the rest."""
    # Said before any work is done: an unreachable promise is not worth a pass over the data.
    plan(threshold, recall=recall, slots=family.slots)
    with watch.stage("sign", items.rows, size=items.bytes) as advance:
        signed = engine.map(items.table, items.sign(family), advance=advance)
    flags = np.zeros(items.rows, np.uint8)
    flags[signed.column("row")] = signed.column("flags")
    filled = (flags & EMPTY) == 0
    with watch.stage("copies", items.rows):
        representative = representatives(engine, items, signed, filled)
    marked = filled & (representative == np.arange(items.rows))
    with watch.stage("plan"):
        counts = agreement_counts(engine, signed, family.slots, marked)
        sides = items.sides(representative)
        first, second = (int(marked.sum()), None) if sides is None else (int(side.sum()) for side in sides)
        sample = SimilaritySample(
            counts=counts,
            items=first,
            other_items=second,
            bytes_per_item=items.bytes / max(1, items.rows),
        )
        half = np.searchsorted(np.cumsum(counts), sample.pairs / 2)
        chosen = plan(threshold, recall=recall, slots=family.slots, similarities=sample)
    return Prepared(
        signed=signed,
        marked=marked,
        representative=representative,
        flags=flags,
        plan=chosen,
        median_similarity=float(half) / family.slots if sample.pairs else None,
    )
