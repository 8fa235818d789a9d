"""The Hamming pyramid of a boolean matrix, folded literally, to read and to check by hand.

A matrix of R rows is folded by OR-ing rows two by two, over and over, until one row is left: log₂ R further
matrices, of R/2 + R/4 + … + 1 = R − 1 rows together, so all levels are read at the cost of reading the
matrix twice. A column grows denser from level to level. One level or more sees it with 20% to 80% ones, and
only there do few differing rows tell columns apart. `method="pyramid"` does the same with hashes of elements
in place of rows (`rust/kernels/src/pyramid.rs`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.pyramid import DENSE, SPARSE
from lookalike.types import I64, Bools


def folded(matrix: Any) -> Bools:
    """The matrix with its rows OR-ed two by two; of an odd number of rows the last is alone.

    Examples
    --------
    >>> column = [[digit == "1"] for digit in "00110010"]
    >>> "".join("01"[row] for row in folded(column)[:, 0].astype(int))
    '0101'
    """
    rows = _boolean(matrix)
    if len(rows) % 2:
        rows = np.concatenate([rows, np.zeros((1, rows.shape[1]), np.bool_)])
    halves: Bools = rows[::2] | rows[1::2]
    return halves


def levels(matrix: Any) -> list[Bools]:
    """The matrix and all its folded forms, down to one row."""
    every = [_boolean(matrix)]
    while len(every[-1]) > 1:
        every.append(folded(every[-1]))
    return every


def looked_at(matrix: Any) -> I64:
    """The columns of one level that are dense enough and not too dense to be told apart there: 20% to 80%."""
    share = _boolean(matrix).mean(axis=0)
    return np.flatnonzero((share >= SPARSE) & (share <= DENSE))


def _boolean(matrix: npt.ArrayLike) -> Bools:
    try:
        rows = np.asarray(matrix)
    except ValueError:  # rows of several widths
        rows = np.empty(0)
    if rows.ndim != 2 or not rows.size or not np.isin(rows, (0, 1)).all():
        raise OptionError("a boolean matrix is one row of 0 and 1 or more, all of one length")
    return rows.astype(np.bool_)
