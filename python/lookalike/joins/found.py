"""What every road to verified pairs hands back, by row numbers."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.types import F64, I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """Pairs at or over a threshold, sorted by `a`, then `b`, each once.

    `a` < `b`, but for a directed measure, where the pair (a, b) answers for a in b. `candidates` says how
    many pairs were looked at to find them.
    """

    a: I64
    b: I64
    similarity: F64
    candidates: int
