"""Vectors to join: one collection or two, as a table an engine can hold."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.engines import Table
from lookalike.measures.vectors import Nearness


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
    """

    table: Table
    dimensions: int
    nearness: Nearness
    seed: int = 0
    boundary: int | None = None

    @property
    def rows(self) -> int:
        """How many vectors there are."""
        return self.table.rows
