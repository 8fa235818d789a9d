"""Many pairs of sets of known similarity, and in which slots their signatures agree.

A trial is a pair of sets whose union has a given size. The union is a row of distinct integers; the left set
is its beginning and the right one its end, so that what they share is the middle. All similarities are tried
on the same unions: pieces between the ends of the sets are signed once and merged by slot-wise minimum, which
is exactly the signature of the whole (a test here and tests/families show that).

Trials are independent: every pair has its own integers, and they are dealt over several seeds, each of which
premixes integers and draws orders anew. Nothing here is random from run to run.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from lookalike import _core

SEEDS = 8


@dataclass(frozen=True)
class Trials:
    """Pairs of one similarity: `agree[slot, pair]` says where the two signatures are equal."""

    similarity: float
    agree: np.ndarray


def run(family, kind, union, similarities, *, pairs, slots=128):
    """Trials for each similarity that a union of this size can have, nearest to those asked for."""
    shared = sorted({min(max(round(s * union), 1), union - 1) for s in similarities})
    agree = {count: [] for count in shared}
    for seed in range(SEEDS):
        elements = unions(kind, union, pairs // SEEDS, seed)
        for count, rows in zip(shared, agreements(family, elements, shared, slots, seed), strict=True):
            agree[count].append(rows)
    return [Trials(count / union, np.concatenate(agree[count], axis=1)) for count in shared]


def unions(kind, union, pairs, seed):
    """Premixed elements, one row a pair: consecutive integers, or random ones."""
    if kind == "consecutive":
        first = np.uint64(seed * pairs * union)
        tokens = first + np.arange(pairs * union, dtype=np.uint64)
    else:
        tokens = np.random.default_rng([union, seed]).integers(0, 2**64, pairs * union, dtype=np.uint64)
    return _core.mix_integers(tokens, seed=seed, threads=1).reshape(pairs, union)


def agreements(family, elements, shared, slots, seed):
    """For each number of shared elements, where left and right signatures agree."""
    union = elements.shape[1]
    # The left set ends and the right set begins such that both are as nearly as possible of one size.
    left_ends = [union - (union - count) // 2 for count in shared]
    right_begins = [end - count for end, count in zip(left_ends, shared, strict=True)]
    cuts = sorted({0, union, *left_ends, *right_begins})
    pieces = [sign(family, elements[:, a:b], slots, seed) for a, b in pairwise(cuts)]
    lefts = list(accumulate(pieces, np.minimum))
    rights = list(accumulate(pieces[::-1], np.minimum))[::-1]
    for end, begin in zip(left_ends, right_begins, strict=True):
        yield (lefts[cuts.index(end) - 1] == rights[cuts.index(begin)]).T.copy()


def sign(family, elements, slots, seed):
    """Signatures that merge: of the universal family, the minima themselves."""
    pairs, size = elements.shape
    ragged = np.ascontiguousarray(elements).reshape(-1), np.arange(pairs + 1) * size
    orders = _core.Orders(family, slots=slots, seed=seed)
    if family == "universal":
        return _core.universal_minima(ragged, orders)
    return _core.sign_sets(ragged, orders, threads=1)[0]
