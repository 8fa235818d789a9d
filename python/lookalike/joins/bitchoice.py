"""`auto` for Hamming distance: masks that cover the radius, bands of sampled bits, or all rows with all.

A thousand rows with the least hashes of their bits are a sample that depends on no order. Their distances say
under how many masks of a cover two rows meet (`theory.covers`), so what it would cost: pieces are the fewest
masks and let the most rows meet, Pagh's masks the other way round, and between them lie covers in several
parts. What bands would cost they say too. Exact roads are worth more than bands, which miss some pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import add
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.charts.numbers import seconds
from lookalike.engines import Engine, Held, Table
from lookalike.errors import UnreachableRecallError
from lookalike.families import Covering
from lookalike.joins.bitrows import BitItems, Digest, all_words, bits_column, words_of
from lookalike.theory import Choice, DistanceSample, Plan, RoadEstimate, plan
from lookalike.theory.costs import (
    EXACT_WORTH,
    seconds_for_bit_keys,
    seconds_for_bit_pairs,
    seconds_for_bit_query,
)
from lookalike.theory.covers import MOST_DIMENSIONS, fewest_parts
from lookalike.types import I64, U32, U64

SAMPLE_ROWS = 1000
#: Of all keys so many are taken to be those of a near row too, which a thousand rows cannot show: it is for
#: the sake of near rows that one looks.
NEAR_SHARE = 0.3


@dataclass(frozen=True, kw_only=True, eq=False)
class BitSample:
    """A few rows, and what they stand for."""

    words: U64
    items: BitItems

    @cached_property
    def distances(self) -> DistanceSample:
        """How far apart two rows are."""
        levels, counts = np.unique(self._pairs[2], return_counts=True)
        of_first = self.items.of_first
        return DistanceSample(
            levels=tuple(levels.tolist()),
            counts=tuple(counts.tolist()),
            items=self.items.rows if of_first is None else of_first,
            values_per_item=self.items.words,
            other_items=None if of_first is None else self.items.rows - of_first,
        )

    def meetings(self, cover: Covering) -> float:
        """Under how many masks of a cover two rows agree, on average."""
        sample = self.distances
        met = float(np.asarray(sample.counts, np.float64) @ cover.law.meetings(sample.levels))
        # What a sample does not show need not be absent: one pair is added that may be at any distance.
        unknown = float(cover.law.meetings(np.arange(cover.bits + 1)).mean())
        return (met + unknown) / (sample.pairs + 1)

    def in_company(self, cover: Covering) -> float:
        """How many keys of a row are another's too: those that are nobody's else cost the least."""
        a, b, apart = self._pairs
        if not len(apart):
            return cover.slots * NEAR_SHARE
        # A row meets so many others under a mask, if all that it stands for are where the sampled ones are.
        weights = cover.law.meetings(np.arange(cover.bits + 1))[apart] / cover.slots
        others = np.bincount(a, weights, len(self.words)) + np.bincount(b, weights, len(self.words))
        expected = others * (self.items.rows - 1) / (len(self.words) - 1)
        return cover.slots * (1 - (1 - NEAR_SHARE) * float(np.exp(-expected).mean()))

    def of_like_sizes(self, radius: int) -> float:
        """The share of pairs that have about as many bits set, which a scan in that order looks at."""
        sizes = np.sort(_core.bit_sizes(self.words).astype(np.int64))
        if len(sizes) < 2:
            return 1.0
        near = np.searchsorted(sizes, sizes + radius, side="right") - np.arange(1, len(sizes) + 1)
        return float(near.sum() / (len(sizes) * (len(sizes) - 1) / 2))

    @cached_property
    def _pairs(self) -> tuple[U32, U32, U32]:
        """All pairs of sampled rows, and in how many bits they differ."""
        return _core.bit_pairs(self.words, measure="hamming", threshold=self.items.width, plain=True)


def draw_bits(items: BitItems, engine: Engine) -> BitSample:
    """The rows with the least hashes of their bits, each hash once."""
    drawn = engine.settle("sample", lambda: _drawn(items, engine))
    return BitSample(words=np.ascontiguousarray(all_words(drawn.batches)), items=items)


def _drawn(items: BitItems, engine: Engine) -> Table:
    share = 4 * SAMPLE_ROWS / max(1, items.rows)
    while True:
        limit = min(2**64 - 1, int(share * 2**64))
        parts = engine.fold(items.table, Below(limit, Digest(items.width)), add) or []
        contents = np.concatenate([content for content, _ in parts]) if parts else np.empty(0, np.uint64)
        rows = np.concatenate([row for _, row in parts]) if parts else np.empty(0, np.int64)
        order = np.lexsort((rows, contents))
        chosen = order[np.unique(contents[order], return_index=True)[1]][:SAMPLE_ROWS]
        if len(chosen) == SAMPLE_ROWS or limit == 2**64 - 1:
            break
        share *= 16
    if not len(chosen):
        nothing = pa.record_batch({"bits": bits_column(np.empty((0, items.words), np.uint64))})
        return Table((nothing,), nothing.schema)
    asked = Table.of(row=np.sort(rows[chosen]))
    return engine.fetch(items.table, asked, ("row",), TakeBits())


@dataclass(frozen=True)
class Below:
    """A stage for `fold`: rows whose hash is under a limit, in parts as they come."""

    light: ClassVar[bool] = True

    limit: int
    digest: Digest

    def __call__(self, batch: pa.RecordBatch) -> list[tuple[U64, I64]]:
        content = self.digest(batch)["content"].to_numpy()
        few = np.flatnonzero(content <= np.uint64(self.limit))
        return [(content[few], batch["row"].to_numpy()[few])]


@dataclass(frozen=True)
class TakeBits:
    """A stage for `fetch`: numbers of rows → their bits."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        places = held.at(batch["row"].to_numpy())
        starts = np.cumsum([0, *(len(piece) for piece in held.batches)])
        piece_of = np.searchsorted(starts, places, side="right") - 1
        words = [
            words_of(held.batches[piece])[places[piece_of == piece] - starts[piece]]
            for piece in np.unique(piece_of).tolist()
        ]
        empty = words_of(held.batches[0])[:0]
        return pa.record_batch({"bits": bits_column(np.ascontiguousarray(np.concatenate([empty, *words])))})


