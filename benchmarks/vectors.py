"""All pairs of vectors within 25 degrees: how long it takes, and what share is found.

    python -m benchmarks.vectors [--rows 1000000] [--record]
    python -m benchmarks.vectors --probes [--rows 100000] [--record]

Vectors are clustered: twenty around each of many centres, from near copies to far relatives, so that pairs
lie on both sides of the threshold. The peers compare all with all: FAISS by a flat index's range search,
NumPy by blocked products. They are timed on 2,000 rows drawn at random against all, and extrapolated to all
rows; NumPy, which can spare the half of a symmetric product, is counted half. The same rows' exact answer
checks ours first: no pair may be false, and the promised recall must be kept. `--probes` counts the tables
that looking into several buckets spares instead (`probes.py`).
"""

from __future__ import annotations

import argparse
import datetime
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rich.console import Console

import lookalike as la

from . import machine, record

DEGREES, RECALL = 25.0, 0.95
DIMENSIONS, EACH = 128, 20
_BLOCK = 250

F32 = npt.NDArray[np.float32]
Found = set[tuple[int, int]]


def clustered(rows: int, seed: int = 1, spread: F32 | None = None, dimensions: int = DIMENSIONS) -> F32:
    """Vectors around centres, the spread of each its own: as given, or from near copies to far relatives."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(-(-rows // EACH), dimensions)).astype(np.float32)
    vectors = np.repeat(centres, EACH, axis=0)[:rows]
    if spread is None:
        spread = draw.uniform(0.1, 0.8, size=rows).astype(np.float32)
    noise = draw.standard_normal(size=vectors.shape, dtype=np.float32)
    vectors += spread[:, np.newaxis] * noise
    return vectors[draw.permutation(rows)]


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, and all pairs they are in, by products in 64 bits of those that might be."""

    rows: npt.NDArray[np.int64]
    pairs: Found

    @classmethod
    def of(cls, vectors: F32, count: int, seed: int = 2) -> Sample:
        """Draw rows and compare them with all."""
        rows = np.random.default_rng(seed).choice(len(vectors), min(count, len(vectors)), replace=False)
        units = directions(vectors)
        pairs: Found = set()
        for at in range(0, len(rows), _BLOCK):
            some = rows[at : at + _BLOCK]
            i, j = np.nonzero(units[some] @ units.T >= _cosine(DEGREES + 0.01))
            a, b = some[i], j
            wide = vectors[a].astype(np.float64), vectors[b].astype(np.float64)
            lengths = np.linalg.norm(wide[0], axis=1) * np.linalg.norm(wide[1], axis=1)
            near = ((wide[0] * wide[1]).sum(axis=1) >= _cosine(DEGREES) * lengths) & (a != b)
            pairs |= set(zip(np.minimum(a, b)[near].tolist(), np.maximum(a, b)[near].tolist(), strict=True))
        return cls(rows, pairs)

    def recall(self, found: Found) -> float:
        """What share of its pairs was found."""
        return len(self.pairs & found) / max(1, len(self.pairs))

    def false_pairs(self, found: Found) -> Found:
        """Pairs of its rows that are none."""
        mine = set(self.rows.tolist())
        return {pair for pair in found if pair[0] in mine or pair[1] in mine} - self.pairs


def directions(vectors: F32) -> F32:
    """The vectors with length 1."""
    units: F32 = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def numpy_seconds(vectors: F32, rows: npt.NDArray[np.int64]) -> float:
    """Blocked products of the rows with all, extrapolated to half of all rows."""
    units = directions(vectors)
    least = np.float32(_cosine(DEGREES))
    started = time.perf_counter()
    for at in range(0, len(rows), _BLOCK):
        np.flatnonzero(units[rows[at : at + _BLOCK]] @ units.T >= least)
    return (time.perf_counter() - started) * len(vectors) / len(rows) / 2


def faiss_seconds(vectors: F32, rows: npt.NDArray[np.int64]) -> float:
    """Range search of a flat index for the rows, extrapolated to all rows."""
    import faiss

    faiss.omp_set_num_threads(2)
    units = directions(vectors)
    index = faiss.IndexFlatIP(DIMENSIONS)
    index.add(units)
    started = time.perf_counter()
    index.range_search(units[rows], _cosine(DEGREES))
    return (time.perf_counter() - started) * len(vectors) / len(rows)


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a wrong answer."""
    options = _parser().parse_args(arguments)
    console = record.console()
    if options.probes:
        return _probes(options, record.command("vectors", arguments), console)
    vectors = clustered(options.rows or 1_000_000)
    sample = Sample.of(vectors, options.sample)
    started = time.perf_counter()
    pairs = la.similar_pairs(
        vectors, measure="angle", threshold=f"{DEGREES}deg", recall=RECALL, method="lsh", threads=2
    )
    seconds = time.perf_counter() - started
    found = set(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))
    recall, wrong = sample.recall(found), sample.false_pairs(found)
    if wrong or recall < RECALL:
        console.print(f"recall {recall:.3f} of {RECALL}, {len(wrong)} false pairs", style="red")
        return 1
    rows = [("lookalike", f"{seconds:.1f}", "1.0", f"{recall:.3f}", f"{len(pairs):,}")]
    peers: dict[str, Callable[[F32, npt.NDArray[np.int64]], float]] = {
        "blocked numpy": numpy_seconds,
        "faiss flat": faiss_seconds,
    }
    for name, peer in peers.items():
        try:
            took = peer(vectors, sample.rows)
        except ImportError:
            console.print(f"{name} is not installed and left out")
            continue
        rows.append((name, f"{took:.1f} (extrapolated)", f"{took / seconds:.1f}", "1", "–"))
    made = record.Record(
        name="vectors",
        title=f"All pairs within {DEGREES:g}° among {len(vectors):,} × {DIMENSIONS}",
        date=datetime.date.today().isoformat(),
        command=record.command("vectors", arguments),
        machine=str(machine.describe(("lookalike", "numpy", "faiss-cpu"))),
        columns=("contestant", "seconds", "times ours", "recall", "pairs"),
        rows=tuple(rows),
        notes=(
            f"Clustered vectors of 32-bit floats, two threads, from memory to verified pairs; recall on"
            f" {len(sample.rows):,} rows, by exact search. {pairs.account.plan.banding}.",
            "Peers compare these rows with all and are extrapolated to all rows; NumPy to half of them, for "
            "symmetry.",
        ),
    )
    return _shown(made, options, console)


def _probes(options: argparse.Namespace, command: str, console: Console) -> int:
    from .probes import table

    try:
        made = table(options.rows or 100_000, options.sample, command)
    except AssertionError as wrong:
        console.print(str(wrong), style="red")
        return 1
    return _shown(made, options, console)


def _shown(made: record.Record, options: argparse.Namespace, console: Console) -> int:
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 0


def _cosine(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vectors", description="Near vectors.")
    parser.add_argument("--rows", type=int, help="vectors: 1,000,000, and of --probes 100,000")
    parser.add_argument("--probes", action="store_true", help="count tables with and without multi-probe")
    parser.add_argument("--sample", type=int, default=2_000, help="rows that are searched exactly")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


if __name__ == "__main__":
    sys.exit(main())
