"""Range queries that look into several buckets of a table: fewer tables keep the same promise.

As in `range_queries` a table is an AND of k functions, so that among n points about one far point is expected
where a query looks, looking stops after 2L points, and one structure answers with probability 1/2 − 1/e at
least. A query looks into T buckets of a table. None of them is likelier to hold a far point than its own, so
k grows by ln T / ln(1/P₂); and L is one over the chance that a near point is in one of them, which is exact
(`multiprobe`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from lookalike.errors import OptionError
from lookalike.theory.banding import Banding
from lookalike.theory.collisions import Collision, HyperplaneCollision
from lookalike.theory.multiprobe import checked_probes, found, most_probes
from lookalike.theory.range_queries import RangeQuery, up


@dataclass(frozen=True, kw_only=True)
class ProbedQuery(RangeQuery):
    """How many tables a range query takes that looks into `probes` buckets of each; made by `of`.

    Examples
    --------
    >>> law = HyperplaneCollision()
    >>> for probes in (1, 8, 32):
    ...     query = ProbedQuery.of(100_000, law, radius=15, factor=3, probes=probes)
    ...     print(probes, query.rows, query.tables)
    1 41 36
    8 48 13
    32 53 9
    """

    collision: Collision
    radius: float
    probes: int

    @classmethod
    def of(cls, items: int, collision: Collision, *, radius: float, factor: float, probes: int) -> Self:
        """Of points by a family's distance: r is `radius`, and c is `factor`."""
        probes = checked_probes(probes)
        if probes > 1 and isinstance(collision, HyperplaneCollision) and factor * radius > 90:
            raise OptionError(
                f"probes={probes} look across the nearest hyperplanes, where points over 90° away rather are:"
                f" use probes=1, or a factor of at most {90 / radius:g}"
            )
        query = cls(
            items=items,
            near=collision.probability(radius),
            far=collision.probability(factor * radius),
            collision=collision,
            radius=radius,
            probes=probes,
        )
        most = most_probes(collision, query.rows)
        if probes > most:
            raise OptionError(
                f"probes={probes} is out of range: a table of {query.rows} functions has {most} buckets to"
                " look into"
            )
        return query

    @property
    def rows(self) -> int:
        """k: functions a table, ⌈ln nT / ln(1/P₂)⌉. Of n far points one at most is expected where it looks."""
        return max(1, up(math.log(self.items * self.probes) / -math.log(self.far)))

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
        return f"{super().__str__()}; {self.probes:,} buckets of a table"
