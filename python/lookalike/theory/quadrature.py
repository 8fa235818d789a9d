"""Areas under curves that have no closed form, by Gauss and Legendre's rule on panels halved where needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_ORDER = 16
_HALVINGS = 40


def integral(
    function: Callable[[FloatArray], FloatArray], low: float, high: float, *, bends: npt.ArrayLike = ()
) -> float:
    """∫ of a function of arrays that is not negative, to about twelve digits.

    `bends` is where the function has corners. One close to the end of a panel lies behind the last point of
    the panel and of its halves as well, and would not be noticed.

    Examples
    --------
    >>> round(integral(np.sqrt, 0.0, 1.0), 10)
    0.6666666667
    """
    corners = np.asarray(bends, np.float64)
    edges = np.unique(np.concatenate([[low], corners[(low < corners) & (corners < high)], [high]]))
    waiting = [
        (left, right, _panel(function, left, right), _HALVINGS) for left, right in pairwise(edges.tolist())
    ]
    area, whole = 0.0, sum(guess for *_, guess, _ in waiting)
    while waiting:
        left, right, guess, halvings = waiting.pop()
        middle = (left + right) / 2
        first, second = _panel(function, left, middle), _panel(function, middle, right)
        # The area so far bounds the whole from below; the first guess alone may have missed a narrow hill.
        if halvings == 0 or abs(first + second - guess) <= 1e-13 * max(whole, area, first + second):
            area += first + second
        else:
            waiting += [(left, middle, first, halvings - 1), (middle, right, second, halvings - 1)]
    return area


def nodes(low: float, high: float, panels: int = 16) -> tuple[FloatArray, FloatArray]:
    """Points and weights: the weighted sum of a smooth curve is close to its area."""
    points, weights = _rule()
    edges = np.linspace(low, high, panels + 1)
    half = np.diff(edges)[:, np.newaxis] / 2
    return (edges[:-1, np.newaxis] + half * (points + 1)).ravel(), (half * weights).ravel()


def _panel(function: Callable[[FloatArray], FloatArray], low: float, high: float) -> float:
    points, weights = nodes(low, high, panels=1)
    return float(weights @ function(points))


@lru_cache(maxsize=1)
def _rule() -> tuple[FloatArray, FloatArray]:
    points, weights = np.polynomial.legendre.leggauss(_ORDER)
    return points, weights
