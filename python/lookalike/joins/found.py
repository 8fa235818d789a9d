"""What every road to verified pairs hands back, by row numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from lookalike.engines import Table
from lookalike.theory import RecallEstimate
from lookalike.types import F64, I64

_ACCOUNT = "account"


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """Pairs at or over a threshold, sorted by `a`, then `b`, each once.

    `a` < `b`, but for a directed measure, where the pair (a, b) answers for a in b. `candidates` says how
    many pairs were looked at to find them, and `recall` how much there was to find: None of roads that miss
    nothing.
    """

    a: I64
    b: I64
    similarity: F64
    candidates: int
    recall: RecallEstimate | None = None

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

    def to_table(self) -> Table:
        """As a table to settle."""
        columns = {"a": self.a, "b": self.b, "similarity": self.similarity}
        account = {"candidates": self.candidates, "recall": self.recall and self.recall.to_dict()}
        batch = pa.record_batch({name: pa.array(column) for name, column in columns.items()})
        batch = batch.replace_schema_metadata({_ACCOUNT: json.dumps(account)})
        return Table((batch,), batch.schema)

    @staticmethod
    def from_table(table: Table) -> Found:
        """Read back what `to_table` made."""
        account = json.loads(table.schema.metadata[_ACCOUNT.encode()])
        recall = account["recall"] and RecallEstimate(**account["recall"])
        return Found.of(table, account["candidates"], recall=recall)
