"""`auto` for Hamming distance: pieces, bands of sampled bits, or every row with every other.

A thousand rows with the least hashes of their bits are a sample that depends on no order. How often two of
them agree in a piece says what covering would cost, and their distances say what bands would. Both exact
roads are worth more than bands, which miss some pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import add
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.charts.numbers import seconds
from lookalike.engines import Engine, Held, Table
from lookalike.errors import UnreachableRecallError
from lookalike.joins.bitrows import BitItems, Digest, all_words, bits_column, words_of
from lookalike.joins.hamming import pieces_of
from lookalike.theory import Choice, DistanceSample, Plan, RoadEstimate, plan
from lookalike.theory.costs import EXACT_WORTH
from lookalike.types import I64, U64

SAMPLE_ROWS = 1000
#: What a key with the bits that travel along, and a comparison of folded bits, cost: nanoseconds of one core.
KEY_NS, COMPARISON_NS = 120.0, 0.12


@dataclass(frozen=True, kw_only=True, eq=False)
class BitSample:
    """A few rows, and what they stand for."""

    words: U64
    items: BitItems

    def distances(self) -> DistanceSample:
        """How far apart two rows are."""
        _, _, apart = _core.bit_pairs(self.words, measure="hamming", threshold=self.items.width, plain=True)
        levels, counts = np.unique(apart, return_counts=True)
        of_first = self.items.of_first
        return DistanceSample(
            levels=tuple(levels.tolist()),
            counts=tuple(counts.tolist()),
            items=self.items.rows if of_first is None else of_first,
            values_per_item=self.items.words,
            other_items=None if of_first is None else self.items.rows - of_first,
        )

    def meetings(self, radius: int) -> float:
        """In how many of radius + 1 pieces two rows agree, on average."""
        pieces = pieces_of(self.items.width, radius)
        keys = _core.BitMasks(pieces, words=self.items.words).keys(self.words, 0, radius + 1)
        pairs = max(1, len(self.words) * (len(self.words) - 1) // 2)
        total = 0.0
        for key, bits in zip(keys, np.diff(pieces[1]), strict=True):
            _, counts = np.unique(key, return_counts=True)
            # What a sample does not show need not be absent: pieces of evenly spread bits agree by chance.
            total += max(float((counts * (counts - 1) // 2).sum()) / pairs, 0.5 ** float(bits))
        return total


def draw_bits(items: BitItems, engine: Engine) -> BitSample:
    """The rows with the least hashes of their bits, which are best distinct."""
    drawn = engine.settle("sample", lambda: _drawn(items, engine))
    return BitSample(words=np.ascontiguousarray(all_words(drawn.batches)), items=items)


def _drawn(items: BitItems, engine: Engine) -> Table:
    share = 4 * SAMPLE_ROWS / max(1, items.rows)
    while True:
        limit = min(2**64 - 1, int(share * 2**64))
        parts = engine.fold(items.table, Below(limit, Digest(items.width)), add) or []
        contents = np.concatenate([content for content, _ in parts]) if parts else np.empty(0, np.uint64)
        rows = np.concatenate([row for _, row in parts]) if parts else np.empty(0, np.int64)
        chosen = np.lexsort((rows, contents))[:SAMPLE_ROWS]
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
    """The cheapest banding of sampled bits that keeps the promise."""
    return plan(
        radius,
        measure="hamming",
        bits=sample.items.width,
        recall=recall,
        slots=slots,
        distances=sample.distances(),
    )


def choose_road(sample: BitSample, radius: int, recall: float, slots: int) -> tuple[Choice, Plan | None]:
    """Which road costs least, exact ones up to half as much again as bands; and the plan of bands, if any."""
    items = sample.items
    pairs = float(items.possible_pairs())
    met = pairs * sample.meetings(radius)
    roads = {
        "exact": RoadEstimate(seconds=pairs * COMPARISON_NS * 1e-9, candidates=pairs),
        "covering": RoadEstimate(
            seconds=(items.rows * (radius + 1) * KEY_NS + met * COMPARISON_NS) * 1e-9, candidates=met
        ),
    }
    best = min(("exact", "covering"), key=lambda name: roads[name].seconds)
    bands: Plan | None = None
    try:
        bands = plan_bits(sample, radius, recall, slots)
    except UnreachableRecallError:
        return _told(best, roads), None
    expected = bands.expected_candidates or 0.0
    lines = items.rows * bands.banding.bands
    roads["lsh"] = RoadEstimate(
        seconds=(lines * KEY_NS + expected * COMPARISON_NS) * 1e-9, candidates=expected
    )
    if roads[best].seconds > EXACT_WORTH * roads["lsh"].seconds:
        best = "lsh"
    return _told(best, roads), bands


_WORDS = {
    "exact": "every row with every other",
    "covering": "pieces of bits, which miss no pair,",
    "lsh": "bands of sampled bits",
}


def _told(method: str, roads: dict[str, RoadEstimate]) -> Choice:
    others = ", ".join(
        f"{_WORDS[name].rstrip(',')} {seconds(road.seconds)}"
        for name, road in roads.items()
        if name != method
    )
    why = f"{_WORDS[method]} should take about {seconds(roads[method].seconds)} of one core; {others}"
    return Choice(method=method, why=why, roads=roads)
