"""What a join did, in numbers that add up."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from lookalike.joins.leaders import LeaderAccount
from lookalike.theory import Plan, RecallEstimate


@dataclass(frozen=True, kw_only=True)
class Account:
    """Counts of one join, its plan, and the recall it estimates it had.

    `plan.expected_candidates` stands beside `candidates`: what was thought, and what came.
    `median_similarity` is that of two rows picked at random; `unspaced` counts texts written without spaces
    between words.
    """

    method: str
    plan: Plan
    items: int
    empty: int
    short: int
    unspaced: int
    copies: int
    representatives: int
    candidates: int
    pairs: int
    recall: RecallEstimate
    large: LeaderAccount = field(default_factory=LeaderAccount)
    median_similarity: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        plain = asdict(self)
        return {**plain, "plan": self.plan.to_dict(), "recall": self.recall.to_dict()}
