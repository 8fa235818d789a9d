"""Hyperplanes whose normals are written out: the reference that one can check by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.types import F64, Bools


@dataclass(frozen=True)
class GivenHyperplanes:
    """Hyperplanes through the origin by given normals; a slot is the side on which a vector lies.

    Nothing is drawn here, so nothing is promised of how often slots agree. `la.Hyperplane` draws normals and
    signs large collections.

    Parameters
    ----------
    normals
        One a slot, each of as many numbers as a vector has.

    Examples
    --------
    >>> planes = GivenHyperplanes([(1, -1, 0), (0, 1, 1)])
    >>> planes.products([[2, 1, 0], [1, 3, -3]]).tolist()
    [[1.0, 1.0], [-2.0, 0.0]]
    >>> planes.written([[2, 1, 0], [1, 3, -3]])
    ['++', '-+']
    """

    normals: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        _matrix(self.normals, "normals")

    def products(self, vectors: npt.ArrayLike) -> F64:
        """The product of every vector with every normal: a row a vector, a column a slot."""
        normals, rows = _matrix(self.normals, "normals"), _matrix(vectors, "vectors")
        if normals.shape[1] != rows.shape[1]:
            raise OptionError(f"vectors of {rows.shape[1]} numbers do not fit normals of {normals.shape[1]}")
        products: F64 = rows @ normals.T
        return products

    def signatures(self, vectors: npt.ArrayLike) -> Bools:
        """The sides on which vectors lie; what lies on a hyperplane is on its upper side."""
        sides: Bools = self.products(vectors) >= 0
        return sides

    def written(self, vectors: npt.ArrayLike) -> list[str]:
        """Signatures as one writes them: `+` and `-`, a string a vector."""
        return ["".join("-+"[int(side)] for side in row) for row in self.signatures(vectors)]


def _matrix(rows: Any, what: str) -> F64:
    try:
        matrix = np.asarray(rows, np.float64)
    except (TypeError, ValueError):  # rows of several lengths, or of what is no number
        matrix = np.empty(0)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise OptionError(f"{what} are one row of numbers or more, all of one length")
    return matrix
