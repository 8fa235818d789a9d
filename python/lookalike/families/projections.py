"""What projections on random lines have in common: vectors fall into buckets on each line."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from typing import Any

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.families.family import Family
from lookalike.measures.vectors import as_vectors
from lookalike.theory.ranges import checked_seed, checked_slots
from lookalike.types import I64


class Projected(Family):
    """A family of random lines, cut into buckets of one width from a random offset on."""

    width: float
    slots: int
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", checked_slots(self.slots))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        # The law turns down a width that is none.
        object.__setattr__(self, "width", float(self.law.width))  # type: ignore[attr-defined]

    @property
    @abstractmethod
    def kind(self) -> str:
        """How the kernels call the lines."""

    def signatures(self, items: Any, *, threads: int | None = None, path: str | None = None) -> I64:
        """The buckets in which vectors lie, ⌊a·x/width + b⌋: a matrix of int64, one row an item."""
        vectors = as_vectors(items)
        drawn = self.drawn(vectors.dimensions)
        return drawn.buckets(vectors.values, threads=checked_threads(threads), path=path)

    def drawn(self, dimensions: int, *, first: int = 0) -> _core.Projections:
        """The kernel's form of the lines, for vectors of so many coordinates; those from `first` on."""
        return _drawn(self.kind, dimensions, self.slots, self.seed, self.width, first)


@lru_cache(maxsize=4)
def _drawn(kind: str, dimensions: int, slots: int, seed: int, width: float, first: int) -> _core.Projections:
    return _core.Projections(kind, dimensions=dimensions, slots=slots, seed=seed, width=width, first=first)
