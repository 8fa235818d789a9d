"""Weighted sets and sparse vectors, exactly: every pair at or over a threshold, by what prefixes share.

    copies      same elements and weights: star edges to a representative
    order       how often elements occur, and the prefixes of sets by it, rarest elements first
    compare     sets that meet in their prefixes, each two once, and their exact similarity

Nothing is estimated and nothing missed. Every similarity is the same bits as that of `joins/weighted.py`.
`joins/weighted_prefixes.py` says why a prefix is enough.

Time: that of sorting the elements, a test of what is left for every two prefixes that meet, and a check of
every pair that passes; sets that share no rare element seldom meet. Where low thresholds leave long prefixes,
or all elements are frequent, every two sets meet once instead: n²/2 tests, and as many checks at the worst.

Memory: the engine's, for 28 bytes an element of a prefix, 32 an entry that is dealt (an element of n > 128
prefixes is dealt n/64 times each), and 8 a pair that passes. Pairs are gone through in strips of rows that
meet some 2²⁶ others, each settled, so no table holds more pairs than those. At the driver: 8 bytes a bucket
of elements, at most 32 MB, and 12 bytes a row.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from lookalike.bands import Once
from lookalike.engines import Engine, Table
from lookalike.joins.account import Account
from lookalike.joins.bucket_counts import CountKeys, added
from lookalike.joins.exact_look import across
from lookalike.joins.expand import refuse_too_many
from lookalike.joins.flags import EMPTY
from lookalike.joins.found import Found
from lookalike.joins.items import Items
from lookalike.joins.joined import Joined
from lookalike.joins.meetings import unpacked
from lookalike.joins.pair_tables import distinct_pairs
from lookalike.joins.weighted import THEORY, DigestWeighted, WeightedItems, representatives_by_weight
from lookalike.joins.weighted_prefixes import (
    CountElements,
    CountEntries,
    Crowds,
    CutWeighted,
    Deal,
    Everybody,
    MeetWeighted,
    Reach,
    Sizes,
    Strip,
    bucket_bits,
)
from lookalike.runs.watch import Watch
from lookalike.theory import RecallEstimate
from lookalike.types import F64, I64, Bools

#: Keys of dealt entries are counted by this many bits.
_KEY_BITS = 16
#: Meetings of the rows of a strip, as far as counts foretell them; of one collection, from either side.
STRIP = 1 << 26
#: Where this share of the pairs of so many rows reaches the threshold, or falls short of it by less than
#: this, a few rows have too many candidates to be compared with all.
_CROWDED, _GUESSED_BY, _NEARLY = 0.1, 100, 0.2


def exact_weighted(items: WeightedItems, *, threshold: float, engine: Engine, watch: Watch) -> Joined:
    """Join weighted sets by their prefixes, exactly; those with the same elements and weights once."""
    with watch.stage("copies", items.rows) as advance:
        told = engine.map(items.table, DigestWeighted(), advance=advance, settled="digests")
        representative, flags = representatives_by_weight(items, told, engine)
    refuse_too_many(representative, items.most_from_copies, boundary=items.boundary)
    filled = (flags & EMPTY) == 0
    marked = filled & (representative == np.arange(items.rows))

    def every() -> Table:
        return _found(items, marked, items.sides(representative), threshold, engine, watch).to_table()

    found = Found.from_table(engine.settle("found", every))
    count = int(marked.sum())
    account = Account(
        method="exact",
        measure=THEORY[items.measure],
        threshold=threshold,
        plan=None,
        items=items.rows,
        empty=int(np.count_nonzero(~filled)),
        short=0,
        unspaced=0,
        copies=int(filled.sum()) - count,
        representatives=count,
        candidates=found.candidates,
        pairs=len(found),
        recall=RecallEstimate.certain(len(found)),
        frequencies=items.frequencies,
    )

    def compare(a: I64, b: I64) -> F64:
        asked = Table.of(a=representative[a].astype(np.int64), b=representative[b].astype(np.int64))
        similarity: F64 = engine.fetch(items.table, asked, ("a", "b"), items.exact(at_least=-1.0)).column(
            "similarity"
        )
        return similarity

    return Joined(
        near=found.near,
        representative=representative,
        flags=flags,
        account=account,
        compare=compare,
    )


def near_of_weighted(
    items: Items,
    marked: Bools,
    sides: tuple[Bools, Bools] | None,
    threshold: float,
    engine: Engine,
    rows: I64,
) -> tuple[I64, I64] | None:
    """The near pairs of some rows with all; None where many of these are nearly as near to each other."""
    assert isinstance(items, WeightedItems)
    one, other = (rows[:_GUESSED_BY][side] for side in np.triu_indices(len(rows[:_GUESSED_BY]), 1))
    asked, stage = Table.of(a=one, b=other), items.exact(at_least=-1.0)
    among = engine.fetch(items.table, asked, ("a", "b"), stage).column("similarity")
    if np.count_nonzero(among >= threshold - _NEARLY) > _CROWDED * len(one):
        return None
    chosen = np.zeros(items.rows, np.bool_)
    chosen[rows] = True
    # Of two collections, too, all rows are looked through: a representative may stand for rows of either.
    whole = replace(items, boundary=None)
    found = _found(whole, marked, (chosen, marked), threshold, engine, Watch())
    apart = found.a != found.b
    return across(sides, found.a[apart], found.b[apart])


def _found(
    items: WeightedItems,
    marked: Bools,
    sides: tuple[Bools, Bools] | None,
    threshold: float,
    engine: Engine,
    watch: Watch,
) -> Found:
    with watch.stage("order", items.rows) as advance:
        elements, largest = engine.fold(items.table, Sizes(), Sizes.merge) or (0, 0)
        bits = bucket_bits(elements)
        reach = Reach(items.measure, threshold, largest)
        counts = engine.fold(items.table, CountElements(bits), added)
        if counts is None:
            counts = np.zeros(1 << bits, np.uint32)
        entries = engine.map(items.table, CutWeighted(reach, counts, marked), advance=advance)
        whole = Strip(0, items.rows if items.boundary is None else items.boundary, sides)
        meetings = crowds_of(engine, entries, bits, whole).meetings
        if meetings > _pairs(marked, sides):
            entries = engine.map(items.table, Everybody(marked))
            meetings = _pairs(marked, sides)
    strips = _strips(whole, meetings)
    with watch.stage("compare", whole.last) as advance:
        parts = []
        for number, strip in enumerate(strips, 1):
            compared = partial(_compared, items, entries, bits, strip, reach, engine)
            settled = engine.settle(f"strip-{number}-of-{len(strips)}", compared)
            parts.append(Found.from_table(settled))
            advance(strip.last - strip.first)
    return _together(parts, engine)


def _together(parts: list[Found], engine: Engine) -> Found:
    """The pairs of all strips: where both rows are on either side, they were found from both."""
    candidates = sum(part.candidates for part in parts)
    if len(parts) == 1:
        return Found(near=parts[0].near, candidates=candidates)
    every = Table.together([part.near for part in parts])
    return Found(near=distinct_pairs(engine, every, most=len(parts)), candidates=candidates)


def _pairs(marked: Bools, sides: tuple[Bools, Bools] | None) -> float:
    """How many ordered pairs there are."""
    left, right = (marked, marked) if sides is None else (marked & side for side in sides)
    return float(left.sum()) * float(right.sum())


def crowds_of(engine: Engine, entries: Table, bits: int, strip: Strip) -> Crowds:
    counted = engine.fold(entries, CountEntries(bits, strip), Crowds.merge)
    none = np.zeros(1 << bits, np.uint32)
    return Crowds(none, none) if counted is None else counted


def _strips(whole: Strip, meetings: float) -> list[Strip]:
    """The whole in parts of some `STRIP` meetings."""
    parts, rows = max(1, math.ceil(meetings / STRIP)), whole.last
    shares = np.arange(parts + 1) / parts
    if whole.sides is None:
        # Of n rows the first x are the lower ones of n² − (n − x)² of n² pairs.
        shares = 1 - np.sqrt(1 - shares)
    edges = sorted({round(rows * share) for share in shares.tolist()})
    return [replace(whole, first=first, last=last) for first, last in pairwise(edges)] or [whole]


def _compared(
    items: WeightedItems, entries: Table, bits: int, strip: Strip, reach: Reach, engine: Engine
) -> Table:
    """The pairs of a strip, and how many candidates there were."""
    candidates = candidates_of(engine, entries, bits, strip, reach)
    pairs = engine.fetch(
        items.table, engine.map(candidates, unpacked), ("a", "b"), items.exact(at_least=reach.threshold)
    )
    return Found.of(engine, pairs, candidates.rows).to_table()


def candidates_of(engine: Engine, entries: Table, bits: int, strip: Strip, reach: Reach) -> Table:
    """Pairs of a strip that meet at an entry and may reach the threshold (`pair`), each once."""
    dealt = engine.map(entries, Deal(crowds_of(engine, entries, bits, strip), strip))
    keys = engine.fold(dealt, CountKeys(_KEY_BITS), added)
    longest = 0 if keys is None else int(keys.max())
    met = engine.group(dealt, "key", MeetWeighted(reach, strip), order=("side", "row"), least=2, most=longest)
    # Two sets meet at every element of both prefixes at most, and where either may be of either side, twice.
    return engine.group(met, "pair", Once(), most=2 * reach.largest + 2)
