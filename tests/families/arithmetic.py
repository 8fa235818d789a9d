"""The kernels' arithmetic in Python's integers, which never wrap unless told to."""

import numpy as np

M64 = 2**64 - 1
#: 2⁶⁴ over the golden ratio: odd steps that never fall into step with anything.
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    """The bijection of 64-bit words that everything passes through."""
    x ^= x >> 27
    x = x * 0x3C79AC492BA7B653 & M64
    x ^= x >> 33
    x = x * 0x1C69B3F74AC4AE35 & M64
    return x ^ x >> 27


def spread_seed(seed):
    """A user's seed with no structure left."""
    return mix((seed * GOLDEN & M64) ^ 0x6C6F6F6B616C696B)


def slot_draws(count, seed):
    """The 64-bit draws that the orders of slots are made of."""
    start = spread_seed(seed ^ 0x736C6F7473000000)
    return [mix(start + (i + 1) * GOLDEN & M64) for i in range(count)]


def ragged(row):
    """One set as kernels take it."""
    return np.array(row, np.uint64), np.array([0, len(row)], np.int64)
