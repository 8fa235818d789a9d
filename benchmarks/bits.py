"""Bits: one query and all pairs among 64-bit hashes, and Tanimoto pairs among molecular fingerprints.

    python -m benchmarks.bits [--hashes 10000000] [--molecules 42000] [--fingerprints FILE.npy] [--record]

Hashes come in clusters, as those of a picture and its variants do: half of them are others with a few bits
flipped, and a hundredth lie around a few very common ones. Fingerprints are read from a file of packed bytes
(uint8, a row a molecule), or made up: families of molecules that share most of a scaffold's 2,048 bits, which
are as unevenly common as substructures are.

Pieces and covering masks are set side by side, on such hashes and on some that are much alike, as those of
pictures are: few causes set their bits, so that many rows share a piece of them.

Answers are checked before a time is printed: queries against the linear scan, all pairs by asking the table
for the neighbours of sampled rows and by counting what was flipped on purpose, Tanimoto pairs against the
blocked scan that counts every bit of every pair. That scan is timed on all rows, or on a part of them if
there are many, and extrapolated, which is then said.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import lookalike as la
from lookalike import _core

from . import machine, record

RADIUS, SIMILARITY = 3, 0.8
#: Rows of a block of the plain scan: 2,048 bits each, they stay in a core's own cache.
_BLOCK = 2048
#: Hashes on which pieces and covering masks are compared, at most.
MASKED = 1_000_000
#: Up to so many rows the plain scan looks at every pair.
_SCANNED = 60_000

T = TypeVar("T")
U64 = npt.NDArray[np.uint64]


def clustered_hashes(count: int, seed: int = 1) -> U64:
    """Draw hashes, half of them within a few bits of another."""
    draw = np.random.default_rng(seed)
    hashes = draw.integers(0, 2**64, count, dtype=np.uint64)
    variants = np.arange(count // 2, count)
    hashes[variants] = hashes[draw.integers(0, max(1, count // 2), len(variants))]
    # Pictures with little in them: plain, black, white.
    common = draw.choice(count, count // 100, replace=False)
    hashes[common] = draw.integers(0, 2**64, 8, dtype=np.uint64)[draw.integers(0, 8, len(common))]
    for rows, most in ((variants, 6), (common, 14)):
        flips = draw.integers(0, most + 1, len(rows))
        for flip in range(most):
            flipped = rows[flips > flip]
            hashes[flipped] ^= np.uint64(1) << draw.integers(0, 64, len(flipped), dtype=np.uint64)
    return hashes


def alike_bits(count: int, *, causes: int, width: int = 64, seed: int = 1) -> la.Bits:
    """Return bits that a few causes set together, each of them mostly 0 or mostly 1.

    A bit of a perceptual hash says whether one coarse feature of a picture outweighs another; few things
    decide that, and most pictures are alike in most of them.
    """
    draw = np.random.default_rng(seed)
    effects, lean = draw.normal(size=(causes, width)), 1.5 * draw.normal(size=width)
    packed = np.empty((count, width // 8), np.uint8)
    for at in range(0, count, 50_000):
        some = packed[at : at + 50_000]
        strength = draw.normal(size=(len(some), causes)) @ effects
        some[:] = np.packbits(strength + lean + 0.35 * draw.normal(size=strength.shape) > 0, axis=1)
    return la.as_bits(packed)


def made_up_fingerprints(count: int, seed: int = 1, width: int = 2048) -> npt.NDArray[np.uint8]:
    """Make fingerprints of some fifty bits, in families around a scaffold."""
    draw = np.random.default_rng(seed)
    common = np.cumsum(1 / np.arange(1, width + 1) ** 0.9)
    scaffolds = [_bits(draw, common, int(draw.integers(10, 60))) for _ in range(max(1, count // 20))]
    table = np.zeros((count, width), np.bool_)
    for row in table:
        scaffold = scaffolds[int(draw.integers(0, len(scaffolds)))]
        row[scaffold[draw.random(len(scaffold)) < 0.9]] = True
        row[_bits(draw, common, int(draw.integers(2, 30)))] = True
    return np.packbits(table[:, draw.permutation(width)], axis=1)


def _bits(draw: np.random.Generator, common: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    return np.searchsorted(common, draw.random(count) * common[-1])


def timed(
    work: Callable[[], T], runs: int, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, T]:
    """Do the work several times; the least time, and the last answer."""
    best = float("inf")
    for _ in range(runs):
        start = clock()
        answer = work()
        best = min(best, clock() - start)
    return best, answer


def plain_scan(words: U64, rows: int) -> set[tuple[int, int]]:
    """Count every bit of every pair of the first rows, block by block, on one core."""
    found: set[tuple[int, int]] = set()
    starts = range(0, rows, _BLOCK)
    for one in starts:
        for other in starts:
            if other < one:
                continue
            left = words[one : min(one + _BLOCK, rows)]
            right = None if other == one else words[other : min(other + _BLOCK, rows)]
            i, j, _ = _core.bit_pairs(left, right, measure="jaccard", threshold=SIMILARITY, plain=True)
            found.update(zip((i + one).tolist(), (j + other).tolist(), strict=True))
    return found


def hamming(count: int, runs: int) -> tuple[list[tuple[str, ...]], list[str]]:
    """Measure one query and all pairs; an AssertionError if an answer is wrong."""
    hashes = clustered_hashes(count)
    bits = la.as_bits(hashes)
    building, table = timed(lambda: la.HammingTable(bits, RADIUS), 1)
    asked = np.random.default_rng(2).choice(count, min(200, count), replace=False)
    for row in asked[:50].tolist():
        near, apart = _core.scan_bits(bits.words, bits.words[row], most=RADIUS)
        said = table.query(hashes[row])
        assert said["row"].to_pylist() == near.tolist(), "a query misses or invents rows"
        assert said["distance"].to_pylist() == apart.tolist(), "a query gives wrong distances"
    few = bits.words[asked[:10]]
    scan, _ = timed(lambda: [_core.scan_bits(bits.words, one, most=RADIUS) for one in few], runs)
    query, _ = timed(lambda: [table.query(hashes[row]) for row in asked.tolist()], runs)
    scan, query = scan / len(few), query / len(asked)
    seconds, pairs = timed(lambda: la.similar_bits(bits, threshold=RADIUS), 1)
    assert pairs.account.recall.recall == 1, "all pairs were to be found exactly"
    faults = wrong_neighbours(pairs, table, hashes, asked[:50].tolist())
    assert not faults, faults[0]
    method = pairs.account.method
    rows = [
        (f"one query among {count:,} hashes", "linear scan", f"{1e3 * scan:.2f} ms", "1", "exact"),
        ("", "HammingTable", f"{1e3 * query:.3f} ms", f"{scan / query:.0f}×", "exact"),
        (
            f"all pairs within {RADIUS} bits",
            method,
            f"{seconds:.1f} s",
            "",
            f"{len(pairs):,} pairs",
        ),
    ]
    return rows, [f"The table of {count:,} hashes was built in {building:.1f} s."]


def wrong_neighbours(pairs: la.Pairs, table: la.HammingTable, hashes: U64, asked: Sequence[int]) -> list[str]:
    """Say where pairs and the table's answers for some rows differ. Copies are with their representative."""
    a, b = (pairs[side].to_numpy() for side in ("a", "b"))
    first: dict[int, int] = {}
    for row, value in enumerate(hashes.tolist()):
        first.setdefault(value, row)
    faults = []
    for row in asked:
        one = first[int(hashes[row])]
        near = {first[int(hashes[other])] for other in table.query(hashes[row])["row"].to_pylist()} - {one}
        met = {*b[a == one].tolist(), *a[b == one].tolist()}
        met = {other for other in met if int(hashes[other]) != int(hashes[one])}
        if near != {first[int(hashes[other])] for other in met}:
            faults.append(f"row {row} has {len(near)} neighbours and {len(met)} were found")
    return faults


