"""Normal numbers from uniform ones, and directions from normal numbers.

Random hyperplanes and lines need directions that are all equally likely. A vector of independent standard
normal numbers has such a direction, since their joint density depends on the length alone. Box and Muller
make two of them from two uniform numbers U and V: in polar coordinates the squared radius −2 ln(1 − U) is
exponential and the angle 2πV even, which is what two independent normal numbers have.

The kernels draw theirs by another method (`rust/kernels/src/draws.rs`); this is the one to read and to hold
them against.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.types import F64


def box_muller(u: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Any, Any]:
    """Two independent standard normal numbers from two uniform ones of [0, 1), or arrays of them.

    1 − U is over 0, so its logarithm is finite; ln U would not be, for U = 0 may be drawn.

    Examples
    --------
    >>> x, y = box_muller(0.5, 0.25)
    >>> abs(x) < 1e-9, round(y * y, 9)
    (True, 1.386294361)
    """
    first, second = np.asarray(u, np.float64), np.asarray(v, np.float64)
    for name, numbers in (("u", first), ("v", second)):
        if not ((numbers >= 0) & (numbers < 1)).all():
            raise OptionError(f"{name} is out of range: uniform numbers lie from 0 to under 1")
    # 0.0 − x rather than −x: the root of −0.0 would be −0.0.
    radius = np.sqrt(0.0 - 2 * np.log1p(-first))
    angle = 2 * np.pi * second
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return (float(x), float(y)) if x.ndim == 0 else (x, y)


def standard_normals(count: int, source: np.random.Generator) -> F64:
    """So many independent standard normal numbers, by Box and Muller from a source of uniform ones."""
    pairs = -(-count // 2)
    x, y = box_muller(source.random(pairs), source.random(pairs))
    return np.stack([x, y], axis=1).reshape(-1)[:count]


def affine(normals: npt.ArrayLike, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> F64:
    """Normal vectors of a mean µ and a covariance Σ, from rows of independent standard normal numbers.

    x = µ + L·z, where L is the lower triangle with L·Lᵀ = Σ (Cholesky). Two coordinates are independent if
    their entry in Σ is 0.

    Examples
    --------
    >>> affine([[1, 0], [0, 1]], mean=[10, 20], covariance=[[4, 2], [2, 2]]).tolist()
    [[12.0, 21.0], [10.0, 21.0]]
    """
    z, mu, sigma = (np.asarray(values, np.float64) for values in (normals, mean, covariance))
    if z.ndim != 2 or mu.shape != z.shape[1:] or sigma.shape != (*mu.shape, *mu.shape):
        raise OptionError(
            f"rows of shape {z.shape}, a mean of {mu.shape} and a covariance of {sigma.shape} do not go"
            " together: for vectors of d numbers give a mean of d and a covariance of d × d"
        )
    try:
        if not np.array_equal(sigma, sigma.T):
            raise np.linalg.LinAlgError
        triangle = np.linalg.cholesky(sigma)
    except np.linalg.LinAlgError:
        raise OptionError(
            "covariance is none: it is symmetric, and no direction has a variance of 0"
        ) from None
    vectors: F64 = mu + z @ triangle.T
    return vectors


def directions(count: int, dimensions: int, source: np.random.Generator) -> F64:
    """Unit vectors of which all directions are equally likely: normal numbers over their length."""
    rows = standard_normals(count * dimensions, source).reshape(count, dimensions)
    unit: F64 = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def by_latitude_and_longitude(count: int, source: np.random.Generator) -> F64:
    """Unit vectors in space by an even latitude and an even longitude: **not** equally likely directions.

    A degree of latitude is a small ring near a pole and a large one at the equator, and yet each gets as many
    vectors. So these crowd at the poles, and hyperplanes drawn like this do not agree with chance 1 − θ/180°.
    """
    latitude = np.pi * (source.random(count) - 0.5)
    longitude = 2 * np.pi * source.random(count)
    ring = np.cos(latitude)
    return np.stack([ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude)], axis=1)
