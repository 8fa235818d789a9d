"""Large buckets: compared with leaders, so that a bucket of a million costs a million checks, not half a trillion.

In one collection, what matters about a large bucket is who belongs together. Its leader is the row with the least content hash; every row not yet known to be in the
leader's cluster is checked against it. Rows that fail choose a new leader among themselves, for a few rounds; few enough are paired outright. Bands come
one after the other, so that what one band joined the next need not check again: a million variants of one template cost little more than one check each.

Between two collections, every row is checked against a few leaders of the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lookalike import _core
from lookalike.bands import LARGE
from lookalike.bands.buckets import run_starts
from lookalike.engines import Table
from lookalike.types import I64, U64, Bools, concatenate

#: How often the rows of a bucket that match no leader so far choose another.
ROUNDS = 8
#: Leaders a side of a large bucket between two collections.
ACROSS = 8

#: Checks candidates (a, b) and returns those that reach the threshold.
Check = Callable[[I64, I64], tuple[I64, I64]]


@dataclass(frozen=True, kw_only=True)
class LeaderAccount:
    """What large buckets held, and what comparing with leaders left out."""

    buckets: int = 0
    rows: int = 0
    largest: int = 0
    checked: int = 0
    #: Pairs that shared a large bucket, counted once a band, and were not checked against each other.
    not_compared: int = 0
    #: Rows of a large bucket that matched no leader in any round.
    unsettled: int = 0


def join_large(large: Table, rows: int, joined: tuple[I64, I64], check: Check) -> LeaderAccount:
    """Check the rows of large buckets (sorted by bucket, then content) against leaders. `joined` are pairs already verified."""
    if not large.rows:
        return LeaderAccount()
    buckets, bands, members = large.column("bucket"), large.column("band"), large.column("row")
    forest = _core.Forest(rows)
    forest.join(joined[0].astype(np.uint32), joined[1].astype(np.uint32))
    tried: U64 = np.empty(0, np.uint64)
    checked = unsettled = 0
    for band in np.unique(bands):
        here = bands == band
        key, row = buckets[here], members[here]
        for round_number in range(ROUNDS + 1):
            if not len(row):
                break
            if round_number == ROUNDS:
                unsettled += len(row)
                break
            labels = forest.labels()
            a, b, active = _with_leader(key, row, labels)
            fresh = ~np.isin(_codes(a, b), tried)
            found = check(a[fresh], b[fresh])
            forest.join(found[0].astype(np.uint32), found[1].astype(np.uint32))
            checked += int(fresh.sum())
            tried = np.union1d(tried, np.setdiff1d(_codes(a[fresh], b[fresh]), _codes(*found)))
            labels = forest.labels()
            still = active & (labels[row] != labels[_leader_of(key, row)])
            key, row = key[still], row[still]
    sizes = np.diff(run_starts(buckets))
    return LeaderAccount(
        buckets=len(sizes),
        rows=len(np.unique(members)),
        largest=int(sizes.max()),
        checked=checked,
        not_compared=max(0, int((sizes * (sizes - 1) // 2).sum()) - checked),
        unsettled=unsettled,
    )


def _leader_of(key: U64, row: I64) -> I64:
    """The first row of each row's bucket."""
    starts = run_starts(key)
    return np.repeat(row[starts[:-1]], np.diff(starts))


def _with_leader(key: U64, row: I64, labels: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> tuple[I64, I64, Bools]:
    """Candidates of each bucket's rows with its first, and which rows those are: the ones not in the first's cluster yet.

    Buckets that have become small are paired outright, and are done with.
    """
    leader = _leader_of(key, row)
    starts = run_starts(key)
    sizes = np.diff(starts)
    small = sizes <= LARGE
    in_small = np.repeat(small, sizes)
    active: Bools = (labels[row] != labels[leader]) & ~in_small
    runs = np.concatenate([[0], np.cumsum(sizes[small])]).astype(np.int64)
    x, y = _core.pair_up(row[in_small].astype(np.uint32), runs, threads=1)
    a, b = np.concatenate([leader[active], x]), np.concatenate([row[active], y])
    low, high = np.minimum(a, b), np.maximum(a, b)
    a_rows, b_rows = _core.distinct_pairs(low.astype(np.uint32), high.astype(np.uint32), threads=1)
    return a_rows.astype(np.int64), b_rows.astype(np.int64), active


def _codes(a: I64, b: I64) -> U64:
    return (a.astype(np.uint64) << np.uint64(32)) | b.astype(np.uint64)


def across_large(large: Table, first: Bools, second: Bools) -> tuple[I64, I64, LeaderAccount]:
    """Candidates of large buckets between two collections: every row with a few leaders of the other side."""
    buckets, members = large.column("bucket"), large.column("row")
    starts = run_starts(buckets)
    a: list[I64] = []
    b: list[I64] = []
    across = 0
    for start, stop in zip(starts[:-1], starts[1:], strict=True):
        rows = members[start:stop]
        ones, others = rows[first[rows]], rows[second[rows]]
        across += len(ones) * len(others)
        for some, leaders in ((ones, others[:ACROSS]), (others, ones[:ACROSS])):
            a.append(np.repeat(some, len(leaders)))
            b.append(np.tile(leaders, len(some)))
    low, high = concatenate(a, np.int64), concatenate(b, np.int64)
    low, high = np.minimum(low, high), np.maximum(low, high)
    sizes = np.diff(starts)
    account = LeaderAccount(
        buckets=len(sizes),
        rows=len(np.unique(members)),
        largest=int(sizes.max()) if len(sizes) else 0,
        checked=len(low),
        not_compared=max(0, across - len(low)),
    )
    return low, high, account
