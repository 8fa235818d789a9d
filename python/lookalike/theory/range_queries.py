"""Range queries: if a point lies within r, return some point within c·r.

A table is an AND of k functions, so that among n points about one far point lands in the query's bucket by
chance; L tables make up for the near ones that an AND loses. Looking stops after 2L points. A near point
shares a bucket with the query with probability 1 − 1/e or more, and with probability 1/2 or more the stop
does not come too early (there are L far points to be expected in all), so one structure answers with
probability 1/2 − 1/e at least. Several structures, drawn independently, keep any promise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.errors import OptionError
from lookalike.theory.amplification import Amplification
from lookalike.theory.ranges import checked_recall
from lookalike.wording import several

STRUCTURE_RECALL = 0.5 - 1 / math.e
"""What one structure that stops after 2L checks promises, whatever the data."""


@dataclass(frozen=True, kw_only=True)
class RangeQuery:
    """How many tables of how many functions a range query takes.

    Parameters
    ----------
    items
        Points to be searched.
    near
        The chance P₁ that one function agrees on two points at distance r.
    far
        The chance P₂ that it agrees on two points at distance c·r.

    Examples
    --------
    >>> query = RangeQuery(items=1_000_000, near=2 / 3, far=1 / 3)
    >>> query.rows, query.tables, round(query.rho, 3)
    (13, 246, 0.369)
    >>> query.structures(recall=0.95)
    22
    """

    items: int
    near: float
    far: float

    def __post_init__(self) -> None:
        if isinstance(self.items, bool) or not isinstance(self.items, int | np.integer) or self.items < 1:
            raise OptionError(f"items={self.items!r} is out of range: a whole number, 1 or more")
        object.__setattr__(self, "items", int(self.items))
        if not 0 < self.near <= 1 or not 0 <= self.far < 1 or not self.far < self.near:
            raise OptionError(
                f"near={self.near:g}, far={self.far:g} cannot tell near points from far ones:"
                " near points must agree with a probability over that of far ones"
            )

    @property
    def rows(self) -> int:
        """k: functions a table, ⌈ln n / ln(1/P₂)⌉. At most one of n far points is expected in a bucket."""
        if self.far == 0:
            return 1
        return max(1, up(math.log(self.items) / -math.log(self.far)))

    @property
    def rho(self) -> float:
        """ρ: the power of n that a query costs, ln(1/P₁) / ln(1/P₂)."""
        return 0.0 if self.far == 0 else math.log(self.near) / math.log(self.far) + 0.0

    @property
    def tables(self) -> int:
        """L: ⌈n^ρ / P₁⌉."""
        return up(self.items**self.rho / self.near)

    @property
    def most_checks(self) -> int:
        """2L: how many points of the query's buckets are looked at before giving up."""
        return 2 * self.tables

    @property
    def meets(self) -> float:
        """The chance that a point at distance r shares a bucket with the query; 1 − 1/e or more."""
        return Amplification().and_(self.rows).or_(self.tables).probability(self.near)

    @property
    def structure_recall(self) -> float:
        """What one structure promises with its stop: the chance to meet, less 1/2; over 1/2 − 1/e.

        By Markov's inequality at least half of all structures have at most 2L far points in the buckets.
        """
        return self.meets - 0.5

    def structures(self, recall: float) -> int:
        """How many independent structures find a point with probability `recall`, by the bound 1/2 − 1/e."""
        recall = checked_recall(recall, exact="similar_pairs with method='exact'")
        return max(1, up(math.log1p(-recall) / math.log1p(-STRUCTURE_RECALL)))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, what follows from the parameters included."""
        return {
            "items": self.items,
            "near": self.near,
            "far": self.far,
            "rows": self.rows,
            "tables": self.tables,
            "rho": self.rho,
            "most_checks": self.most_checks,
            "meets": self.meets,
            "structure_recall": self.structure_recall,
        }

    def __str__(self) -> str:
        return (
            f"{_several(self.tables, 'table')} of {_several(self.rows, 'function')}"
            f" for {_several(self.items, 'point')} (ρ = {self.rho:.3f});"
            f" stop after {several(self.most_checks, 'check')}"
        )


def _several(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def up(number: float) -> int:
    """The next whole number, unless one lies within rounding: logarithms differ in their last bit."""
    return math.ceil(number * (1 - 1e-12))
