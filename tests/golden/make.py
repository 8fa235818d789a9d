"""Writes the golden vectors: what the kernels of this algorithm version answer, for ever.

    python -m tests.golden.make               refuses to touch a file that is there
    python -m tests.golden.make --overwrite   only while a version is not released

Signatures and bucket keys are stored in files and compared across machines and years: a kernel that answers
otherwise is a new algorithm version: a new ALGORITHM_VERSION, and a new file beside the old ones. Numbers are
hexadecimal, a row of them a line, so that any language can read them.
"""

import sys

import numpy as np
from tests.golden.writing import write

from lookalike import _core
from lookalike.families import Ranges
from lookalike.shingles import Shingle

TEXTS = [
    "",
    "a",
    "The quick brown fox jumps over the lazy dog; the quick brown fox jumps again.",
    "Größe, Straße, ﬁn: naïve café e\u0301 — ΣΊΣΥΦΟΣ",
    "हिन्दी में शब्द और मात्राएँ एक साथ रहते हैं",
    "漢字仮名交じり文は空白なしで書かれる。",
    "👩🏽‍💻 𐐀𐐨 \r\n\0\ttab and NUL and שלום עולם ٣٤٥",
    " ".join(f"word{i * i % 31}" for i in range(40)) + " " + "longword" * 20,
]
SHINGLES = [
    "words:5",
    "words:1",
    "words:3-case",
    "words:12",
    "words:2+nfkc",
    "words:2+bag",
    "chars:5",
    "chars:1-case",
    "chars:8-case",
    "chars:9+whitespace+punctuation",
    "chars:20+nfkc",
    "stopwords",
]
SEEDS = [0, 1, 2**64 - 1]
FAMILIES = ["bucketed", "khash", "universal"]
#: Texts without a word.
SYMBOLS = [" ", "!!!", "! !!", "😀 😃", "❤\ufe0f", "Ⓐ Ⅷ", "︕"]
SYMBOL_SHINGLES = ["words:5", "words:1-case", "words:2+nfkc", "words:2+bag", "chars:9+whitespace+punctuation"]
INTEGERS = [0, 1, 2, 3, 1000, 2**32, 2**63, 2**64 - 1]
STRINGS = ["", "a", "to be", "Straße", "漢字"]
SLOTS, BANDS, ROWS = 24, 5, 4


def ragged(rows):
    """Byte strings one after the other, and where each begins."""
    return np.frombuffer(b"".join(rows), np.uint8), np.cumsum([0, *map(len, rows)]).astype(np.int64)


def written(array):
    """Numbers in hexadecimal, one line a row."""
    if array.ndim > 1:
        return [written(row) for row in array]
    return " ".join(f"{value:x}" for value in array.tolist())


def golden(path=None):
    """All the answers, on the named instruction path."""
    texts = ragged([text.encode() for text in TEXTS])
    integers = np.array(INTEGERS, np.uint64)
    return {
        "algorithm_version": _core.ALGORITHM_VERSION,
        "texts": TEXTS,
        "shingles": {
            f"{form} seed={seed}": [
                written(Shingle.parse(form).shingler(seed).shingles(text.encode(), path=path))
                for text in TEXTS
            ]
            for form in SHINGLES
            for seed in (SEEDS if form == "words:5" else SEEDS[:1])
        },
        "symbols": {
            form: [
                written(Shingle.parse(form).shingler().shingles(text.encode(), path=path)) for text in SYMBOLS
            ]
            for form in SYMBOL_SHINGLES
        },
        "integers": {
            "tokens": written(integers),
            **{f"seed={seed}": written(_core.mix_integers(integers, seed=seed, threads=1)) for seed in SEEDS},
        },
        "strings": {
            "tokens": STRINGS,
            **{f"seed={seed}": written(hashed_strings(seed)) for seed in SEEDS},
        },
        "rarest": {f"words:1+rare3 seed={seed}": rarest(texts, seed, path) for seed in SEEDS},
        "signatures": {
            f"{family} slots={SLOTS} seed={seed} words:2": signed(texts, family, seed, path)
            for family in FAMILIES
            for seed in SEEDS
        },
        "weighted": {f"slots={SLOTS} seed={seed}": weighted(seed) for seed in SEEDS},
        "sides": {f"slots={SLOTS} seed={seed}": sides(seed) for seed in SEEDS},
        "ranges": {f"seed={seed}": ranges(seed) for seed in SEEDS},
        "pyramid": {f"seed={seed}": pyramid(seed) for seed in SEEDS},
        "coefficients": {
            f"seed={seed}": [
                f"{a:x} {b:x}" for a, b in _core.Orders("universal", slots=4, seed=seed).coefficients
            ]
            for seed in SEEDS
        },
    }


