"""Arguments of kernels, drawn: most make sense, and one in ten is of the wrong kind, shape, order or size."""

import random
from itertools import pairwise

import numpy as np

#: How often an argument is spoilt.
SPOILT = 0.1
#: Numbers that no parameter expects, and values that are no numbers. Amounts are so large that memory cannot
#: hold them: one that it may hold would only be slow.
NO_NUMBERS = [
    0,
    -1,
    2**31,
    2**32 - 1,
    2**32,
    2**48,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    -(2**63),
    1.5,
    None,
    "x",
]
NO_REALS = [float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 1e308, 5e-324, "x", None]
NO_WORDS = ["", "é\0", "jaccard ", "x" * 1000, None, 3]
WHAT_TEXT_IS_MADE_OF = [
    b"The quick brown fox that jumps ",
    "Straße ΐ 漢字, éÉ ".encode(),
    "🎉İ".encode() * 6,
    b"\xff\xfe\xf0\x9f",
    b"\xe0\xa4",
    b"\x00" * 9,
    b"A" * 70,
    b" ",
    b"a",
]
#: Around the widths of vectors, and of the pieces that kernels work on.
LENGTHS = [0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 300, 1025]


class Draw:
    """Arguments that follow from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(self.random.getrandbits(64))

    def spoilt(self):
        return self.random.random() < SPOILT

    def number(self, *sensible):
        return self.random.choice(NO_NUMBERS if self.spoilt() else sensible)

    def real(self, *sensible):
        return self.random.choice(NO_REALS if self.spoilt() else sensible)

    def word(self, *sensible):
        return self.random.choice(NO_WORDS if self.spoilt() else sensible)

    def flag(self):
        return self.random.choice([None, 3, "x"]) if self.spoilt() else self.random.random() < 0.5

    def threads(self):
        # Not spoilt: so many threads would be started, and Python's side allows no more than a thousand.
        return self.random.choice([0, 1, 2, 3])

    def optional(self, value):
        return value if self.random.random() < 0.5 else None

    def length(self):
        return self.random.choice(LENGTHS)

    def array(self, array):
        return self._spoil(array) if self.spoilt() else array

    def _spoil(self, array):
        askew = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        askew[...] = array
        locked = array.copy()
        locked.flags.writeable = False
        kinds = [np.int8, np.float16, np.float64, np.int64, np.uint64, np.uint32, object, "S2", np.complex128]
        with np.errstate(all="ignore"):
            other = array.astype(self.random.choice(kinds))
        return self.random.choice(
            [
                other,
                array.astype(array.dtype.newbyteorder()),
                np.repeat(array, 2, axis=0)[::2],
                array[::-1],
                np.asfortranarray(np.stack([array, array])),
                array[..., np.newaxis],
                array.reshape(-1)[:0],
                np.zeros((0, 7), array.dtype),
                np.zeros((7, 0), array.dtype),
                np.array(3, array.dtype),
                np.broadcast_to(np.ones(1, array.dtype), 5),
                askew,
                locked,
                array.tolist(),
                memoryview(b"abc"),
                None,
            ]
        )

    def offsets(self, values, rows=None):
        """Where rows begin in so many values."""
        rows = self.random.choice([0, 1, 2, 5, 40]) if rows is None else rows
        offsets = np.sort(self.numbers.integers(0, values + 1, rows + 1))
        if self.spoilt():
            at, lowest = self.random.randrange(len(offsets)), -(2**63)
            offsets[at] = self.random.choice([-1, lowest, values + 1, 2**32, 2**63 - 1])
        if self.spoilt():
            offsets = self.random.choice([offsets[::-1].copy(), offsets[:0]])
        return self.array(offsets)

    def text(self):
        return b"".join(self.random.choices(WHAT_TEXT_IS_MADE_OF, k=self.random.choice([0, 1, 3, 30, 200])))

    def texts(self):
        values = np.frombuffer(self.text(), np.uint8)
        return self.array(values), self.offsets(len(values))

    def words64(self, count):
        """64-bit numbers: at random, small, all the same, or with nothing in their lower half."""
        return self.random.choice(
            [
                self.numbers.integers(0, 2**64, count, dtype=np.uint64),
                self.numbers.integers(0, 10, count).astype(np.uint64),
                np.full(count, self.random.choice([0, 2**64 - 1]), np.uint64),
                np.arange(count, dtype=np.uint64) << np.uint64(32),
            ]
        )

    def below(self, count, *bounds, dtype=np.uint32):
        """Numbers below one of some bounds."""
        return self.array(self.numbers.integers(0, self.random.choice(bounds), count).astype(dtype))

    def sets(self, rows=None):
        """Sets of distinct elements, mostly in order."""
        elements = self.words64(self.length())
        offsets = self.offsets(len(elements), rows)
        if (
            self.spoilt()
            or getattr(offsets, "dtype", None) != np.int64
            or offsets.ndim != 1
            or not len(offsets)
        ):
            return self.array(elements), offsets
        ends = np.clip(offsets, 0, len(elements))
        kept = [np.unique(elements[a:b]) for a, b in pairwise(ends)]
        starts = np.cumsum([0, *map(len, kept)])
        return self.array(np.concatenate([*kept, elements[:0]])), self.array(starts)

    def rows_of(self, ragged):
        """How many rows offsets speak of."""
        return max(0, np.size(ragged[1]) - 1)

    def weighted(self):
        elements, offsets = self.sets()
        weights = self.numbers.random(np.size(elements)) + 0.1
        if self.spoilt() and len(weights):
            weights[-1] = self.random.choice([0, -1, np.nan, np.inf, 1e300, 5e-324])
        return elements, offsets, self.array(weights)

    def pieces(self, piece):
        if self.spoilt():
            return self.random.choice([[], None, 3, [None], (piece(),)])
        return [piece() for _ in range(self.random.choice([0, 1, 1, 2]))]

    def pairs(self):
        """Two columns of rows, few enough that most pieces have them."""
        count, bound = self.random.choice([0, 1, 9, 600]), self.random.choice([1, 2, 5])
        return self.below(count, bound), self.below(count, bound)

    def buckets(self):
        """Rows, and where each bucket of them begins."""
        rows = self.numbers.integers(0, 50, self.length()).astype(np.uint32)
        return self.array(rows), self.offsets(len(rows))

    def matrix(self, width, dtype, high):
        rows = self.random.choice([0, 1, 2, 5, 40])
        return self.array(self.numbers.integers(0, high, (rows, width)).astype(dtype))

    def bits(self, words):
        rows = self.random.choice([0, 1, 2, 40, 300])
        return self.array(self.words64(rows * words).reshape(rows, words))

    def vectors(self, width):
        rows = self.random.choice([0, 1, 2, 5, 40])
        vectors = self.numbers.normal(size=(rows, width))
        if self.spoilt() and vectors.size:
            vectors.flat[0] = self.random.choice([np.nan, np.inf, -np.inf, 1e30, 5e-324])
        return self.array(vectors.astype(self.random.choice([np.float32, np.float64])))
