"""How the threshold of a measure is written, and which distance it stands for.

    jaccard, weighted-jaccard    0.8        a similarity, over 0 and at most 1
    cosine                       0.9        a cosine, over −1 and at most 1; or the angle it belongs to, 20deg
    angle                        20deg      degrees, under 180; or 0.35rad
    l2, l1                       1.5        a distance, over 0
    hamming                      3          how many bits differ

Similarities are thresholds from below and distances from above. Families know distances only.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.cascades import FAR
from lookalike.theory.collisions import BitSamplingCollision, Collision
from lookalike.theory.ranges import checked_threshold
from lookalike.wording import pointed, several

FloatArray = npt.NDArray[np.float64]
Written = float | str

MEASURES = ("jaccard", "weighted-jaccard", "cosine", "angle", "l2", "l1", "hamming")

#: What searches call measures of which the theory knows the cosine alone.
_BY_COSINE = ("tfidf", "weighted-cosine")

#: Measures of which no function agrees as often as items are alike, and the road that serves them instead.
_WITHOUT_FAMILY = {
    **dict.fromkeys(
        ("containment", "overlap"), "every pair is found by the methods prefix and divide, of similar_pairs"
    ),
    **dict.fromkeys(("levenshtein", "indel"), "every pair within a distance is found by similar_strings"),
    "linf": "items that are close in every measurement are found by similar_measurements",
}

#: Buckets some times as wide or as narrow, and some distances beyond, are still numbers of 64 bits.
_LEAST_RADIUS, _GREATEST_RADIUS = 1e-300, 1e300

_WRITTEN = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(°|[a-z]*)")


@dataclass(frozen=True)
class Scale(ABC):
    """The numbers of one measure."""

    measure: str

    noun: ClassVar[str]
    """What a value is called: similarity, cosine, angle, distance."""

    distances_noun: ClassVar[str] = "distances"
    """What is taken to be equally common when nothing is known: distances, by some name."""

    unit: ClassVar[str] = ""
    """What is written behind a value."""

    rises: ClassVar[bool] = False
    """Whether greater values are more alike: a similarity rather than a distance."""

    @abstractmethod
    def read(self, threshold: Written) -> float:
        """A threshold as it was written, as a number of this scale; an OptionError if it is none."""

    def written(self, value: float) -> Written:
        """A value as `read` takes it for this very value."""
        return value

    def distance(self, value: float) -> float:
        """The distance, as families know it, of a value."""
        return value

    def distances(self, values: FloatArray) -> FloatArray:
        """`distance` of each value of an array."""
        return values

    def agreement(self, value: float, collision: Collision) -> float:
        """The chance that one function agrees on a pair of this value."""
        return collision.probability(self.distance(value))

    def agreements(self, values: FloatArray, collision: Collision) -> FloatArray:
        """`agreement` of each value of an array."""
        return collision.probabilities(self.distances(values))

    def furthest(self, threshold: float, collision: Collision) -> float:
        """The distance up to which pairs are thought of when nothing is known of them."""
        return FAR * self.distance(threshold) if math.isinf(collision.limit) else collision.limit

    @abstractmethod
    def axis(self, threshold: float) -> tuple[float, float]:
        """Between which values a curve with this threshold is worth a look."""

    def write(self, value: float) -> str:
        """A value as a person would write it."""
        return f"{value:.6g}{self.unit}"

    @property
    def more_alike(self) -> str:
        """Which way to turn a threshold that cannot be reached."""
        return "raise" if self.rises else "lower"


@dataclass(frozen=True)
class Shares(Scale):
    """A Jaccard similarity."""

    noun = "similarity"
    distances_noun = "similarities"
    rises = True

    def read(self, threshold: Written) -> float:
        return checked_threshold(threshold)

    def distance(self, value: float) -> float:
        return 1 - value

    def distances(self, values: FloatArray) -> FloatArray:
        return np.asarray(1 - values)

    def agreement(self, value: float, collision: Collision) -> float:
        # The similarity is the chance; by way of the distance, 1 − (1 − s), it would lose its last digit.
        return value

    def agreements(self, values: FloatArray, collision: Collision) -> FloatArray:
        return values

    def axis(self, threshold: float) -> tuple[float, float]:
        return 0.0, 1.0

    def write(self, value: float) -> str:
        return f"{value:g}"


@dataclass(frozen=True)
class Cosines(Scale):
    """A cosine; its distance is the angle."""

    noun = "cosine"
    distances_noun = "angles"
    rises = True

    def read(self, threshold: Written) -> float:
        number, unit = _parts(self.measure, threshold, "a cosine such as 0.9, or an angle such as 20deg")
        if unit:
            return math.cos(math.radians(_degrees(threshold, number, unit)))
        if not -1 < number <= 1:
            raise OptionError(
                f"threshold={number:.12g} is out of range: a cosine is over -1 and at most 1"
                + (f"; for an angle write {number:g}deg" if 1 < number < 180 else "")
            )
        return number

    def distance(self, value: float) -> float:
        return math.degrees(math.acos(value))

    def distances(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.degrees(np.arccos(values)))

    def axis(self, threshold: float) -> tuple[float, float]:
        return (0.0, 1.0) if threshold >= 0 else (-1.0, 1.0)


@dataclass(frozen=True)
class Angles(Scale):
    """An angle in degrees."""

    noun = "angle"
    distances_noun = "angles"
    unit = "°"

    def read(self, threshold: Written) -> float:
        number, unit = _parts(self.measure, threshold, "an angle such as 20deg")
        if not unit and 0 < number < 1:
            raise OptionError(
                f"threshold={number:g} could be a cosine or a small angle: write {number:g}deg,"
                " or choose the measure cosine"
            )
        return _degrees(threshold, number, unit)

    def written(self, value: float) -> Written:
        # A bare number under 1 might have been meant as a cosine.
        return f"{value!r}deg" if 0 < value < 1 else value

    def axis(self, threshold: float) -> tuple[float, float]:
        return 0.0, 180.0


@dataclass(frozen=True)
class Radii(Scale):
    """A distance without an upper limit."""

    noun = "distance"

    def read(self, threshold: Written) -> float:
        number, unit = _parts(self.measure, threshold, "a distance such as 1.5")
        if unit:
            raise OptionError(
                f"threshold={threshold} has a unit, and a distance by {self.measure} is a number without one:"
                f" write {number:g}, or choose the measure angle"
            )
        if not _LEAST_RADIUS <= number <= _GREATEST_RADIUS:
            raise OptionError(
                f"threshold={threshold} is out of range: a distance by {self.measure} is over 0, from"
                f" {_LEAST_RADIUS:g} to {_GREATEST_RADIUS:g}"
            )
        return number

    def axis(self, threshold: float) -> tuple[float, float]:
        return 0.0, FAR * threshold


@dataclass(frozen=True)
class Counts(Scale):
    """A number of differing bits."""

    bits: int

    noun = "distance"
    unit = " bits"

    def read(self, threshold: Written) -> float:
        number, unit = _parts(self.measure, threshold, "a number of differing bits such as 3")
        if unit not in ("", "bit", "bits") or not number.is_integer() or not 0 <= number < self.bits:
            share = "; for a Tanimoto similarity choose the measure jaccard" if 0 < number < 1 else ""
            raise OptionError(
                f"threshold={threshold} is out of range: of {several(self.bits, 'bit')}, a whole number"
                f" from 0 to {self.bits - 1:,} may differ{share}"
            )
        return number

    def axis(self, threshold: float) -> tuple[float, float]:
        # Of 64 bits with a threshold of 3 the rest of the axis is as flat as it is empty.
        return 0.0, float(min(self.bits, max(8.0, 2 * FAR * threshold)))

    def write(self, value: float) -> str:
        return f"{value:.6g} bit{'' if value == 1 else 's'}"


def scale_of(measure: str, *, bits: int | None = None) -> Scale:
    """The scale of a measure; Hamming distances need to know of how many `bits`."""
    if measure in ("jaccard", "weighted-jaccard"):
        return Shares(measure)
    if measure == "cosine":
        return Cosines(measure)
    if measure == "angle":
        return Angles(measure)
    if measure in ("l1", "l2"):
        return Radii(measure)
    if measure == "hamming":
        if bits is None:
            raise OptionError("measure='hamming' needs to know how long items are: say so, such as bits=64")
        return Counts(measure, BitSamplingCollision(bits).bits)
    if measure in _BY_COSINE:
        raise OptionError(f"measure={measure!r} goes by the cosine of two vectors: choose cosine")
    if measure in _WITHOUT_FAMILY:
        raise OptionError(
            f"measure={measure!r} has no exact family of hash functions, so there is nothing to plan:"
            f" {_WITHOUT_FAMILY[measure]}"
        )
    raise OptionError(f"measure={measure!r} is unknown: choose {', '.join(MEASURES[:-1])} or {MEASURES[-1]}")


def _parts(measure: str, threshold: Written, wanted: str) -> tuple[float, str]:
    """The number of a threshold and its unit, which may be missing."""
    match = _WRITTEN.fullmatch(str(threshold).strip())
    if match is None:
        number = pointed(str(threshold))
        advice = f"give {wanted}" if number is None else f"write {number}, with a point"
        raise OptionError(f"threshold={threshold!r} is no threshold of {measure}: {advice}")
    return float(match[1]), match[2]


def _degrees(threshold: Written, number: float, unit: str) -> float:
    if unit == "rad":
        number = math.degrees(number)
    elif unit not in ("", "deg", "°"):
        raise OptionError(f"threshold={threshold!r} has an unknown unit: write 20deg or 0.35rad")
    if not 0 <= number < 180:
        raise OptionError(f"threshold={threshold} is out of range: an angle is from 0 to under 180 degrees")
    return number
