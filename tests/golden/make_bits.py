"""Writes the golden vectors of bits: positions and bucket keys of a few rows, for ever.

    python -m tests.golden.make_bits [--overwrite]

Beside `make.py`, whose rules hold here too.
"""

import sys

import numpy as np
from tests.golden.writing import write

from lookalike import _core
from lookalike.families import BitSampling, Covering, DealtBits
from lookalike.measures.bits import as_bits
from lookalike.theory import Banding

SEEDS = [0, 1, 2**64 - 1]
WIDTHS = [8, 64, 100]
COVERS = [(0, 1), (2, 1), (3, 4), (3, 2), (5, 2)]
BANDING = Banding(bands=3, rows=4)


def rows(width):
    """Digits that every language makes alike; the last two rows differ in their last bit."""
    digits = ["0123456789abcdef"[i * i * 7 % 16] for i in range(3 * width // 4)]
    texts = ["".join(digits[i::3]) for i in range(3)]
    return as_bits([*texts, texts[2][:-1] + f"{int(texts[2][-1], 16) ^ 1:x}"])


def golden():
    """All the answers."""
    return {
        "algorithm_version": _core.ALGORITHM_VERSION,
        "sampling": {f"bits={width} seed={seed}": sampled(width, seed) for width in WIDTHS for seed in SEEDS},
        "dealing": {f"bits={width} seed={seed}": dealt(width, seed) for width in WIDTHS for seed in SEEDS},
        "covering": {
            f"bits={width} radius={radius} parts={parts} seed={seed}": covered(width, radius, parts, seed)
            for width in WIDTHS
            for radius, parts in COVERS
            for seed in SEEDS
        },
    }


def sampled(width, seed):
    family = BitSampling(bits=width, slots=BANDING.slots, seed=seed)
    some = rows(width)
    return {
        "positions": written(family.positions),
        "slots": [row.tobytes().hex() for row in family.signatures(some).to_bytes()],
        "keys": [written(band, "x") for band in family.masks(BANDING).keys(some.words, 0, BANDING.bands)],
    }


def dealt(width, seed):
    family = DealtBits(bits=width, bands=BANDING.bands, rows=BANDING.rows, seed=seed)
    return {
        "bands": [written(band) for band in family.positions],
        "keys": [written(keys, "x") for keys in family.signatures(rows(width), threads=1)],
    }


def covered(width, radius, parts, seed):
    family = Covering(width, radius, parts=parts, seed=seed)
    positions, offsets = family.positions
    return {
        "masks": [written(mask) for mask in np.split(positions, offsets[1:-1])],
        "keys": [written(keys, "x") for keys in family.signatures(rows(width), threads=1)],
    }


def written(numbers, form="d"):
    return " ".join(f"{number:{form}}" for number in numbers.tolist())


if __name__ == "__main__":
    sys.exit(write("bits", golden, sys.argv[1:]))
