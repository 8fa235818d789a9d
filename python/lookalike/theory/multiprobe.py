"""Multi-probe directed by the query: what looking into the buckets nearest to it finds.

`probing` counts buckets by how many values differ, whichever those are. A query knows better: it lies close
to some hyperplanes, or to some edges of its buckets on lines, and a near item is mostly across those (Lv,
Josephson, Wang, Charikar and Li 2007). Its slots are ranked by their margins, the distance to the nearest
edge, and the buckets looked at are a list of sets of ranks, the same for every query: the nearest edge alone,
the second alone, both, the third … The paper (§4.5) orders sets by the sum of expected margins, and
those grow about evenly with the rank, so here a set scores the sum of its ranks, counted from 1: whole
numbers, alike on every machine. To go by each query's own margins instead finds some 2% more.

What a list finds is exact, up to quadrature, for hyperplanes with Gaussian normals and for projections:
margins are independent and, in order, a chain, so an integral over all of them is done one after the other.
What a join costs is expected by a bound: no bucket is likelier than the query's own, where a slot rather
agrees than not.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError
from lookalike.theory.collisions import CauchyCollision, Collision, GaussianCollision, HyperplaneCollision

FloatArray = npt.NDArray[np.float64]

MOST_PROBES = 128
"""The most buckets of a table that are looked at, the query's own included."""

# Margins are integrated over panels that halve towards 0, where chances change fastest.
_PANELS, _ORDER = 12, 8
# A normal number is beyond this with a chance of 1e-16.
_FURTHEST = 8.3

#: A step out of a slot: the rank of its margin, and whether it is over the edge that is farther.
Step = tuple[int, bool]


def checked_probes(probes: int) -> int:
    """A number of probes within range, or an OptionError that says which range that is."""
    if isinstance(probes, bool) or not isinstance(probes, int | np.integer) or not 1 <= probes <= MOST_PROBES:
        raise OptionError(
            f"probes={probes!r} is out of range: a whole number from 1, a bucket a table, to {MOST_PROBES}"
        )
    return int(probes)


def most_probes(collision: Collision, rows: int) -> int:
    """How many buckets of a table of so many rows can be looked at."""
    ways = 2 if isinstance(collision, HyperplaneCollision) else 3
    return min(MOST_PROBES, int(ways ** min(rows, 8)))


def found(collision: Collision, distances: npt.ArrayLike, *, rows: int, probes: int) -> FloatArray:
    """The chance that an item is in one of the `probes` buckets of a table that a query looks into.

    A table is one band of `rows` functions; for each of the distances.

    Examples
    --------
    A table of 16 hyperplanes and pairs at 20°: one bucket, two, and sixteen.

    >>> law = HyperplaneCollision()
    >>> [round(float(found(law, 20, rows=16, probes=probes)), 3) for probes in (1, 2, 16)]
    [0.152, 0.252, 0.637]
    """
    values = np.asarray(distances, dtype=np.float64)
    chances = [
        set_chances(collision, float(distance), rows=rows, probes=probes).sum() for distance in values.ravel()
    ]
    return np.asarray(np.minimum(1.0, np.array(chances).reshape(values.shape)))


def set_chances(collision: Collision, distance: float, *, rows: int, probes: int) -> FloatArray:
    """The chance that an item is in each of the buckets that a query looks into, its own first."""
    own = collision.probability(distance) ** rows
    listed = ranked_sets(rows, probes, sided=_margins_of(collision).sided)[1:]
    return np.concatenate([[own], _across(collision, distance, rows, listed)])


@dataclass(frozen=True, eq=False)
class _Margins:
    """How far queries are from an edge: points, their weights in an integral over all, and up to each."""

    points: FloatArray
    density: FloatArray
    weights: FloatArray
    running: FloatArray
    sided: bool
    """Whether there is an edge on either side, the farther one a whole bucket less the margin away."""


@lru_cache(maxsize=2)
def _margins(sided: bool) -> _Margins:
    end = 0.5 if sided else _FURTHEST
    edges = np.concatenate([[0.0], end * 2.0 ** np.arange(1 - _PANELS, 1)])
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    # The integral of each node's polynomial from the left end of a panel up to each node: Legendre
    # polynomials integrate to (P₊ − P₋) / (2k + 1).
    values = np.polynomial.legendre.legvander(nodes, _ORDER)
    up_to = np.empty((_ORDER, _ORDER))
    up_to[:, 0] = nodes + 1
    for k in range(1, _ORDER):
        up_to[:, k] = (values[:, k + 1] - values[:, k - 1]) / (2 * k + 1)
    within = up_to @ ((np.arange(_ORDER) + 0.5)[:, np.newaxis] * values[:, :_ORDER].T * weights)
    half = np.diff(edges) / 2
    points = (edges[:-1, np.newaxis] + half[:, np.newaxis] * (nodes + 1)).ravel()
    all_weights = (half[:, np.newaxis] * weights).ravel()
    running = np.kron(np.tri(_PANELS, _PANELS, -1), np.ones((_ORDER, 1))).repeat(_ORDER, axis=1) * all_weights
    running += np.kron(np.diag(half), within)
    density = np.full(len(points), 2.0) if sided else math.sqrt(2 / math.pi) * np.exp(-(points**2) / 2)
    return _Margins(points, density, all_weights, running, sided)


def _margins_of(collision: Collision) -> _Margins:
    if isinstance(collision, GaussianCollision | CauchyCollision):
        return _margins(True)
    if isinstance(collision, HyperplaneCollision):
        return _margins(False)
    raise OptionError(
        f"buckets of {collision.family} have no neighbours: hyperplanes, gaussian and cauchy have"
    )


