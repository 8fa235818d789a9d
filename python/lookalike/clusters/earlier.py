"""Pairs of new rows, and of new rows with those that earlier runs kept → who is kept for each new row.

Earlier rows stay kept and stay apart, whatever is found. A new row that is like some of them hangs on the
most similar. With `components` whatever hangs on such a row by further pairs of new rows hangs on the same
earlier row, step by step; with `star` only direct neighbours do. All other new rows are assigned among
themselves, as ever.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lookalike.clusters.assign import Assignment, Group, assign
from lookalike.clusters.similarities import Similarities
from lookalike.types import F64, I64, U32


def assign_with_earlier(
    copy_of: I64 | U32,
    a: I64,
    b: I64,
    similarity: F64,
    *,
    new_rows: int,
    priority: I64 | U32,
    threshold: float,
    group: Group,
    compare: Callable[[I64, I64], F64],
) -> Assignment:
    """Assign every new row to a kept one, new or earlier. Parameters are those of `assign`.

    Rows from `new_rows` on are earlier ones; `priority` is of the new rows. The cluster of a row that hangs
    on an earlier one is that row.
    """
    copy_of = copy_of.astype(np.int64, copy=False)
    rows = np.arange(len(copy_of), dtype=np.int64)
    earlier = rows[new_rows:]
    # Of every class of copies: the earlier row in it, the first of several, or −1.
    holder = np.full(len(rows), -1, np.int64)
    holder[copy_of[earlier[::-1]]] = earlier[::-1]
    keeper, via = _reach(a, b, similarity, holder, whole=group == "components")
    free = (keeper[a] < 0) & (keeper[b] < 0)
    alone = assign(
        copy_of,
        a[free],
        b[free],
        similarity[free],
        priority=np.concatenate([priority.astype(np.int64) + len(earlier), np.arange(len(earlier))]),
        threshold=threshold,
        group=group,
        compare=compare,
    )
    hanging = np.flatnonzero(keeper[copy_of] >= 0)
    target = keeper[copy_of[hanging]]
    found = np.ones(len(hanging))
    apart = np.flatnonzero(copy_of[hanging] != copy_of[target])
    similarities = Similarities(a, b, similarity, compare)
    found[apart] = similarities(copy_of[target[apart]], copy_of[hanging[apart]])
    representative, cluster = alone.representative.copy(), alone.cluster.copy()
    for column in (representative, cluster):
        column[hanging] = target
        column[earlier] = earlier
    ways, all_found, kept = alone.via.copy(), alone.similarity.copy(), alone.kept.copy()
    ways[hanging] = np.where(found >= threshold, target, via[copy_of[hanging]])
    all_found[hanging] = found
    kept[hanging] = False
    ways[earlier], all_found[earlier], kept[earlier] = -1, 1.0, True
    return Assignment(
        cluster=cluster,
        representative=representative,
        via=ways,
        similarity=all_found,
        kept=kept,
        chained=int(np.count_nonzero(all_found < threshold)),
    )


def _reach(a: I64, b: I64, similarity: F64, holder: I64, *, whole: bool) -> tuple[I64, I64]:
    """Of every class: the earlier row it hangs on, and by way of which row; −1 if there is none.

    Steps go from the earlier rows outwards; in each, a class takes the most similar of those reached before,
    the least row of equals. Every pair is looked at twice at most, however many steps there are.
    """
    rows = len(holder)
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.argsort(ends, kind="stable")
    others, values = others[order], np.concatenate([similarity, similarity])[order]
    counts = np.bincount(ends, minlength=rows)
    starts = np.cumsum(counts) - counts
    keeper, via = holder.copy(), np.full(rows, -1, np.int64)
    # What a class that is reached is called: by the earlier row in it, if there is one.
    name = np.where(holder >= 0, holder, np.arange(rows))
    front = np.flatnonzero((holder >= 0) & (counts > 0))
    while len(front):
        sources = np.repeat(front, counts[front])
        before = np.cumsum(counts[front]) - counts[front]
        edges = np.arange(len(sources)) + np.repeat(starts[front] - before, counts[front])
        fresh = keeper[others[edges]] < 0
        sources, edges = sources[fresh], edges[fresh]
        best = np.lexsort((name[sources], -values[edges], others[edges]))
        sources, reached = sources[best], others[edges[best]]
        first = np.ones(len(reached), np.bool_)
        first[1:] = reached[1:] != reached[:-1]
        keeper[reached[first]], via[reached[first]] = keeper[sources[first]], name[sources[first]]
        front = reached[first] if whole else front[:0]
    return keeper, via
