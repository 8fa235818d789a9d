"""Rows of bits → verified pairs, by the road that is asked for: one call shape for both measures."""

from __future__ import annotations

from typing import Literal

import numpy as np

from lookalike.engines import Engine, Table
from lookalike.errors import OptionError
from lookalike.families import Covering
from lookalike.joins.account import Account
from lookalike.joins.bitblocks import BitMeasure, compare_bit_blocks
from lookalike.joins.bitchoice import BitSample, cheapest_join, choose_road, covers_of, draw_bits, plan_bits
from lookalike.joins.bitrows import BitItems, DistinctBits, FoundBits, NearBits, distinct_bits
from lookalike.joins.expand import refuse_too_many
from lookalike.joins.flags import EMPTY
from lookalike.joins.hamming import SampledBits, covering_join, sampling_join
from lookalike.joins.joined import Joined
from lookalike.joins.leaders import LeaderAccount
from lookalike.joins.pair_tables import pair_table
from lookalike.runs.watch import Watch
from lookalike.theory import Choice, Plan, RecallEstimate
from lookalike.types import F64, I64

BitMethod = Literal["auto", "exact", "pieces", "covering", "lsh"]
#: Up to so many slots bands may take: a slot is one bit, and costs nothing that its band does not.
SLOTS = 8192


def join_bits(
    items: BitItems,
    *,
    measure: BitMeasure,
    threshold: float,
    recall: float = 0.95,
    method: BitMethod = "auto",
    seed: int = 0,
    slots: int = SLOTS,
    most_from_copies: int | None = None,
    engine: Engine,
    watch: Watch,
) -> Joined:
    """Pairs that differ in at most `threshold` bits, or whose Tanimoto similarity is at least that.

    `Joined.similarity` is the distance, by Hamming. All roads but `lsh` miss nothing; `recall` is for that.
    More pairs of copies than `most_from_copies` are an error.
    """
    if measure == "jaccard" and method in ("pieces", "covering", "lsh"):
        raise OptionError(f"method={method!r} is for measure='hamming': by jaccard bits are compared exactly")
    with watch.stage("copies", items.rows):
        distinct = distinct_bits(items, empty_too=measure == "hamming", engine=engine)
    refuse_too_many(distinct.representative, most_from_copies, boundary=items.boundary)
    choice: Choice | None = None
    plan: Plan | None = None
    cover: Covering | None = None
    going_on = distinct.items
    radius = int(threshold)
    if measure == "jaccard":
        method = "exact"
    elif method == "pieces":
        cover = Covering(items.width, radius, parts=radius + 1, seed=seed)
    elif method != "exact":
        with watch.stage("plan"):
            sample = draw_bits(going_on, engine)
            if method == "lsh":
                plan = plan_bits(sample, radius, recall, slots)
            elif method == "covering":
                cover = covering_masks(sample, radius, seed)
            else:
                chosen = choose_road(sample, radius, recall, slots, seed=seed)
                choice, cover, plan = chosen.choice, chosen.cover, chosen.plan
                method = choice.method  # type: ignore[assignment]
    sampled: SampledBits | None = None
    if cover is not None:
        found = covering_join(going_on, cover=cover, engine=engine, watch=watch)
    elif method == "lsh":
        assert plan is not None
        sampled = sampling_join(going_on, plan=plan, seed=seed, engine=engine, watch=watch)
        found = sampled.found
    else:
        found = compare_bit_blocks(
            going_on,
            measure=measure,
            threshold=threshold,
            sizes=distinct.sizes,
            engine=engine,
            watch=watch,
        )
    account = Account(
        method=method,
        measure=measure,
        threshold=threshold,
        plan=plan,
        items=items.rows,
        empty=int(np.count_nonzero(distinct.sizes == 0)) if measure == "jaccard" else 0,
        short=0,
        unspaced=0,
        copies=int(np.count_nonzero(distinct.representative != np.arange(items.rows))),
        representatives=going_on.rows,
        candidates=found.candidates,
        pairs=len(found.a),
        recall=RecallEstimate.certain(len(found.a)) if sampled is None else sampled.recall,
        large=LeaderAccount() if sampled is None else sampled.large,
        choice=choice,
        added=() if sampled is None else sampled.added,
        look=None if sampled is None else sampled.look,
    )
    return _joined(items, distinct, found, account, engine)


def covering_masks(sample: BitSample, radius: int, seed: int) -> Covering:
    """Masks for `method="covering"`: in as many parts as cost the least; pieces only if there is no other."""
    covers = covers_of(sample.items.width, radius, seed)
    # Says what is wrong with a radius that nothing covers.
    alone = [Covering(sample.items.width, radius, parts=radius + 1, seed=seed)]
    return cheapest_join(sample, covers[1:] or alone).cover


def _joined(
    items: BitItems, distinct: DistinctBits, found: FoundBits, account: Account, engine: Engine
) -> Joined:
    hamming = account.measure == "hamming"

    def values(a: I64, b: I64, apart: I64) -> F64:
        if hamming:
            return apart.astype(np.float64)
        set_bits = distinct.sizes[a].astype(np.int64) + distinct.sizes[b]
        shared, joint = (set_bits - apart) // 2, (set_bits + apart) // 2
        similarity: F64 = shared.astype(np.float64) / np.maximum(joint, 1).astype(np.float64)
        return similarity

    def compare(a: I64, b: I64) -> F64:
        every = engine.fetch(items.table, Table.of(a=a, b=b), ("a", "b"), NearBits(items.width))
        return values(a, b, every.column("apart").astype(np.int64))

    flags = np.zeros(items.rows, np.uint8)
    if not hamming:
        flags[distinct.sizes == 0] = EMPTY
    return Joined(
        near=pair_table(found.a, found.b, values(found.a, found.b, found.apart)),
        representative=distinct.representative,
        flags=flags,
        account=account,
        compare=compare,
        own=np.zeros(items.rows) if hamming else None,
    )
