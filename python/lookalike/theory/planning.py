"""Threshold and recall in, banding out.

For a given number of rows, more bands find more pairs, similar and dissimilar alike, and cost more. So for
each number of rows only the fewest bands that keep the promise are worth a look.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_CEILING, Decimal
from typing import Any, Self

import numpy as np

from lookalike.errors import ArtefactError, OptionError, UnreachableRecallError
from lookalike.theory.banding import Banding, FloatArray
from lookalike.theory.costs import seconds_for_checks, seconds_for_keys
from lookalike.theory.ranges import MOST_SLOTS, checked_recall, checked_slots, checked_threshold
from lookalike.theory.sample import SimilaritySample

# The slots of the default family are slightly dependent: where the formula is under this, fewer pairs than it
# says meet in some band, by up to this much (measured; see tests/statistics).
_DEPENDENT = 0.6
_SPARE = 0.012

# Logarithms differ in their last bit from machine to machine; a plan must not. A promise is kept within this.
_SLACK = 1e-12


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A banding and what it promises; `print` it for a summary."""

    threshold: float
    recall: float
    slots: int
    banding: Banding

    reached: float
    """The chance to find a pair exactly at the threshold; at least `recall`, to twelve digits."""

    false_negatives: float
    """Area above the curve right of the threshold: ∫ₜ¹ of the chance to miss."""

    false_positives: float
    """Area under the curve left of the threshold: ∫₀ᵗ of the chance to be looked at."""

    expected_candidates: float | None = None
    """How many pairs will be looked at; None without a sample."""

    expected_cost: float | None = None
    """Seconds of one core for bucket keys and checks, by the committed constants; None without a sample."""

    def curve(self, points: int = 101) -> tuple[FloatArray, FloatArray]:
        """The S-curve: evenly spaced similarities from 0 to 1, and the chance to be found at each."""
        if points < 2:
            raise OptionError(f"points={points} is out of range: a curve has 2 points or more")
        similarities = np.linspace(0.0, 1.0, points)
        return similarities, self.banding.probabilities(similarities)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `from_dict` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        expected = {field.name for field in fields(cls)}
        banding = stored.get("banding")
        if set(stored) != expected or not isinstance(banding, Mapping) or set(banding) != {"bands", "rows"}:
            raise ArtefactError(
                f"not a stored plan: expected {sorted(expected)}, got {sorted(stored)}; plan again"
            )
        return cls(**{**stored, "banding": Banding(**banding)})

    def __str__(self) -> str:
        lines = [
            f"{_several(self.banding.bands, 'band')} of {_several(self.banding.rows, 'row')},"
            f" {self.banding.slots:,} of {_several(self.slots, 'slot')}",
            f"finds {_percent(self.reached, _places(self.reached))} of the pairs"
            f" at similarity {self.threshold:g} (promised {100 * self.recall:.10g}%)",
        ]
        if self.threshold < 1:
            missed = 100 * self.false_negatives / (1 - self.threshold)
            passed = 100 * self.false_positives / self.threshold
            lines.append(
                f"if all similarities were equally common, misses {missed:.2g}% of the pairs above it"
                f" and looks at {passed:.2g}% of those below"
            )
        if self.expected_candidates is not None and self.expected_cost is not None:
            lines.append(
                f"expects about {_several(round(self.expected_candidates), 'candidate')}"
                f" and {self.expected_cost:,.2f} s of one core"
            )
        return "\n".join(lines)


