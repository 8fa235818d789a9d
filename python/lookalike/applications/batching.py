"""How large the batches are in which a collection is read."""

from __future__ import annotations

from lookalike.engines import Engine

#: Small enough that all threads have work, large enough that a call costs nothing.
BATCH_BYTES = 4 << 20
#: Batches that are in hand where rows are read: decoded, read ahead, and at work.
_IN_HAND = 8


def batch_bytes_of(engine: Engine) -> int:
    """How many bytes a batch that is read should hold: fewer than `BATCH_BYTES` where memory is scarce."""
    return min(BATCH_BYTES, max(1 << 16, engine.stage_bytes // _IN_HAND))
