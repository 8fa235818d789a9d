"""A dry run of what is compared by weights or measurements: everything is read and the road is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from lookalike.applications.documents.summary import road_lines
from lookalike.runs import Stage
from lookalike.theory import Choice, Plan


@dataclass(frozen=True, kw_only=True)
class RoadRehearsal:
    """Which road a run would take, and what that would cost.

    `counts` are what was read, under the names that a run uses. `plan` is that of the bands, where they are
    the road. Seconds are those on `threads` threads by committed costs, which know nothing of the machine.
    """

    advice: ClassVar[Sequence[str]] = ()

    parameters: Mapping[str, Any]
    counts: Mapping[str, Any]
    choice: Choice
    plan: Plan | None = None
    threads: int
    stages: Sequence[Stage]

    @property
    def expected_candidates(self) -> float | None:
        """How many pairs would be looked at; None for a road that was asked for and nobody estimates."""
        return self.choice.expected_candidates if self.plan is None else self.plan.expected_candidates

    @property
    def expected_seconds(self) -> float | None:
        """Seconds of the road; None where it was asked for, and nobody estimates it."""
        road = self.choice.roads.get(self.choice.method)
        return None if road is None else road.seconds / self.threads

    def summary(self) -> str:
        """A few lines for a person."""
        expected = self.expected_candidates, self.expected_seconds
        return "\n".join(road_lines(self.counts, self.choice, self.plan, expected, self.stages))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "job": "dry-run",
            "parameters": dict(self.parameters),
            "counts": dict(self.counts),
            "choice": self.choice.to_dict(),
            "plan": None if self.plan is None else self.plan.to_dict(),
            "expected_candidates": self.expected_candidates,
            "expected_seconds": self.expected_seconds,
            "stages": [asdict(stage) for stage in self.stages],
        }