def pieces_and_masks(count: int, runs: int) -> list[tuple[str, ...]]:
    """Measure all pairs and queries by both kinds of masks; an AssertionError if they differ."""
    rows = []
    kinds = {"in clusters": la.as_bits(clustered_hashes(count)), "much alike": alike_bits(count, causes=12)}
    for kind, bits in kinds.items():
        asked = [bits[row : row + 1] for row in range(0, count, max(1, count // 200))]
        pieces, masks = (by_masks(bits, asked, method, runs) for method in ("pieces", "covering"))
        assert pieces.found.equals(masks.found), "pieces and covering masks find other pairs"
        assert pieces.answers == masks.answers, "pieces and covering masks answer queries differently"
        name = f"all pairs of {count:,} hashes {kind}"
        rows += [(name, *pieces.pairs), ("", *masks.pairs), ("one query", *pieces.query), ("", *masks.query)]
    return rows


class ByMasks(NamedTuple):
    """What one kind of masks found, and what there is to say about it."""

    found: pa.Table
    answers: list[pa.Table]
    pairs: tuple[str, ...]
    query: tuple[str, ...]


def by_masks(bits: la.Bits, asked: Sequence[la.Bits], method: str, runs: int) -> ByMasks:
    """Find all pairs and ask for some rows; seconds of one core."""
    seconds, pairs = timed(
        lambda: la.similar_bits(bits, threshold=RADIUS, method=method, threads=1),  # type: ignore[arg-type]
        1,
        time.process_time,
    )
    table = la.HammingTable(bits, RADIUS, method=method)  # type: ignore[arg-type]
    query, answers = timed(lambda: [table.query(one) for one in asked], runs, time.process_time)
    met = f"{pairs.account.candidates:,} candidates, {len(pairs):,} pairs"
    each = f"{1e3 * query / len(asked):.3f} ms"
    return ByMasks(
        pairs.to_arrow(),
        [answer.to_arrow() for answer in answers],
        (method, f"{seconds:.2f} s", "", met),
        (f"{method}, {table.cover.slots} masks", each, "", "exact"),
    )


def tanimoto(packed: npt.NDArray[np.uint8], runs: int) -> tuple[list[tuple[str, ...]], list[str]]:
    """Measure Tanimoto pairs beside the plain scan; an AssertionError if they differ."""
    bits = la.as_bits(packed)
    scanned = min(len(bits), _SCANNED)
    seconds, pairs = timed(
        lambda: la.similar_bits(bits, measure="jaccard", threshold=SIMILARITY, threads=1), runs
    )
    plain, truth = timed(lambda: plain_scan(bits.words, scanned), 1)
    found = zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True)
    assert {pair for pair in found if pair[1] < scanned} == truth, "Tanimoto pairs are not those of the scan"
    plain *= (len(bits) / scanned) ** 2
    rows = [
        (
            f"Tanimoto ≥ {SIMILARITY} among {len(bits):,}",
            "blocked scan",
            f"{plain:.2f} s",
            "1",
            f"{len(truth):,} pairs",
        ),
        ("", "similar_bits", f"{seconds:.3f} s", f"{plain / seconds:.0f}×", f"{len(pairs):,} pairs"),
    ]
    notes = ["Both on one core; the scan counts bits with the widest instruction that the machine has."]
    if scanned < len(bits):
        notes.append(f"The scan was timed on {scanned:,} rows and extrapolated.")
    return rows, notes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hashes", type=int, default=10_000_000)
    parser.add_argument("--molecules", type=int, default=42_000)
    parser.add_argument("--fingerprints", type=Path, help="packed bytes, a row a molecule (.npy)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args(arguments)
    file = given.fingerprints
    packed = made_up_fingerprints(given.molecules) if file is None else np.load(file)
    about_hashes, hash_notes = hamming(given.hashes, given.runs)
    about_masks = pieces_and_masks(min(given.hashes, MASKED), given.runs)
    about_molecules, molecule_notes = tanimoto(packed, given.runs)
    source = "made up" if file is None else "read from a file"
    result = record.Record(
        name="bits",
        title="Hashes by Hamming distance, fingerprints by Tanimoto similarity",
        date=datetime.date.today().isoformat(),
        command=record.command("bits", arguments),
        machine=str(machine.describe(("lookalike", "numpy"))),
        columns=("what", "how", "time", "times the scan", "answer"),
        rows=(*about_hashes, *about_masks, *about_molecules),
        notes=(
            *hash_notes,
            "Pieces and covering masks are set side by side on one core.",
            *molecule_notes,
            f"Fingerprints were {source}.",
        ),
    )
    result.show(record.console())
    if given.record:
        record.save(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
