"""Where the ticks of an axis go, and where a value lies on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

_SHARE_STEPS = (0.1, 0.2, 0.25, 0.5, 1.0)


def share_ticks(most: float) -> list[float]:
    """Round values from 0 to 1, at most `most` of them and at least the two ends."""
    step = next((step for step in _SHARE_STEPS if 1 / step + 1 <= most), 1.0)
    return [n * step for n in range(round(1 / step) + 1)]


def round_ticks(low: float, high: float, most: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within [low, high], about as many as `most` at most."""
    if (low, high) == (0.0, 1.0):
        return share_ticks(most)
    rough = (high - low) / max(1.0, most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # n * step would print 0.30000000000000004.
    return [float(f"{n * step:.12g}") for n in range(first, last + 1)]


@dataclass(frozen=True)
class CountScale:
    """Heights of counts, from 0 at the bottom to 1 at `top`.

    A logarithmic scale shows log(1 + count): where nearly all pairs are unlike, the few similar ones would
    be invisible otherwise, and an empty bin still has no height.
    """

    top: float
    log: bool = False

    @classmethod
    def over(cls, largest: float, *, log: bool = False) -> CountScale:
        """A scale with room for `largest`, ending at a round number; over nothing, it ends at 1."""
        if largest <= 1:
            return cls(top=1.0, log=log)
        if log:
            return cls(top=10.0 ** math.ceil(math.log10(largest) - 1e-9), log=True)
        power = 10.0 ** math.floor(math.log10(largest))
        return cls(
            top=next(f * power for f in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if f * power >= largest)
        )

    def height(self, count: float) -> float:
        """How high a count stands, from 0 to 1."""
        return math.log1p(count) / math.log1p(self.top) if self.log else count / self.top

    def ticks(self, most: float) -> list[float]:
        """Round counts from 0 to `top`, both included, about `most` of them at most; whole numbers only."""
        if self.log:
            powers = round(math.log10(self.top))
            every = max(1, math.ceil((powers + 1) / max(1.0, most - 1)))
            return [0.0, *(10.0**n for n in range(powers % every, powers + 1, every))]
        for parts in (6, 5, 4, 3, 2):
            step = self.top / parts
            if (
                parts + 1 <= most
                and step == int(step)
                and len(f"{step:.12g}".strip("0").replace(".", "")) <= 2
            ):
                return [n * step for n in range(parts + 1)]
        return [0.0, self.top]
