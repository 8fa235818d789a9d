"""A plan: a banding of some family's signatures, what it promises, and how that is said."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_CEILING, Decimal
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lookalike.errors import ArtefactError, OptionError
from lookalike.theory.banding import Banding, FloatArray
from lookalike.theory.cascades import Cascade
from lookalike.theory.collisions import MINHASH, Collision, collision_from_dict
from lookalike.theory.outlay import PAIR_SECONDS, Outlay
from lookalike.theory.thresholds import Scale, scale_of


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A banding and what it promises; `plan` makes it, and `print` shows it.

    Examples
    --------
    >>> from lookalike import plan
    >>> print(plan("20deg", measure="angle", slots=512))
    24 bands of 18 rows, 432 of 512 slots
    finds 95.4% of the pairs at angle 20° (promised 95%)
    a slot is the side of a random hyperplane: 88.9% agree at angle 20°
    if all angles were equally common, misses 0.5% of the pairs within it and looks at 8.6% of those beyond
    >>> round(plan(0.8).reached, 4)
    0.9531
    """

    threshold: float
    """As the measure writes it: a similarity, a cosine, degrees, a distance."""

    recall: float
    slots: int
    banding: Banding

    reached: float
    """The chance to find a pair exactly at the threshold; at least `recall`, to twelve digits."""

    false_negatives: float
    """Area between the curve and certainty, from no distance to the threshold: ∫ of the chance to miss."""

    false_positives: float
    """Area under the curve beyond the threshold: ∫ of the chance to be looked at. Where distances have no
    upper limit, up to five times the threshold."""

    expected_candidates: float | None = None
    """How many pairs will probably be looked at; None without a sample."""

    expected_cost: float | None = None
    """Seconds of one core for bucket keys and checks, by the committed constants, candidates that the sample
    cannot rule out included; None without a sample."""

    measure: str = "jaccard"

    collision: Collision = MINHASH
    """How often one slot agrees; of projections with the width that was chosen."""

    given: bool = False
    """Whether the banding was asked for as it is. `recall` is then what it gives at the threshold."""

    @property
    def scale(self) -> Scale:
        """How values of the measure are read and written."""
        return scale_of(self.measure, bits=getattr(self.collision, "bits", None))

    @property
    def cascade(self) -> Cascade:
        """The family with an AND of rows and an OR of bands, by distance."""
        banded = self.collision.banded(self.banding)
        if banded is not None:
            return Cascade(banded)
        return Cascade(self.collision).and_(self.banding.rows).or_(self.banding.bands)

    def probabilities(self, values: npt.ArrayLike) -> FloatArray:
        """The chance that a pair is found, for values of the measure (similarities, degrees, distances)."""
        return self._of_bands(values, self.banding)

    def band_chances(self, values: npt.ArrayLike) -> FloatArray:
        """The chance that a pair agrees in one band, for values of the measure."""
        return self._of_bands(values, Banding(bands=1, rows=self.banding.rows))

    @property
    def band_chance_at_threshold(self) -> float:
        """The chance that a pair exactly at the threshold agrees in one band."""
        return float(self.band_chances([self.threshold])[0])

    def _of_bands(self, values: npt.ArrayLike, banding: Banding) -> FloatArray:
        numbers = np.asarray(values, dtype=np.float64)
        banded = self.collision.banded(banding)
        if banded is not None:
            return banded.probabilities(self.scale.distances(numbers))
        agreements = self.scale.agreements(numbers, self.collision)
        return agreements**banding.rows if banding.bands == 1 else banding.probabilities(agreements)

    def curve(self, points: int = 101) -> tuple[FloatArray, FloatArray]:
        """The S-curve: evenly spaced values of the measure, and the chance to be found at each.

        Similarities go from 0 to 1 and angles to 180 degrees; distances as far as the curve is worth a look.
        """
        if points < 2:
            raise OptionError(f"points={points} is out of range: a curve has 2 points or more")
        first, last = self.scale.axis(self.threshold)
        if self.scale.distance(last) > self.collision.limit:
            # Vectors in a box are no further apart than its corners.
            last = self.collision.limit
        values = np.linspace(first, last, points)
        return values, self.probabilities(values)

    def outlay(self, items: int, *, pair_seconds: float = PAIR_SECONDS) -> Outlay:
        """What so many items come to: all their pairs compared at that cost each, and their signatures.

        Examples
        --------
        >>> from lookalike import plan
        >>> outlay = plan(0.8).outlay(1_000_000)
        >>> outlay.pairs, outlay.signature_bytes, outlay.key_bytes
        (499999500000, 512000000, 104000000)
        """
        return Outlay.of(
            items=items,
            slots=self.slots,
            bands=self.banding.bands,
            family=self.collision.family,
            pair_seconds=pair_seconds,
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `from_dict` reads them back."""
        return {**asdict(self), "collision": self.collision.to_dict()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        expected = {field.name for field in fields(cls)}
        banding, collision = stored.get("banding"), stored.get("collision")
        if (
            set(stored) != expected
            or not isinstance(banding, Mapping)
            or set(banding) != {"bands", "rows"}
            or not isinstance(collision, Mapping)
        ):
            raise ArtefactError(
                f"not a stored plan: expected {sorted(expected)}, got {sorted(stored)}; plan again"
            )
        return cls(**{**stored, "banding": Banding(**banding), "collision": collision_from_dict(collision)})

    def __str__(self) -> str:
        scale, at = self.scale, at_threshold(self.scale, self.threshold)
        lines = [
            f"{several(self.banding.bands, 'band')} of {several(self.banding.rows, 'row')},"
            f" {self.banding.slots:,} of {several(self.slots, 'slot')}",
            f"finds {percent(self.reached, places(self.reached))} of the pairs {at} ({self._promised()})",
        ]
        if self.measure != "jaccard":
            agree = scale.agreement(self.threshold, self.collision)
            lines.append(f"a slot is {self.collision.slot}: {percent(agree, places(agree))} agree {at}")
        distance = scale.distance(self.threshold)
        if distance > 0:
            furthest = scale.furthest(self.threshold, self.collision)
            missed = 100 * self.false_negatives / distance
            passed = 100 * self.false_positives / (furthest - distance)
            near, far = ("above", "below") if scale.rises else ("within", "beyond")
            up_to = f" up to {scale.write(furthest)}" if math.isinf(self.collision.limit) else ""
            lines.append(
                f"if all {scale.distances_noun}{up_to} were equally common, misses {missed:.2g}%"
                f" of the pairs {near} it and looks at {passed:.2g}% of those {far}"
            )
        if self.expected_candidates is not None and self.expected_cost is not None:
            lines.append(
                f"expects about {several(round(self.expected_candidates), 'candidate')}"
                f" and {self.expected_cost:,.2f} s of one core"
            )
        return "\n".join(lines)

    def _promised(self) -> str:
        if self.given:
            return "as bands and rows were given: that is the promise"
        return f"promised {100 * self.recall:.10g}%"


def unreachable(
    scale: Scale,
    threshold: float,
    most_sensitive: tuple[float, float],
    recall: float,
    slots: int,
    needed: int | None,
) -> str:
    """What was asked, what is possible, what to do.

    `most_sensitive` are the chances to find a pair at the threshold and to miss it with one row a band.
    """
    best, miss = most_sensitive
    digits = places(best, below=recall)
    at_most = percent(max(best, 0.001), digits)
    way_out = f"{scale.more_alike} the threshold" if needed is None else f"use slots={needed} or more"
    # Rounded down, by rounding the miss up: the recall suggested must itself be within reach.
    accepted = 1 - Decimal(miss).quantize(Decimal(1).scaleb(-digits), ROUND_CEILING)
    if accepted > 0:
        way_out += f", or accept recall={float(accepted)}"
    return (
        f"{several(slots, 'slot')} find{'s' if slots == 1 else ''} at most {at_most} of pairs"
        f" {at_threshold(scale, threshold)}, short of recall={recall}: {way_out}"
    )


def at_threshold(scale: Scale, threshold: float) -> str:
    """`at similarity 0.8`, `at angle 20°`."""
    return f"at {scale.noun} {scale.write(threshold)}"


def places(chance: float, *, below: float = 1.0) -> int:
    """Decimals, two or more, that keep a chance apart from certainty and, one further, from `below`."""
    digits = 2
    while digits < 15 and (
        chance < 1 < chance + 10.0**-digits or round(chance, digits + 1) >= below > chance
    ):
        digits += 1
    return digits


def percent(chance: float, digits: int) -> str:
    """A chance in per cent, so that `digits` decimals of it are seen."""
    if chance == 1:
        return "100%"
    return f"{100 * chance:.{digits - 1}f}%"


def several(number: int, word: str) -> str:
    """A number of things and their name."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
