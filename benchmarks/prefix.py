"""The exact prefix join beside SetSimilaritySearch, and alone where that is too slow.

    python -m benchmarks.prefix [--sets 500000] [--record]

Sets of 23 tokens: drawn by Zipf's law from 200,000 (rare tokens, as in words and baskets), and evenly from
2,000 (no rare tokens, hard for any prefix join). One set in fifty is an earlier one with one to eight tokens
changed, so that there are pairs at every similarity. Answers are checked before a time is printed: against
brute force on a few hundred sets, against the peer's on as many as it is given, and every planted pair must
be there. The suffix filter must find the same pairs.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lookalike.engines import LocalEngine, Table
from lookalike.joins.found import Found
from lookalike.joins.items import Items
from lookalike.joins.prefix import prefix_join
from lookalike.measures.overlap import MEASURES
from lookalike.measures.sets import as_sets
from lookalike.runs.watch import Watch

from . import machine, record

TOKENS = 23
#: How many times as fast as the peer the join is to be.
GOAL = 10
#: Seconds that 500,000 Zipf sets may take on one core, by threshold.
LIMITS = {0.8: 1.0, 0.7: 4.0}
_CHANGED = 50
_BATCH = 8192
_BRUTE = 400

Tokens = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Collection:
    """Sets of `TOKENS` tokens, a row each, and which rows were made from which."""

    name: str
    tokens: Tokens
    planted: NDArray[np.int64]

    def items(self) -> Items:
        """As what a join takes."""
        offsets = np.arange(0, self.tokens.size + 1, TOKENS, dtype=np.int64)
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(self.tokens.reshape(-1)))
        batch = pa.record_batch(
            {"row": pa.array(np.arange(len(self.tokens))), "elements": as_sets(lists).to_arrow()}
        )
        pieces = tuple(batch.slice(start, _BATCH) for start in range(0, len(batch), _BATCH))
        return Items(table=Table(pieces, batch.schema), bytes=8 * self.tokens.size, shingle=None)


def zipf(sets: int, seed: int = 0) -> Collection:
    """Draw tokens by Zipf's law from 200,000."""
    rng = np.random.default_rng(seed)
    weights = np.cumsum(1 / np.arange(1, 200_001))
    return _plant(
        "Zipf, 200,000 tokens", sets, lambda n: np.searchsorted(weights, rng.random(n) * weights[-1]), rng
    )


def even(sets: int, seed: int = 0) -> Collection:
    """Draw tokens evenly from 2,000."""
    rng = np.random.default_rng(seed)
    return _plant("even, 2,000 tokens", sets, lambda n: rng.integers(0, 2_000, n), rng)


def _plant(name: str, sets: int, draw: Callable[[int], Tokens], rng: np.random.Generator) -> Collection:
    tokens = _distinct(draw(sets * TOKENS).reshape(sets, TOKENS), draw)
    changed = np.arange(_CHANGED - 1, sets, _CHANGED)
    origin = rng.integers(0, changed, len(changed)) // _CHANGED * _CHANGED
    copies = tokens[origin]
    fresh = np.arange(TOKENS) < rng.integers(1, 9, len(changed))[:, None]
    copies = np.where(rng.permuted(fresh, axis=1), draw(copies.size).reshape(copies.shape), copies)
    tokens[changed] = _distinct(copies, draw)
    return Collection(name=name, tokens=tokens, planted=np.column_stack([origin, changed]))


def _distinct(tokens: Tokens, draw: Callable[[int], Tokens]) -> Tokens:
    """Draw repeated tokens of a set anew until there are none."""
    while True:
        tokens = np.sort(tokens, axis=1)
        again = np.zeros(tokens.shape, np.bool_)
        again[:, 1:] = tokens[:, 1:] == tokens[:, :-1]
        if not again.any():
            return tokens
        tokens[again] = draw(int(again.sum()))


def join(items: Items, threshold: float, threads: int, *, suffix: bool = False) -> Found:
    """Find the pairs of a collection by our join."""
    return prefix_join(
        items,
        measure=MEASURES["jaccard"],
        threshold=threshold,
        engine=LocalEngine(threads),
        watch=Watch(),
        suffix_filter=suffix,
    )


def peer(collection: Collection, threshold: float) -> tuple[dict[tuple[int, int], float], float]:
    """Find the pairs of a collection by SetSimilaritySearch, and say how long it took."""
    from SetSimilaritySearch import all_pairs

    sets = [set(row) for row in collection.tokens.tolist()]
    started = time.perf_counter()
    found = list(all_pairs(sets, similarity_func_name="jaccard", similarity_threshold=threshold))
    seconds = time.perf_counter() - started
    return {(min(a, b), max(a, b)): similarity for a, b, similarity in found}, seconds


def faults(collection: Collection, threshold: float, found: Found) -> list[str]:
    """Return what is wrong with an answer: planted pairs and those of the first rows are counted again."""
    answer = pairs_of(found)
    wrong = []
    rows = [set(row) for row in collection.tokens[:_BRUTE].tolist()]
    for a, one in enumerate(rows):
        for b in range(a + 1, len(rows)):
            shared = len(one & rows[b])
            similarity = shared / (len(one) + len(rows[b]) - shared)
            if answer.get((a, b), 0.0) != (similarity if similarity >= threshold else 0.0):
                wrong.append(f"rows {a} and {b} have similarity {similarity}, not {answer.get((a, b))}")
    for a, b in collection.planted.tolist():
        shared = len(np.intersect1d(collection.tokens[a], collection.tokens[b]))
        if shared / (2 * TOKENS - shared) >= threshold and (a, b) not in answer:
            wrong.append(f"the planted pair of rows {a} and {b} is missing")
    return wrong


