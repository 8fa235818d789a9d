"""Exact measures of vectors, for one pair or for a batch: the references that faster roads are held against.

    l1  l2  lr  linf        Σ|aᵢ−bᵢ|, √Σ(aᵢ−bᵢ)², (Σ|aᵢ−bᵢ|ʳ)^(1/r), max |aᵢ−bᵢ|
    angle                   between the directions of a and b, in degrees
    angular                 the same as a share of 180 degrees, from 0 to 1
    hamming                 how many positions differ
    cosine                  of that angle; no distance
    weighted_jaccard        Σmin/Σmax of weights; 1 minus it is a distance

All that claim to be distances obey the four axioms: never under 0, 0 for equal items and for no others, the
same in both directions, and no detour is shorter. The angle does so for directions: a vector and its double
are the same one, and a vector of zeros has none (its cosine counts as 0, its angle as 90°). **1 − cosine is
not a distance**: from 0° to 45° and on to 90° it adds up to .59, and straight it is 1.

A vector is a row of numbers or, for one pair, a mapping from coordinates to values that are not 0. Of two
matrices row i is compared with row i; of a vector and a matrix, the vector with every row. Sums are rounded
once, from the exact sum (`math.fsum`), so they depend on no order and no machine; the root of `lr` and the
arc of `angle` are the C library's, whose last bit may differ between machines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from lookalike.errors import OptionError
from lookalike.measures.vectors import rounded_cosines
from lookalike.types import F64

#: One pair gives a number, a batch an array.
Distances = Any


def l1(a: Any, b: Any) -> Distances:
    """Σ|aᵢ − bᵢ|.

    Examples
    --------
    >>> l1([1, 2, 3], [4, 2, 1]), l1([0, 0], [[1, 1], [2, 0]]).tolist()
    (5.0, [2.0, 2.0])
    """
    return _row_by_row(lambda x, y: _sum(np.abs(_apart(x, y))), a, b)


def l2(a: Any, b: Any) -> Distances:
    """√Σ(aᵢ − bᵢ)².

    Examples
    --------
    >>> l2([0, 0], [3, 4])
    5.0
    """
    return _row_by_row(lambda x, y: _length(_apart(x, y)), a, b)


def lr(a: Any, b: Any, r: float) -> Distances:
    """(Σ|aᵢ − bᵢ|ʳ)^(1/r), for r of 1 or more: under 1 a detour could be shorter.

    Examples
    --------
    >>> lr([0, 0], [3, 4], 2), lr([0, 0], [3, 4], float("inf"))
    (5.0, 4.0)
    """
    if isinstance(r, bool) or not isinstance(r, Real) or not r >= 1:
        raise OptionError(f"r={r!r} is out of range: 1 or more, for under 1 Lr is no distance")
    return (
        linf(a, b) if r == math.inf else _row_by_row(lambda x, y: _norm(np.abs(_apart(x, y)), float(r)), a, b)
    )


def linf(a: Any, b: Any) -> Distances:
    """The largest |aᵢ − bᵢ|: what Lr comes to as r grows."""
    return _row_by_row(lambda x, y: float(np.abs(_apart(x, y)).max(initial=0.0)), a, b)


def cosine(a: Any, b: Any) -> Distances:
    """⟨a, b⟩ / (|a|·|b|), from −1 to 1; 0 if one is all zeros. A similarity, and 1 − it is no distance.

    Examples
    --------
    >>> cosine([1, 2, -1], [2, 1, 1])
    0.5
    """
    return _row_by_row(_cosine, a, b)


def angle(a: Any, b: Any) -> Distances:
    """The angle between two directions, from 0 to 180 degrees; 90 if one is all zeros.

    Examples
    --------
    >>> round(angle([1, 2, -1], [2, 1, 1]), 9), angle([1, 0], [[2, 0], [0, 3], [-1, 0]]).tolist()
    (60.0, [0.0, 90.0, 180.0])
    """
    return _row_by_row(_angle, a, b)


def angular(a: Any, b: Any) -> Distances:
    """The angle as a share of 180 degrees, from 0 to 1: how often a random hyperplane parts two directions.

    Examples
    --------
    >>> angular([1, 0], [[2, 0], [1, 1], [0, 3], [-1, 0]]).tolist()
    [0.0, 0.25, 0.5, 1.0]
    """
    return _row_by_row(lambda x, y: _angle(x, y) / 180, a, b)


def weighted_jaccard(a: Any, b: Any) -> Distances:
    """Σmin/Σmax of weights of 0 or more; 0 if all are 0. For bags and sets by name see `measures.exact`.

    Examples
    --------
    >>> weighted_jaccard([2, 0, 1], [1, 1, 1]), weighted_jaccard({"x": 0.5, "y": 2}, {"x": 1.5, "z": 0.5})
    (0.5, 0.125)
    """
    return _row_by_row(_weighted_jaccard, a, b)


def hamming(a: Any, b: Any) -> Distances:
    """In how many positions two rows of anything differ: bits, numbers, bytes, or the letters of two strings.

    Examples
    --------
    >>> hamming("10101", "11110"), hamming([0, 1, 1], [[0, 1, 1], [1, 0, 0]]).tolist()
    (3, [0, 3])
    """
    a, b = _aligned(a, b)
    left, right = _values(a), _values(b)
    _check_shapes(left, right)
    try:
        unequal = np.not_equal(left, right)
    except TypeError:
        raise OptionError(f"{a!r:.40} and {b!r:.40} are not of a kind: give two rows of the same") from None
    differ = unequal.sum(axis=-1, dtype=np.int64)
    return int(differ) if differ.ndim == 0 else differ


def _cosine(x: F64, y: F64) -> float:
    x, y = _scaled(x)[0], _scaled(y)[0]
    # One root of both squares, not two: it makes 1/2 of [1, 2, −1] and [2, 1, 1].
    lengths = math.sqrt(math.fsum(x * x) * math.fsum(y * y))
    return float(rounded_cosines(np.clip(math.fsum(x * y) / lengths, -1.0, 1.0))) if lengths else 0.0


def _angle(x: F64, y: F64) -> float:
    # Not by the arc cosine, which knows nothing of angles under a hundred-millionth of a radian: by the
    # diagonals of the rhombus that two unit vectors span, of which one is short where the other is long.
    x, y = _scaled(x)[0], _scaled(y)[0]
    x_length, y_length = _length(x), _length(y)
    if not x_length or not y_length:
        return 90.0
    x, y = x * y_length, y * x_length
    return math.degrees(2 * math.atan2(_length(x - y), _length(x + y)))


def _weighted_jaccard(x: F64, y: F64) -> float:
    if np.any(x < 0) or np.any(y < 0):
        raise OptionError("a weight is negative: Σmin/Σmax is for weights of 0 or more")
    # Sums of very large weights are no numbers, but their quotient is.
    _, exponent = _scaled(np.maximum(x, y))
    x, y = np.ldexp(x, -exponent), np.ldexp(y, -exponent)
    most = math.fsum(np.maximum(x, y))
    return math.fsum(np.minimum(x, y)) / most if most else 0.0


def _apart(x: F64, y: F64) -> F64:
    with np.errstate(over="ignore"):  # what no float can hold is infinitely far apart
        return x - y


def _sum(x: F64) -> float:
    try:
        return math.fsum(x)
    except OverflowError:
        return math.inf


def _length(x: F64) -> float:
    if np.isinf(x).any():
        return math.inf
    scaled, exponent = _scaled(x)
    return math.ldexp(math.sqrt(math.fsum(scaled * scaled)), exponent)


def _norm(x: F64, r: float) -> float:
    most = float(x.max(initial=0.0))
    if most == math.inf:
        return most
    return most * math.fsum((value / most) ** r for value in x.tolist()) ** (1 / r) if most else 0.0


def _scaled(x: F64) -> tuple[F64, int]:
    """A vector over a power of two near its largest value, and that power: squares stay within range."""
    exponent = math.frexp(float(np.abs(x).max(initial=0.0)))[1]
    return np.ldexp(x, -exponent), exponent


def _row_by_row(measure: Callable[[F64, F64], float], a: Any, b: Any) -> Distances:
    left, right = _vectors(a, b)
    if left.ndim == right.ndim == 1:
        return measure(left, right)
    left, right = np.broadcast_arrays(left, right)
    return np.array([measure(x, y) for x, y in zip(left, right, strict=True)], np.float64)


def _vectors(a: Any, b: Any) -> tuple[F64, F64]:
    a, b = _aligned(a, b)
    left, right = _numbers(a), _numbers(b)
    _check_shapes(left, right)
    return left, right


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Two mappings as rows of the values of all their coordinates; anything else as it is."""
    if isinstance(a, Mapping) != isinstance(b, Mapping):
        raise OptionError("one vector is a mapping and the other is not: give two of a kind")
    if isinstance(a, Mapping):
        coordinates = {**dict.fromkeys(a), **dict.fromkeys(b)}
        return [a.get(at, 0) for at in coordinates], [b.get(at, 0) for at in coordinates]
    return a, b


def _values(row: Any) -> Any:
    """A row of anything, or several, as an array: a string or bytes letter by letter."""
    try:
        values = np.array(list(row)) if isinstance(row, str | bytes | bytearray) else np.asarray(row)
    except ValueError:
        raise OptionError(f"{row!r:.40} is no row: give as many values in every row") from None
    if values.dtype.kind in "fc" and np.isnan(values).any():
        raise OptionError("a row holds NaN, which differs even from itself: drop it, or give it a value")
    return values


def _numbers(vector: Sequence[Any] | Any) -> F64:
    try:
        numbers = np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{vector!r:.40} is no vector: give numbers, as many in every row") from None
    if not np.isfinite(numbers).all():
        raise OptionError("a vector holds a value that is no finite number: drop it, or give it a value")
    return numbers


def _check_shapes(a: Any, b: Any) -> None:
    fit = a.shape[-1:] == b.shape[-1:] and (a.ndim < 2 or b.ndim < 2 or len(a) == len(b))
    if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and fit):
        raise OptionError(
            f"shapes {a.shape} and {b.shape} do not go together: give two vectors of one length, two "
            "matrices of as many rows, or one vector and a matrix"
        )