def hashed_strings(seed):
    return _core.hash_strings(ragged([token.encode() for token in STRINGS]), seed=seed, threads=1)


def rarest(texts, seed, path):
    """The three rarest words of each text, and the counters that are not 0."""
    shingler = Shingle(k=1).shingler(seed)
    frequencies = shingler.document_frequencies(texts, path=path)
    elements, offsets, flags = shingler.rarest(texts, frequencies, most=3, threads=1, path=path)
    (counters,) = np.nonzero(frequencies)
    return {
        "counters": written(counters),
        "frequencies": written(frequencies[counters]),
        "elements": [written(row) for row in np.split(elements, offsets[1:-1])],
        "flags": flags.tolist(),
    }


def signed(texts, family, seed, path):
    """Signatures of the texts, their digests, and the bucket keys of their bands."""
    orders = _core.Orders(family, slots=SLOTS, seed=seed)
    shingler = Shingle(k=2).shingler(seed)
    slots, content, bag, flags = _core.sign_texts(texts, shingler, orders, threads=1, path=path)
    return {
        "slots": written(slots),
        "content": written(content),
        "bag": written(bag),
        "flags": flags.tolist(),
        f"keys of {BANDS} bands of {ROWS} rows": written(_core.band_keys(slots, bands=BANDS, rows=ROWS)),
    }


def weighted_sets():
    """Sets of 0, 1, 2, … of the integers, weights from tiny to huge."""
    mixed = _core.mix_integers(np.array(INTEGERS, np.uint64), seed=0, threads=1)
    rows = [np.sort(mixed[:size]) for size in range(len(INTEGERS) + 1)]
    elements = np.concatenate(rows)
    weights = np.array([[1e-300, 0.1, 1 / 3, 1.0, 2.0, 7e5, 1e200][i % 7] for i in range(len(elements))])
    return elements, np.cumsum([0, *map(len, rows)]).astype(np.int64), weights


def weighted(seed):
    """Signatures of weighted sets."""
    return written(_core.sign_weighted(weighted_sets(), slots=SLOTS, seed=seed, threads=1)[0])


def sides(seed):
    """Sides of hyperplanes on which weighted sets lie, as vectors."""
    return written(_core.sparse_sides(weighted_sets(), slots=SLOTS, seed=seed, threads=1))


def ranges(seed):
    """Bucket keys of measurements; tables look at some of them again."""
    cut = Ranges(dimensions=3, width=(2, 4.5, 0.25), margin=(0.5, 2, 0), rows=2, tables=4, seed=seed)
    values = [[(i * i * 7 + 13 * j) % 40 / 8 for j in range(3)] for i in range(5)]
    keys, items = cut.keys(values)
    return {
        "chosen": [list(table) for table in cut.chosen],
        "starts": [" ".join(start.hex() for start in table) for table in cut.starts],
        "keys": written(keys),
        "items": written(items),
    }


def pyramid(seed):
    """Bucket keys of sets at levels of few rows and of many."""
    elements, offsets, _ = weighted_sets()
    sets = len(offsets) - 1
    first, last = np.full(sets, 3, np.uint8), np.full(sets, 6, np.uint8)
    keys, of = _core.pyramid_keys((elements, offsets), first, last, bands=3, rows=13, seed=seed)
    return {"keys": written(keys), "sets": written(of)}


if __name__ == "__main__":
    sys.exit(write("version", golden, sys.argv[1:]))
