"""What a join did, in numbers that add up."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from lookalike.joins.leaders import LeaderAccount
from lookalike.joins.left_out import LeftOut
from lookalike.theory import Plan, RecallEstimate
from lookalike.theory.added_bands import AddedBands, ExactLook, FinalBands
from lookalike.theory.choice import Choice
from lookalike.theory.first_filter import FirstFilter
from lookalike.theory.pyramid import PyramidPlan

#: How documents that hold a term were counted: each `exact`, or in counters that terms `shared`.
DocumentFrequencies = Literal["exact", "shared"]


@dataclass(frozen=True, kw_only=True)
class Account:
    """Counts of one join, its plan, and the recall it estimates it had.

    `plan` is that of bands (`lsh`) or of the pyramid; None for roads that miss nothing, whose recall is 1.
    `choice` says how `auto` came to the method. `expected_candidates` stands beside `candidates`: what was
    thought, and what came. `left_out` are common elements that the road was told to leave out; pairs may
    then be missing although it promises all. `median_similarity` is that of two rows picked at random, where
    a sample was drawn; `unspaced` counts texts written without spaces between words. `frequencies` says of
    documents as vectors of terms whether the documents of each term were counted by themselves. `added` are
    bands that were added to those of the plan to keep the promise, and `look` what comparing some rows with
    all others exactly showed, where next to nothing was found. `short_by` is how many more bands the promise
    would have needed, where a road could not add them. `first_filter` dropped `dropped_first` of the
    candidates by their signatures, before the data was looked at.
    """

    method: str
    measure: str = "jaccard"
    threshold: float
    plan: Plan | PyramidPlan | None
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
    choice: Choice | None = None
    left_out: LeftOut | None = None
    frequencies: DocumentFrequencies | None = None
    added: tuple[AddedBands, ...] = ()
    look: ExactLook | None = None
    short_by: int = 0
    first_filter: FirstFilter | None = None
    dropped_first: int = 0

    @property
    def final_bands(self) -> FinalBands | None:
        """The bands that the run ended with; None of roads without."""
        banding = self.plan.banding if isinstance(self.plan, Plan) else None
        return None if banding is None else FinalBands(banding=banding, added=self.added)

    @property
    def expected_candidates(self) -> float | None:
        """How many candidates were expected; None where nobody asked."""
        if isinstance(self.plan, Plan):
            return self.plan.expected_candidates
        return None if self.choice is None else self.choice.expected_candidates

    @property
    def promised(self) -> float | None:
        """The chance that a pair at the threshold is found; None for roads that miss nothing."""
        if isinstance(self.plan, Plan):
            return self.plan.recall
        return None if self.plan is None else self.plan.expected_recall

    def estimates(self) -> dict[str, Any]:
        """What run.json sets beside the counts."""
        return {
            "method": self.method,
            "candidates": self.expected_candidates,
            "recall": self.recall.to_dict(),
            "plan": None if self.plan is None else self.plan.to_dict(),
            "choice": None if self.choice is None else self.choice.to_dict(),
            **({} if self.left_out is None else {"left_out": asdict(self.left_out)}),
            **({} if self.frequencies is None else {"document_frequencies": self.frequencies}),
            **({} if not self.added else {"added_bands": [one.to_dict() for one in self.added]}),
            **({} if self.look is None else {"exact_look": self.look.to_dict()}),
            **({} if not self.short_by else {"bands_short": self.short_by}),
            **({} if self.first_filter is None else {"first_filter": self._first_filter()}),
        }

    def _first_filter(self) -> dict[str, Any]:
        assert self.first_filter is not None
        return {**self.first_filter.to_dict(), "dropped": self.dropped_first}

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        stored = self.estimates()
        return {**asdict(self), **{name: stored[name] for name in ("recall", "plan", "choice")}}
