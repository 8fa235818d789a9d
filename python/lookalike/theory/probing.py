"""Multi-probe: what looking into neighbouring buckets of one table finds.

A table's bucket is k values: bits of hyperplanes, or numbers of buckets on lines. A near item that is not in
the query's own bucket is mostly in one where a few values differ, a bit by being the other one and a number
by one. Buckets are looked at by how many values differ, the query's own first; of those with equally many
differences each is as likely as the others. An order that goes by the query's distances to the edges looks at
likelier ones first, so this is the least that an order of likelihood finds on average.

Plans go by `multiprobe`, whose chances must not be less than these.
"""

from __future__ import annotations

import math

import numpy as np

from lookalike.errors import OptionError
from lookalike.theory.collisions import Collision, HyperplaneCollision


def neighbours(collision: Collision, distance: float) -> tuple[float, float, int]:
    """The chances that a value is the same and that it is a neighbouring one, and how many neighbours it has.

    On a line cut into buckets, two points lie in adjacent ones with probability 2·(P₂ − P₁), where P₁ is the
    chance that they share a bucket and P₂ the same for buckets of twice the width. For at a difference
    of u widths they share a bucket with (1 − |u|)⁺, and lie in adjacent ones with (2 − |u|)⁺ − 2·(1 − |u|)⁺.
    """
    same = collision.probability(distance)
    if isinstance(collision, HyperplaneCollision):
        return same, float(collision.chances(distance)[1]), 1
    wider = collision.wider()
    if wider is None:
        raise OptionError(
            f"buckets of {collision.family} have no neighbours: hyperplanes, gaussian and cauchy have"
        )
    return same, 2 * (wider.probability(distance) - same), 2


def probed(collision: Collision, distance: float, *, rows: int, probes: int) -> float:
    """The chance that an item at this distance is in one of the first `probes` buckets of a table.

    Examples
    --------
    A table of 16 bits, pairs at an angle of 20°: the bucket itself, then all that differ in one bit, in two.

    >>> from lookalike.theory.collisions import HyperplaneCollision
    >>> [round(probed(HyperplaneCollision(), 20, rows=16, probes=probes), 3) for probes in (1, 17, 137)]
    [0.152, 0.456, 0.741]
    """
    for name, value in (("rows", rows), ("probes", probes)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise OptionError(f"{name}={value!r} is out of range: a whole number, 1 or more")
    same, beside, ways = neighbours(collision, distance)
    found, left = 0.0, probes
    for differing in range(rows + 1):
        choices = math.comb(rows, differing)
        buckets = choices * ways**differing
        chance = choices * math.pow(same, rows - differing) * math.pow(beside, differing)
        if left <= buckets:
            return float(found + chance * (left / buckets))
        found, left = found + chance, left - buckets
    return found
