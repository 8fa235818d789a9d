"""Runs by bands of bits over collections whose pairs differ alike, and what each run said of its own recall.

    python -m tests.statistics.draws_of_bits [--seeds 20] [--pairs 1000]

Rows are random, and each comes again with some bits flipped, so the pairs are known and all of them are at
the threshold. How they differ makes the collection: each in bits of its own, all in one bit and else in their
own, or in the bits of one of a few kinds. Nothing here is random from run to run.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from lookalike.engines import LocalEngine
from lookalike.joins.bitrows import BitItems
from lookalike.joins.bits import join_bits
from lookalike.measures.bits import as_bits
from lookalike.runs.watch import Watch

#: Widths and distances.
SHAPES = [
    (64, 1),
    (64, 2),
    (64, 4),
    (64, 6),
    (64, 9),
    (64, 12),
    (128, 3),
    (128, 8),
    (128, 12),
    (256, 5),
    (256, 12),
]
#: Of how many kinds the pairs are; None where each differs in its own way.
COLLECTIONS = {"own": None, "one bit shared": None, "3 kinds": 3, "10 kinds": 10, "30 kinds": 30}
RECALL = 0.95


@dataclass(frozen=True)
class Run:
    """What one run found, and what it said."""

    found: float
    recall: float
    low: float
    high: float
    by_law: float
    added: int
    bands: int

    @property
    def covered(self):
        """Whether the truth is within the interval."""
        return self.low - 1e-9 <= self.found <= self.high + 1e-9

    @property
    def short(self):
        """Whether it found less than it promised by over .02."""
        return self.found < RECALL - 0.02


def differences(name, width, distance, pairs, rng):
    """Which bits are flipped in each pair."""
    kinds = COLLECTIONS[name]
    if kinds is not None:
        alike = np.array([rng.permutation(width)[:distance] for _ in range(kinds)])
        return alike[rng.integers(0, kinds, pairs)]
    own = np.array([rng.permutation(width)[:distance] for _ in range(pairs)])
    if name == "one bit shared":
        # Whoever has the shared bit among others has it first; the first of the others goes.
        shared = int(rng.integers(0, width))
        own = np.where(own == shared, own[:, :1], own)
        own[:, 0] = shared
    return own


def run(name, width, distance, seed, *, pairs):
    """One collection, joined once."""
    rng = np.random.default_rng([list(COLLECTIONS).index(name), width, distance, seed])
    rows = rng.integers(0, 2, (pairs, width), dtype=np.uint8)
    flipped = rows.copy()
    np.bitwise_xor.at(flipped, (np.arange(pairs)[:, None], differences(name, width, distance, pairs, rng)), 1)
    engine = LocalEngine(1)
    bits = as_bits(np.packbits(np.vstack([rows, flipped]), axis=1), width=width)
    joined = join_bits(
        BitItems.of(engine, bits),
        measure="hamming",
        threshold=distance,
        recall=RECALL,
        method="lsh",
        seed=seed,
        engine=engine,
        watch=Watch(),
    )
    account = joined.account
    said = account.recall
    unknown = said.recall is None
    return Run(
        found=float((joined.b - joined.a == pairs).mean() * len(joined.a) / pairs) if len(joined.a) else 0.0,
        recall=0.0 if unknown else said.recall,
        low=0.0 if unknown else said.low,
        high=0.0 if unknown else said.high,
        by_law=0.0 if unknown else said.by_law,
        added=sum(one.bands for one in account.added),
        bands=account.plan.banding.bands,
    )


def runs(name, width, distance, seeds, *, pairs):
    """A run a seed."""
    return [run(name, width, distance, seed, pairs=pairs) for seed in seeds]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=1000)
    asked = parser.parse_args()
    every = []
    for name in COLLECTIONS:
        worst, of_name = 1.0, []
        for width, distance in SHAPES:
            some = runs(name, width, distance, range(asked.seeds), pairs=asked.pairs)
            worst = min(worst, np.mean([one.covered for one in some]))
            of_name += some
        print(f"{name:15} {said(of_name)}, worst collection {worst:.2f}", flush=True)
        every += of_name
    print(f"{'all':15} {said(every)}")


def said(some):
    """The figures of some runs."""
    short, covered, added = (
        np.mean([getattr(one, of) for one in some]) for of in ("short", "covered", "added")
    )
    error, law = (
        np.sqrt(np.mean([(getattr(one, of) - one.found) ** 2 for one in some])) for of in ("recall", "by_law")
    )
    triggered = np.mean([one.added > 0 for one in some])
    more = 1 + added / np.mean([one.bands for one in some])
    width = np.mean([one.high - one.low for one in some])
    return (
        f"short {short:.4f}, covered {covered:.3f} (width {width:.3f}),"
        f" bands added {triggered:.3f} (x{more:.2f}), error {error:.4f} (law {law:.4f})"
    )


if __name__ == "__main__":
    main()
