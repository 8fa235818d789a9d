"""Vectors to join: one collection or two, as a table an engine can hold."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike import _core
from lookalike.engines import Table
from lookalike.families import L1, Euclidean, Hyperplane
from lookalike.measures.vectors import Nearness
from lookalike.theory import Plan
from lookalike.theory.collisions import CauchyCollision, GaussianCollision


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorItems:
    """Rows to join.

    Parameters
    ----------
    table
        `row` (numbers 0, 1, … in id order, each once) and `vector`, lists of one size of floats.
    dimensions
        Coordinates of a vector.
    nearness
        What they are compared by, and how near a pair has to be.
    seed
        Of the hashes.
    boundary
        Rows from here on are of a second collection, and only pairs across count; None for one collection.
    most_from_copies
        More pairs of copies than these are an error; None if there may be any number.
    """

    table: Table
    dimensions: int
    nearness: Nearness
    seed: int = 0
    boundary: int | None = None
    most_from_copies: int | None = None

    @property
    def rows(self) -> int:
        """How many vectors there are."""
        return self.table.rows

    def drawn(self, plan: Plan, first: int = 0, last: int | None = None) -> _core.Projections:
        """The kernel's form of the functions of a plan's bands, from band `first` to before `last`."""
        rows, law = plan.banding.rows, plan.collision
        slots = rows * ((plan.banding.bands if last is None else last) - first)
        family: Hyperplane | Euclidean | L1
        if isinstance(law, GaussianCollision):
            family = Euclidean(width=law.width, slots=slots, seed=self.seed)
        elif isinstance(law, CauchyCollision):
            family = L1(width=law.width, slots=slots, seed=self.seed)
        else:
            family = Hyperplane(slots=slots, seed=self.seed, signs=law.family == "signs")
        return family.drawn(self.dimensions, first=first * rows)
