"""Covering masks miss nothing within their radius, and agree further off as often as their law says."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.families import Covering
from lookalike.measures.bits import as_bits
from lookalike.theory.covers import fewest_parts, parts_of


def packed(table):
    return as_bits(np.packbits(table, axis=1), width=table.shape[1])


def masks_of(family):
    """A row a mask, a column a position."""
    positions, offsets = family.positions
    table = np.zeros((len(offsets) - 1, family.bits), np.bool_)
    for mask, (first, last) in enumerate(itertools.pairwise(offsets)):
        table[mask, positions[first:last]] = True
    return table


@st.composite
def families(draw, widest=300):
    bits = draw(st.integers(1, widest))
    radius = draw(st.integers(0, min(bits - 1, 14)))
    parts = draw(st.integers(fewest_parts(radius), radius + 1))
    if radius - parts > 6:
        parts = (radius + 1) // 2
    return Covering(bits, radius, parts=parts, seed=draw(st.integers(0, 2**64 - 1)))


@given(families(), st.integers(0, 2**32))
def test_rows_have_the_same_key_where_they_have_the_same_bits_under_the_mask(family, seed):
    rng = np.random.default_rng(seed)
    table = np.tile(rng.integers(0, 2, family.bits, dtype=np.uint8), (9, 1))
    table ^= (rng.random(table.shape) < 3 / family.bits).astype(np.uint8)
    keys = family.signatures(packed(table), threads=2)
    assert keys.shape == (9, family.slots)
    for mask, column in zip(masks_of(family), keys.T, strict=True):
        same = (table[:, None] == table[None])[:, :, mask].all(axis=2)
        assert np.array_equal(column[:, None] == column[None], same)
    masks = np.arange(family.slots)
    assert np.array_equal(keys & np.uint64(0xFFFF), np.tile(masks.astype(np.uint64), (9, 1)))
    words = packed(table).words
    assert np.array_equal(family.masks().keys(words, 0, family.slots), keys.T)


@given(families(widest=2048), st.integers(0, 2**32))
def test_whatever_is_within_the_radius_agrees_under_a_mask(family, seed):
    rng = np.random.default_rng(seed)
    differ = np.zeros((60, family.bits), np.bool_)
    for row, count in zip(differ, rng.integers(0, family.radius + 1, 60), strict=True):
        # Near each other as often as anywhere.
        start = rng.integers(0, family.bits)
        near = (start + np.arange(min(family.bits, 2 * family.radius + 1))) % family.bits
        row[rng.permutation(near if rng.random() < 0.5 else family.bits)[:count]] = True
    covered = ~(differ[:, None] & masks_of(family)[None]).any(axis=2)
    assert covered.any(axis=1).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("radius", "parts"), [(1, 1), (2, 1), (3, 1), (3, 2), (4, 3), (5, 2)])
def test_every_set_of_positions_up_to_the_radius_is_left_out_of_a_mask(radius, parts, seed):
    masks = masks_of(Covering(12, radius, parts=parts, seed=seed))
    for differ in itertools.combinations(range(12), radius):
        assert (~masks[:, differ].any(axis=1)).any()


@given(families())
def test_a_position_is_in_half_of_the_masks_of_its_part(family):
    """An even half and one more, for the vector of zeros has no mask."""
    masks, first = masks_of(family), 0
    seen = np.zeros(family.bits, np.bool_)
    for part in parts_of(family.bits, family.radius, family.parts):
        inside = masks[first : first + part.masks]
        own = inside.any(axis=0)
        assert own.sum() == part.positions
        assert not (own & seen).any()
        assert np.all(inside.sum(axis=0)[own] == (part.masks + 1) // 2)
        seen |= own
        first += part.masks
    assert seen.all()


@pytest.mark.parametrize(
    ("bits", "radius", "parts"), [(64, 3, 1), (64, 3, 2), (64, 3, 4), (40, 1, 1), (200, 7, 3)]
)
def test_rows_meet_as_often_as_the_law_says(bits, radius, parts):
    """One pair a seed: pairs that share vectors are not independent."""
    rng = np.random.default_rng(bits + radius + parts)
    trials = 3000
    for distance in (radius + 1, radius + 3, 2 * radius + 4):
        met, masks = 0, []
        for seed in range(trials):
            family = Covering(bits, radius, parts=parts, seed=seed + 1000 * distance)
            positions, offsets = family.positions
            differ = np.zeros(bits, np.int64)
            differ[rng.permutation(bits)[:distance]] = 1
            inside = np.add.reduceat(np.append(differ[positions], 0), offsets[:-1])
            inside[np.diff(offsets) == 0] = 0
            agreed = int((inside == 0).sum())
            met += agreed > 0
            masks.append(agreed)
        chance = family.collision(distance)
        assert abs(met - trials * chance) < 4 * math.sqrt(trials * chance * (1 - chance)) + 1e-9
        spread = max(float(np.std(masks)), 1e-9)
        assert abs(np.mean(masks) - family.meetings(distance)) < 4 * spread / math.sqrt(trials)


@settings(max_examples=20)
@given(families(), st.integers(0, 2**64 - 1))
def test_the_family_says_what_it_is(family, seed):
    assert Covering(**family.to_dict()) == family
    assert family.collision(family.radius) == 1
    if family.radius < family.bits - 1:
        promised = family.sensitivity(family.radius, family.bits)
        assert promised.p1 == 1
        assert promised.rho == 0 if promised.p2 < 1 else 1
    other = Covering(family.bits, family.radius, parts=family.parts, seed=seed)
    assert other.slots == family.slots
    assert family.and_(2).or_(3).probability(family.radius) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bits": 8, "radius": 8}, "radius=8"),
        ({"bits": 2**32, "radius": 2}, "bits=4294967296"),
        ({"bits": 8, "radius": 2, "parts": 4}, "parts=4"),
        ({"bits": 8, "radius": 2, "seed": -1}, "seed=-1"),
        ({"bits": 8, "radius": 2, "seed": True}, "seed=True"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        Covering(**options)


def test_items_of_another_width_are_refused():
    with pytest.raises(OptionError, match="items of 16 bits cannot be signed: the family is for 8"):
        Covering(8, 1).signatures(["ffff"])


def test_no_items_have_no_keys():
    assert Covering(64, 2).signatures(np.empty(0, np.uint64)).shape == (0, 7)
