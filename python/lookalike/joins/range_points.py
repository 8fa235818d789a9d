"""What range queries look among: vectors by angle, L2 or L1, and bits by Hamming distance.

Either kind knows its law of collisions, draws the tables of a structure, and says how far points are from a
query.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lookalike import _core
from lookalike.errors import EmptySourceError, OptionError
from lookalike.families import L1, BitSampling, Euclidean, Hyperplane
from lookalike.measures.bits import as_bits, hamming_distances, one_item
from lookalike.measures.vectors import Nearness, as_vectors, check_comparable
from lookalike.theory.banding import Banding
from lookalike.theory.collisions import BitSamplingCollision, Collision
from lookalike.theory.thresholds import Scale, Written, scale_of
from lookalike.types import I64, U64, Bits, Bools, Vectors

#: What points may be compared by.
MEASURES = ("angle", "l2", "l1", "hamming")

#: The width of buckets on lines, in radii: on a Gaussian line a point at the radius agrees with .61, and one
#: four times as far with .20.
_WIDTH = 2.0


class Functions(NamedTuple):
    """The functions of a draw: from points to bucket keys, a line a table."""

    #: The keys of the points' own buckets, of any part of all points.
    own: Callable[[Any], U64]
    #: The keys of all buckets that a query looks into.
    look_up: Callable[[Any], U64]


class Points(ABC):
    """Points of one kind."""

    #: What several are called.
    noun: ClassVar[str]
    measure: str

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """How a radius is written."""

    @property
    @abstractmethod
    def furthest(self) -> float:
        """The greatest distance there is; infinite where there is none."""

    @property
    @abstractmethod
    def all_apart(self) -> str:
        """What is so at the greatest distance, in words."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def law(self, radius: float) -> Collision:
        """How often one function agrees, by distance, where functions are made for a radius."""

    @property
    @abstractmethod
    def values(self) -> npt.NDArray[Any]:
        """All points, a row each, as functions take them."""

    @abstractmethod
    def functions(
        self, banding: Banding, sets: npt.NDArray[np.int16], *, radius: float, seed: int
    ) -> Functions:
        """Draw the functions of so many tables; `sets` says which further buckets of each are looked into."""

    @abstractmethod
    def read(self, query: Any) -> Any:
        """A query as points of this kind are held; an OptionError if it is none."""

    @abstractmethod
    def distances(self, query: Any, rows: I64) -> npt.NDArray[Any]:
        """How far a query, as it was read, is from some points; those far beyond may be infinite."""

    @abstractmethod
    def reached(self, distances: npt.NDArray[Any]) -> Bools:
        """Which distances are near enough."""

    def radius(self, written: Written) -> float:
        """A radius as it was written."""
        try:
            near = self.scale.read(written)
        except OptionError as reason:
            raise OptionError(str(reason).replace("threshold=", "radius=", 1)) from None
        if not near > 0:
            raise OptionError(f"radius={written!r} is out of range: over 0")
        return near


