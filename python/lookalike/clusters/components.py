"""Connected components of pairs."""

from __future__ import annotations

import numpy as np

from lookalike import _core
from lookalike.types import I64, U32


def component_labels(rows: int, a: I64, b: I64) -> U32:
    """The least row of every row's component.

    Examples
    --------
    >>> component_labels(5, np.array([1, 4]), np.array([3, 3])).tolist()
    [0, 1, 2, 1, 1]
    """
    forest = _core.Forest(rows)
    forest.join(np.ascontiguousarray(a, np.uint32), np.ascontiguousarray(b, np.uint32))
    return forest.labels()
