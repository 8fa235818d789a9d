"""What every road to verified pairs hands back, by row numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from lookalike.engines import Table
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

    @classmethod
    def of(cls, pairs: Table, candidates: int, **more: Any) -> Self:
        """What a table of distinct pairs (`a`, `b`, `similarity`) holds, brought to the driver and sorted."""
        a, b = pairs.column("a").astype(np.int64), pairs.column("b").astype(np.int64)
        order = np.lexsort((b, a))
        similarity = pairs.column("similarity")[order]
        return cls(a=a[order], b=b[order], similarity=similarity, candidates=candidates, **more)

    def and_also(self, other: Found) -> Self:
        """With the pairs of another walk, none of which is among these."""
        a, b = np.concatenate([self.a, other.a]), np.concatenate([self.b, other.b])
        order = np.lexsort((b, a))
        similarity = np.concatenate([self.similarity, other.similarity])[order]
        candidates = self.candidates + other.candidates
        return replace(self, a=a[order], b=b[order], similarity=similarity, candidates=candidates)
