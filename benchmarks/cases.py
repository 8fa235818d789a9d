"""Reads cases.toml: what is raced, by whom, and what a right answer is."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

_FILE = Path(__file__).with_name("cases.toml")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A corpus, a job, what the answer must be, and who takes part.

    Attributes
    ----------
    truth : where the right answer comes from; "planted" is brute force over the planted families
    recall_at_least : the promise: recall at the threshold, and over all true pairs
    precision_at_least : share of reported pairs that must be true
    held_to : contestants that are held to these two; of the others they are only measured
    others_recall_at_least : under this a contestant is not doing the job, or we are misusing it
    times_faster : the goal: how many times as long as lookalike each peer takes, at the full size
    memory_at_most : the goal: lookalike's peak memory over the size of the text
    """

    name: str
    truth: str
    documents: int
    contestants: tuple[str, ...]
    seed: int = 1
    mean_bytes: int = 2_700
    copies: float = 0.2
    threshold: float = 0.8
    recall_at_least: float = 0.95
    precision_at_least: float = 1.0
    held_to: tuple[str, ...] = ("lookalike",)
    others_recall_at_least: float = 0.5
    times_faster: dict[str, float] = field(default_factory=dict)
    memory_at_most: float = 3.0

    def __post_init__(self) -> None:
        if self.truth != "planted":
            raise ValueError(f"case {self.name}: truth {self.truth!r} is unknown, the only one is 'planted'")
        object.__setattr__(self, "contestants", tuple(self.contestants))
        object.__setattr__(self, "held_to", tuple(self.held_to))


def read(file: Path = _FILE) -> dict[str, Case]:
    """Return the cases by name, in the order of the file."""
    cases = [Case(**entry) for entry in tomllib.loads(file.read_text())["case"]]
    return {case.name: case for case in cases}
