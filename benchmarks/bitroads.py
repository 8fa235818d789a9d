"""Pieces, covering masks or every row with every other: the best road of near bits, and what `auto` takes.

    python -m benchmarks.bitroads [--scale 1.0] [--fit] [--record]

Hashes that are spread evenly, with clusters; hashes whose bits are much alike, as those of pictures are: then
many rows share a piece of their bits, and Pagh's masks tell more of them apart; widths from 64 to 1,024 bits.
Each road is walked on one thread from rows in memory to pairs, and its time of the processor is taken, which
other work on the machine disturbs least. All roads must find the same pairs, or no time is given. Then the
road that `auto` takes may take at most half as long again as the best one, and .05 s for choosing.

`--fit` finds the constants of `theory/costs.py` by which keys, company and comparisons, as they were counted,
come closest to these times.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

import lookalike as la
from lookalike import _core
from lookalike.engines import LocalEngine
from lookalike.joins.bitblocks import compare_bit_blocks
from lookalike.joins.bitchoice import BitSample, cheapest_join, choose_road, covers_of, draw_bits
from lookalike.joins.bitrows import BitItems, DistinctBits, FoundBits, all_words, distinct_bits
from lookalike.joins.bits import SLOTS
from lookalike.joins.hamming import covering_join
from lookalike.runs.watch import Watch
from lookalike.theory.costs import EXACT_WORTH, seconds_for_bit_pairs

from . import bits, machine, record

#: What choosing itself may cost, which does not grow with the collection.
_CHOOSING = 0.05
#: Covers of more masks than this are not walked, nor is a scan of more pairs: they would take too long.
_MASKS, _PAIRS = 64, 1e10


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A collection, made when it is its turn, and how near its pairs are to be."""

    name: str
    make: Callable[[], la.Bits]
    radius: int


def cases(scale: float) -> list[Case]:
    """Return the collections; `scale` multiplies their sizes."""

    def rows(count: int) -> int:
        return max(2_000, int(count * scale))

    def spread(count: int, radius: int) -> Case:
        return Case(
            name=f"{rows(count):,} of 64 bits in clusters, within {radius}",
            make=lambda: la.as_bits(bits.clustered_hashes(rows(count))),
            radius=radius,
        )

    def alike(count: int, width: int, radius: int, causes: int) -> Case:
        return Case(
            name=f"{rows(count):,} of {width:,} bits of {causes} causes, within {radius}",
            make=lambda: bits.alike_bits(rows(count), width=width, causes=causes),
            radius=radius,
        )

    return [
        *(spread(8_000, 3), spread(1_000_000, 3), spread(300_000, 1), spread(100_000, 8)),
        *(alike(1_000_000, 64, 3, 16), alike(300_000, 64, 3, 8), alike(100_000, 64, 6, 12)),
        *(alike(100_000, 256, 8, 12), alike(30_000, 1024, 20, 16)),
        Case(
            name=f"{rows(1_000_000):,} of 64 bits, .15 of them set, within 3",
            make=lambda: sparse_bits(rows(1_000_000), share=0.15),
            radius=3,
        ),
        Case(
            name=f"{rows(40_000):,} fingerprints of 2,048 bits, within 8",
            make=lambda: la.as_bits(bits.made_up_fingerprints(rows(40_000))),
            radius=8,
        ),
    ]


def sparse_bits(count: int, *, share: float, width: int = 64, seed: int = 1) -> la.Bits:
    """Return bits of which few are set, each by itself: many rows share a piece, hardly any are near."""
    draw = np.random.default_rng(seed)
    starts = range(0, count, 50_000)
    parts = [draw.random((min(50_000, count - at), width)) < share for at in starts]
    return la.as_bits(np.concatenate([np.packbits(part, axis=1) for part in parts]))


class Walked(NamedTuple):
    """A road, the seconds of one core it took, and what the fit needs to know of it."""

    name: str
    method: str
    seconds: float
    expected: float
    candidates: int
    work: tuple[float, ...]


