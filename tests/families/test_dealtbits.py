"""Bands of dealt bits share none within a shuffle, and pairs meet in them as often as their law says."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.families import DealtBits
from lookalike.families.dealtbits import mask_words, masks_of
from lookalike.measures.bits import as_bits


def unpacked(bits):
    return np.unpackbits(bits.to_bytes(), axis=1)[:, : bits.width]


@given(st.integers(1, 150), st.integers(1, 150), st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_no_position_is_in_two_bands_of_a_shuffle(width, rows, bands, seed):
    rows = min(rows, width)
    family = DealtBits(bits=width, bands=bands, rows=rows, seed=seed)
    assert family.positions.shape == (bands, rows)
    at_once = width // rows
    for first in range(0, bands, at_once):
        shuffle = family.positions[first : first + at_once].reshape(-1)
        assert len(set(shuffle.tolist())) == len(shuffle)
        assert shuffle.max() < width
    longer = DealtBits(bits=width, bands=bands + 3, rows=rows, seed=seed)
    assert np.array_equal(longer.positions[:bands], family.positions)


def test_positions_are_dealt_evenly():
    counts = np.zeros(10)
    for seed in range(300):
        np.add.at(counts, DealtBits(bits=10, bands=4, rows=4, seed=seed).positions.reshape(-1), 1)
    expected = 300 * 16 / 10
    assert np.abs(counts - expected).max() < 5 * math.sqrt(expected)


def test_rows_share_a_key_if_their_band_agrees():
    rng = np.random.default_rng(9)
    bits = as_bits(rng.integers(0, 256, (60, 9), dtype=np.uint8) & 0xC3)
    draws = [DealtBits(bits=72, bands=9, rows=5, seed=4), DealtBits(bits=72, bands=3, rows=7, seed=5)]
    keys = masks_of(draws).keys(bits.words, 0, 12)
    assert np.array_equal(keys[:9].T, draws[0].signatures(bits))
    table = unpacked(bits)
    masks = mask_words(draws)
    for band, positions in enumerate([*draws[0].positions, *draws[1].positions]):
        same = (table[:, None, positions] == table[None, :, positions]).all(axis=2)
        assert np.array_equal(keys[band][:, None] == keys[band][None], same)
        differing = (bits.words[:, None] ^ bits.words[None]) & masks[band]
        assert np.array_equal((differing == 0).all(axis=2), same)


@pytest.mark.parametrize(
    ("width", "bands", "rows", "distance"), [(64, 5, 10, 6), (64, 9, 20, 5), (40, 3, 20, 2), (128, 4, 30, 9)]
)
def test_pairs_meet_as_often_as_the_law_says(width, bands, rows, distance):
    rng = np.random.default_rng(width + distance)
    met, trials = 0, 2000
    for seed in range(trials):
        differing = rng.permutation(width)[:distance]
        positions = DealtBits(bits=width, bands=bands, rows=rows, seed=seed).positions
        met += (~np.isin(positions, differing).any(axis=1)).any()
    expected = DealtBits(bits=width, bands=bands, rows=rows).collision(distance)
    assert abs(met - trials * expected) / math.sqrt(trials * expected * (1 - expected)) < 4


@pytest.mark.parametrize(("rows", "distance"), [(32, 1), (16, 3), (9, 6)])
def test_few_differences_are_found_whichever_they_are_and_whatever_the_draw(rows, distance):
    rng = np.random.default_rng(rows)
    for seed in range(200):
        family = DealtBits(bits=64, bands=64 // rows, rows=rows, seed=seed)
        differing = rng.permutation(64)[:distance]
        assert (~np.isin(family.positions, differing).any(axis=1)).any()
        assert family.collision(distance) == 1


def test_the_family_says_what_it_is():
    family = DealtBits(bits=64, bands=6, rows=10, seed=3)
    assert DealtBits(**family.to_dict()) == family
    assert family.sensitivity(5, 40).p1 == 1
    assert family.and_(2).probability(8) == pytest.approx(family.collision(8) ** 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bits": 0, "bands": 1, "rows": 1}, "bits=0"),
        ({"bits": 2**32, "bands": 1, "rows": 1}, "bits=4294967296"),
        ({"bits": 8, "bands": 1, "rows": 9}, "rows=9"),
        ({"bits": 8, "bands": 0, "rows": 2}, "bands=0"),
        ({"bits": 8, "bands": 1, "rows": 2, "seed": -1}, "seed=-1"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        DealtBits(**options)


def test_items_of_another_width_are_refused():
    with pytest.raises(OptionError, match="items of 16 bits cannot be signed: the family is for 8"):
        DealtBits(bits=8, bands=2, rows=4).signatures(["ffff"])
