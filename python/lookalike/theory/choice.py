"""Which of two roads is expected to cost less, and why, in a sentence.

The estimates are seconds of one core by the constants of `theory.costs`, and what they are made of comes from
the data: the machine has no say, so the same data takes the same road everywhere.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RoadEstimate:
    """What a road is expected to cost."""

    seconds: float
    """Of one core, to find the pairs; reading and writing cost every road the same."""

    candidates: float | None
    """Pairs it is expected to look at; None if that was not worth finding out."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The road that `auto` took, and what it thought of each.

    Attributes
    ----------
    method
        The road.
    why
        A sentence.
    roads
        The estimate of each road that was thought of; none if there was nothing to choose.
    """

    method: str
    why: str
    roads: dict[str, RoadEstimate]

    @property
    def expected_candidates(self) -> float | None:
        """Of the road taken."""
        return self.roads[self.method].candidates if self.method in self.roads else None

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)
