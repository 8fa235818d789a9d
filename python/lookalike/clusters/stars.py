"""Stars: kept rows claim their neighbours, so a dropped row is at or over the threshold to a kept one."""

from __future__ import annotations

import numpy as np

from lookalike import _core
from lookalike.clusters.components import component_labels
from lookalike.clusters.similarities import Similarities
from lookalike.types import I64, U32

#: Rows of a component that are compared with all of it. A join tells few of the pairs in large buckets, so a
#: star by known pairs alone would be small; past so many rounds it will do.
ROUNDS = 8


def keepers(a: I64, b: I64, priority: I64 | U32, similarities: Similarities, *, threshold: float) -> I64:
    """The keeper of every row: itself, or the row that claimed it.

    In each component rows are asked in order of priority, and a row that is free claims its free neighbours.
    Priorities of rows in pairs are distinct.
    """
    keeper = np.arange(len(priority), dtype=np.int64)
    label = component_labels(len(priority), a, b)
    free = np.unique(np.concatenate([a, b]))
    for _ in range(ROUNDS):
        free = free[np.lexsort((priority[free], label[free]))]
        new = np.ones(len(free), np.bool_)
        new[1:] = label[free[1:]] != label[free[:-1]]
        leader = free[np.maximum.accumulate(np.where(new, np.arange(len(free)), 0))]
        near = similarities(leader[~new], free[~new]) >= threshold
        claimed = new.copy()
        claimed[~new] = near
        keeper[free[claimed]] = leader[claimed]
        free = free[~claimed]
        if not len(free):
            return keeper
    left = np.zeros(len(priority), np.bool_)
    left[free] = True
    inside = left[a] & left[b]
    keeper[free] = _by_known_pairs(a[inside], b[inside], priority)[free]
    return keeper


def _by_known_pairs(a: I64, b: I64, priority: I64 | U32) -> I64:
    ends = np.concatenate([a, b])
    order = np.argsort(ends, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=len(priority)))]).astype(np.int64)
    neighbours = np.concatenate([b, a])[order].astype(np.uint32)
    return _core.stars(np.argsort(priority, kind="stable").astype(np.uint32), (neighbours, first)).astype(
        np.int64
    )
