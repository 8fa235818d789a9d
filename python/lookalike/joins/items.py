"""What is joined: one collection or two, of texts or of sets, as a table an engine can hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.engines import Table
from lookalike.engines.verbs import Stage
from lookalike.families import MinHash
from lookalike.joins.sign import SignSets, SignTexts
from lookalike.measures.candidates import Exact
from lookalike.shingles import Shingle
from lookalike.types import I64, Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """Rows to join.

    Parameters
    ----------
    table
        `row` (numbers 0, 1, … in id order, each once) and `text`, or `elements` of sets and, if these were
        made of texts, their `flags`.
    bytes
        How many bytes the items hold; what checks are expected to cost depends on it.
    shingle
        How texts become sets; None if the items are sets.
    seed
        Of the hashes.
    boundary
        Rows from here on are of a second collection, and only pairs across count; None for one collection.
    """

    table: Table
    bytes: int
    shingle: Shingle | None
    seed: int = 0
    boundary: int | None = None

    @property
    def rows(self) -> int:
        """How many items there are."""
        return self.table.rows

    def sides(self, representative: I64) -> tuple[Bools, Bools] | None:
        """Of two collections: which representatives stand for rows of the first, which for the second."""
        if self.boundary is None:
            return None
        first, second = np.zeros((2, self.rows), np.bool_)
        first[representative[: self.boundary]] = True
        second[representative[self.boundary :]] = True
        return first, second

    def sign(self, family: MinHash) -> Stage:
        """The stage that signs these items."""
        return SignSets(family) if self.shingle is None else SignTexts(family, self.shingle)

    def exact(self, *, at_least: float) -> Exact:
        """The stage that checks candidates among these items."""
        return Exact(None if self.shingle is None else self.shingle.shingler(self.seed), at_least)
