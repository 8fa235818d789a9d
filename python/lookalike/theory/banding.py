"""A banding and its S-curve: the chance that two signatures meet, as a function of their similarity.

A signature of b·r slots is cut into b bands of r rows. Two items become a candidate when they agree in every
row of at least one band. One slot agrees with probability s, the similarity; a band with sʳ; no band at all
with (1 − sʳ)ᵇ. So the chance of meeting is 1 − (1 − sʳ)ᵇ: flat, then steep around (1/b)^(1/r), then flat.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.areas import missed_above, passed_below

FloatArray = npt.NDArray[np.float64]

_LOG_HALF = float(np.log(0.5))


@dataclass(frozen=True)
class Banding:
    """How a signature is cut: `bands` bands of `rows` rows each.

    Examples
    --------
    >>> banding = Banding(bands=20, rows=5)
    >>> round(banding.probability(0.8), 4)
    0.9996
    >>> round(banding.miss(0.8), 6)
    0.000356
    """

    bands: int
    rows: int

    def __post_init__(self) -> None:
        for name in ("bands", "rows"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise OptionError(
                    f"{name}={value!r} is out of range: a banding has a whole number of {name}, 1 or more"
                )
            # numpy's integers would print as np.int64(13) and cannot be written as JSON.
            object.__setattr__(self, name, int(value))

    @property
    def slots(self) -> int:
        """How many slots of a signature the bands use."""
        return self.bands * self.rows

    @property
    def threshold(self) -> float:
        """Where the curve is about to be steepest, (1/b)^(1/r): a rule of thumb, not a promise.

        At this similarity a pair meets with probability 1 − (1 − 1/b)ᵇ, about 63%. `plan` chooses the
        banding that meets a promised recall at the threshold asked for instead.
        """
        return float((1 / self.bands) ** (1 / self.rows))

    def probability(self, similarity: float) -> float:
        """The chance that a pair of this similarity becomes a candidate."""
        return float(self.probabilities(np.float64(similarity)))

    def miss(self, similarity: float) -> float:
        """The chance that a pair of this similarity never meets; exact to the last digits however small."""
        return float(np.exp(self._log_miss(_checked(np.float64(similarity)))))

    def probabilities(self, similarities: npt.ArrayLike) -> FloatArray:
        """`probability` of each similarity of an array."""
        # 0.0 − x, not −x: a chance of nothing is 0.0 and should not be printed as -0.0.
        return np.asarray(0.0 - np.expm1(self._log_miss(_checked(similarities))), dtype=np.float64)

    def false_negative_area(self, threshold: float) -> float:
        """∫ₜ¹ of `miss`: similar pairs that never meet, were all similarities equally common."""
        return missed_above(float(_checked(threshold)), bands=self.bands, rows=self.rows)

    def false_positive_area(self, threshold: float) -> float:
        """∫₀ᵗ of `probability`: dissimilar pairs that meet, were all similarities equally common."""
        return passed_below(float(_checked(threshold)), bands=self.bands, rows=self.rows)

    def to_dict(self) -> dict[str, int]:
        """As plain values for JSON; `Banding(**…)` reads them back."""
        return asdict(self)

    def _log_miss(self, similarities: FloatArray) -> FloatArray:
        """b · log(1 − sʳ), keeping digits both where sʳ is nearly 0 and where it is nearly 1."""
        with np.errstate(
            divide="ignore"
        ):  # log 0 = −∞ is meant: at s = 0 nothing meets, at s = 1 everything does
            log_power = self.rows * np.log(similarities)
            near_one = np.log(-np.expm1(log_power))
            near_zero = np.log1p(-np.exp(log_power))
        log_miss: FloatArray = self.bands * np.where(log_power > _LOG_HALF, near_one, near_zero)
        return log_miss


def _checked(similarities: Any) -> FloatArray:
    values = np.asarray(similarities, dtype=np.float64)
    within = (values >= 0) & (values <= 1)
    if not np.all(within):
        raise OptionError(
            f"{float(values[~within].flat[0]):g} is not a similarity: similarities lie from 0 to 1"
        )
    return values
