"""Large buckets: rows are compared with leaders; so a million cost a million checks, not half a trillion.

In one collection, what matters about a large bucket is who belongs together. Its leader is the row with the
least content hash; every row not yet known to be in the leader's cluster is checked against it. Rows that
fail choose a new leader among themselves, for a few rounds; few enough are paired outright. Bands come one
after the other, so that what one band joined the next need not check again: a million variants of one
template cost little more than one check each.

Between two collections, every row is checked against a few leaders of the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lookalike import _core
from lookalike.bands import bands_of, buckets
from lookalike.bands.buckets import run_starts
from lookalike.engines import Table
from lookalike.types import I64, U32, U64, Bools, concatenate

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
    #: Pairs that shared a large bucket and were not checked against each other there, counted once a band: at
    #: most so many were not at all.
    not_compared: int = 0
    #: Rows that matched no leader in any round of some large bucket.
    unsettled: int = 0


def join_large(large: Table, rows: int, joined: tuple[I64, I64], check: Check) -> LeaderAccount:
    """Check the rows of large buckets against leaders.

    Parameters
    ----------
    large
        Rows (`bucket`, `row`, `content`), those of one bucket one after the other.
    joined
        Pairs already verified.
    """
    if not large.rows:
        return LeaderAccount()
    keys, members, contents = (large.column(name) for name in ("bucket", "row", "content"))
    starts = run_starts(keys)
    forest = _core.Forest(rows)
    forest.join(joined[0].astype(np.uint32), joined[1].astype(np.uint32))
    labels = forest.labels()
    failed: U64 = np.empty(0, np.uint64)
    unsettled: list[I64] = []
    checked = 0
    bands = bands_of(keys[starts[:-1]])
    for band in np.flatnonzero(np.bincount(bands)):
        led = _Led.of(
            keys, members, contents, [(starts[at], starts[at + 1]) for at in np.flatnonzero(bands == band)]
        )
        # In the last round no bucket gets a new leader: what has become small is paired, and the rest is
        # given up.
        for rounds_left in range(ROUNDS, -1, -1):
            if not len(led.row):
                break
            a, b, waiting = _candidates(led, labels, lead=rounds_left > 0)
            fresh = ~_among(_codes(a, b), failed)
            a, b = a[fresh], b[fresh]
            found = check(a, b)
            forest.join(found[0].astype(np.uint32), found[1].astype(np.uint32))
            labels = forest.labels()
            checked += len(a)
            if len(found[0]) < len(a):
                codes = _codes(a, b)
                failed = np.sort(np.concatenate([failed, codes[~_among(codes, np.sort(_codes(*found)))]]))
            led = led.only(waiting & (labels[led.row] != labels[led.leader]))
        unsettled.append(led.row)
    sizes = np.diff(starts)
    return LeaderAccount(
        buckets=len(sizes),
        rows=_distinct_rows(members),
        largest=int(sizes.max()),
        checked=checked,
        not_compared=max(0, int((sizes * (sizes - 1) // 2).sum()) - checked),
        unsettled=_distinct_rows(np.concatenate(unsettled)),
    )


@dataclass(frozen=True, eq=False)
class _Led:
    """Rows of the buckets of one band, and the leader of each row's bucket: the row of least content."""

    key: U64
    row: I64
    content: U64
    leader: I64

    @classmethod
    def of(cls, key: U64, row: U32, content: U64, runs: list[tuple[int, int]]) -> _Led:
        """The rows of some buckets, from one place to another each."""
        key, row, content = (
            np.concatenate([column[start:stop] for start, stop in runs]) for column in (key, row, content)
        )
        return cls._choose(key, row.astype(np.int64), content)

    @classmethod
    def _choose(cls, key: U64, row: I64, content: U64) -> _Led:
        if not len(row):
            return cls(key, row, content, row)
        starts = run_starts(key)
        sizes = np.diff(starts)
        least = np.repeat(np.minimum.reduceat(content, starts[:-1]), sizes)
        # Of rows with the same content the least.
        leader = np.minimum.reduceat(np.where(content == least, row, _NO_ROW), starts[:-1])
        return cls(key, row, content, np.repeat(leader, sizes))

    def only(self, wanted: Bools) -> _Led:
        """Some of the rows, which choose new leaders among themselves."""
        return self._choose(self.key[wanted], self.row[wanted], self.content[wanted])


