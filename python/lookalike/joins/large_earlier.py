"""Large buckets that hold new rows and rows of earlier runs.

New rows are joined among themselves by leaders, as ever. Leaders would say little of earlier rows: those were
kept because they are unlike each other, so none of them stands for the rest. Each new row is compared with 64
of them, by content; with fewer where very many new rows would be.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from lookalike.bands import buckets
from lookalike.bands.buckets import run_starts
from lookalike.engines import Table
from lookalike.joins.leaders import ACROSS, Check, LeaderAccount, by_row, join_large
from lookalike.types import I64, concatenate

#: Candidates that one bucket may give, unless every new row is compared with `ACROSS` earlier ones only.
_MANY = 1 << 14


def join_large_with_earlier(large: Table, boundary: int, check: Check) -> LeaderAccount:
    """Check the new rows of large buckets against earlier rows, and against leaders of the new ones.

    `large` holds `bucket`, `row` and `content`; rows from `boundary` on are of earlier runs. The buckets are
    few, and their rows are brought to the driver.
    """
    keys, rows, contents = (large.column(name) for name in ("bucket", "row", "content"))
    order = np.lexsort((rows, contents, keys))
    keys, rows, contents = keys[order], rows[order].astype(np.int64), contents[order]
    found: list[tuple[I64, I64]] = []
    not_compared = 0
    for start, stop in pairwise(run_starts(keys).tolist()):
        members = rows[start:stop]
        new, earlier = members[members < boundary], members[members >= boundary]
        some = earlier[: max(ACROSS, min(buckets.LARGE, _MANY // max(1, len(new))))]
        not_compared += len(new) * (len(earlier) - len(some))
        found.append((np.repeat(new, len(some)), np.tile(some, len(new))))
    pairs = [concatenate((pair[side] for pair in found), np.int64) for side in (0, 1)]
    once = np.unique((pairs[0].astype(np.uint64) << np.uint64(32)) | pairs[1].astype(np.uint64))
    check((once >> np.uint64(32)).astype(np.int64), (once & np.uint64(0xFFFFFFFF)).astype(np.int64))
    fresh = rows < boundary
    content = by_row(boundary, rows[fresh], contents[fresh])
    new_rows = Table.of(bucket=keys[fresh], row=rows[fresh])
    account = join_large(new_rows, boundary, (), lambda _: content, check)
    return replace(
        account,
        buckets=len(found),
        rows=int(np.count_nonzero(np.bincount(rows))),
        largest=int(np.diff(run_starts(keys)).max(initial=0)),
        checked=account.checked + len(once),
        not_compared=account.not_compared + not_compared,
    )
