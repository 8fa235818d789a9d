"""Large buckets that are paired outright all the same, where every pair is wanted and there are not too many.

Leaders are enough to tell who belongs together, but they list a few pairs of a bucket only. Who asks for
pairs would rather wait some seconds than miss most of a crowd. By how many pairs there would be and by
committed costs, never by the machine or its memory, so that the answer is the same everywhere.
"""

from __future__ import annotations

import numpy as np

from lookalike.bands import buckets
from lookalike.engines import Engine, Table, as_it_is
from lookalike.joins.items import Items
from lookalike.joins.meetings import Lengths
from lookalike.theory.costs import seconds_for_checks, seconds_for_set_checks

#: What checking the pairs of large buckets may take, of one core.
SECONDS = 5.0


def affordable_meetings(items: Items) -> int:
    """How many pairs may meet in large buckets."""
    width = items.bytes / max(1, items.rows)
    each = seconds_for_set_checks(1.0, width / 8) if items.shingle is None else seconds_for_checks(1.0, width)
    return int(SECONDS / each)


def affordable(engine: Engine, shared: list[Table], meetings: int, *, named: str) -> int:
    """Up to which size all buckets may be paired outright, if so many pairs may meet; at least `LARGE`.

    The size is settled under the name given.
    """
    if not meetings:
        return buckets.LARGE
    settled = engine.settle(named, lambda: Table.of(size=[_affordable(engine, shared, meetings)]))
    return int(settled.column("size")[0])


def _affordable(engine: Engine, shared: list[Table], meetings: int) -> int:
    lengths = Lengths("bucket")
    found = [np.empty(0, np.int64)]
    for part in shared:
        large = engine.group(part, "bucket", as_it_is, least=buckets.LARGE + 1)
        _, sizes = engine.fold(large, lengths, lengths.merge) or (None, found[0])
        found.append(sizes)
    sizes = np.sort(np.concatenate(found))
    # Some may have very many rows: their pairs are beyond counting.
    pairs = np.cumsum(sizes.astype(np.float64) * (sizes - 1) / 2)
    return max(buckets.LARGE, int(sizes[pairs <= meetings].max(initial=0)))
