"""Range queries that look into several buckets of a table: fewer tables keep the same promise.

As in `range_queries` a table is an AND of k functions, so that among n points at most one far point is
expected where a query looks, looking stops after 2L points, and one structure answers with probability
1/2 − 1/e at least. A query looks into T buckets of a table, so k is greater; and L is one over the chance
that a near point is in one of them. Both chances are exact (`multiprobe`). Farther points are in them less
often: a list that names a set names every part of it, and a farther point is across more hyperplanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from lookalike.theory.banding import Banding
from lookalike.theory.collisions import Collision
from lookalike.theory.multiprobe import checked_probes, found, most_probes
from lookalike.theory.range_queries import RangeQuery, up
from lookalike.wording import several


@dataclass(frozen=True, kw_only=True)
class ProbedQuery(RangeQuery):
    """How many tables a range query takes that looks into `probes` buckets of each; made by `of`.

    Examples
    --------
    >>> from lookalike.theory.collisions import HyperplaneCollision
    >>> law = HyperplaneCollision()
    >>> for probes in (1, 8, 32):
    ...     query = ProbedQuery.of(100_000, law, radius=15, factor=3, probes=probes)
    ...     print(probes, query.rows, query.tables)
    1 41 36
    8 47 13
    32 51 8
    """

    collision: Collision
    radius: float
    reach: float
    probes: int

    @classmethod
    def of(cls, items: int, collision: Collision, *, radius: float, factor: float, probes: int) -> Self:
        """Of points by a family's distance: r is `radius`, and c is `factor`."""
        return cls(
            items=items,
            near=collision.probability(radius),
            far=collision.probability(factor * radius),
            collision=collision,
            radius=radius,
            reach=factor * radius,
            probes=checked_probes(probes),
        )

    @property
    def rows(self) -> int:
        """k: the fewest functions a table with which at most one of n far points is expected in T buckets."""
        return _fewest_rows(super().rows, self.items, self.collision, self.reach, self.probes)

    @property
    def found(self) -> float:
        """The chance that a point at distance r is in one of a table's buckets that a query looks into."""
        return float(found(self.collision, self.radius, rows=self.rows, probes=self.probes))

    @property
    def tables(self) -> int:
        """L: one over that chance."""
        return up(1 / self.found)

    @property
    def meets(self) -> float:
        """The chance that a query looks into a bucket of a point at distance r; 1 − 1/e or more."""
        return Banding(bands=self.tables, rows=1).probability(self.found)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {**super().to_dict(), "probes": self.probes}

    def __str__(self) -> str:
        return f"{super().__str__()}; {several(self.probes, 'bucket')} of a table"


@lru_cache(maxsize=64)
def _fewest_rows(plain: int, items: int, collision: Collision, reach: float, probes: int) -> int:
    """As many as there are without probes, or more."""
    rows = plain
    while most_probes(collision, rows) < probes:
        rows += 1
    while items * float(found(collision, reach, rows=rows, probes=probes)) > 1 + 1e-9:
        rows += 1
    return rows
