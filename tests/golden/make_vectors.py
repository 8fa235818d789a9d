"""Writes the golden vectors of projections: signatures, bucket keys and distances of a few vectors, for ever.

    python -m tests.golden.make_vectors [--overwrite]

Beside `make.py`, whose rules hold here too. Distances are written as C writes them in hexadecimal, so not one
bit is lost.
"""

import sys

import numpy as np
from tests.golden.writing import write

from lookalike import _core

ROWS, DIMENSIONS, SLOTS, BANDS, BAND_ROWS = 6, 21, 40, 5, 8
KINDS = ["hyperplanes", "signs", "gaussian", "cauchy"]
SEEDS = [0, 1, 2**64 - 1]
MEASURES = ["angle", "cosine", "l2", "l1", "linf"]


def vectors(kind=np.float64):
    """Numbers that every language makes alike: multiples of 1/8 from −31.25 to 31.25, one row of zeros."""
    numbers = (np.arange(ROWS * DIMENSIONS, dtype=np.int64) * 7919 % 501 - 250) / 8
    rows = numbers.reshape(ROWS, DIMENSIONS).astype(kind)
    rows[3] = rows[2] * 3
    rows[5] = 0
    return rows


def golden(path=None):
    """All the answers, on the named instruction path."""
    wide, narrow = vectors(), vectors(np.float32)
    a, b = (side.astype(np.uint32) for side in np.triu_indices(ROWS - 1))
    return {
        "algorithm_version": _core.ALGORITHM_VERSION,
        "signatures": {
            f"{kind} seed={seed}": signed(kind, seed, wide, path) for kind in KINDS for seed in SEEDS
        },
        "probes": {f"{kind} seed={seed}": probed(kind, seed, wide, path) for kind in KINDS for seed in SEEDS},
        "content": {f"seed={seed}": hexadecimal(_core.vector_contents(narrow, seed=seed)) for seed in SEEDS},
        "distances": {
            measure: [
                float(value).hex()
                for value in _core.compare_vectors([narrow], a, b, measure, threads=1, path=path)
            ]
            for measure in MEASURES
        },
    }


def signed(kind, seed, rows, path):
    functions = _core.Projections(kind, dimensions=DIMENSIONS, slots=SLOTS, seed=seed, width=6.5)
    keys = functions.keys(rows, bands=BANDS, rows=BAND_ROWS, path=path)
    if kind in ("hyperplanes", "signs"):
        sides = functions.sides(rows, threads=1, path=path)
        slots = ["".join(map(str, row)) for row in sides.tolist()]
    else:
        slots = [" ".join(map(str, row)) for row in functions.buckets(rows, threads=1, path=path).tolist()]
    return {"slots": slots, "keys": [hexadecimal(band) for band in keys]}


def probed(kind, seed, rows, path):
    """The keys of the last two bands' first buckets; of lines, two over farther edges among them."""
    functions = _core.Projections(
        kind, dimensions=DIMENSIONS, slots=2 * BAND_ROWS, seed=seed, width=6.5, first=3 * BAND_ROWS
    )
    sets = [[0, 0], [0, 1], [1, 1], [0, 2]]
    if kind in ("gaussian", "cauchy"):
        sets += [[0, ~7], [1, ~7]]
    keys = functions.probe_keys(rows, bands=2, rows=BAND_ROWS, sets=np.array(sets, np.int16), path=path)
    return [hexadecimal(line) for line in keys]


def hexadecimal(numbers):
    return " ".join(f"{number:x}" for number in numbers.tolist())


if __name__ == "__main__":
    sys.exit(write("vectors", golden, sys.argv[1:]))