@dataclass(frozen=True, eq=False)
class VectorPoints(Points):
    """Vectors by angle, L2 or L1; `threshold` is how near is near enough."""

    noun = "vectors"

    vectors: Vectors
    measure: str
    threshold: float = 0.0

    @classmethod
    def of(cls, items: Any, measure: str) -> Self:
        vectors = as_vectors(items)
        if not len(vectors):
            raise EmptySourceError("there is nothing to search: the input has no vectors")
        check_comparable(vectors, measure)
        return cls(vectors, measure)

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def scale(self) -> Scale:
        return scale_of(self.measure)

    @property
    def furthest(self) -> float:
        return 180.0 if self.measure == "angle" else math.inf

    @property
    def all_apart(self) -> str:
        return "the angle is 180°"

    def law(self, radius: float) -> Collision:
        return self._family(radius, 1, 0).law

    @property
    def values(self) -> npt.NDArray[Any]:
        return self.vectors.values

    def functions(
        self, banding: Banding, sets: npt.NDArray[np.int16], *, radius: float, seed: int
    ) -> Functions:
        drawn = self._family(radius, banding.slots, seed).drawn(self.vectors.dimensions)

        def keys(sets: npt.NDArray[np.int16], vectors: Any) -> U64:
            return drawn.probe_keys(vectors, bands=banding.bands, rows=banding.rows, sets=sets)

        return Functions(own=partial(keys, sets[:0]), look_up=partial(keys, sets))

    def read(self, query: Any) -> Any:
        probe = as_vectors(np.atleast_2d(np.asarray(query))).values
        with np.errstate(over="ignore"):  # what ends at 10³⁸ is told as any other number that is infinite
            probe = as_vectors(probe.astype(self.vectors.values.dtype)).values
        if probe.shape != (1, self.vectors.dimensions):
            raise OptionError(
                f"a query is one vector of {self.vectors.dimensions:,} coordinates, not {probe.shape}"
            )
        check_comparable(Vectors(probe), self.measure)
        return probe

    def distances(self, query: Any, rows: I64) -> npt.NDArray[Any]:
        itself = np.zeros(len(rows), np.int64)
        return self._nearness.compare([query, self.vectors.values], itself, rows + 1)

    def reached(self, distances: npt.NDArray[Any]) -> Bools:
        return self._nearness.reached(distances)

    @property
    def _nearness(self) -> Nearness:
        return Nearness(self.measure, self.threshold)

    def _family(self, radius: float, slots: int, seed: int) -> Hyperplane | Euclidean | L1:
        if self.measure == "angle":
            return Hyperplane(slots=slots, seed=seed)
        kind = Euclidean if self.measure == "l2" else L1
        return kind(width=_WIDTH * radius, slots=slots, seed=seed)


@dataclass(frozen=True, eq=False)
class BitPoints(Points):
    """Rows of bits by Hamming distance; `threshold` is how near is near enough."""

    noun = "rows of bits"
    measure = "hamming"

    bits: Bits
    threshold: float = 0.0

    @classmethod
    def of(cls, items: Any) -> Self:
        bits = as_bits(items)
        if not len(bits):
            raise EmptySourceError("there is nothing to search: the input has no rows of bits")
        return cls(bits)

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def scale(self) -> Scale:
        return scale_of("hamming", bits=self.bits.width)

    @property
    def furthest(self) -> float:
        return float(self.bits.width)

    @property
    def all_apart(self) -> str:
        return "all bits differ"

    def law(self, radius: float) -> Collision:
        return BitSamplingCollision(self.bits.width)

    @property
    def values(self) -> npt.NDArray[Any]:
        return self.bits.words

    def functions(
        self, banding: Banding, sets: npt.NDArray[np.int16], *, radius: float, seed: int
    ) -> Functions:
        positions = BitSampling(bits=self.bits.width, slots=banding.slots, seed=seed).positions
        offsets = np.arange(banding.bands + 1, dtype=np.int64) * banding.rows
        masks = _core.BitMasks((positions, offsets), words=self.bits.words.shape[1])

        def keys(words: U64) -> U64:
            return masks.keys(words, 0, banding.bands)

        return Functions(own=keys, look_up=keys)

    def read(self, query: Any) -> Any:
        sought = as_bits(one_item(query))
        if len(sought) != 1 or sought.width != self.bits.width:
            raise OptionError(
                f"a query is one row of {self.bits.width:,} bits, not {len(sought):,} of {sought.width:,}"
            )
        return sought.words

    def distances(self, query: Any, rows: I64) -> npt.NDArray[Any]:
        together = Bits(np.concatenate([query, self.bits.words[rows]]), self.bits.width)
        each = np.arange(1, len(rows) + 1)
        return hamming_distances(together, np.zeros_like(each), each)

    def reached(self, distances: npt.NDArray[Any]) -> Bools:
        reached: Bools = distances <= self.threshold
        return reached
