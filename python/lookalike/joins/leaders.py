"""Large buckets: rows are compared with leaders; so a million cost a million checks, not half a trillion.

In one collection, what matters about a large bucket is who belongs together. Its leader is the row with the
least content hash; every row not yet known to be in the leader's cluster is checked against it. Rows that
fail choose a new leader among themselves, for a few rounds; few enough are paired outright. Where very many
rows wait, a leader is first tried on a thousand of them. In a crowd that falls just short of the threshold
nobody leads, and all rounds together cost a few thousand checks. Bands come one after the other, so that what
one band joined or failed the next need not check again: a million variants of one template cost little more
than one check each.

Between two collections, every row is checked against a few leaders of the other side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from lookalike import _core
from lookalike.bands import bands_of, buckets, packed
from lookalike.bands.buckets import run_starts
from lookalike.engines import Table
from lookalike.types import I64, U32, U64, Bools, concatenate

#: How often the rows of a bucket that match no leader so far choose another.
ROUNDS = 8
#: Where more than four times as many rows wait, a leader is tried on so many first, drawn by content hash. If
#: it leads fewer than one in `ONE_IN` of them, it is compared with no others.
TRIED = 1024
ONE_IN = 128
#: Leaders a side of a large bucket between two collections.
ACROSS = 8

_NOTED = "leaders"

#: Checks candidates (a, b) and returns those that reach the threshold.
Check = Callable[[I64 | U32, I64 | U32], tuple[I64 | U32, I64 | U32]]


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
    #: How many near pairs were probably left out, and half of its 95% interval. Known of vectors, from a
    #: sample of the pairs of large buckets; it is then part of the estimated recall.
    missed: float | None = None
    missed_spread: float | None = None

    @property
    def possible(self) -> int:
        """Pairs that shared a large bucket, counted once a band."""
        return self.checked + self.not_compared

    def noted_on(self, table: Table) -> Table:
        """The table with this account beside its columns, so that both are settled together."""
        return Table(table.batches, table.schema.with_metadata({_NOTED: json.dumps(asdict(self))}))

    @classmethod
    def noted(cls, table: Table) -> Self:
        """The account that `noted_on` left with a table."""
        return cls(**json.loads(table.schema.metadata[_NOTED.encode()]))


def join_large(
    large: Table,
    rows: int,
    joined: Iterable[tuple[U32, U32]],
    content_of: Callable[[Bools], U64],
    check: Check,
    *,
    small: int | None = None,
) -> LeaderAccount:
    """Check the rows of large buckets against leaders.

    Parameters
    ----------
    large
        Rows (`bucket`, `row`), those of one bucket one after the other.
    rows
        How many rows there are, in large buckets or not.
    joined
        Pairs already verified, some at a time.
    content_of
        Tells the content of marked rows at least, by row number.
    small
        Up to so many rows that are left of a bucket are paired outright; `LARGE` if not given.
    """
    if not large.rows:
        return LeaderAccount()
    outright = buckets.LARGE if small is None else small
    keys, members = large.column("bucket"), large.column("row").astype(np.uint32, copy=False)
    starts = run_starts(keys)
    inside = marked(members, rows)
    content = content_of(inside)
    forest = _core.Forest(rows)
    for a, b in joined:
        forest.join(a, b)
    failed = _Failed()
    unsettled: list[U32] = []
    checked = 0
    bands = bands_of(keys[starts[:-1]])
    for band in np.flatnonzero(np.bincount(bands)):
        here = np.flatnonzero(bands == band)
        led = _core.Led(members, starts[here], starts[here + 1], leaders=ROUNDS, tried=TRIED, one_in=ONE_IN)
        while len(led):
            # A row is in one bucket of a band, so no pair comes twice.
            a, b = led.candidates(forest, content, outright)
            fresh = ~failed.among(packed(a, b))
            a, b = a[fresh], b[fresh]
            found = check(a, b)
            forest.join(found[0].astype(np.uint32, copy=False), found[1].astype(np.uint32, copy=False))
            checked += len(a)
            if len(found[0]) < len(a):
                codes = _in_order(packed(a, b))
                failed.add(codes[~_among(codes, _in_order(packed(*found)))])
            led.settle(forest)
        unsettled.append(led.given_up())
    sizes = np.diff(starts)
    return LeaderAccount(
        buckets=len(sizes),
        rows=int(np.count_nonzero(inside)),
        largest=int(sizes.max()),
        checked=checked,
        not_compared=max(0, int((sizes * (sizes - 1) // 2).sum()) - checked),
        unsettled=int(np.count_nonzero(marked(np.concatenate(unsettled), rows))),
    )


class _Failed:
    """Pairs that were checked and do not reach the threshold.

    Kept in sorted pieces, each more than twice as large as the next, so that adding n of them one after the
    other takes n log n and not the square.
    """

    def __init__(self) -> None:
        self._pieces: list[U64] = []

    def add(self, ordered: U64) -> None:
        """Take in pairs in order."""
        self._pieces.append(ordered)
        while len(self._pieces) > 1 and len(self._pieces[-2]) <= 2 * len(self._pieces[-1]):
            two = [self._pieces.pop(), self._pieces.pop()]
            # A stable sort merges what is in order already.
            self._pieces.append(np.sort(np.concatenate(two[::-1]), kind="stable"))

    def among(self, codes: U64) -> Bools:
        """Which pairs are known to fail."""
        known = np.zeros(len(codes), np.bool_)
        for piece in self._pieces:
            known |= _among(codes, piece)
        return known


def by_row(rows: int, row: I64 | U32, content: U64) -> U64:
    """The content of every row whose content is known, by row number."""
    known = np.zeros(rows, np.uint64)
    known[row] = content
    return known


def marked(row: I64 | U32, rows: int) -> Bools:
    """Which of so many rows occur."""
    occur = np.zeros(rows, np.bool_)
    occur[row] = True
    return occur


def _distinct(a: I64, b: I64) -> tuple[I64, I64]:
    """Pairs with the lower row first, sorted, each once."""
    low, high = np.minimum(a, b).astype(np.uint32), np.maximum(a, b).astype(np.uint32)
    low, high = _core.distinct_pairs(low, high, threads=1)
    return low.astype(np.int64), high.astype(np.int64)


def _in_order(codes: U64) -> U64:
    return _core.sorted_runs([codes], threads=1)[0]


def _among(codes: U64, ordered: U64) -> Bools:
    """Which codes are among those in order."""
    if not len(ordered):
        return np.zeros(len(codes), np.bool_)
    # A code past the last one is not that one either.
    known: Bools = ordered[np.minimum(np.searchsorted(ordered, codes), len(ordered) - 1)] == codes
    return known


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
        rows=int(np.count_nonzero(marked(members, len(first)))),
        largest=int(sizes.max()) if len(sizes) else 0,
        checked=len(low),
        not_compared=possible - compared,
    )
    return low, high, account