_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _beyond_normal(numbers: FloatArray) -> FloatArray:
    """The chance that a normal number is greater."""
    return np.asarray(0.5 * _erfc(numbers / math.sqrt(2)))


def _beyond_cauchy(numbers: FloatArray) -> FloatArray:
    """The chance that a Cauchy number is greater."""
    return np.asarray(np.arctan2(1.0, numbers) / math.pi)


@lru_cache(maxsize=256)
def _steps(collision: Collision, distance: float) -> FloatArray:
    """By margin, the chances that an item is in a slot's bucket, over its near edge, over its far one."""
    points = _margins_of(collision).points
    with np.errstate(divide="ignore", over="ignore"):
        if isinstance(collision, HyperplaneCollision):
            angle = np.radians(distance)
            across = _beyond_normal(points * (np.cos(angle) / np.sin(angle)))
            return np.stack([1 - across, across])
        assert isinstance(collision, GaussianCollision | CauchyCollision)
        widths = np.float64(collision.width) / distance
    beyond = _beyond_normal if isinstance(collision, GaussianCollision) else _beyond_cauchy
    near, far = beyond(points * widths), beyond((1 - points) * widths)
    return np.stack(
        [1 - near - far, near - beyond((1 + points) * widths), far - beyond((2 - points) * widths)]
    )


def _across(collision: Collision, distance: float, rows: int, sets: Sequence[tuple[Step, ...]]) -> FloatArray:
    """The chance that an item is in the bucket of each of these sets of steps, none of them empty.

    Of n independent margins in order, E Π fⱼ(margin of rank j) = n! ∫…∫ over ordered margins. Integrated
    from the least up, a rank at a time; above the last rank of a set all slots stay, which is a power.
    """
    margins = _margins_of(collision)
    chances = _steps(collision, distance) * margins.density
    # What stays above each point.
    above = np.maximum(margins.weights @ chances[0] - margins.running @ chances[0], 0.0)
    by_end: dict[int, list[int]] = {}
    for number, steps in enumerate(sets):
        by_end.setdefault(1 + max(rank for rank, _ in steps), []).append(number)
    out = np.zeros(len(sets))
    for end, numbers in by_end.items():
        taken = np.zeros((len(numbers), end), np.int64)
        for row, number in zip(taken, numbers, strict=True):
            for rank, far in sets[number]:
                row[rank] = 1 + far
        below = np.ones((len(numbers), len(margins.points)))
        for rank in range(end - 1):
            # The factor rank + 1 keeps numbers in range: together they are the factorial.
            below = (rank + 1) * (chances[taken[:, rank]] * below) @ margins.running.T
        last = chances[taken[:, end - 1]] * below * above ** (rows - end)
        out[numbers] = end * math.comb(rows, end) * (last @ margins.weights)
    # Of chances next to nothing, rounding in what runs up to a point may leave a trace under 0.
    return np.maximum(out, 0.0)


@lru_cache(maxsize=1024)
def ranked_sets(rows: int, probes: int, *, sided: bool) -> tuple[tuple[Step, ...], ...]:
    """The first sets of steps by the sum of their scores; of equal sums more steps first, then earlier ones.

    A step over the nearer edge of the slot of rank j scores j + 1. Where buckets are `sided` there is a
    farther edge too, which scores 2·(rows + 1) less that; no slot is left on both sides. A set leads to two
    others, neither of them better: its last step moved on by one, or the next step taken as well. Every set
    is reached once, from the first step alone.

    Examples
    --------
    >>> [[rank for rank, far in steps] for steps in ranked_sets(16, 8, sided=False)]
    [[], [0], [1], [0, 1], [2], [0, 2], [3], [0, 3]]
    """
    steps = [(rank, False) for rank in range(rows)]
    if sided:
        steps += [(rank, True) for rank in reversed(range(rows))]
    scores = [2 * (rows + 1) - rank - 1 if far else rank + 1 for rank, far in steps]
    listed: list[tuple[Step, ...]] = [()]
    # The score, how many steps there are (negative), and which.
    waiting: list[tuple[int, int, tuple[int, ...]]] = [(scores[0], -1, (0,))]
    while len(listed) < probes and waiting:
        score, size, chosen = heapq.heappop(waiting)
        ranks = [steps[number][0] for number in chosen]
        lawful = len(set(ranks)) == len(ranks)
        following = chosen[-1] + 1
        if following < len(steps):
            moved = score - scores[chosen[-1]] + scores[following]
            heapq.heappush(waiting, (moved, size, (*chosen[:-1], following)))
            if lawful:
                heapq.heappush(waiting, (score + scores[following], size - 1, (*chosen, following)))
        if lawful:
            listed.append(tuple(steps[number] for number in chosen))
    return tuple(listed)


def steps_of(collision: Collision, rows: int, probes: int) -> npt.NDArray[np.int16]:
    """The list as kernels take it: each set but the first as an earlier one, and the step it has more.

    A step is the rank of its slot, or over the farther edge the complement of that.

    Examples
    --------
    >>> steps_of(HyperplaneCollision(), 16, 6).tolist()
    [[0, 0], [0, 1], [1, 1], [0, 2], [1, 2]]
    """
    listed = ranked_sets(rows, probes, sided=_margins_of(collision).sided)
    numbers = {steps: number for number, steps in enumerate(listed)}
    # Without its last step a set scores less, so it is listed before.
    lines = [(numbers[steps[:-1]], ~steps[-1][0] if steps[-1][1] else steps[-1][0]) for steps in listed[1:]]
    return np.array(lines, np.int16).reshape(-1, 2)
