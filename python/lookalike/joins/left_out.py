"""What a join left out on request: elements that very many sets hold, and what that may have cost."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from lookalike.engines import Table

_LEFT_OUT = "left_out"


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Elements that more than `over` rows hold.

    Attributes
    ----------
    elements
        How many there were.
    rows
        How many rows hold one of them.
    at_risk
        How many rows hold so many of them that they could reach the threshold with another row by these
        alone. A pair is missing only if both of its rows are such; so with fewer than two, none is.
    """

    over: int
    elements: int
    rows: int
    at_risk: int

    @property
    def misses(self) -> bool:
        """Whether a pair may be missing."""
        return self.at_risk > 1

    def beside(self, table: Table) -> Table:
        """A table with this noted in its schema."""
        noted = {**(table.schema.metadata or {}), _LEFT_OUT.encode(): json.dumps(asdict(self)).encode()}
        return Table(table.batches, table.schema.with_metadata(noted))

    @classmethod
    def of_table(cls, table: Table) -> LeftOut | None:
        """What `beside` noted; None if nothing was left out."""
        noted = (table.schema.metadata or {}).get(_LEFT_OUT.encode())
        return None if noted is None else cls(**json.loads(noted))
