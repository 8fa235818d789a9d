"""MinHash for sets and bags: two items agree in a slot with probability equal to their Jaccard similarity."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

import pyarrow as pa

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.errors import OptionError
from lookalike.families.family import Family
from lookalike.keywords import suggesting
from lookalike.measures.sets import as_sets
from lookalike.theory.collisions import MINHASH, MinHashCollision
from lookalike.theory.ranges import checked_seed, checked_slots
from lookalike.types import Signatures, string_buffers

OrdersName = Literal["bucketed", "khash", "universal"]


@suggesting()
@dataclass(frozen=True, kw_only=True)
class MinHash(Family):
    """The MinHash family.

    Parameters
    ----------
    slots
        Length of a signature (peers call it `num_perm`).
    seed
        Draws the random orders. Signatures of different seeds do not compare.
    orders
        `bucketed`, the default: each element is first in one slot, so one pass over a set fills most slots.
        `khash`: an independent hash a slot over all elements, the textbook scheme. `universal`: (ax + b) mod
        2⁶¹−1 in 128 bits, the exact universal family. The last two are references: right, and slow.

    Examples
    --------
    >>> signatures = MinHash(slots=256).signatures([[1, 2, 3, 4], [2, 3, 4, 5], [7, 8]])
    >>> abs(signatures.similarity(0, 1) - 3 / 5) < 0.1, signatures.similarity(0, 2)
    (True, 0.0)
    >>> print(MinHash().and_(4).or_(4).sensitivity(0.2, 0.8))
    (0.2, 0.8, 0.8784974, 0.0063847)-sensitive
    """

    slots: int = 128
    seed: int = 0
    orders: OrdersName = "bucketed"

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", checked_slots(self.slots))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        if self.orders not in ("bucketed", "khash", "universal"):
            raise OptionError(f"orders={self.orders!r} is unknown: choose bucketed, khash or universal")

    @property
    def law(self) -> MinHashCollision:
        """Two items agree in a slot with probability 1 − d, where d is their Jaccard distance."""
        return MINHASH

    def signatures(self, items: Any, *, threads: int | None = None, path: str | None = None) -> Signatures:
        """Sign sets: `Sets`, lists of integers or strings, Arrow lists, rows of a sparse boolean matrix."""
        sets = as_sets(items, seed=self.seed)
        buffers = (sets.elements, sets.offsets)
        return Signatures(
            *_core.sign_sets(buffers, self.drawn(), threads=checked_threads(threads), path=path)
        )

    def signatures_of_texts(
        self,
        texts: pa.Array,
        shingler: _core.Shingler,
        *,
        threads: int | None = None,
        path: str | None = None,
    ) -> Signatures:
        """Shingle and sign texts in one kernel call; no set is ever held."""
        texts = string_buffers(texts)
        return Signatures(
            *_core.sign_texts(texts, shingler, self.drawn(), threads=checked_threads(threads), path=path)
        )

    def drawn(self) -> _core.Orders:
        """The kernel's form of the random orders."""
        return _drawn(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `MinHash(**…)` reads them back."""
        return asdict(self)


@lru_cache(maxsize=16)
def _drawn(family: MinHash) -> _core.Orders:
    return _core.Orders(family.orders, slots=family.slots, seed=family.seed)
