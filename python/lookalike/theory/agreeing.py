"""The chance that bands meet, where it is known in how many of the slots two signatures agree.

If they agree in m of n slots, any m slots are as likely as any others to be these. So the r slots of a band
are drawn without replacement. They all agree with chance m(m−1)…(m−r+1) / n(n−1)…(n−r+1), which is less than
(m/n)ʳ; but several bands are less likely to fail together. By inclusion and exclusion, none of b bands agrees
with chance

    Σⱼ (−1)ʲ C(b, j) C(n − jr, m − jr) / C(n, m),

whose terms are far larger than their sum. Here slots are gone through one by one instead: the next one agrees
with a chance equal to the share of agreeing slots among those that are left. No large terms cancel, so no
digits are lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.banding import Banding, FloatArray


@dataclass(frozen=True)
class AgreeingSlots:
    """How likely pairs meet in some band, by the share of all `slots` in which they agree.

    This is the law of pairs that are told by their signatures alone (`verify="signature"`): what is known of
    them is that share, exactly. The chance of pairs whose similarity is known is `Banding.probabilities`.

    Examples
    --------
    If one of two slots agrees, one of two bands of one slot does. Independent slots would only agree with a
    chance of 3/4.

    >>> float(AgreeingSlots(Banding(bands=2, rows=1), slots=2).probabilities(0.5))
    1.0
    """

    banding: Banding
    slots: int

    def __post_init__(self) -> None:
        if self.slots < self.banding.slots:
            raise OptionError(
                f"slots={self.slots} are fewer than {self.banding.bands} bands of {self.banding.rows} rows"
                f" take: {self.banding.slots} or more"
            )

    def probabilities(self, shares: npt.ArrayLike) -> FloatArray:
        """The chance that a pair becomes a candidate, for shares of slots that agree."""
        agreeing = np.rint(np.asarray(shares, np.float64) * self.slots).astype(np.int64)
        if np.any((agreeing < 0) | (agreeing > self.slots)):
            raise OptionError("a share of slots lies from 0 to 1")
        return chances_by_agreeing(self.banding, self.slots)[agreeing]


@lru_cache(maxsize=64)
def chances_by_agreeing(banding: Banding, slots: int) -> FloatArray:
    """The chance that some band agrees, if 0, 1, … `slots` slots do; time grows with the square of `slots`.

    Slots that the banding leaves over are in no band.

    Examples
    --------
    >>> chances_by_agreeing(Banding(bands=2, rows=1), 4).tolist()
    [0.0, 0.5, 0.8333333333333333, 1.0, 1.0]
    """
    left = slots - banding.slots
    # What is still to come, by how many of the slots left agree: first with no band left, then with more.
    later = np.zeros(left + 1)
    for _ in range(banding.bands):
        # The same with so many slots of a band left: if all before agree, and if one did not.
        whole, broken = np.ones_like(later), later
        for _ in range(banding.rows):
            left += 1
            agrees = np.arange(left + 1) / left
            differs = (1 - agrees) * np.append(broken, 0.0)
            whole = agrees * np.append(0.0, whole) + differs
            broken = agrees * np.append(0.0, broken) + differs
        later = whole
    later.flags.writeable = False
    return later
