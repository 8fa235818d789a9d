"""What every road hands to applications: pairs of representatives, copies, and an account."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lookalike.engines import Table
from lookalike.errors import InternalError
from lookalike.joins.account import Account
from lookalike.joins.pair_tables import OfPairs
from lookalike.types import F64, I64, U8, U32

#: Pairs this little under the threshold are kept for the report, to show what was turned away.
MARGIN = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class Joined(OfPairs):
    """What a join found, by row numbers.

    `near` are the near pairs between representatives, as `joins/pair_tables.py` has them, sorted; every other
    row is an exact copy of its `representative`.
    """

    near: Table
    representative: I64 | U32
    flags: U8
    account: Account
    #: The similarity of any rows, as this join measures it.
    compare: Callable[[I64, I64], F64]
    #: The similarity of every row to its exact copies; None where that is 1.
    own: F64 | None = None
    #: Whether a pair (a, b) answers for a in b alone: within one collection a may then be the greater row.
    directed: bool = False
    #: Looks for pairs that fall short of the threshold by less than `MARGIN`, so many if there are; None
    #: where nobody would want them.
    under: Callable[[int], tuple[I64, I64, F64]] | None = None
    #: Bucket keys of the rows, by the banding of the account's plan; None where nobody made or kept them.
    keyed: Table | None = None

    def compared(self) -> Joined:
        """The same once everything is compared: what that was done with is let go of."""
        return replace(self, compare=_too_late)


def _too_late(a: I64, b: I64) -> F64:
    raise InternalError(f"{len(a)} and {len(b)} rows were to be compared after the end: please report it")
