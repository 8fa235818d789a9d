"""What a threshold asks of the sizes of two sets: how much they must share, and how far one must look for it.

Nothing is rounded here: the least count is the first whose similarity, computed in f64 as users see it,
reaches the threshold. So a filter that goes by these counts loses no pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike import _core
from lookalike.types import I64, U32

#: A count that no two sets can share.
UNREACHABLE = 2**32 - 1


@dataclass(frozen=True)
class Bound:
    """A threshold of a measure of two sets by their sizes and what they share.

    Parameters
    ----------
    measure
        `jaccard`, `containment`, `cosine` or `overlap`; or, of sets of q-grams of strings, `levenshtein` or
        `indel`.
    threshold
        The least similarity, or the most edits.
    across
        Whether `a` is of one collection and `b` of another. Within one collection containment is asked both
        ways, and a pair counts if either reaches the threshold.
    q
        Of q-grams, how many letters each has.
    """

    measure: str
    threshold: float
    across: bool = False
    q: int = 1

    def kernel(self) -> _core.LeastShared:
        """The bound as kernels take it."""
        return _core.LeastShared(self.measure, self.threshold, q=self.q)

    def least_shared(self, size_a: U32, size_b: U32) -> U32:
        """The least counts that sets of these sizes must share; `UNREACHABLE` where they cannot.

        0 says that strings of these sizes may be near without a gram in common.

        Examples
        --------
        >>> sizes = np.array([4, 5, 9], np.uint32)
        >>> Bound("jaccard", 0.8).least_shared(sizes, np.array([5, 5, 9], np.uint32)).tolist()
        [4, 5, 8]
        """
        a, b = np.asarray(size_a, np.uint32), np.asarray(size_b, np.uint32)
        if not self.across:
            a, b = np.minimum(a, b), np.maximum(a, b)
        return self.kernel()(a, b)

    def prefix_lengths(self, sizes: U32, partners: U32, *, second: bool = False) -> U32:
        """How many of its rarest elements a set of each size must show, to meet sets of the sizes `partners`.

        Two sets that must share α elements have one of them among the first |a| − α + 1 of a and the first
        |b| − α + 1 of b, in any order of all elements. α rises with the size of the partner, so the smallest
        partner within reach decides. 0 where nobody is. `partners` are sorted; `second` says that they are
        of the first collection and `sizes` of the second.

        Examples
        --------
        >>> sizes = np.array([10, 20], np.uint32)
        >>> Bound("jaccard", 0.8).prefix_lengths(sizes, sizes).tolist()
        [2, 3]
        """
        sizes = np.asarray(sizes, np.uint32)
        if not len(partners):
            return np.zeros(len(sizes), np.uint32)

        def least(places: I64) -> U32:
            other = partners[places]
            return self.least_shared(other, sizes) if second else self.least_shared(sizes, other)

        # The first partner that is not too small, by bisection for all sizes at once.
        low, high = np.zeros(len(sizes), np.int64), np.full(len(sizes), len(partners) - 1)
        while bool(np.any(low < high)):
            middle = (low + high) // 2
            counts = least(middle)
            small = (counts == 0) | ((counts == UNREACHABLE) & (partners[middle] < sizes))
            low, high = np.where(small & (low < high), middle + 1, low), np.where(small, high, middle)
        return _behind(sizes, least(low))

    def asking_lengths(self, sizes: U32) -> U32:
        """How many of its rarest elements a set of one collection must ask by, to meet all that are as large.

        A larger set shows more elements, for smaller partners; but those ask it, and need not be asked.

        Examples
        --------
        >>> sizes = np.array([2, 20], np.uint32)
        >>> contained = Bound("containment", 0.8)
        >>> contained.prefix_lengths(sizes, sizes).tolist(), contained.asking_lengths(sizes).tolist()
        ([1, 19], [1, 5])
        """
        sizes = np.asarray(sizes, np.uint32)
        return _behind(sizes, self.least_shared(sizes, sizes))


def _behind(sizes: U32, least: U32) -> U32:
    """Among how many elements there must be one of so many; 0 where a set of this size is of no use."""
    within = (least != 0) & (least != UNREACHABLE)
    return np.where(within, sizes - np.where(within, least, 0) + 1, 0).astype(np.uint32)
