"""Pairs → for every row: its cluster, the row kept for it, and how it hangs on it.

`components` puts everything connected in one cluster, so a row may be under the threshold to the row that is kept; such chains are counted, and `via` names a neighbour at or over
it. `star` lets kept rows claim only their own neighbours, so every dropped row is at or over the threshold to a kept one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lookalike import _core
from lookalike.clusters.components import component_labels
from lookalike.errors import OptionError
from lookalike.types import F64, I64, U64, Bools

Group = Literal["components", "star"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """One entry a row. `via` is −1 for kept rows; `similarity` is to `representative`, 1 for itself."""

    cluster: I64
    representative: I64
    via: I64
    similarity: F64
    kept: Bools
    #: Dropped rows under the threshold to the row kept for them.
    chained: int


def assign(
    copy_of: I64,
    a: I64,
    b: I64,
    similarity: F64,
    *,
    priority: I64,
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
        Near pairs between representatives.
    priority
        Each row's place in the order of preference; the least is kept.
    compare
        The exact similarity of rows that are no pair, for chains.
    """
    rows = np.arange(len(copy_of), dtype=np.int64)
    best = _least_by(copy_of, priority)
    if group == "components":
        label = component_labels(len(rows), a, b)[copy_of]
        representative = _least_by(label, priority)[label]
    elif group == "star":
        keeper = _stars(a, b, priority[best])
        representative = best[keeper][copy_of]
    else:
        raise OptionError(f"group={group!r} is unknown: choose components or star")
    kept = representative == rows
    via, found = _hold(rows, copy_of, representative, a, b, similarity)
    unknown = np.flatnonzero(np.isnan(found))
    # Sorted by the row they are compared with, whose set the kernel then builds once.
    unknown = unknown[np.argsort(representative[unknown], kind="stable")]
    found[unknown] = compare(representative[unknown], unknown)
    return Assignment(
        cluster=_least_by(representative, rows)[representative],
        representative=representative,
        via=np.where(kept, -1, via),
        similarity=found,
        kept=kept,
        chained=int(np.count_nonzero(found < threshold)),
    )


def _least_by(label: I64, priority: I64) -> I64:
    """For every label, its member of least priority."""
    member_at = np.empty(len(priority), np.int64)
    member_at[priority] = np.arange(len(priority))
    least = np.full(len(label), len(priority), np.int64)
    np.minimum.at(least, label, priority)
    return member_at[np.minimum(least, len(priority) - 1)] if len(priority) else least


def _stars(a: I64, b: I64, priority: I64) -> I64:
    """The keeper of every representative: rows are asked in order of priority, and claim their free neighbours."""
    ends = np.concatenate([a, b])
    order = np.argsort(ends, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=len(priority)))]).astype(np.int64)
    neighbours = np.concatenate([b, a])[order].astype(np.uint32)
    return _core.stars(np.argsort(priority, kind="stable").astype(np.uint32), (neighbours, first)).astype(np.int64)


def _hold(
    rows: I64, copy_of: I64, representative: I64, a: I64, b: I64, similarity: F64
) -> tuple[I64, F64]:
    """What each row hangs on: a neighbour at or over the threshold, and the similarity to the representative where a pair tells it."""
    target = copy_of[representative]
    via, found = representative.copy(), np.ones(len(rows))
    other_class = copy_of != target
    codes = _codes(np.minimum(copy_of, target), np.maximum(copy_of, target))
    known = _codes(a, b)
    at = np.minimum(np.searchsorted(known, codes), max(0, len(known) - 1))
    direct = other_class & (known[at] == codes) if len(known) else np.zeros(len(rows), np.bool_)
    found[direct] = similarity[at[direct]]
    chained = other_class & ~direct
    found[chained] = np.nan
    # A copy hangs on its own class; a representative on its nearest neighbour.
    via[chained] = np.where(copy_of == rows, _nearest(len(rows), a, b, similarity), copy_of)[chained]
    return via, found


def _nearest(rows: int, a: I64, b: I64, similarity: F64) -> I64:
    """Every row's most similar neighbour, the least of equals; itself if it has none."""
    ends, others, values = np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([similarity, similarity])
    order = np.lexsort((others, -values, ends))
    nearest = np.arange(rows, dtype=np.int64)
    # Written from last to first, so that the first of each row stays.
    nearest[ends[order][::-1]] = others[order][::-1]
    return nearest


def _codes(a: I64, b: I64) -> U64:
    return (a.astype(np.uint64) << np.uint64(32)) | b.astype(np.uint64)