def pairs_of(found: Found) -> dict[tuple[int, int], float]:
    """Return an answer as a dictionary."""
    rows = zip(found.a.tolist(), found.b.tolist(), found.similarity.tolist(), strict=True)
    return {(a, b): similarity for a, b, similarity in rows}


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a wrong answer or a goal that is missed."""
    options = _parser().parse_args(arguments)
    console = record.console()
    wrong: list[str] = []
    rows = [
        *_alone(zipf(options.sets), (0.9, 0.8, 0.7, 0.5), options.runs, wrong),
        *_alone(even(options.sets * 2 // 5), (0.8, 0.7, 0.5), options.runs, wrong),
        *_beside(zipf(options.peer_sets), (0.8, 0.7, 0.5), options.runs, wrong),
    ]
    for fault in wrong[:10]:
        console.print(fault, style="red")
    made = record.Record(
        name="prefix",
        title="The exact prefix join",
        date=datetime.date.today().isoformat(),
        command=record.command("prefix", arguments),
        machine=str(machine.describe(("lookalike", "SetSimilaritySearch", "numpy", "pyarrow"))),
        columns=(
            "sets",
            "of",
            "threshold",
            "pairs",
            "candidates",
            "one core, s",
            "two threads, s",
            "suffix filter, one core, s",
            "peer, s",
        ),
        rows=tuple(rows),
        notes=(
            f"Sets of {TOKENS} tokens, Jaccard, the best of {options.runs} runs.",
            "The peer is SetSimilaritySearch, run once.",
            f"Goals: {GOAL} times as fast as the peer; 500,000 Zipf sets in "
            + ", ".join(f"{limit:g} s at {threshold:g}" for threshold, limit in LIMITS.items())
            + f". {'Missed.' if wrong else 'All reached.'}",
        ),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prefix", description="The exact prefix join.")
    parser.add_argument("--sets", type=int, default=500_000, help="Zipf sets; even ones are two fifths of it")
    parser.add_argument("--peer-sets", type=int, default=20_000, help="sets that the peer is given too")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the best counts")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


def _alone(
    collection: Collection, thresholds: tuple[float, ...], runs: int, wrong: list[str]
) -> Iterator[tuple[str, ...]]:
    items = collection.items()
    for threshold in thresholds:
        found, one = _best(lambda t=threshold: join(items, t, 1), runs, cores=1)
        _, two = _best(lambda t=threshold: join(items, t, 2), runs)
        wrong += faults(collection, threshold, found)
        suffix = _by_suffixes(items, collection, threshold, found, runs, wrong)
        limit = LIMITS.get(threshold, np.inf) if len(collection.tokens) == 500_000 else np.inf
        if one > limit:
            wrong.append(
                f"{collection.name}, threshold {threshold:g}: {one:.2f} s, over the {limit:g} s allowed"
            )
        yield (*_described(collection, threshold, found), f"{one:.3f}", f"{two:.3f}", f"{suffix:.3f}", "–")


def _beside(
    collection: Collection, thresholds: tuple[float, ...], runs: int, wrong: list[str]
) -> Iterator[tuple[str, ...]]:
    items = collection.items()
    for threshold in thresholds:
        found, one = _best(lambda t=threshold: join(items, t, 1), runs, cores=1)
        _, two = _best(lambda t=threshold: join(items, t, 2), runs)
        theirs, seconds = peer(collection, threshold)
        wrong += faults(collection, threshold, found)
        suffix = _by_suffixes(items, collection, threshold, found, runs, wrong)
        if pairs_of(found) != theirs:
            wrong.append(f"{collection.name}, threshold {threshold:g}: the peer finds other pairs")
        if seconds < GOAL * one:
            wrong.append(
                f"{collection.name}, threshold {threshold:g}: only {seconds / one:.1f} times as fast"
            )
        times = f"{one:.3f}", f"{two:.3f}", f"{suffix:.3f}", f"{seconds:.2f} ({seconds / one:.0f} ×)"
        yield (*_described(collection, threshold, found), *times)


def _by_suffixes(
    items: Items, collection: Collection, threshold: float, found: Found, runs: int, wrong: list[str]
) -> float:
    """Return the seconds with the suffix filter; another answer than without it is wrong."""
    filtered, seconds = _best(lambda: join(items, threshold, 1, suffix=True), runs, cores=1)
    if pairs_of(filtered) != pairs_of(found):
        wrong.append(f"{collection.name}, threshold {threshold:g}: the suffix filter finds other pairs")
    return seconds


def _described(collection: Collection, threshold: float, found: Found) -> tuple[str, ...]:
    counts = f"{len(found.a):,}", f"{found.candidates:,}"
    return f"{len(collection.tokens):,}", collection.name, f"{threshold:g}", *counts


def _best(work: Callable[[], Found], runs: int, cores: int | None = None) -> tuple[Found, float]:
    """Return an answer and the least time, on the first of the cores there are, or on all of them."""
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_cores)[:cores])
    try:
        times = []
        for _ in range(runs):
            started = time.perf_counter()
            found = work()
            times.append(time.perf_counter() - started)
    finally:
        os.sched_setaffinity(0, all_cores)
    return found, min(times)


if __name__ == "__main__":
    sys.exit(main())
