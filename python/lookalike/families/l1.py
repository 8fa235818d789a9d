"""Projections for vectors by L1, and L1 of small whole numbers as Hamming distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.families.projections import Projected
from lookalike.keywords import suggesting
from lookalike.theory.collisions import CauchyCollision
from lookalike.theory.ranges import whole
from lookalike.types import Bools


@suggesting()
@dataclass(frozen=True, kw_only=True)
class L1(Projected):
    """Cauchy projections; a slot is the bucket of a random line in which a vector lies.

    Parameters
    ----------
    width
        Of a bucket. At that L1 distance two vectors share a bucket with chance .2794.
    slots
        How many lines.
    seed
        Draws them. Signatures of different seeds or widths do not compare.

    Examples
    --------
    >>> buckets = L1(width=3.0, slots=2000).signatures([[0.0, 0.0], [1.0, 2.0]])
    >>> float((buckets[0] == buckets[1]).mean().round(1))
    0.3
    >>> L1.embed([[2, 0], [1, 3]], levels=3).astype(int).tolist()
    [[1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 1]]
    """

    width: float
    slots: int = 256
    seed: int = 0

    kind = "cauchy"

    @property
    def law(self) -> CauchyCollision:
        """How often two vectors share a bucket, by L1 distance."""
        return CauchyCollision(self.width)

    @staticmethod
    def embed(items: Any, *, levels: int) -> Bools:
        """Whole numbers from 0 to `levels`, each in unary: L1 distances become Hamming distances, exactly.

        A coordinate x becomes `levels` bits, the first x of them set; packed by `np.packbits` they are items
        for the families of bits.
        """
        most = whole(levels)
        if most is None or most < 1:
            raise OptionError(f"levels={levels!r} is out of range: a whole number, 1 or more")
        try:
            numbers: npt.NDArray[Any] = np.asarray(items)
        except ValueError:  # rows of several widths
            numbers = np.empty(0)
        fits = numbers.ndim == 2 and (
            numbers.dtype.kind in "iub"
            or (numbers.dtype.kind == "f" and (numbers == np.floor(numbers)).all())
        )
        if not fits or (numbers.size and not 0 <= numbers.min() <= numbers.max() <= most):
            raise OptionError(f"embed takes the rows of a matrix of whole numbers from 0 to levels={most}")
        bits: Bools = numbers[:, :, None] > np.arange(most)
        return bits.reshape(len(numbers), numbers.shape[1] * most)
