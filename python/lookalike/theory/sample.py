"""How alike the pairs of a collection are, judged by the signatures of a few of them.

Two things a sample does not show must not be taken for absent, or a plan would save on rows and drown in
candidates: a collection of a million items has half a billion pairs for every thousand sampled.

1. *What n slots cannot resolve.* A pair that agrees in k of n slots is not taken to have similarity k/n.
   Every similarity that could have shown k of n is weighed (all equally likely beforehand, so J follows a
   beta law with k + 1 and n − k + 1), and the chance of agreeing in a band of r rows is the average E[Jʳ].
   After no agreement in 128 slots it is 1 in 130 for one row, 1 in 374,660 for three, and never 0.
2. *What a small sample cannot contain.* To the sampled pairs one is added of which nothing is known: its
   similarity may be anything from 0 to 1. That is what the planner assumes of every pair when it has no
   sample, so a small sample plans much as none does, and a large one by what it saw.

For b bands the chance is taken to be 1 − (1 − E[Jʳ])ᵇ. That is concave in Jʳ, so it is never less than the
average chance of meeting (Jensen): estimates of candidates err towards too many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.banding import Banding, FloatArray
from lookalike.theory.collected import Collected


@dataclass(frozen=True, kw_only=True)
class SimilaritySample(Collected):
    """How many sampled pairs agreed in 0, 1, … n slots, and the size of the collection they stand for.

    Parameters
    ----------
    counts
        `counts[k]` sampled pairs agreed in k of n slots; n + 1 counts.
    items
        Items of the collection the pairs were drawn from, each pair equally likely.
    bytes_per_item
        Average size of an item's text: what a check has to shingle.
    other_items
        Items of the second collection, when pairs go from one collection to another.
    """

    counts: tuple[int, ...]
    items: int
    bytes_per_item: float
    other_items: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", tuple(int(count) for count in self.counts))
        if len(self.counts) < 2 or min(self.counts) < 0:
            raise OptionError(
                f"counts={_short(self.counts)} is not a sample:"
                " for n slots it needs n + 1 numbers of pairs, each 0 or more"
            )
        for name, plain in (("items", int), ("bytes_per_item", float), ("other_items", int)):
            value = getattr(self, name)
            if value is None and name == "other_items":
                continue
            if not value >= 0:
                raise OptionError(f"{name}={value!r} is out of range: 0 or more")
            object.__setattr__(self, name, plain(value))

    @classmethod
    def from_agreements(
        cls,
        agreements: npt.ArrayLike,
        *,
        slots: int,
        items: int,
        bytes_per_item: float,
        other_items: int | None = None,
    ) -> Self:
        """Count the agreeing slots of sampled pairs, one number from 0 to `slots` a pair.

        Examples
        --------
        >>> SimilaritySample.from_agreements([0, 0, 3, 1], slots=4, items=10, bytes_per_item=500).counts
        (2, 1, 0, 1, 0)
        """
        numbers = np.asarray(agreements, dtype=np.int64)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() <= slots):
            raise OptionError(
                f"agreements go from {numbers.min()} to {numbers.max()}: signatures have {slots} slots"
            )
        counts = np.bincount(numbers, minlength=slots + 1)
        return cls(
            counts=tuple(counts.tolist()), items=items, bytes_per_item=bytes_per_item, other_items=other_items
        )

    @cached_property
    def pairs(self) -> int:
        """How many pairs were sampled."""
        return sum(self.counts)

    def candidate_rate(self, banding: Banding) -> float:
        """The fraction of all pairs expected to become candidates; errs towards too many."""
        # The pair of which nothing is known: the whole area under the curve.
        unknown = banding.false_positive_area(1.0)
        return (self._candidates(banding, _band_chance) + unknown) / (self.pairs + 1)

    def expected_candidates(self, banding: Banding) -> float:
        """How many pairs of the collection are expected to become candidates; errs towards too many."""
        return self.total_pairs * self.candidate_rate(banding)

    def likely_candidates(self, banding: Banding) -> float:
        """How many candidates there probably are, to weigh one road against another; may err either way."""
        return self.total_pairs * self._candidates(banding, _band_share) / max(1, self.pairs)

    def _candidates(self, banding: Banding, chance: Callable[..., FloatArray]) -> float:
        """How many of the sampled pairs would be candidates."""
        agreements, counts = self._levels
        in_one_band = chance(agreements, slots=len(self.counts) - 1, rows=banding.rows)
        with np.errstate(divide="ignore"):
            return float(counts @ -np.expm1(banding.bands * np.log1p(-in_one_band)))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `SimilaritySample(**…)` reads them back."""
        return {**asdict(self), "counts": list(self.counts)}

    @cached_property
    def _levels(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """The numbers of agreeing slots that occurred, and how often; a plan asks for them once a banding."""
        counts = np.asarray(self.counts, dtype=np.float64)
        agreements = np.flatnonzero(counts)
        return agreements, counts[agreements]


def _band_chance(agreements: npt.NDArray[np.int64], *, slots: int, rows: int) -> FloatArray:
    """E[Jʳ] after k of n slots agreed: (k+1)…(k+r) / (n+2)…(n+1+r), by logarithms of factorials."""
    log = _log_factorials(max(2 * slots, slots + rows) + 2)
    chance: FloatArray = np.exp(
        log[agreements + rows] - log[agreements] + log[slots + 1] - log[slots + 1 + rows]
    )
    return chance


def _band_share(agreements: npt.NDArray[np.int64], *, slots: int, rows: int) -> FloatArray:
    """The share of all bands of r slots in which those agree that do: k…(k−r+1) / n…(n−r+1).

    Its mean over pairs is that of Jʳ, whatever the similarities are: no other figure has no bias.
    """
    if rows > slots:
        # A sample of shorter signatures shows no band so long.
        return _band_chance(agreements, slots=slots, rows=rows)
    log = _log_factorials(slots + 1)
    least = np.maximum(agreements, rows)
    share = np.exp(log[least] - log[least - rows] + log[slots - rows] - log[slots])
    return np.where(agreements < rows, 0.0, np.minimum(share, 1.0))


@lru_cache(maxsize=8)
def _log_factorials(size: int) -> FloatArray:
    table: FloatArray = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size)))])
    table.setflags(write=False)
    return table


def _short(counts: tuple[int, ...]) -> str:
    return (
        repr(counts) if len(counts) <= 6 else f"({', '.join(map(str, counts[:5]))}, … {len(counts)} in all)"
    )
