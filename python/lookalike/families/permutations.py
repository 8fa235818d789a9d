"""MinHash under orders that are written out: the reference one can check by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.wording import several

#: Stands in a slot of an empty set.
NOTHING = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Permutations:
    """MinHash under explicit orders of a small universe.

    Parameters
    ----------
    ranks
        One order a slot: `ranks[slot][row]` is the rank of a row, any distinct numbers (or, for hash
        functions that stand in for orders, any numbers).

    Examples
    --------
    >>> rows = ["1010", "1001", "0101", "0101", "0101", "1010", "1010"]
    >>> orders = [(2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5)]
    >>> Permutations(orders).signatures(rows).T.tolist()
    [[2, 1, 2, 1], [2, 1, 4, 1], [1, 2, 1, 2]]
    """

    ranks: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        if len({len(order) for order in self.ranks}) != 1:
            raise OptionError("ranks must hold at least one order, all of one length: a rank for every row")

    @classmethod
    def of_functions(cls, functions: Iterable[Callable[[int], int]], rows: Iterable[int]) -> Permutations:
        """Orders given by hash functions of row numbers."""
        rows = list(rows)
        return cls([[function(row) for row in rows] for function in functions])

    def signatures(self, matrix: Sequence[Any]) -> npt.NDArray[np.int64]:
        """Sign the columns of a boolean matrix, one signature a column, in one pass over its rows.

        `matrix` is a sequence of rows; a row is a string of 0 and 1 or a sequence of truth values.
        """
        rows = [[entry not in (0, "0", False) for entry in row] for row in matrix]
        if len(rows) != len(self.ranks[0]):
            raise OptionError(
                f"the matrix has {several(len(rows), 'row')}, but the orders rank {len(self.ranks[0])}"
            )
        width = len(rows[0]) if rows else 0
        if any(len(entries) != width for entries in rows):
            raise OptionError(f"the rows of the matrix differ in length: the first has {width} columns")
        signatures = np.full((width, len(self.ranks)), NOTHING, dtype=np.int64)
        for row, entries in enumerate(rows):
            # The hash of a row is computed once, not once a column.
            hashes = np.array([order[row] for order in self.ranks], dtype=np.int64)
            for column in np.flatnonzero(entries):
                np.minimum(signatures[column], hashes, out=signatures[column])
        return signatures
