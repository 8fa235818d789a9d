"""Masks that cover a Hamming radius: how many there are, and how often rows agree under one.

After Pagh. Every position has a vector of some dimensions over {0, 1}, never zero, and every such vector v
has a mask: the positions whose vector shares an odd number of ones with v. Two rows agree under the mask of v
if v shares an even number with the vectors of all positions in which they differ: there is such a v unless
those vectors span the space. So r + 1 dimensions cover a radius of r, and further away the chance is that
vectors drawn at random do not span.

Positions may be cut into parts that share out the dimensions among them; rows then meet unless the vectors
span in every part. As many parts as dimensions are the pieces of the pigeonhole principle.

Sums have no negative terms, so neither the chance to agree nor that to differ loses its digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Chances = tuple[FloatArray, FloatArray]

MOST_MASKS, MOST_DIMENSIONS = (1 << 16) - 1, 12
"""Masks that bucket keys can tell apart, and dimensions of a part, which has 4,095 masks then."""


@dataclass(frozen=True)
class Part:
    """Some positions, and the dimensions of their vectors."""

    positions: int
    dimensions: int

    @property
    def masks(self) -> int:
        """A mask a vector other than zero."""
        return (1 << self.dimensions) - 1


@lru_cache(maxsize=64)
def parts_of(bits: int, radius: int, parts: int) -> tuple[Part, ...]:
    """The parts that so many bits are cut into.

    Examples
    --------
    >>> parts_of(64, 3, 1)
    (Part(positions=64, dimensions=4),)
    >>> [part.positions for part in parts_of(64, 2, 2)]
    [21, 43]
    """
    dealt = [(radius + 1) * part // parts for part in range(parts + 1)]
    cuts = [bits * dimensions // (radius + 1) for dimensions in dealt]
    return tuple(
        Part(cuts[part + 1] - cuts[part], dealt[part + 1] - dealt[part]) for part in range(len(dealt) - 1)
    )


def masks_in(radius: int, parts: int) -> int:
    """How many masks cover a radius in so many parts.

    Examples
    --------
    >>> masks_in(3, 1), masks_in(3, 2), masks_in(3, 4)
    (15, 6, 4)
    """
    fewest, more = divmod(radius + 1, parts)
    return (parts - more) * ((1 << fewest) - 1) + more * ((1 << (fewest + 1)) - 1)


def fewest_parts(radius: int) -> int | None:
    """The least number of parts in which there are not too many masks; None if there is none."""
    parts = -(-(radius + 1) // MOST_DIMENSIONS)
    while parts <= radius + 1 and masks_in(radius, parts) > MOST_MASKS:
        parts += 1
    return parts if parts <= radius + 1 else None


def spanning(dimensions: int, most: int) -> Chances:
    """The chances that 0, 1, … `most` vectors, any but zero equally likely, fail to span, and that they do.

    Examples
    --------
    >>> fail, span = spanning(2, 3)
    >>> fail.round(4).tolist()
    [1.0, 1.0, 0.3333, 0.1111]
    """
    others = 2.0**dimensions - 1
    # The next vector lies in the span of those so far, or it is a new direction.
    within = np.array([(2.0**rank - 1) / others for rank in range(dimensions)])
    beyond = np.array([(2.0**dimensions - 2.0**rank) / others for rank in range(dimensions)])
    ranks, span = np.zeros(dimensions), 0.0
    ranks[0] = 1.0
    failed, spanned = [1.0], [0.0]
    for _ in range(most):
        grown = ranks * beyond
        ranks = ranks * within
        ranks[1:] += grown[:-1]
        span += float(grown[-1])
        failed.append(float(ranks.sum()))
        spanned.append(span)
    return np.array(failed), np.array(spanned)


@lru_cache(maxsize=16)
def chances(bits: int, radius: int, parts: int) -> Chances:
    """The chances that rows which differ in 0, 1, … `bits` positions agree under a mask, and under none."""
    groups = [spanning(part.dimensions, part.positions) for part in parts_of(bits, radius, parts)]
    while len(groups) > 1:
        pairs = zip(groups[::2], groups[1::2], strict=False)
        groups = [_side_by_side(*pair) for pair in pairs] + (groups[-1:] if len(groups) % 2 else [])
    agree, differ = groups[0]
    agree[: radius + 1], differ[: radius + 1] = 1.0, 0.0
    together = agree + differ
    agree, differ = agree / together, differ / together
    for column in (agree, differ):
        column.setflags(write=False)
    return agree, differ


def _side_by_side(one: Chances, other: Chances) -> Chances:
    """What two groups of parts do together: positions in which rows differ fall into either at random."""
    first, second = len(one[0]) - 1, len(other[0]) - 1
    ways, more, all_ways = _log_choices(first), _log_choices(second), _log_choices(first + second)
    agree, differ = np.zeros(first + second + 1), np.zeros(first + second + 1)
    for here in range(first + 1):
        reach = slice(here, here + second + 1)
        weight = np.exp(ways[here] + more - all_ways[reach])
        agree[reach] += weight * (one[0][here] + one[1][here] * other[0])
        differ[reach] += weight * (one[1][here] * other[1])
    return agree, differ


@lru_cache(maxsize=64)
def meetings(bits: int, radius: int, parts: int) -> FloatArray:
    """Under how many masks rows agree on average that differ in 0, 1, … `bits` positions."""
    expected = np.zeros(bits + 1)
    kinds = parts_of(bits, radius, parts)
    for part in sorted(set(kinds), key=lambda part: (part.positions, part.dimensions)):
        # Of the vectors other than zero, so many share an even number of ones with a given one.
        even = (2.0 ** (part.dimensions - 1) - 1) / (2.0**part.dimensions - 1)
        inside, outside = _log_choices(part.positions), _log_choices(bits - part.positions)
        every = _log_choices(bits)
        agreed = np.zeros(bits + 1)
        for here in range(part.positions + 1 if even else 1):
            reach = slice(here, here + len(outside))
            agreed[reach] += np.exp(inside[here] + outside - every[reach]) * even**here
        expected += kinds.count(part) * part.masks * agreed
    expected.setflags(write=False)
    return expected


@lru_cache(maxsize=64)
def _log_choices(count: int) -> FloatArray:
    """The logarithms of how many ways there are to choose 0, 1, … of so many."""
    factorials = np.array([math.lgamma(number + 1) for number in range(count + 1)])
    return np.asarray(factorials[-1] - factorials - factorials[::-1])
