"""How often one function of a family gives two items the same value, by their distance.

    minhash             sets, by Jaccard distance                          1 − d
    weighted-minhash    weighted sets and bags, by 1 − Σmin/Σmax           1 − d
    hyperplanes         vectors, by angle                                  1 − θ/180°
    signs               the same with normals of ±1, about                 1 − θ/180°
    bit-sampling        N bits, by the number that differ                  1 − d/N
    dealt-bits          the same, in bands that share no bit               1 − d/N
    dealt-bands         such bands: any of them agrees                     `DealtBandsCollision`
    covering            the same; 1 up to a radius                         `CoveringCollision`
    unary               vectors by L1, all coordinates within a box        1 − d/extent
    gaussian            vectors by L2, projected and cut into buckets      `GaussianCollision`
    cauchy              vectors by L1, projected and cut into buckets      `CauchyCollision`
    ranges              one measurement, cut into ranges                   `RangeCollision`

All of them fall as the distance grows. Chances to agree and to differ are computed side by side, so that
neither loses its digits where it is tiny.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lookalike.errors import ArtefactError, OptionError
from lookalike.theory import covers, dealing
from lookalike.theory.banding import Banding
from lookalike.theory.ranges import whole
from lookalike.wording import several

FloatArray = npt.NDArray[np.float64]


class Collision(ABC):
    """The chance that one function of a family collides, as a function of distance."""

    family: ClassVar[str]
    """The name of the family, as it is stored."""

    noun: ClassVar[str]
    """What one of its distances is called, with its article."""

    reads_all: ClassVar[bool] = True
    """Whether a slot costs a look at every value of an item."""

    dependent: ClassVar[bool] = False
    """Whether the slots of a signature are slightly dependent, so that low promises need room to spare."""

    @property
    @abstractmethod
    def limit(self) -> float:
        """The greatest distance there is; infinite where there is none."""

    @property
    def bends(self) -> FloatArray:
        """The distances, but for 0, at which the curve has a corner: between them it is smooth."""
        return np.empty(0)

    @property
    def most_rows(self) -> int | None:
        """How many rows a band may have at most, for the sake of its bucket key; None for any number."""
        return None

    @property
    @abstractmethod
    def slot(self) -> str:
        """What one slot of a signature holds, in words."""

    def banded(self, banding: Banding) -> Collision | None:
        """How often pairs agree in some band, if slots are not drawn independently; None if they are."""
        return None

    def probability(self, distance: float) -> float:
        """The chance that two items at this distance agree."""
        return float(self.chances(distance)[0])

    def probabilities(self, distances: npt.ArrayLike) -> FloatArray:
        """`probability` of each distance of an array."""
        return self.chances(distances)[0]

    def chances(self, distances: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The chances to agree and to differ, of each distance of an array."""
        values = np.asarray(distances, dtype=np.float64)
        within = (values >= 0) & (values <= self.limit) & np.isfinite(values)
        if not np.all(within):
            ends = "0 or more" if math.isinf(self.limit) else f"from 0 to {self.limit:g}"
            raise OptionError(f"{float(values[~within].flat[0]):g} is not {self.noun}: they lie {ends}")
        return self._chances(values)

    def distance(self, probability: float) -> float:
        """The greatest distance at which two items agree with this probability."""
        if not 0 <= probability <= 1:
            raise OptionError(f"{probability:g} is not a probability: they lie from 0 to 1")
        return self._distance(float(probability))

    def wider(self) -> Collision | None:
        """The same with buckets of twice the width; None where a slot is no bucket on a line."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `collision_from_dict` reads them back."""
        # Every kind there is below is a dataclass; this base has no fields of its own.
        return {"family": self.family, **asdict(self)}  # type: ignore[call-overload]

    @abstractmethod
    def _chances(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]: ...

    @abstractmethod
    def _distance(self, probability: float) -> float: ...


