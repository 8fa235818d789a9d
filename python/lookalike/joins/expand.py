"""Pairs of representatives → pairs of rows: exact copies as star edges, or each with each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lookalike import _core
from lookalike.bands import packed
from lookalike.types import I64, U32

#: Of a pair: its similarity, or its distance.
Values = npt.NDArray[Any]


def with_copies(
    near: tuple[I64, I64, Values],
    representative: I64 | U32,
    own: Values | None,
    *,
    boundary: int | None,
    expand: bool,
    directed: bool = False,
) -> tuple[I64, I64, Values]:
    """Near pairs between representatives and star edges to their copies, sorted.

    Expanded, every pair of copies and of what they are near to. Between two collections, `a` is of the first
    and `b` of the second, and copies stand for themselves. Of a directed measure, copies are pairs both ways.
    `near` is two rows and what is between them; `own`, of every row, what is between it and its copies: 1 by
    default.
    """
    copies = np.flatnonzero(representative != np.arange(len(representative), dtype=np.uint32))
    of_copies = _of(own, copies)
    firsts: I64 = representative[copies].astype(np.int64)
    stars = [(firsts, copies, of_copies)]
    if directed:
        stars.append((copies, firsts, of_copies))
    if boundary is not None or expand:
        a, b, value = _expanded(near, representative, own, boundary, directed=directed)
    elif len(copies):
        a, b, value = (np.concatenate(columns) for columns in zip(near, *stars, strict=True))
    else:
        a, b, value = near
    pairs = packed(a, b)
    # As joins mostly find them.
    if np.all(pairs[1:] >= pairs[:-1]):
        return a, b, value
    _, order = _core.sorted_runs([pairs], threads=1)
    return a[order], b[order], value[order]


def _of(own: Values | None, rows: I64) -> Values:
    return np.ones(len(rows)) if own is None else own[rows]


def _expanded(
    near: tuple[I64, I64, Values],
    representative: I64 | U32,
    own: Values | None,
    boundary: int | None,
    *,
    directed: bool,
) -> tuple[I64, I64, Values]:
    """Every pair of copies, and every copy of `a` with every copy of `b` for a near pair.

    If there is a boundary, only those across it.
    """
    members = np.argsort(representative, kind="stable")
    counts = np.bincount(representative, minlength=len(representative))
    starts = np.concatenate([[0], np.cumsum(counts)])
    inside = np.flatnonzero(counts > 1)
    left = np.concatenate([near[0], inside])
    right = np.concatenate([near[1], inside])
    value = np.concatenate([near[2], _of(own, inside)])
    times = counts[left] * counts[right]
    pair = np.repeat(np.arange(len(left)), times)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
    a = members[starts[left[pair]] + within // counts[right[pair]]]
    b = members[starts[right[pair]] + within % counts[right[pair]]]
    within_class = left[pair] == right[pair]
    if directed:
        # Between two collections copies are of one of them, so a is of the first already.
        wanted = np.where(within_class, a != b, True)
        if boundary is not None:
            wanted &= (a < boundary) & (b >= boundary)
        return a[wanted], b[wanted], value[pair][wanted]
    low, high = np.minimum(a, b), np.maximum(a, b)
    # A class paired with itself gives each pair twice and each row with itself; the order of a pair tells
    # them apart.
    wanted = np.where(within_class, a < b, True)
    if boundary is not None:
        wanted &= (low < boundary) & (high >= boundary)
    return low[wanted], high[wanted], value[pair][wanted]
