"""What a run did to keep its promise: bands it added from fresh seeds, and rows it compared with all
others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

from lookalike.theory.banding import Banding
from lookalike.theory.recall import RecallEstimate

#: Why bands were added: the recall of the draw was `short` of the promise; pairs were so much `alike` that
#: whole kinds of them may be lost; or rows had near pairs that went `unseen`.
Reason = Literal["short", "alike", "unseen"]

_MASK = (1 << 64) - 1


@dataclass(frozen=True, kw_only=True)
class AddedBands:
    """Bands of one more draw of hash functions."""

    seed: int
    bands: int
    reason: Reason

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `AddedBands(**…)` reads them back."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class FinalBands:
    """The bands that a run ended with: those of its plan, and those that were added in each round.

    Examples
    --------
    >>> bands = FinalBands(banding=Banding(bands=13, rows=7))
    >>> bands.count, FinalBands.from_dict(bands.to_dict()) == bands
    (13, True)
    """

    banding: Banding
    added: tuple[AddedBands, ...] = ()

    @property
    def count(self) -> int:
        """How many bands there are."""
        return self.banding.bands + sum(added.bands for added in self.added)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `from_dict` reads them back."""
        return {"banding": self.banding.to_dict(), "added": [one.to_dict() for one in self.added]}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(banding=Banding(**stored["banding"]), added=added_from_dicts(stored["added"]))


def added_from_dicts(stored: Iterable[Mapping[str, Any]]) -> tuple[AddedBands, ...]:
    """Read back a list of what `to_dict` wrote."""
    return tuple(AddedBands(**one) for one in stored)


def seed_of_round(seed: int, number: int) -> int:
    """The seed of the bands that are added in round 1, 2, … of a run.

    Examples
    --------
    >>> len({seed_of_round(seed, number) for seed in range(100) for number in (1, 2, 3)})
    300
    """
    # The steps of SplitMix64: neighbouring seeds and rounds have nothing in common.
    state = (seed * 0xD1342543DE82EF95 + number * 0x9E3779B97F4A7C15) & _MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)


def _wilson_low(found: int, near: int) -> float:
    """The lower end of Wilson's 95% interval of a share."""
    share, square = found / near, 1.959964**2 / near
    spread = math.sqrt(square * share * (1 - share) + square**2 / 4)
    return max(0.0, (share + square / 2 - spread) / (1 + square))


@dataclass(frozen=True, kw_only=True)
class ExactLook:
    """Some rows that were compared exactly with all others, since bands had found next to nothing.

    Attributes
    ----------
    rows
        How many rows were compared with all others.
    within
        How many rows of large buckets were compared with each other.
    near
        The near pairs they have, up to a few each.
    found
        Those of them that shared a bucket of some band when all bands were there.
    """

    rows: int
    near: int
    found: int
    within: int = 0

    @property
    def recall(self) -> float | None:
        """The share of these near pairs that was found; None if there are none.

        Examples
        --------
        >>> ExactLook(rows=300, near=4, found=3).recall
        0.75
        """
        return self.found / self.near if self.near else None

    def seen_by(self, estimate: RecallEstimate) -> RecallEstimate:
        """An estimate of recall that believes what was seen: whole kinds of pairs may be lost unnoticed.

        Examples
        --------
        >>> look = ExactLook(rows=300, near=40, found=20)
        >>> certain = RecallEstimate.certain(1000)
        >>> look.seen_by(certain).recall, round(look.seen_by(certain).low, 2), look.seen_by(certain).high
        (0.5, 0.35, 1.0)
        """
        if self.recall is None or (estimate.recall is not None and self.recall >= estimate.recall):
            return estimate
        low = _wilson_low(self.found, self.near)
        recall = self.recall
        if not self.found and estimate.found:
            # The run did find some: as much as half of another pair that was looked at would show.
            recall = min(0.5 / (self.near + 1), 1.0 if estimate.recall is None else estimate.recall)
        return replace(
            estimate,
            # Those it looked at are there, whatever was found.
            estimated_total=estimate.found / recall if recall else float(self.near),
            recall=recall,
            low=low if estimate.low is None else min(low, estimate.low),
            high=1.0 if estimate.high is None else estimate.high,
        )

    @property
    def at_most(self) -> float:
        """If none of the rows has a near pair: the share of all rows that have one, at most (95%).

        Examples
        --------
        >>> round(ExactLook(rows=300, near=0, found=0).at_most, 3)
        0.01
        """
        return float(1 - 0.05 ** (1 / self.rows)) if self.rows else 1.0

    def to_dict(self) -> dict[str, int]:
        """As plain values for JSON; `ExactLook(**…)` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, int] | None) -> Self | None:
        """Read back what `to_dict` wrote, if there was a look."""
        return None if stored is None else cls(**stored)
