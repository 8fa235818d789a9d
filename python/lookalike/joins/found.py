"""What every road to verified pairs hands back, by row numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Self

from lookalike.engines import Engine, Table
from lookalike.joins.pair_tables import OfPairs, sorted_pairs
from lookalike.theory import RecallEstimate

_ACCOUNT = "account"


@dataclass(frozen=True, kw_only=True, eq=False)
class Found(OfPairs):
    """Pairs at or over a threshold, sorted by `a`, then `b`, each once; they stay with the engine.

    `a` < `b`, but for a directed measure, where the pair (a, b) answers for a in b. `candidates` says how
    many pairs were looked at to find them, and `recall` how much there was to find: None of roads that miss
    nothing.
    """

    near: Table
    candidates: int
    recall: RecallEstimate | None = None

    def __len__(self) -> int:
        return self.near.rows

    @classmethod
    def of(cls, engine: Engine, pairs: Table, candidates: int, **more: Any) -> Self:
        """Distinct pairs (`a`, `b`, `similarity`) in any order."""
        return cls(near=sorted_pairs(engine, pairs), candidates=candidates, **more)

    def and_also(self, other: Found, engine: Engine) -> Self:
        """With the pairs of another walk, none of which is among these."""
        near = engine.sort(Table.together([self.near, other.near]), ("pair",))
        return replace(self, near=near, candidates=self.candidates + other.candidates)

    def to_table(self) -> Table:
        """As a table to settle."""
        account = {"candidates": self.candidates, "recall": self.recall and self.recall.to_dict()}
        noted = self.near.schema.with_metadata({_ACCOUNT: json.dumps(account)})
        return Table(self.near.batches, noted)

    @staticmethod
    def from_table(table: Table) -> Found:
        """Read back what `to_table` made."""
        account = json.loads(table.schema.metadata[_ACCOUNT.encode()])
        recall = account["recall"] and RecallEstimate(**account["recall"])
        near = Table(table.batches, table.schema.remove_metadata())
        return Found(near=near, candidates=account["candidates"], recall=recall)