def walk(case: Case, runs: int) -> tuple[list[Walked], Walked, int]:
    """Walk all roads; AssertionError if two of them do not agree. Then the road that `auto` takes."""
    engine = LocalEngine(1)
    distinct = distinct_bits(BitItems.of(engine, case.make()), empty_too=True, engine=engine)
    items, radius = distinct.items, case.radius
    sample = draw_bits(items, engine)
    roads: list[Walked] = []
    found: list[FoundBits] = []
    for cover in covers_of(items.width, radius, 0):
        if cover.slots <= _MASKS:
            seconds, by_cover = timed(join_of(items, cover, engine), runs)
            found.append(by_cover)
            method = "pieces" if cover.parts == radius + 1 else "covering"
            expected = cheapest_join(sample, [cover]).estimate.seconds
            keys = items.rows * cover.slots
            work = (keys, keys * items.words, in_company(items, cover), by_cover.candidates)
            roads.append(Walked(f"{cover.slots} masks", method, seconds, expected, by_cover.candidates, work))
    pairs = items.rows * (items.rows - 1) / 2
    if pairs <= _PAIRS:
        seconds, by_scan = timed(scan_of(distinct, radius, engine), runs)
        found.append(by_scan)
        compared = pairs * sample.of_like_sizes(radius)
        expected = seconds_for_bit_pairs(compared)
        roads.append(Walked("scan", "exact", seconds, expected, by_scan.candidates, (0, 0, 0, compared)))
    first = found[0]
    for name, other in zip((road.name for road in roads), found, strict=True):
        same = all(np.array_equal(getattr(first, part), getattr(other, part)) for part in ("a", "b", "apart"))
        assert same, f"{case.name}: {name} finds {len(other.a)} pairs, {roads[0].name} {len(first.a)}"
    return roads, taken(sample, radius, roads), len(first.a)


def in_company(items: BitItems, cover: la.Covering) -> int:
    """Count the keys that are another row's too."""
    words = all_words(items.table.batches)
    company = 0
    for mask in range(cover.slots):
        _, repeats = np.unique(cover.masks().keys(words, mask, mask + 1), return_counts=True)
        company += int(repeats[repeats > 1].sum())
    return company


Road = Callable[[], FoundBits]


def join_of(items: BitItems, cover: la.Covering, engine: LocalEngine) -> Road:
    """Return the road by the masks of a cover."""
    return lambda: covering_join(items, cover=cover, engine=engine, watch=Watch())


def scan_of(distinct: DistinctBits, radius: int, engine: LocalEngine) -> Road:
    """Return the road that compares every row with every other."""
    return lambda: compare_bit_blocks(
        distinct.items,
        measure="hamming",
        threshold=radius,
        sizes=distinct.sizes,
        engine=engine,
        watch=Watch(),
    )


def taken(sample: BitSample, radius: int, roads: list[Walked]) -> Walked:
    """Return the road that `auto` takes if it must miss nothing: bands are no part of this comparison."""
    started = time.process_time()
    chosen = choose_road(sample, radius, 0.95, SLOTS)
    choosing = time.process_time() - started
    exact = {name: road for name, road in chosen.choice.roads.items() if name != "lsh"}
    method = min(exact, key=lambda name: exact[name].seconds)
    among = [road for road in roads if road.method == method]
    best = min(among, key=lambda road: road.expected)
    return best._replace(seconds=best.seconds + choosing)