_NO_ROW = 2**62


def _distinct_rows(rows: I64 | U32) -> int:
    return int(np.count_nonzero(np.bincount(rows)))


def _candidates(led: _Led, labels: U32, *, lead: bool) -> tuple[I64, I64, Bools]:
    """Candidates of a round, lower row first, and which rows wait for its outcome.

    Those are the ones not in their leader's cluster yet; every one of them is checked against the leader if
    buckets are led in this round. Buckets that have become small are paired outright, and none of their rows
    waits.
    """
    sizes = np.diff(run_starts(led.key))
    small = sizes <= buckets.LARGE
    in_small = np.repeat(small, sizes)
    waiting: Bools = (labels[led.row] != labels[led.leader]) & ~in_small
    runs = np.concatenate([[0], np.cumsum(sizes[small])]).astype(np.int64)
    x, y = _core.pair_up(led.row[in_small].astype(np.uint32), runs, threads=1)
    asked = np.flatnonzero(waiting) if lead else np.empty(0, np.int64)
    # A row is in one bucket of a band, so no pair comes twice; and a leader's candidates stay side by side.
    leader, row = led.leader[asked], led.row[asked]
    a, b = np.concatenate([np.minimum(leader, row), x]), np.concatenate([np.maximum(leader, row), y])
    return a, b, waiting


def _distinct(a: I64, b: I64) -> tuple[I64, I64]:
    """Pairs with the lower row first, sorted, each once."""
    low, high = np.minimum(a, b).astype(np.uint32), np.maximum(a, b).astype(np.uint32)
    low, high = _core.distinct_pairs(low, high, threads=1)
    return low.astype(np.int64), high.astype(np.int64)


def _codes(a: I64, b: I64) -> U64:
    return (a.astype(np.uint64) << np.uint64(32)) | b.astype(np.uint64)


def _among(codes: U64, ordered: U64) -> Bools:
    """Which codes are among those in order."""
    at = np.searchsorted(ordered, codes)
    known: Bools = np.append(ordered, np.uint64(0))[at] == codes
    return known & (at < len(ordered))


def across_large(large: Table, first: Bools, second: Bools) -> tuple[I64, I64, LeaderAccount]:
    """Candidates of large buckets between two collections: every row with a few leaders of the other side."""
    keys, members, contents = (large.column(name) for name in ("bucket", "row", "content"))
    order = np.lexsort((members, contents, keys))
    members, starts = members[order].astype(np.int64), run_starts(keys[order])
    found: list[tuple[I64, I64]] = []
    possible = 0
    for start, stop in pairwise(starts.tolist()):
        rows = members[start:stop]
        ones, others = rows[first[rows]], rows[second[rows]]
        # Of the combinations, a row that stands for both sides makes one with itself, and two such rows make
        # two.
        both = int(np.count_nonzero(first[rows] & second[rows]))
        possible += len(ones) * len(others) - both * (both + 1) // 2
        a = np.concatenate(
            [np.repeat(ones, min(len(others), ACROSS)), np.repeat(others, min(len(ones), ACROSS))]
        )
        b = np.concatenate([np.tile(others[:ACROSS], len(ones)), np.tile(ones[:ACROSS], len(others))])
        found.append(_distinct(a[a != b], b[a != b]))
    compared = sum(len(a) for a, _ in found)
    low, high = _distinct(
        concatenate((a for a, _ in found), np.int64), concatenate((b for _, b in found), np.int64)
    )
    sizes = np.diff(starts)
    account = LeaderAccount(
        buckets=len(sizes),
        rows=_distinct_rows(members),
        largest=int(sizes.max()) if len(sizes) else 0,
        checked=len(low),
        not_compared=possible - compared,
    )
    return low, high, account
