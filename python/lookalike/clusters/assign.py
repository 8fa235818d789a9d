"""Pairs → for every row: its cluster, the row kept for it, and how it hangs on it.

`components` puts everything connected in one cluster, so a row may be under the threshold to the row that is
kept; such chains are counted, and `via` names a neighbour at or over it. `star` lets kept rows claim only
their own neighbours, so every dropped row is at or over the threshold to a kept one (`stars`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lookalike.clusters.components import component_labels
from lookalike.clusters.similarities import Similarities
from lookalike.clusters.stars import keepers
from lookalike.errors import OptionError
from lookalike.types import F64, I32, I64, U32, Bools

Group = Literal["components", "star"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """One entry a row. `via` is −1 for kept rows; `similarity` is to `representative`, 1 for itself."""

    cluster: U32
    representative: U32
    via: I32 | I64
    similarity: F64
    kept: Bools
    #: Dropped rows under the threshold to the row kept for them.
    chained: int

    def sizes(self) -> I64:
        """How many rows each cluster of two or more has, the largest first."""
        # Every cluster has one row that is kept, so those that are not tell all.
        dropped = np.unique(self.cluster[~self.kept], return_counts=True)[1]
        return np.sort(dropped + 1)[::-1]


def assign(
    copy_of: I64 | U32,
    a: I64,
    b: I64,
    similarity: F64,
    *,
    priority: I64 | U32,
    threshold: float,
    group: Group,
    compare: Callable[[I64, I64], F64],
) -> Assignment:
    """Assign every row to a kept one.

    Parameters
    ----------
    copy_of
        The representative of each row's class of exact copies.
    a, b, similarity
        Near pairs between representatives, `a` < `b`, sorted.
    priority
        Each row's place in the order of preference; the least is kept.
    compare
        The similarity of rows that are no known pair.
    """
    rows = len(copy_of)
    if group == "components":
        label = component_labels(rows, a, b)[copy_of]
        representative = _least_by(label, priority)[label]
        del label
    elif group == "star":
        best = _least_by(copy_of, priority)
        # Stars ask for some of what is asked again below.
        compare = similarities = Similarities(a, b, similarity, compare)
        keeper = keepers(a, b, priority[best], similarities, threshold=threshold)
        representative = best[keeper][copy_of]
    else:
        raise OptionError(f"group={group!r} is unknown: choose components or star")
    kept = representative == np.arange(rows, dtype=np.uint32)
    cluster = _least_by(representative)[representative]
    # Copies are alike in everything, so classes of copies are compared, by the row that stands for each.
    found = _by_class(copy_of[representative], copy_of, a, b, similarity, compare)
    chained = np.flatnonzero(found < threshold)
    # Where there is room for all rows and −1 in them, in half the bytes.
    via: I32 | I64 = representative.astype(np.int32) if rows <= 2**31 else representative.astype(np.int64)
    via[kept] = -1
    # A chained copy hangs on its own class; a row that stands for its class, on its nearest neighbour.
    nearest = _nearest(rows, a, b, similarity)[chained] if len(chained) else chained
    via[chained] = np.where(copy_of[chained] == chained, nearest, copy_of[chained])
    return Assignment(
        cluster=cluster,
        representative=representative,
        via=via,
        similarity=found,
        kept=kept,
        chained=len(chained),
    )


def _by_class(
    target: I64 | U32, copy_of: I64 | U32, a: I64, b: I64, similarity: F64, measure: Callable[[I64, I64], F64]
) -> F64:
    """How similar each row's class of copies is to its target, by the row that stands for the class."""
    found = np.where(target == copy_of, 1.0, np.nan)
    for one, other in ((a, b), (b, a)):
        known = target[one] == other
        found[one[known]] = similarity[known]
    stands = copy_of == np.arange(len(copy_of), dtype=np.uint32)
    unknown = np.flatnonzero(np.isnan(found) & stands)
    # By target, whose set the kernel then builds once.
    unknown = unknown[np.argsort(target[unknown], kind="stable")]
    if len(unknown):
        found[unknown] = measure(target[unknown].astype(np.int64), unknown)
    copies = np.flatnonzero(~stands)
    found[copies] = found[copy_of[copies]]
    return found


def _least_by(label: I64 | U32, priority: I64 | U32 | None = None) -> U32:
    """For every label, its member of least priority. Labels are row numbers; one of no row gives any row.

    Without priorities, and mostly with them, rows are preferred in their order.
    """
    rows = len(label)
    least = np.full(rows, max(0, rows - 1), np.uint32)
    if priority is None or np.all(priority[1:] > priority[:-1]):
        np.minimum.at(least, label, np.arange(rows, dtype=np.uint32))
        return least
    np.minimum.at(least, label, priority.astype(np.uint32, copy=False))
    member_at = np.empty(rows, np.uint32)
    member_at[priority] = np.arange(rows, dtype=np.uint32)
    return member_at[least]


def _nearest(rows: int, a: I64, b: I64, similarity: F64) -> I64:
    """Every row's most similar neighbour, the least of equals; itself if it has none."""
    ends, others, values = (
        np.concatenate([a, b]),
        np.concatenate([b, a]),
        np.concatenate([similarity, similarity]),
    )
    order = np.lexsort((others, -values, ends))
    nearest = np.arange(rows, dtype=np.int64)
    # Written from last to first, so that the first of each row stays.
    nearest[ends[order][::-1]] = others[order][::-1]
    return nearest