def plan(
    threshold: float = 0.8,
    *,
    recall: float = 0.95,
    slots: int = 128,
    similarities: SimilaritySample | None = None,
) -> Plan:
    """Choose how to cut a signature into bands.

    Of the bandings that find a pair exactly at `threshold` with probability at
    least `recall`, take the one expected to let the fewest dissimilar pairs through.
    Given a sample of the data's own `similarities`, take the one expected to cost
    least: more rows let fewer pairs through and need more bands. Among equals, the
    one of fewest slots.

    Raises
    ------
    UnreachableRecallError
        If no banding of `slots` slots is sensitive enough.

    Examples
    --------
    >>> plan(0.8, recall=0.95, slots=128).banding
    Banding(bands=13, rows=7)
    >>> plan() == plan(0.8, recall=0.95, slots=128)
    True
    """
    threshold = checked_threshold(threshold)
    recall = checked_recall(recall)
    slots = checked_slots(slots)

    def cost(banding: Banding) -> float:
        if similarities is None:
            return banding.false_positive_area(threshold)
        return _expected_cost(banding, similarities)

    best = None
    # A low promise is kept with something to spare, if that is within reach, and else to the letter.
    for wanted in (recall + _SPARE, recall) if recall < _DEPENDENT else (recall,):
        best = best or min(
            _worthwhile(threshold, wanted, slots),
            key=lambda banding: (_rounded(cost(banding)), banding.slots),
            default=None,
        )
    if best is None:
        raise UnreachableRecallError(_unreachable(threshold, recall, slots))
    return Plan(
        threshold=threshold,
        recall=recall,
        slots=slots,
        banding=best,
        reached=best.probability(threshold),
        false_negatives=best.false_negative_area(threshold),
        false_positives=best.false_positive_area(threshold),
        expected_candidates=None if similarities is None else similarities.expected_candidates(best),
        expected_cost=None if similarities is None else _expected_cost(best, similarities),
    )


def _expected_cost(banding: Banding, similarities: SimilaritySample) -> float:
    candidates = similarities.expected_candidates(banding)
    keys = seconds_for_keys(similarities.keyed_items, banding.bands)
    return keys + seconds_for_checks(candidates, similarities.bytes_per_item)


def _worthwhile(threshold: float, recall: float, slots: int) -> Iterator[Banding]:
    """For each number of rows the fewest bands that reach `recall`, while the slots last."""
    for rows in range(1, slots + 1):
        bands = _fewest_bands(threshold, recall, rows, most=slots // rows)
        if bands is None:
            return  # more rows need at least as many bands, so more slots still
        yield Banding(bands=bands, rows=rows)


def _fewest_bands(threshold: float, recall: float, rows: int, *, most: int) -> int | None:
    """The fewest bands that find a pair at `threshold` with probability `recall`; None if over `most`."""
    in_one_band = threshold**rows
    if in_one_band == 1:
        return 1
    log_miss = math.log1p(-in_one_band)
    log_allowed = math.log1p(-recall) + _SLACK
    if most * log_miss > log_allowed:
        return None
    return min(most, max(1, math.ceil(log_allowed / log_miss)))


def _rounded(cost: float) -> float:
    """Nine digits of a cost, so that two machines agree on which of two equal bandings is the better one."""
    return float(f"{cost:.8e}")


def _unreachable(threshold: float, recall: float, slots: int) -> str:
    """What was asked, what is possible, what to do. One row a band is the most sensitive banding."""
    most_sensitive = Banding(bands=slots, rows=1)
    best = most_sensitive.probability(threshold)
    places = _places(best, below=recall)
    at_most = _percent(max(best, 0.001), places)
    needed = _fewest_bands(threshold, recall, 1, most=MOST_SLOTS)
    way_out = "raise the threshold" if needed is None else f"use slots={needed} or more"
    # Rounded down, by rounding the miss up: the recall suggested must itself be within reach.
    accepted = 1 - Decimal(most_sensitive.miss(threshold)).quantize(Decimal(1).scaleb(-places), ROUND_CEILING)
    if accepted > 0:
        way_out += f", or accept recall={float(accepted)}"
    return (
        f"{_several(slots, 'slot')} find{'s' if slots == 1 else ''} at most {at_most} of pairs at similarity"
        f" {threshold:g}, short of recall={recall}: {way_out}"
    )


def _places(chance: float, *, below: float = 1.0) -> int:
    """Decimals, two or more, that keep a chance apart from certainty and, one further, from `below`."""
    places = 2
    while places < 15 and (
        chance < 1 < chance + 10.0**-places or round(chance, places + 1) >= below > chance
    ):
        places += 1
    return places


def _percent(chance: float, places: int) -> str:
    if chance == 1:
        return "100%"
    return f"{100 * chance:.{places - 1}f}%"


def _several(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