def plan_bits(sample: BitSample, radius: int, recall: float, slots: int) -> Plan:
    """The cheapest banding of sampled bits that keeps the promise.

    Rows are compared in every band in which they meet, so the expected candidates count each of those.
    """
    chosen = plan(
        radius,
        measure="hamming",
        bits=sample.items.width,
        recall=recall,
        slots=slots,
        distances=sample.distances,
    )
    return replace(
        chosen, expected_candidates=sample.distances.likely_meetings(chosen.banding, chosen.collision)
    )


@dataclass(frozen=True, kw_only=True)
class ThoughtOf:
    """A cover, and what it is expected to cost."""

    cover: Covering
    estimate: RoadEstimate


def covers_of(width: int, radius: int, seed: int) -> list[Covering]:
    """The covers worth thinking of, fewest masks first: pieces, and then parts of 2, 3, … dimensions."""
    fewest = fewest_parts(radius) if radius < width else None
    if fewest is None:
        return []
    dimensions = range(1, min(radius + 1, MOST_DIMENSIONS) + 1)
    parts = sorted({-(-(radius + 1) // most) for most in dimensions}, reverse=True)
    return [Covering(width, radius, parts=count, seed=seed) for count in parts if count >= fewest]


def cheapest_join(sample: BitSample, covers: list[Covering]) -> ThoughtOf:
    """The cover by which all pairs are found at the least cost; of none there is nothing to say."""
    items = sample.items

    def thought(cover: Covering) -> ThoughtOf:
        met = items.rows * (items.rows - 1) / 2 * sample.meetings(cover)
        keys = seconds_for_bit_keys(items.rows, cover.slots, sample.in_company(cover), items.words)
        cost = keys + seconds_for_bit_pairs(met)
        return ThoughtOf(cover=cover, estimate=RoadEstimate(seconds=cost, candidates=met))

    best = thought(covers[0])
    for cover in covers[1:]:
        # Masks only become more.
        if seconds_for_bit_keys(items.rows, cover.slots, 0.0, items.words) >= best.estimate.seconds:
            break
        best = min(best, thought(cover), key=lambda one: one.estimate.seconds)
    return best


def cheapest_query(sample: BitSample, covers: list[Covering]) -> Covering:
    """The cover by which one row is looked up at the least cost."""

    def cost(cover: Covering) -> float:
        return seconds_for_bit_query(cover.slots, sample.items.rows * sample.meetings(cover))

    return min(covers, key=cost)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The road that is taken, with the cover or the plan it needs."""

    choice: Choice
    cover: Covering | None = None
    plan: Plan | None = None


def choose_road(sample: BitSample, radius: int, recall: float, slots: int, *, seed: int = 0) -> Chosen:
    """Which road costs least, exact ones up to half as much again as bands."""
    items = sample.items
    pairs = items.rows * (items.rows - 1) / 2 * sample.of_like_sizes(radius)
    roads = {"exact": RoadEstimate(seconds=seconds_for_bit_pairs(pairs), candidates=pairs)}
    covers = covers_of(items.width, radius, seed)
    if not covers:
        return Chosen(choice=_told("exact", roads))
    thoughts = {"pieces": cheapest_join(sample, covers[:1])}
    if covers[1:]:
        thoughts["covering"] = cheapest_join(sample, covers[1:])
    roads |= {name: thought.estimate for name, thought in thoughts.items()}
    best = min(roads, key=lambda name: roads[name].seconds)
    bands: Plan | None = None
    try:
        bands = plan_bits(sample, radius, recall, slots)
    except UnreachableRecallError:
        pass
    else:
        # What a sample cannot rule out counts, where a road is to be chosen.
        wary = sample.distances.candidates(bands.collision)(bands.banding)
        expected = max(wary, bands.expected_candidates or 0.0)
        count = bands.banding.bands
        in_company = min(float(count), count * NEAR_SHARE + 2 * expected / max(1, items.rows))
        cost = seconds_for_bit_keys(items.rows, count, in_company, items.words)
        cost += seconds_for_bit_pairs(expected)
        roads["lsh"] = RoadEstimate(seconds=cost, candidates=bands.expected_candidates)
        if roads[best].seconds > EXACT_WORTH * roads["lsh"].seconds:
            best = "lsh"
    cover = thoughts[best].cover if best in thoughts else None
    return Chosen(choice=_told(best, roads), cover=cover, plan=bands if best == "lsh" else None)


_WORDS = {
    "exact": "comparing all with all",
    "pieces": "pieces of bits",
    "covering": "covering masks",
    "lsh": "bands of sampled bits",
}


def _told(method: str, roads: dict[str, RoadEstimate]) -> Choice:
    others = [f"{_WORDS[name]} {seconds(road.seconds)}" for name, road in roads.items() if name != method]
    costs = [f"{_WORDS[method]} would take about {seconds(roads[method].seconds)} of one core", *others]
    said = [", ".join(costs), *(["only bands of sampled bits may miss pairs"] if "lsh" in roads else [])]
    return Choice(method=method, why="; ".join(said), roads=roads)
