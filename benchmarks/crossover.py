"""Where bands and prefixes cross, and whether `auto` takes the better road.

    python -m benchmarks.crossover [--scale 1.0] [--record]

Texts of three lengths, sets with rare elements and sets without, each at several thresholds. Each road is
walked on one thread from items in memory to pairs, and its time of the processor is taken, which other work
on the machine disturbs least. Answers are checked first: what bands find must be a part of what prefixes
find, similarities included, and at least the promised recall of it, but for pairs of large buckets. Then the
road that `auto` takes may take at most half as long again as the better one, and .05 s for choosing.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.applications.documents import PairOptions
from lookalike.applications.documents.roads import take_road
from lookalike.applications.planted import plant
from lookalike.engines import LocalEngine, Table
from lookalike.joins import Items, Joined
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.theory.costs import EXACT_WORTH

from . import machine, prefix, record

THRESHOLDS = (0.9, 0.8, 0.7, 0.5)
RECALL = 0.95
#: What choosing itself may cost, which does not grow with the collection.
_CHOOSING = 0.05
_BATCH_BYTES = 4 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A collection, made when it is its turn."""

    name: str
    make: Callable[[], Items]


def cases(scale: float) -> list[Case]:
    """Return the collections; `scale` multiplies their sizes."""

    def rows(count: int) -> int:
        return max(2_000, int(count * scale))

    return [
        Case(name="texts of 2.7 kB, words:5", make=lambda: texts(rows(10_000), 2_700, "words:5")),
        Case(name="texts of 800 B, words:5", make=lambda: texts(rows(30_000), 800, "words:5")),
        Case(name="texts of 200 B, words:5", make=lambda: texts(rows(100_000), 200, "words:5")),
        Case(name="texts of 200 B, words:1", make=lambda: texts(rows(20_000), 200, "words:1")),
        Case(name="sets of 23, Zipf", make=lambda: prefix.zipf(rows(200_000)).items()),
        Case(name="sets of 23, out of 2,000", make=lambda: prefix.even(rows(100_000)).items()),
    ]


def texts(rows: int, mean_bytes: int, shingle: str) -> Items:
    """Return planted texts, some of them edited copies of others, as what a join takes."""
    column = pa.array(plant(rows, seed=1, mean_bytes=mean_bytes).texts, pa.large_string())
    batch = pa.record_batch({"row": pa.array(np.arange(len(column))), "text": column})
    step = max(1, _BATCH_BYTES // mean_bytes)
    pieces = tuple(batch.slice(start, step) for start in range(0, len(batch), step))
    size = int(pa.compute.sum(pa.compute.binary_length(column)).as_py())
    return Items(table=Table(pieces, batch.schema), bytes=size, shingle=Shingle.parse(shingle))


def walk(items: Items, method: str, threshold: float, runs: int) -> tuple[Joined, float]:
    """Return what a method finds, and the least time of the processor that it took."""
    options = PairOptions(threshold=threshold, recall=RECALL, method=method)  # type: ignore[arg-type]
    times = []
    for _ in range(runs):
        started = time.process_time()
        joined = take_road(items, options, engine=LocalEngine(1), watch=Watch())
        times.append(time.process_time() - started)
    return joined, min(times)


def faults(by_bands: Joined, exact: Joined, threshold: float) -> list[str]:
    """Return what is wrong with the answer of the bands, given the exact one."""
    truth, found = _pairs(exact), _pairs(by_bands)
    wrong = [
        f"bands claim {pair} at {similarity}, not {truth.get(pair)}"
        for pair, similarity in found.items()
        if truth.get(pair) != similarity
    ]
    if not by_bands.account.large.not_compared and len(truth) >= 100 and len(found) < RECALL * len(truth):
        wrong.append(f"threshold {threshold:g}: bands find {len(found)} of {len(truth)} pairs")
    return wrong


def _pairs(joined: Joined) -> dict[tuple[int, int], float]:
    rows = zip(joined.a.tolist(), joined.b.tolist(), joined.similarity.tolist(), strict=True)
    return {(a, b): similarity for a, b, similarity in rows}


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a wrong answer or a road badly chosen."""
    options = _parser().parse_args(arguments)
    console = record.console()
    wrong: list[str] = []
    rows = []
    for case in cases(options.scale):
        items = case.make()
        for threshold in THRESHOLDS:
            exact, by_prefixes = walk(items, "prefix", threshold, options.runs)
            banded, by_bands = walk(items, "lsh", threshold, options.runs)
            taken, by_auto = walk(items, "auto", threshold, options.runs)
            wrong += [f"{case.name}: {fault}" for fault in faults(banded, exact, threshold)]
            best = min(by_prefixes, by_bands)
            if by_auto > EXACT_WORTH * best + _CHOOSING:
                wrong.append(
                    f"{case.name}, {threshold:g}: auto takes {by_auto:.2f} s, the better {best:.2f} s"
                )
            choice = taken.account.choice
            assert choice is not None
            thought = (f"{choice.roads[road].seconds:.2f}" for road in ("lsh", "prefix"))
            seen = f"{by_bands:.2f}", f"{by_prefixes:.2f}", f"{by_auto:.2f}"
            rows.append((case.name, f"{items.rows:,}", f"{threshold:g}", *thought, *seen, choice.method))
            console.print("  ".join(rows[-1]))
    for fault in wrong[:20]:
        console.print(fault, style="red")
    made = record.Record(
        name="crossover",
        title="Bands or prefixes",
        date=datetime.date.today().isoformat(),
        command=record.command("crossover", arguments),
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=(
            "collection",
            "rows",
            "threshold",
            "bands expected, s",
            "prefixes expected, s",
            "bands, s",
            "prefixes, s",
            "auto, s",
            "auto took",
        ),
        rows=tuple(rows),
        notes=(
            f"Seconds of one core, the best of {options.runs} runs, from items in memory to pairs.",
            "Expected seconds are auto's, by committed constants; prefixes are given up at the first estimate"
            " that is too high.",
            f"Goal: auto takes at most {EXACT_WORTH:g} times as long as the better road, and {_CHOOSING:g} s"
            f" to choose. {'Missed.' if wrong else 'Reached.'}",
        ),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crossover", description="Bands or prefixes.")
    parser.add_argument("--scale", type=float, default=1.0, help="how large the collections are")
    parser.add_argument("--runs", type=int, default=2, help="runs of each; the best counts")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


if __name__ == "__main__":
    sys.exit(main())