def timed(road: Road, runs: int) -> tuple[float, FoundBits]:
    """Return the least time of the processor of several runs, and what was found."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        found = road()
        times.append(time.process_time() - started)
    return min(times), found


def fitted(walked: list[Walked]) -> npt.NDArray[np.float64]:
    """Return nanoseconds a key, a word that travels along, a key in company, and a comparison.

    Each road counts by the share that its estimate is wrong by, so a short one as much as a long one.
    """
    seconds = np.array([road.seconds for road in walked])
    work = np.array([road.work for road in walked]) * 1e-9 / seconds[:, np.newaxis]
    constants, _ = nnls(work, np.ones(len(walked)))
    return np.asarray(constants)


def query_constants(count: int, runs: int) -> npt.NDArray[np.float64]:
    """Return nanoseconds a look-up of a query, a row that it looks at, a row that it finds, and the call."""
    work, times = [], []
    for rows in (la.as_bits(bits.clustered_hashes(count)), bits.alike_bits(count, causes=8)):
        engine = LocalEngine(1)
        sample = draw_bits(BitItems.of(engine, rows), engine)
        asked = rows.words[:: max(1, count // 1000)]
        for cover in covers_of(rows.width, bits.RADIUS, 0):
            table = _core.BitTable(rows.words, cover.positions, radius=bits.RADIUS, threads=1)
            seconds, found = bits.timed(
                lambda table=table, asked=asked: sum(  # type: ignore[misc]
                    len(table.query(one, most=bits.RADIUS)[0]) for one in asked
                ),
                runs,
                time.process_time,
            )
            times.append(1e9 * seconds / len(asked))
            work.append((cover.slots, count * sample.meetings(cover), found / len(asked), 1.0))
    constants, _ = nnls(np.array(work) / np.array(times)[:, np.newaxis], np.ones(len(times)))
    return np.asarray(constants)


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a road badly chosen."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bitroads", description="Roads of near bits.")
    parser.add_argument("--scale", type=float, default=1.0, help="how large the collections are")
    parser.add_argument("--runs", type=int, default=2, help="runs of each; the best counts")
    parser.add_argument("--fit", action="store_true", help="print the constants that suit these times best")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    given = parser.parse_args(arguments)
    console = record.console()
    wrong: list[str] = []
    every: list[Walked] = []
    rows: list[tuple[str, ...]] = []
    for case in cases(given.scale):
        roads, auto, pairs = walk(case, given.runs)
        every += roads
        best = min(road.seconds for road in roads)
        if auto.seconds > EXACT_WORTH * best + _CHOOSING:
            wrong.append(f"{case.name}: auto takes {auto.seconds:.3f} s, the best road {best:.3f} s")
        for at, road in enumerate(roads):
            mark = "auto" if road.name == auto.name else ""
            name, count = (case.name, f"{pairs:,}") if at == 0 else ("", "")
            times = f"{road.expected:.3f}", f"{road.seconds:.3f}"
            rows.append((name, count, road.method, road.name, f"{road.candidates:.3g}", *times, mark))
            console.print("  ".join(rows[-1]))
    if given.fit:
        names = ("BIT_KEY_NS", "BIT_WORD_NS", "BIT_MET_NS", "BIT_PAIR_NS")
        console.print(", ".join(f"{name} {ns:.3g}" for name, ns in zip(names, fitted(every), strict=True)))
        look, seen, *_ = query_constants(max(20_000, int(400_000 * given.scale)), given.runs)
        console.print(f"BIT_LOOK_NS {look:.3g}, BIT_SEEN_NS {seen:.3g}")
    for fault in wrong:
        console.print(fault, style="red")
    made = record.Record(
        name="bitroads",
        title="Pieces, covering masks, or every row with every other",
        date=datetime.date.today().isoformat(),
        command=record.command("bitroads", arguments),
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=("collection", "pairs", "road", "masks", "candidates", "expected, s", "took, s", "auto"),
        rows=tuple(rows),
        notes=(
            f"Seconds of one core, the best of {given.runs} runs, from distinct rows in memory to pairs.",
            "All roads find the same pairs. Pieces are the fewest masks that cover the radius; the others are"
            " Pagh's, in several parts.",
            f"Goal: auto takes at most {EXACT_WORTH:g} times as long as the best road, and {_CHOOSING:g} s to"
            f" choose. {'Missed.' if wrong else 'Reached.'}",
        ),
    )
    made.show(console)
    if given.record:
        console.print(f"recorded in {record.save(made).name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
