"""Covers of a radius: chances by counting all ways there are, sums, and what Pagh proves."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory import Cascade, covers
from lookalike.theory.collisions import CoveringCollision


def spans(vectors, dimensions):
    """Whether vectors, as numbers, reach every sum there is."""
    reached = {0}
    for vector in vectors:
        reached |= {vector ^ other for other in reached}
    return len(reached) == 1 << dimensions


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_vectors_span_as_often_as_when_all_choices_are_counted(dimensions):
    most = 5
    failed, spanned = covers.spanning(dimensions, most)
    for count in range(most + 1):
        every = list(itertools.product(range(1, 1 << dimensions), repeat=count))
        share = sum(spans(vectors, dimensions) for vectors in every) / len(every)
        assert spanned[count] == pytest.approx(share, abs=1e-14)
        assert failed[count] == pytest.approx(1 - share, abs=1e-14)


@pytest.mark.parametrize(("bits", "radius", "parts"), [(5, 2, 2), (5, 3, 2), (6, 2, 3), (4, 2, 1)])
def test_parts_meet_as_often_as_when_all_places_and_vectors_are_counted(bits, radius, parts):
    cut = covers.parts_of(bits, radius, parts)
    assert sum(part.positions for part in cut) == bits
    assert sum(part.dimensions for part in cut) == radius + 1
    bounds = np.cumsum([0, *(part.positions for part in cut)])
    collision = CoveringCollision(bits, radius, parts)
    vectors = [range(1, 1 << part.dimensions) for part in cut for _ in range(part.positions)]
    draws = list(itertools.product(*vectors))
    for distance in range(bits + 1):
        agreed, masks, ways = 0, 0, 0
        for differ in itertools.combinations(range(bits), distance):
            for draw in draws:
                inside = [
                    [draw[at] for at in differ if first <= at < last]
                    for first, last in itertools.pairwise(bounds)
                ]
                met = sum(
                    all((vector & v).bit_count() % 2 == 0 for vector in some)
                    for part, some in zip(cut, inside, strict=True)
                    for v in range(1, 1 << part.dimensions)
                )
                agreed, masks, ways = agreed + (met > 0), masks + met, ways + 1
        assert collision.probability(distance) == pytest.approx(agreed / ways, rel=1e-12)
        assert float(collision.meetings(distance)) == pytest.approx(masks / ways, rel=1e-11)


@given(st.integers(1, 90), st.data())
def test_within_the_radius_rows_meet_for_certain_and_further_off_more_and_more_seldom(bits, data):
    radius = data.draw(st.integers(0, bits - 1))
    fewest = covers.fewest_parts(radius)
    parts = data.draw(st.integers(fewest, radius + 1))
    agree, differ = covers.chances(bits, radius, parts)
    assert np.all(agree[: radius + 1] == 1)
    assert np.all(differ[: radius + 1] == 0)
    assert np.all(np.diff(agree) <= 1e-12)
    assert np.allclose(agree + differ, 1)
    # Those that meet at all meet in one mask at least.
    assert np.all(covers.meetings(bits, radius, parts) >= agree * (1 - 1e-9))
    assert CoveringCollision(bits, radius, parts).masks == sum(
        part.masks for part in covers.parts_of(bits, radius, parts)
    )


@pytest.mark.parametrize("radius", range(6))
def test_rows_meet_more_seldom_than_by_vectors_that_may_be_zero(radius):
    """Pagh's: d vectors span with Π (1 − 2^(i−d)), and (2^(r+1) − 1)/2^d masks agree on average."""
    collision = CoveringCollision(64, radius)
    for distance in range(radius + 1, 40):
        spanned = math.prod(1 - 2.0 ** (i - distance) for i in range(radius + 1))
        assert collision.probability(distance) <= (1 - spanned) * (1 + 1e-9) + 1e-15
        assert collision.meetings(distance) <= (2 ** (radius + 1) - 1) / 2**distance


def test_as_many_parts_as_dimensions_are_pieces():
    """Two rows meet in a piece of m of N bits if all d others are elsewhere."""
    collision = CoveringCollision(64, 3, 4)
    assert collision.masks == 4
    for distance in (4, 9, 30, 48, 49):
        outside = math.comb(48, distance) / math.comb(64, distance)
        assert collision.meetings(distance) == pytest.approx(4 * outside)


def test_small_chances_keep_their_digits():
    collision = CoveringCollision(2048, 5)
    assert collision.probability(500) == pytest.approx(63 * (31 / 63) ** 500, rel=1e-9)
    assert Cascade(collision).misses(5) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((0, 0), "bits=0 is out of range"),
        ((8, 8), "radius=8 is out of range: of 8 bits, 0 to 7 may differ"),
        ((8, -1), "radius=-1 is out of range"),
        ((8, 2.0), "radius=2.0 is out of range"),
        ((8, 2, 0), "parts=0 is out of range: a radius of 2 has 1 to 3"),
        ((8, 2, 4), "parts=4 is out of range"),
        ((64, 20), "radius=20 takes 2,097,151 masks with parts=1, which are too many: use parts=2 or more"),
        ((100_000, 70_000, 70_001), "radius=70000 is out of range: masks cover up to 65,534"),
    ],
)
def test_covers_that_cannot_be_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        CoveringCollision(*options)


@pytest.mark.parametrize("radius", [11, 12, 30, 400, 5000])
def test_the_fewest_parts_are_the_least_that_are_accepted(radius):
    fewest = covers.fewest_parts(radius)
    assert CoveringCollision(radius + 1, radius, fewest).masks <= covers.MOST_MASKS
    if fewest > 1:
        with pytest.raises(OptionError, match=f"use parts={fewest} or more"):
            CoveringCollision(radius + 1, radius, fewest - 1)
