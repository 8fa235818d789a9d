"""How many of the true neighbours were found, measured on a sample of the rows.

The rows are drawn by a hash of what one sees of them, so the sample depends on no order; their true
neighbours are found by looking at everything. Similarities are exact, so what can be wrong about an answer is
only what is missing from it, and a neighbour exactly as similar as a true one is as good as that.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lookalike.types import F64, I64

#: Neighbours are counted apart from each of these similarities on.
LEVELS = (0.8, 0.5, 0.2, 0.0)
#: Standard deviations of a 95% interval.
_Z = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class Level:
    """True neighbours of at least this similarity, and less than the level before; and those found."""

    at_least: float
    true: int
    found: int


@dataclass(frozen=True, kw_only=True)
class MeasuredRecall:
    """The share of true neighbours found.

    Attributes
    ----------
    drawn, rows
        Rows looked at, and those of them that have any neighbour.
    levels
        By similarity, the highest first.
    """

    drawn: int
    rows: int
    levels: tuple[Level, ...]

    @property
    def true(self) -> int:
        """Neighbours that the rows drawn have."""
        return sum(level.true for level in self.levels)

    @property
    def found(self) -> int:
        """Those of them that were found, or others as similar."""
        return sum(level.found for level in self.levels)

    @property
    def recall(self) -> float | None:
        """The share found; None if there was nothing to find."""
        return self.found / self.true if self.true else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the recall of all rows lies, with 95% confidence.

        Wilson's, as if a row's neighbours were found or missed together: they may be, so rows count and not
        neighbours.

        Examples
        --------
        >>> sure = MeasuredRecall(drawn=300, rows=200, levels=(Level(at_least=0, true=2000, found=2000),))
        >>> [round(edge, 3) for edge in sure.interval]
        [0.981, 1.0]
        """
        if self.recall is None:
            return None
        share, n = self.recall, self.rows
        middle = share + _Z**2 / (2 * n)
        spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
        low, high = ((middle + side * spread) / (1 + _Z**2 / n) for side in (-1, 1))
        return max(0.0, low), min(1.0, high)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "drawn": self.drawn,
            "rows": self.rows,
            "recall": self.recall,
            "interval": None if self.interval is None else list(self.interval),
            "levels": [vars(level) for level in self.levels],
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> MeasuredRecall:
        """Read back what `to_dict` made."""
        levels = tuple(Level(**level) for level in stored["levels"])
        return cls(drawn=stored["drawn"], rows=stored["rows"], levels=levels)


def measured_recall(drawn: int, true: tuple[I64, F64], found: tuple[I64, F64]) -> MeasuredRecall:
    """Compare the true neighbours of the rows drawn with those found, given as row and similarity."""
    wanted, offered = (
        Counter(zip(*map(np.ndarray.tolist, columns), strict=True)) for columns in (true, found)
    )
    counts = (_by_level(neighbours) for neighbours in (wanted, wanted & offered))
    levels = (
        Level(at_least=level, true=true, found=found)
        for level, true, found in zip(LEVELS, *counts, strict=True)
    )
    return MeasuredRecall(drawn=drawn, rows=len({row for row, _ in wanted}), levels=tuple(levels))


def _by_level(neighbours: Counter[tuple[int, float]]) -> list[int]:
    reached = [
        sum(count for (_, similarity), count in neighbours.items() if similarity >= level) for level in LEVELS
    ]
    return [here - before for before, here in pairwise([0, *reached])]
