"""Signatures of the rows that have something to sign, and when two of them agree enough."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lookalike.engines import Engine, Table
from lookalike.families import MinHash
from lookalike.joins.flags import EMPTY
from lookalike.joins.items import Items
from lookalike.runs.watch import Watch
from lookalike.theory.ranges import checked_threshold


def signatures(items: Items, family: MinHash, *, engine: Engine, watch: Watch) -> Table:
    """Signed rows, without the empty ones: those match nothing. 4 bytes a slot a row."""

    def signed() -> Table:
        return engine.map(engine.map(items.table, items.sign(family), advance=advance), _filled)

    with watch.stage("sign", items.rows, size=items.bytes) as advance:
        return engine.settle("signed", signed)


def _filled(batch: pa.RecordBatch) -> pa.RecordBatch:
    filled = (batch["flags"].to_numpy() & EMPTY) == 0
    return batch if filled.all() else batch.filter(pa.array(filled))


def least_agreeing(threshold: float, slots: int) -> int:
    """In how many slots two signatures must agree for their similarity, agreeing / slots, to reach it."""
    shares = np.arange(slots + 1, dtype=np.float64) / slots
    # The first that reaches it as floats compare, so that a share equal to the threshold is never turned
    # away.
    return int(np.argmax(shares >= checked_threshold(threshold)))
