"""MinHash for weighted sets and bags: two of them agree in a slot with probability Σmin/Σmax."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.families.family import Family
from lookalike.keywords import suggesting
from lookalike.measures.weights import as_weighted_sets
from lookalike.theory.collisions import WeightedMinHashCollision
from lookalike.theory.ranges import checked_seed, checked_slots
from lookalike.types import Signatures

_LAW = WeightedMinHashCollision()


@suggesting()
@dataclass(frozen=True, kw_only=True)
class WeightedMinHash(Family):
    """The family of consistent weighted samples (Ioffe, 2010).

    Any weights over 0 will do, and no set is scaled: one with all weights doubled is half as similar as it
    was. For bags of few repeats `MinHash` on bags (`words:1+bag`) has the same law and is faster: here a
    slot costs some 75 ns an element, there less than one. Slots are the same on every machine: all
    arithmetic is of sums, products and quotients of 64-bit floats, the logarithm included.

    Parameters
    ----------
    slots
        Length of a signature.
    seed
        Draws the samples. Signatures of different seeds do not compare.

    Examples
    --------
    >>> family = WeightedMinHash(slots=512)
    >>> signed = family.signatures([{"a": 0.5, "b": 2}, {"a": 1.5, "b": 1}, {"c": 1}])
    >>> abs(signed.similarity(0, 1) - 1.5 / 3.5) < 0.1, signed.similarity(0, 2)
    (True, 0.0)
    """

    slots: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", checked_slots(self.slots))
        object.__setattr__(self, "seed", checked_seed(self.seed))

    @property
    def law(self) -> WeightedMinHashCollision:
        """Two items agree in a slot with probability 1 − d, where d is 1 − Σmin/Σmax."""
        return _LAW

    def signatures(self, items: Any, *, threads: int | None = None) -> Signatures:
        """Sign weighted sets: `WeightedSets`, mappings, bags in lists, rows of a matrix of weights."""
        sets = as_weighted_sets(items, seed=self.seed)
        return Signatures(
            *_core.sign_weighted(
                sets.buffers, slots=self.slots, seed=self.seed, threads=checked_threads(threads)
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `WeightedMinHash(**…)` reads them back."""
        return asdict(self)
