"""The main road: signatures → bands → candidates → verified pairs.

    sign        every row, one kernel call a batch
    copies      same shingle set: star edges to a representative
    plan        the banding of least expected cost that keeps the promised recall, from a sample of the rows
    candidates  rows that share a bucket in some band
    verify      the exact similarity of every candidate

Each step is a verb of the engine over committed tables, so the same road runs wherever an engine does. Memory: 4 bytes a slot a row
for signatures, 26 a row and band for bucket keys, 16 a candidate. Time: linear in text and rows, and in candidates, of which
a row has at most `bands · LARGE / 2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import BandKeys, KeepLarge, PairSmall, Shared, buckets
from lookalike.engines import Engine, Table
from lookalike.families import MinHash
from lookalike.joins.account import Account
from lookalike.joins.copies import KeepRows, representatives
from lookalike.joins.flags import EMPTY, SHORT, UNSPACED
from lookalike.joins.items import Items
from lookalike.joins.leaders import LeaderAccount, across_large, join_large
from lookalike.joins.sample import agreement_counts
from lookalike.measures.candidates import Agreement
from lookalike.runs.watch import Watch
from lookalike.theory import Plan, RecallEstimate, SimilaritySample, estimate_recall, plan
from lookalike.types import F64, I64, U8, Bools

#: Pairs this little under the threshold are kept for the report, to show what was turned away.
MARGIN = 0.1
#: Less than any two items that share something have: a union holds at most 2³² elements.
LEAST = 2.0**-33


@dataclass(frozen=True, kw_only=True, eq=False)
class Joined:
    """What a join found, by row numbers.

    `a`, `b`, `similarity` are near pairs between representatives, sorted; every other row is an exact copy of its `representative`.
    `below` are candidates that were checked and fell short of the threshold by less than `MARGIN`.
    """

    a: I64
    b: I64
    similarity: F64
    representative: I64
    flags: U8
    below: tuple[I64, I64, F64]
    account: Account
    #: The similarity of any rows, as this join measures it.
    compare: Callable[[I64, I64], F64]


def lsh(
    items: Items,
    *,
    threshold: float,
    recall: float,
    family: MinHash,
    verify: Literal["exact", "signature"],
    engine: Engine,
    watch: Watch,
) -> Joined:
    """Join items by MinHash and bands."""
    # Said before any work is done: an unreachable promise is not worth a pass over the data.
    plan(threshold, recall=recall, slots=family.slots)
    with watch.stage("sign", items.rows, size=items.bytes) as advance:
        signed = engine.map(items.table, items.sign(family), advance=advance)
    flags = np.zeros(items.rows, np.uint8)
    flags[signed.column("row")] = signed.column("flags")
    signed = engine.map(signed, KeepRows((flags & EMPTY) == 0))
    with watch.stage("copies", signed.rows):
        representative = representatives(engine, items, signed)
        signed = engine.map(signed, KeepRows(representative == np.arange(items.rows)))
    with watch.stage("plan"):
        chosen, median = _plan(engine, items, signed, threshold, recall, family.slots)
    with watch.stage("candidates", signed.rows):
        keys = engine.map(signed, BandKeys(chosen.banding))
        shared = engine.group(keys, "bucket", Shared())
        del keys
        sides = _sides(items, representative)
        candidates = _candidates(engine, shared, sides)
        large = engine.group(shared, "bucket", KeepLarge(), order=("content", "row"), whole=buckets.LARGE)
    road = _Verification(engine, items, signed, threshold, verify)
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        road.take(candidates, advance)
        leaders = _leaders(road, large, items, sides)
    a, b, similarity, from_bands = road.found()
    reached = similarity >= threshold
    account = Account(
        method="lsh",
        plan=chosen,
        items=items.rows,
        empty=int(np.count_nonzero(flags & EMPTY)),
        short=int(np.count_nonzero(flags & SHORT)),
        unspaced=int(np.count_nonzero(flags & UNSPACED)),
        copies=int(np.count_nonzero(representative != np.arange(items.rows))),
        representatives=signed.rows,
        candidates=candidates.rows + leaders.checked,
        pairs=int(reached.sum()),
        recall=_recall(similarity[reached & from_bands], chosen, threshold),
        large=leaders,
        median_similarity=median,
    )
    return Joined(
        a=a[reached],
        b=b[reached],
        similarity=similarity[reached],
        representative=representative,
        flags=flags,
        below=(a[~reached], b[~reached], similarity[~reached]),
        account=account,
        compare=lambda a, b: road.compare(representative[a], representative[b]),
    )


def _plan(
    engine: Engine, items: Items, signed: Table, threshold: float, recall: float, slots: int
) -> tuple[Plan, float | None]:
    """The banding of least expected cost, and the similarity of two rows picked at random."""
    counts = agreement_counts(engine, signed, slots)
    sample = SimilaritySample(
        counts=counts, items=signed.rows, bytes_per_item=items.bytes / max(1, items.rows)
    )
    half = np.searchsorted(np.cumsum(counts), sample.pairs / 2)
    median = float(half) / slots if sample.pairs else None
    return plan(threshold, recall=recall, slots=slots, similarities=sample), median


def _recall(similarities: F64, chosen: Plan, threshold: float) -> RecallEstimate:
    return estimate_recall(similarities, chosen.banding, threshold)


def _sides(items: Items, representative: I64) -> tuple[Bools, Bools] | None:
    """Of two collections: which representatives stand for rows of the first, and which for rows of the second."""
    if items.boundary is None:
        return None
    first, second = np.zeros((2, items.rows), np.bool_)
    first[representative[: items.boundary]] = True
    second[representative[items.boundary :]] = True
    return first, second


def _candidates(engine: Engine, shared: Table, sides: tuple[Bools, Bools] | None) -> Table:
    pairs = engine.group(shared, "bucket", PairSmall(), whole=buckets.LARGE)
    a, b = pairs.column("a"), pairs.column("b")
    if sides is not None:
        first, second = sides
        across = (first[a] & second[b]) | (second[a] & first[b])
        a, b = a[across], b[across]
    a, b = _core.distinct_pairs(a.astype(np.uint32), b.astype(np.uint32), threads=engine.threads)
    return Table.of(a=a.astype(np.int64), b=b.astype(np.int64))


def _leaders(
    road: _Verification, large: Table, items: Items, sides: tuple[Bools, Bools] | None
) -> LeaderAccount:
    if sides is None:
        a, b, similarity, _ = road.found()
        reached = similarity >= road.threshold
        return join_large(large, items.rows, (a[reached], b[reached]), road.check)
    a, b, account = across_large(large, *sides)
    road.check(a, b)
    return account


class _Verification:
    """Candidates in, verified pairs kept; which of them came from bands is remembered for the account of recall."""

    def __init__(self, engine: Engine, items: Items, signed: Table, threshold: float, verify: str) -> None:
        self.threshold = threshold
        self._engine = engine
        self._table = _in_one_batch(signed) if verify == "signature" else items.table
        self._stage = Agreement if verify == "signature" else (lambda at_least: items.exact(at_least=at_least))
        # Without a floor, candidates that share nothing would come along as pairs of similarity 0.
        self._floor = max(threshold - MARGIN, LEAST)
        self._parts: list[tuple[I64, I64, F64, Bools]] = []

    def take(self, candidates: Table, advance: Callable[[int], None] | None = None) -> None:
        """Verify candidates that bands brought together."""
        self._verify(candidates, True, advance)

    def check(self, a: I64, b: I64) -> tuple[I64, I64]:
        """Verify candidates that leaders brought together; returns those that reach the threshold."""
        a, b, similarity = self._verify(Table.of(a=a, b=b), False, None)
        reached = similarity >= self.threshold
        return a[reached], b[reached]

    def _verify(self, candidates: Table, from_bands: bool, advance: Callable[[int], None] | None) -> tuple[I64, I64, F64]:
        found = self._engine.fetch(self._table, candidates, ("a", "b"), self._stage(self._floor), advance=advance)
        a, b, similarity = found.column("a"), found.column("b"), found.column("similarity")
        self._parts.append((a, b, similarity, np.full(len(a), from_bands)))
        return a, b, similarity

    def compare(self, a: I64, b: I64) -> F64:
        """The similarity of rows, whatever it is."""
        # Nothing is left out at a floor of 0, so the answers stand in the order of the questions.
        similarity: F64 = self._engine.fetch(self._table, Table.of(a=a, b=b), ("a", "b"), self._stage(0.0)).column("similarity")
        return similarity

    def found(self) -> tuple[I64, I64, F64, Bools]:
        """Everything verified so far, sorted by a and b, each pair once; bands come before leaders."""
        a, b, similarity, from_bands = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        order = np.lexsort((~from_bands, b, a))
        a, b, similarity, from_bands = a[order], b[order], similarity[order], from_bands[order]
        fresh = np.ones(len(a), np.bool_)
        fresh[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        return a[fresh], b[fresh], similarity[fresh], from_bands[fresh]


def _in_one_batch(signed: Table) -> Table:
    """Signed rows in one batch, so that their slots are one matrix."""
    batches = pa.Table.from_batches(signed.batches, signed.schema).combine_chunks().to_batches()
    # Of no rows Arrow makes no batch, but there is a matrix of no rows.
    return Table(tuple(batches) or (pa.RecordBatch.from_pylist([], signed.schema),), signed.schema)
