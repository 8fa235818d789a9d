"""All pairs of vectors within a Euclidean distance, beside MLlib's BucketedRandomProjectionLSH.

    python -m benchmarks.mllib [--rows 100000] [--thresholds 0.02 0.1 0.2] [--record]

Vectors are those of vectors.py with other spreads: twenty around each of many centres, as many of every order
of magnitude from near copies to far relatives. Strangers are some 16 apart. Both contestants are asked for a
pair exactly at the threshold with the same probability, and closer ones more often; both compare exactly what
they propose. The answers are judged before a time is printed (near_judge.py): every reported pair is measured
again, and the recall of each must be the promised one, by exact search for the relatives of 2,000 rows.

MLlib's settings are chosen in the same run: for every number of tables the bucket length that keeps the
promise is known (spark_lsh.py), and of the numbers of tables the one that was fastest on 20,000 other vectors
is taken. Spark is warm: started, and its code compiled by joins of a small part and by that sweep. Ours is
called once on the small part too. A run of under ten seconds is made three times, and the median counts.

Thresholds are in MLlib's favour. Its tables are single lines, and the longer a bucket, the more strangers
share it: what it compares grows with the threshold, and with the square of the rows. At 0.02, a thousandth of
the way to a stranger, that is little; at 5, about the 25 degrees of vectors.py, half of all pairs meet at its
best, sixteen times as many as at 0.2. That would take a quarter of an hour, and is left out.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

import lookalike as la

from . import machine, record, spark_lsh
from .near_judge import RECALL, Result, Truth, judged
from .vectors import DIMENSIONS, F32, clustered

GOAL = 20
TABLES = (1, 2, 3, 4, 6)
THRESHOLDS = (0.02, 0.1, 0.2)
_US, _PEER = "lookalike", "MLlib"
_LEAST_SPREAD, _MOST_SPREAD = 0.0005, 0.8
_SMALL = 2_000
# The race's rule: what takes under ten seconds is run three times.
_LONG, _RUNS = 10.0, 3

T = TypeVar("T")


def spread_vectors(rows: int, seed: int = 1) -> F32:
    """Clustered vectors whose spreads are of every order of magnitude alike."""
    spreads = np.geomspace(_LEAST_SPREAD, _MOST_SPREAD, rows, dtype=np.float32)
    return clustered(rows, seed, np.random.default_rng(seed).permutation(spreads))


def timed(job: Callable[[], T]) -> tuple[float, T]:
    """The median of three runs, or one if it is long; and the last answer."""
    seconds: list[float] = []
    while len(seconds) < _RUNS and (not seconds or seconds[0] < _LONG):
        started = time.perf_counter()
        answer = job()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), answer


def our_join(vectors: F32, threshold: float) -> la.Pairs:
    """Ask lookalike."""
    return la.similar_pairs(
        vectors, measure="l2", threshold=threshold, recall=RECALL, method="lsh", threads=2
    )


def our_results(vectors: F32, truths: dict[float, Truth]) -> list[Result]:
    """Time lookalike at every threshold and judge its answers."""
    results = []
    for threshold, truth in truths.items():
        our_join(vectors[:_SMALL], threshold)
        seconds, found = timed(partial(our_join, vectors, threshold))
        pairs = found["a"].to_numpy(), found["b"].to_numpy()
        account = {"seconds": seconds, "compared": found.account.candidates}
        results.append(judged(pairs, vectors, truth, contestant=_US, **account))
    return results


def sweep(part: spark_lsh.Cached, threshold: float, tables: Sequence[int]) -> dict[int, float]:
    """How many seconds MLlib takes with each number of tables, in one run of each."""
    seconds = {}
    for count in tables:
        model = part.model(_settings(threshold, count))
        started = time.perf_counter()
        part.join(model, threshold)
        seconds[count] = time.perf_counter() - started
    return seconds


def peer_results(
    vectors: F32, truths: dict[float, Truth], others: F32, tables: Sequence[int]
) -> tuple[list[Result], dict[int, float]]:
    """Time MLlib at every threshold and judge its answers; with the sweep that its tables were chosen by."""
    middle = _middle(list(truths))
    with spark_lsh.session() as spark:
        # For Java's compiler: a first join takes several times as long as the next.
        sweep(spark.cached(vectors[:_SMALL], "small"), middle, tables)
        swept = sweep(spark.cached(others, "others"), middle, tables)
        best = min(swept, key=swept.__getitem__)
        held = spark.cached(vectors, "vectors")
        results = []
        for threshold, truth in truths.items():
            model = held.model(_settings(threshold, best))
            seconds, pairs = timed(partial(held.join, model, threshold))
            account = {"seconds": seconds, "compared": held.compared(model)}
            results.append(judged(pairs, vectors, truth, contestant=_PEER, **account))
    return results, swept


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a wrong answer, 2 if the peer cannot run."""
    options = _parser().parse_args(arguments)
    console = record.console()
    if (why := spark_lsh.missing()) is not None:
        console.print(why, style="red")
        return 2
    vectors = spread_vectors(options.rows)
    truths = {threshold: Truth.of(vectors, threshold, options.sample) for threshold in options.thresholds}
    # Ours first, while no Java machine is at work.
    ours = our_results(vectors, truths)
    theirs, swept = peer_results(vectors, truths, spread_vectors(options.sweep_rows, 3), options.tables)
    wrong = [why for result in (*ours, *theirs) for why in result.objections]
    for why in wrong:
        console.print(why, style="red")
    if wrong:
        return 1
    ratios = [peer.seconds / us.seconds for us, peer in zip(ours, theirs, strict=True)]
    made = record.Record(
        name="mllib",
        title=f"All pairs within a distance among {options.rows:,} × {DIMENSIONS}, beside MLlib",
        date=datetime.date.today().isoformat(),
        command=record.command("mllib", arguments),
        machine=str(machine.describe(("lookalike", "pyspark", "numpy", "pyarrow"))),
        columns=(
            "distance",
            "contestant",
            "seconds",
            "× lookalike",
            "recall",
            "precision",
            "pairs",
            "compared",
        ),
        rows=tuple(
            line
            for us, peer, ratio in zip(ours, theirs, ratios, strict=True)
            for line in (_line(us, 1.0), _line(peer, ratio))
        ),
        notes=_notes(options, swept, min(ratios)),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 0


def _notes(options: argparse.Namespace, swept: dict[int, float], ratio: float) -> tuple[str, ...]:
    tried = ", ".join(f"{count} in {seconds:.1f} s" for count, seconds in swept.items())
    return (
        f"Clustered vectors of 32-bit floats, two threads, from memory to compared pairs; both are planned"
        f" for recall {RECALL} at the threshold. Recall by exact search for {options.sample:,} rows,"
        " precision of all pairs.",
        f"MLlib: Spark local[2] with {spark_lsh.MEMORY} of memory, warm, its input cached. Compared are the"
        " pairs that meet in a bucket, once for every table.",
        f"MLlib's tables by least time on {options.sweep_rows:,} others within"
        f" {_middle(options.thresholds):g}: {tried}.",
        f"At least {ratio:.1f} times as fast as MLlib: the goal of {GOAL} is"
        f" {'reached' if ratio >= GOAL else 'missed'}.",
    )


def _line(result: Result, ratio: float) -> tuple[str, ...]:
    return (
        f"{result.threshold:g}",
        result.contestant,
        f"{result.seconds:.2f}",
        f"{ratio:.1f}",
        f"{result.recall:.3f}",
        f"{result.precision:.3f}",
        f"{result.pairs:,}",
        f"{result.compared:,}",
    )


def _settings(threshold: float, tables: int) -> spark_lsh.Settings:
    return spark_lsh.settings(threshold, tables=tables, dimensions=DIMENSIONS, recall=RECALL)


def _middle(thresholds: Sequence[float]) -> float:
    return sorted(thresholds)[len(thresholds) // 2]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mllib", description="Beside MLlib.")
    parser.add_argument("--rows", type=int, default=100_000, help="vectors")
    parser.add_argument("--thresholds", type=float, nargs="+", default=THRESHOLDS, help="distances")
    parser.add_argument("--sample", type=int, default=2_000, help="rows that are searched exactly")
    parser.add_argument("--sweep-rows", type=int, default=20_000, help="vectors to try MLlib's settings on")
    parser.add_argument("--tables", type=int, nargs="+", default=TABLES, help="how many tables to try")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


if __name__ == "__main__":
    sys.exit(main())
