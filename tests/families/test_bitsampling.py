"""Bit sampling agrees as often as its law says, and answers the same for ever."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.families import BitSampling
from lookalike.measures.bits import as_bits, hamming_distances
from lookalike.theory import Banding


def unpacked(bits):
    return np.unpackbits(bits.to_bytes(), axis=1)[:, : bits.width]


@given(st.integers(1, 150), st.integers(1, 200), st.integers(0, 2**64 - 1))
def test_a_slot_is_the_bit_at_its_position(width, slots, seed):
    table = np.random.default_rng(0).integers(0, 2, (7, width), dtype=np.uint8)
    family = BitSampling(bits=width, slots=slots, seed=seed)
    signed = family.signatures(as_bits(np.packbits(table, axis=1), width=width))
    assert signed.width == slots
    assert family.positions.max() < width
    assert np.array_equal(unpacked(signed), table[:, family.positions])


@pytest.mark.parametrize(
    ("width", "distance"), [(64, 1), (64, 3), (64, 20), (256, 60), (2048, 100), (12, 11)]
)
def test_slots_agree_as_often_as_the_law_says(width, distance):
    rng = np.random.default_rng(width + distance)
    slots, seeds = 4000, range(8)
    agreed = 0
    for seed in seeds:
        table = rng.integers(0, 2, (2, width), dtype=np.uint8)
        table[1] = table[0]
        table[1, rng.permutation(width)[:distance]] ^= 1
        family = BitSampling(bits=width, slots=slots, seed=seed)
        signed = family.signatures(as_bits(np.packbits(table, axis=1), width=width))
        agreed += slots - int(hamming_distances(signed, [0], [1])[0])
    trials = slots * len(seeds)
    expected = family.collision(distance)
    assert expected == 1 - distance / width
    assert abs(agreed - trials * expected) / math.sqrt(trials * expected * (1 - expected)) < 4


def test_bands_meet_as_often_as_independent_slots_would():
    """Positions are drawn with replacement: without it bands would meet more seldom than is planned."""
    width, distance, banding = 32, 8, Banding(bands=400, rows=6)
    rng = np.random.default_rng(3)
    met, trials = 0, 0
    for seed in range(40):
        table = rng.integers(0, 2, (2, width), dtype=np.uint8)
        table[1] = table[0]
        table[1, rng.permutation(width)[:distance]] ^= 1
        family = BitSampling(bits=width, slots=banding.slots, seed=seed)
        keys = family.masks(banding).keys(as_bits(np.packbits(table, axis=1)).words, 0, banding.bands)
        met += int((keys[:, 0] == keys[:, 1]).sum())
        trials += banding.bands
    chance = (1 - distance / width) ** banding.rows
    assert abs(met - trials * chance) / math.sqrt(trials * chance * (1 - chance)) < 4


def test_rows_share_a_bucket_if_their_band_agrees():
    rng = np.random.default_rng(9)
    bits = as_bits(rng.integers(0, 256, (60, 3), dtype=np.uint8) & 0xC3)
    banding = Banding(bands=9, rows=5)
    family = BitSampling(bits=24, slots=45, seed=4)
    keys = family.masks(banding).keys(bits.words, 0, 9)
    bands = unpacked(family.signatures(bits)).reshape(60, 9, 5)
    same = (bands[:, None] == bands[None]).all(axis=3)
    for band in range(9):
        assert np.array_equal(keys[band][:, None] == keys[band][None], same[:, :, band])


def test_the_family_says_what_it_is():
    family = BitSampling(bits=64, slots=16, seed=3)
    assert BitSampling(**family.to_dict()) == family
    assert family.and_(2).or_(3).sensitivity(0, 64).p1 == 1
    # M21: c = 2, r = N/3.
    assert family.sensitivity(64 / 3, 128 / 3).p1 == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bits": 0}, "bits=0"),
        ({"bits": 2**32}, "bits=4294967296"),
        ({"bits": 8, "slots": 0}, "slots=0"),
        ({"bits": 8, "slots": True}, "slots=True"),
        ({"bits": 8, "seed": -1}, "seed=-1"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        BitSampling(**options)


def test_items_of_another_width_are_refused():
    with pytest.raises(OptionError, match="items of 16 bits cannot be signed: the family is for 8"):
        BitSampling(bits=8).signatures(["ffff"])
