"""What makes two sets similar, from three counts: what they share, and how much each holds.

Every measure rises with what is shared when the sizes stay as they are, so a threshold becomes a least count
of shared elements and a window of sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.measures.bounds import Bound
from lookalike.types import F64

Counts = npt.NDArray[np.integer]


@dataclass(frozen=True)
class OverlapMeasure:
    """A similarity of two sets that depends on |a ∩ b|, |a| and |b| alone.

    Attributes
    ----------
    name
        What users call it.
    directed
        Whether (a, b) and (b, a) are two questions: containment asks how much of a is in b.
    """

    name: str
    directed: bool
    _formula: Callable[[F64, F64, F64], F64]

    def __call__(self, shared: Counts, size_a: Counts, size_b: Counts) -> F64:
        """The similarity; 0 where nothing is shared."""
        i, a, b = (np.asarray(counts, np.float64) for counts in (shared, size_a, size_b))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(i > 0, self._formula(i, a, b), 0.0)

    def at_least(self, threshold: float, *, across: bool = False) -> Bound:
        """What a threshold asks of sizes and shared elements; `across`: a and b are of two collections.

        Raises
        ------
        OptionError
            If the threshold is out of range: over 0 and at most 1, but for overlap, which is a count.
        """
        if self.name == "overlap":
            if not 1 <= threshold < np.inf:
                raise OptionError(f"threshold={threshold:g} is out of range: overlap is a count, 1 or more")
        elif not 0 < threshold <= 1:
            raise OptionError(f"threshold={threshold:g} is out of range: {self.name} is over 0 and at most 1")
        return Bound(self.name, float(threshold), across)


JACCARD = OverlapMeasure("jaccard", False, lambda i, a, b: i / (a + b - i))
CONTAINMENT = OverlapMeasure("containment", True, lambda i, a, b: i / a)
COSINE = OverlapMeasure("cosine", False, lambda i, a, b: i / np.sqrt(a * b))
OVERLAP = OverlapMeasure("overlap", False, lambda i, a, b: i)

MEASURES = {measure.name: measure for measure in (JACCARD, CONTAINMENT, COSINE, OVERLAP)}


def overlap_measure(name: str) -> OverlapMeasure:
    """The measure of a name."""
    if name not in MEASURES:
        raise OptionError(f"measure={name!r} is unknown: choose {', '.join(MEASURES)}")
    return MEASURES[name]
