"""Items with many measurements, compared by how many of these are close."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import MalformedRowError, OptionError, SourceError
from lookalike.measures.vectors import check_masked
from lookalike.types import F64
from lookalike.wording import several


def close_share(a: Any, b: Any, within: Any) -> Any:
    """In which share of positions two items differ by at most `within`: one number, or one for each position.

    Examples
    --------
    >>> close_share([10, 20, 30, 40], [11, 20, 35, 38], 2)
    0.75
    """
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if left.shape[-1:] != right.shape[-1:] or left.shape[-1:] in ((), (0,)):
        raise OptionError(
            f"items of {left.shape[-1:]} and {right.shape[-1:]} measurements cannot be compared: give as many"
        )
    count = left.shape[-1]
    shares = np.count_nonzero(np.abs(left - right) <= checked_within(within, count), axis=-1) / count
    return float(shares) if np.ndim(shares) == 0 else shares


def checked_within(within: Any, dimensions: int) -> F64:
    """How far close values may be apart, for each measurement."""
    try:
        numbers = np.broadcast_to(np.asarray(within, np.float64), (dimensions,))
    except (TypeError, ValueError, OverflowError):
        raise OptionError(
            f"within={within!r:.40} does not go with {several(dimensions, 'measurement')}: "
            "give one number, or as many"
        ) from None
    if not np.all((numbers >= 0) & np.isfinite(numbers)):
        raise OptionError(f"within={within!r:.40} is out of range: a number, 0 or more")
    return numbers


def checked_share(share: float) -> float:
    """The share of positions that must be close."""
    if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 < share <= 1:
        raise OptionError(f"share={share!r} is out of range: over 0 and at most 1 (0.9 for 90% of positions)")
    return float(share)


def as_measurements(items: Any, dimensions: int | None = None) -> F64:
    """A matrix of measurements, one row an item."""
    check_masked(items)
    try:
        matrix = np.asarray(items, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SourceError("measurements must be numbers, as many for every item") from None
    if matrix.size == 0 and matrix.ndim < 2:
        matrix = matrix.reshape(0, dimensions or 0)
    if matrix.ndim != 2 or (dimensions is not None and matrix.shape[1] != dimensions):
        wanted = "as many" if dimensions is None else str(dimensions)
        raise SourceError(
            f"measurements of shape {matrix.shape} do not do: one row an item, {wanted} in each"
        )
    if not np.isfinite(matrix).all():
        row, column = (int(place) for place in np.argwhere(~np.isfinite(matrix))[0])
        raise MalformedRowError(
            f"row {row} (counted from 0): measurement {column} is {matrix[row, column]}, which is no finite"
            " number: drop the item, or give it a value"
        )
    return np.ascontiguousarray(matrix)
