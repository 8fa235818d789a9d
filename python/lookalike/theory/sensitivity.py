"""(d₁, d₂, p₁, p₂)-sensitive: what a family promises of near pairs and of far ones."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from lookalike.errors import OptionError
from lookalike.theory.amplification import Amplifiable, Amplification
from lookalike.theory.range_queries import RangeQuery


@dataclass(frozen=True)
class Sensitivity(Amplifiable["Sensitivity"]):
    """Pairs within `d1` agree with probability `p1` or more, pairs `d2` or more apart with `p2` or less.

    The probability is over the draw of the function, for any one pair. Nothing is promised of pairs between
    the two distances.

    Examples
    --------
    >>> print(Sensitivity(0.2, 0.8, 0.8, 0.2).or_(4).and_(4).and_(4).or_(4))
    (0.2, 0.8, 0.9999996, 0.0008715)-sensitive
    """

    d1: float
    d2: float
    p1: float
    p2: float

    def __post_init__(self) -> None:
        if not 0 <= self.d1 < self.d2:
            raise OptionError(
                f"d1={self.d1:g}, d2={self.d2:g} are no near and far distance: 0 or more, and d1 the smaller"
            )
        if not 0 <= self.p2 <= self.p1 <= 1:
            raise OptionError(
                f"p1={self.p1:g}, p2={self.p2:g} are no chances of near and far pairs:"
                " from 0 to 1, and p1 not the smaller"
            )

    def amplified(self, amplification: Amplification) -> Sensitivity:
        """The same distances, and what AND and OR make of the probabilities."""
        return Sensitivity(
            self.d1, self.d2, amplification.probability(self.p1), amplification.probability(self.p2)
        )

    @property
    def rho(self) -> float:
        """ln(1/p₁) / ln(1/p₂), the power of n that a range query among n items costs: the less the better.

        Examples
        --------
        >>> round(Sensitivity(1, 2, 2 / 3, 1 / 3).rho, 3)
        0.369
        """
        if self.p1 == 1:
            return 0.0 if self.p2 < 1 else 1.0
        if self.p2 == 0:
            return 0.0 if self.p1 > 0 else 1.0
        return math.log(self.p1) / math.log(self.p2)

    def range_query(self, items: int) -> RangeQuery:
        """Tables for asking, among `items`, for some item within d2 whenever there is one within d1."""
        return RangeQuery(items=items, near=self.p1, far=self.p2)

    def to_dict(self) -> dict[str, float]:
        """As plain values for JSON; `Sensitivity(**…)` reads them back."""
        return asdict(self)

    def __str__(self) -> str:
        return f"({self.d1:g}, {self.d2:g}, {_chance(self.p1)}, {_chance(self.p2)})-sensitive"


def _chance(probability: float) -> str:
    """Seven decimals, and four digits of what would vanish among them."""
    if 0 < probability < 1e-5:
        return f"{probability:.2g}"
    return f"{probability:.7f}".rstrip("0").rstrip(".")