class LinearCollision(Collision):
    """One minus the share that a distance is of the greatest one."""

    def _chances(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        differ = distances / self.limit
        return np.asarray(1 - differ), np.asarray(differ)

    def _distance(self, probability: float) -> float:
        return self.limit * (1 - probability)


@dataclass(frozen=True)
class MinHashCollision(LinearCollision):
    """The least element of a random order is the same with the Jaccard similarity, 1 − d."""

    family = "minhash"
    noun = "a Jaccard distance"
    dependent = True

    @property
    def limit(self) -> float:
        return 1.0

    @property
    def slot(self) -> str:
        return "the least element in a random order"


MINHASH = MinHashCollision()


@dataclass(frozen=True)
class WeightedMinHashCollision(LinearCollision):
    """MinHash of weighted sets and bags, by Σmin/Σmax = 1 − d."""

    family = "weighted-minhash"
    noun = "a weighted Jaccard distance"

    @property
    def limit(self) -> float:
        return 1.0

    @property
    def slot(self) -> str:
        return "the least element in a random order that weights favour"


@dataclass(frozen=True)
class HyperplaneCollision(LinearCollision):
    """The sides of a random hyperplane: a uniform direction separates two vectors with probability θ/180°."""

    family = "hyperplanes"
    noun = "an angle"

    @property
    def limit(self) -> float:
        return 180.0

    @property
    def most_rows(self) -> int | None:
        return 64

    @property
    def slot(self) -> str:
        return "the side of a random hyperplane"


@dataclass(frozen=True)
class SignsCollision(HyperplaneCollision):
    """Hyperplanes whose normals are of ±1: about 1 − θ/180°, where many coordinates share a vector's length.

    A sum of many comparable terms is nearly Gaussian, of few it is not. Where one coordinate outweighs the
    others together the side depends on it alone: (2, 1) and (1, 0) always agree, although 27° apart.
    """

    family = "signs"

    @property
    def slot(self) -> str:
        return "the side of a hyperplane with a normal of ±1"


@dataclass(frozen=True)
class BitSamplingCollision(LinearCollision):
    """One of N bits, drawn anew for every slot: two items that differ in d bits agree with 1 − d/N."""

    bits: int

    family = "bit-sampling"
    noun = "a Hamming distance"
    reads_all = False

    def __post_init__(self) -> None:
        bits = whole(self.bits)
        if bits is None or bits < 1:
            raise OptionError(f"bits={self.bits!r} is out of range: a whole number, 1 or more")
        object.__setattr__(self, "bits", bits)

    @property
    def limit(self) -> float:
        return float(self.bits)

    @property
    def most_rows(self) -> int | None:
        return self.bits

    @property
    def slot(self) -> str:
        return f"one of {several(self.bits, 'bit')}"


@dataclass(frozen=True)
class DealtBitsCollision(BitSamplingCollision):
    """One of N bits, which are dealt out to bands from shuffles: no bit is in two bands of a shuffle.

    A slot agrees as often as one that is drawn anew. Bands agree more often, by `banded`.
    """

    family = "dealt-bits"

    def banded(self, banding: Banding) -> DealtBandsCollision:
        """How often pairs agree in some of the bands."""
        return DealtBandsCollision(self.bits, bands=banding.bands, rows=banding.rows)


@dataclass(frozen=True)
class DealtBandsCollision(Collision):
    """Whether a pair agrees in any of some bands of bits dealt out from shuffles (`theory.dealing`).

    Of no pair a whole number of bits differ and a half: there the chance lies on a straight line.

    Examples
    --------
    >>> DealtBandsCollision(64, bands=4, rows=16).probabilities([3, 4, 8]).round(4).tolist()
    [1.0, 0.8969, 0.3268]
    """

    bits: int
    bands: int
    rows: int

    family = "dealt-bands"
    noun = "a Hamming distance"
    reads_all = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", BitSamplingCollision(self.bits).bits)
        banding = self.banding
        object.__setattr__(self, "bands", banding.bands)
        object.__setattr__(self, "rows", banding.rows)
        if self.rows > self.bits:
            raise OptionError(
                f"rows={self.rows} is out of range: a band of {self.bits} bits has 1 to {self.bits}"
            )

    @property
    def banding(self) -> Banding:
        """The bands."""
        return Banding(bands=self.bands, rows=self.rows)

    @property
    def limit(self) -> float:
        return float(self.bits)

    @property
    def bends(self) -> FloatArray:
        return np.arange(1, self.bits, dtype=np.float64)

    @property
    def slot(self) -> str:
        return f"{self.bands:,} bands of {self.rows:,} bits"

    def _chances(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        whole, place = np.unique(
            np.concatenate([np.floor(distances).ravel(), np.ceil(distances).ravel()]), return_inverse=True
        )
        agree, differ = dealing.chances(self.bits, [self.banding], whole)
        share = distances - np.floor(distances)
        below, above = place.reshape(2, *distances.shape)
        columns = ((1 - share) * column[0][below] + share * column[0][above] for column in (agree, differ))
        agreed, differed = columns
        return np.asarray(agreed), np.asarray(differed)

    def _distance(self, probability: float) -> float:
        agree = self._chances(np.arange(self.bits + 1.0))[0]
        last = int(np.flatnonzero(agree >= probability)[-1])
        if last == self.bits:
            return self.limit
        return last + float((agree[last] - probability) / (agree[last] - agree[last + 1]))


@dataclass(frozen=True)
class CoveringCollision(Collision):
    """Masks that cover a radius of r: 1 for d ≤ r, and then the chance that some of the masks agrees.

    That is the chance that d random vectors do not span r + 1 dimensions: about (2ʳ⁺¹ − 1)/2ᵈ. In several
    `parts`, that they fail to in one of them (`theory.covers`). Of no pair a whole number of bits differ and
    a half: there the chance lies on a straight line.

    Examples
    --------
    >>> CoveringCollision(64, 3).probabilities([3, 4, 8]).round(4).tolist()
    [1.0, 0.6018, 0.0336]
    """

    bits: int
    radius: int
    parts: int = 1

    family = "covering"
    noun = "a Hamming distance"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", BitSamplingCollision(self.bits).bits)
        radius, parts = whole(self.radius), whole(self.parts)
        if radius is None or not 0 <= radius < self.bits:
            raise OptionError(
                f"radius={self.radius!r} is out of range:"
                f" of {several(self.bits, 'bit')}, 0 to {self.bits - 1:,} may differ"
            )
        object.__setattr__(self, "radius", radius)
        if parts is None or not 1 <= parts <= radius + 1:
            raise OptionError(
                f"parts={self.parts!r} is out of range:"
                f" a radius of {self.radius:,} has 1 to {self.radius + 1:,}"
            )
        object.__setattr__(self, "parts", parts)
        fewest = covers.fewest_parts(self.radius)
        if fewest is None:
            raise OptionError(
                f"radius={self.radius} is out of range: masks cover up to {covers.MOST_MASKS - 1:,}"
            )
        if self.parts < fewest:
            raise OptionError(
                f"radius={self.radius} takes {several(self.masks, 'mask')} with parts={self.parts},"
                f" which are too many: use parts={fewest} or more"
            )

    @property
    def masks(self) -> int:
        """How many masks there are."""
        return covers.masks_in(self.radius, self.parts)

    def meetings(self, distances: npt.ArrayLike) -> FloatArray:
        """Under how many of the masks two items agree, on average over seeds."""
        expected = covers.meetings(self.bits, self.radius, self.parts)
        whole = np.arange(self.bits + 1)
        return np.asarray(np.interp(np.asarray(distances, np.float64), whole, expected))

    @property
    def limit(self) -> float:
        return float(self.bits)

    @property
    def bends(self) -> FloatArray:
        return np.arange(self.radius, self.bits, dtype=np.float64)

    @property
    def slot(self) -> str:
        return f"a key by each of {several(self.masks, 'mask')}"

    def _chances(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        agree, differ = covers.chances(self.bits, self.radius, self.parts)
        whole = np.arange(self.bits + 1)
        return np.asarray(np.interp(distances, whole, agree)), np.asarray(np.interp(distances, whole, differ))

    def _distance(self, probability: float) -> float:
        agree, _ = covers.chances(self.bits, self.radius, self.parts)
        last = int(np.flatnonzero(agree >= probability)[-1])
        if last == self.bits:
            return self.limit
        return last + float((agree[last] - probability) / (agree[last] - agree[last + 1]))


@dataclass(frozen=True)
class UnaryCollision(LinearCollision):
    """L1 as Hamming distance: every coordinate in unary, and one of those bits a slot.

    The bit of a coordinate i and a level t says whether xᵢ ≥ t. Drawn uniformly over all coordinates and
    levels it tells two vectors apart with probability d/extent, where `extent` is the length of all ranges of
    coordinates together: dimensions · (high − low) if they share one range.
    """

    extent: float

    family = "unary"
    noun = "an L1 distance"
    reads_all = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", _positive("extent", self.extent))

    @property
    def limit(self) -> float:
        return self.extent

    @property
    def slot(self) -> str:
        return "whether a coordinate reaches a level"


class _Projection(Collision):
    """A projection on a random line, with a random offset, cut into buckets of some width."""

    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", _positive("width", self.width))

    @property
    def limit(self) -> float:
        return math.inf

    @property
    def most_rows(self) -> int | None:
        return 64

    @property
    def slot(self) -> str:
        return f"the bucket of width {self.width:.4g} on a random line"

    def wider(self) -> Collision | None:
        return type(self)(2 * self.width)  # type: ignore[call-arg]

    def _distance(self, probability: float) -> float:
        """By halving, on a logarithmic scale: the curve falls and has no inverse in closed form."""
        if probability in (0.0, 1.0):
            return math.inf if probability == 0 else 0.0
        low, high = math.log(self.width) - 80, math.log(self.width) + 80
        while low < (middle := (low + high) / 2) < high:
            agree, differ = self._chances(np.asarray(math.exp(middle)))
            near = agree >= probability if probability < 0.5 else differ <= 1 - probability
            low, high = (middle, high) if near else (low, middle)
        return math.exp(low)


@dataclass(frozen=True)
class GaussianCollision(_Projection):
    """L2 by Gaussian projections: with c = width/d, 1 − 2Φ(−c) − √(2/π)·(1 − exp(−c²/2))/c.

    Examples
    --------
    >>> GaussianCollision(width=1).probabilities([0.5, 2]).round(4).tolist()
    [0.6095, 0.1954]
    """

    width: float

    family = "gaussian"
    noun = "an L2 distance"

    def _chances(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio, inverse = _ratios(distances, self.width)
        # What the offset may cut: the expected length of the projected difference, where it fits a bucket.
        cut = inverse * -np.expm1(-(ratio**2) / 2)
        cut = math.sqrt(2 / math.pi) * np.where(ratio < _TINY, ratio / 2, cut)
        differ = _erfc(ratio / math.sqrt(2)) + cut
        return np.where(ratio > 1, 1 - differ, _erf(ratio / math.sqrt(2)) - cut), differ


@dataclass(frozen=True)
class CauchyCollision(_Projection):
    """L1 by Cauchy projections: with c = width/d, 2·atan(c)/π − ln(1 + c²)/(π·c).

    Examples
    --------
    >>> round(CauchyCollision(width=1).probability(1), 4)
    0.2794
    """

    width: float

    family = "cauchy"
    noun = "an L1 distance"

    def _chances(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio, inverse = _ratios(distances, self.width)
        cut = np.where(ratio < _TINY, ratio, inverse * np.log1p(ratio**2))
        differ = (2 * np.arctan(inverse) + cut) / math.pi
        return np.where(ratio > 1, 1 - differ, (2 * np.arctan(ratio) - cut) / math.pi), differ


@dataclass(frozen=True)
class RangeCollision(Collision):
    """One measurement, cut into ranges of `width`; copies near an edge also lie in the adjacent range.

    Two values that differ by d share a range with probability 1 − d/width, if the first one is equally likely
    to lie anywhere in its range. With copies of what lies within m of an edge, d counts as so much less: by m
    if only one side is copied (the probe, or what is indexed), by 2m if both are. That is the `reach`.
    Several measurements are an AND of as many, each by its own difference.
    """

    width: float
    reach: float = 0.0

    family = "ranges"
    noun = "a difference"
    reads_all = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", _positive("width", self.width))
        if not 0 <= self.reach <= self.width:
            raise OptionError(f"reach={self.reach!r} is out of range: from 0 to the width, {self.width:g}")
        object.__setattr__(self, "reach", float(self.reach))

    @property
    def limit(self) -> float:
        return math.inf

    @property
    def bends(self) -> FloatArray:
        return np.array([self.reach, self.reach + self.width])

    @property
    def slot(self) -> str:
        return f"the range of width {self.width:.4g} of one measurement"

    def _chances(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        differ = np.clip((distances - self.reach) / self.width, 0.0, 1.0)
        return np.asarray(1 - differ), np.asarray(differ)

    def _distance(self, probability: float) -> float:
        return math.inf if probability == 0 else self.reach + self.width * (1 - probability)


KINDS: dict[str, type[Collision]] = {
    kind.family: kind
    for kind in (
        *(MinHashCollision, WeightedMinHashCollision, HyperplaneCollision, SignsCollision),
        *(
            BitSamplingCollision,
            DealtBitsCollision,
            DealtBandsCollision,
            CoveringCollision,
            UnaryCollision,
            GaussianCollision,
            CauchyCollision,
        ),
        RangeCollision,
    )
}
"""Every family's collision, by the name of the family."""


def collision_from_dict(stored: Mapping[str, Any]) -> Collision:
    """Read back what `Collision.to_dict` wrote."""
    parameters = {name: value for name, value in stored.items() if name != "family"}
    try:
        return KINDS[stored["family"]](**parameters)
    except (KeyError, TypeError):
        raise ArtefactError(
            f"not a stored collision: {dict(stored)!r}; the families are {', '.join(KINDS)}"
        ) from None


#: Below this the square of width/d adds nothing to 1, and may end as 0.
_TINY = 1e-8


def _ratios(distances: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    """width/d and d/width; they end where a square, or a product with 0, would no longer be a number."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.minimum(width / distances, 1e150), np.minimum(distances / width, 1e300)


# NumPy has no error function, and SciPy is too much to ask of a plain install for one.
_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _positive(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{name}={value!r} is not a number: give one over 0") from None
    if not 0 < number < math.inf:
        raise OptionError(f"{name}={number:g} is out of range: over 0")
    return number
