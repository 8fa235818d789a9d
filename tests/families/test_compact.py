"""Compact signatures (SPEC M6): their size, their bits, and estimates corrected for chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import OptionError


def murmur(x):
    """Murmur's finalizer of one number, as it is published."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        x = (x ^ x >> shift) * factor % 2**32
    return x


def made_of(slots):
    slots = np.array(slots, np.uint32)
    nothing = np.zeros(len(slots), np.uint64)
    return type(la.MinHash(slots=1).signatures([[1]]))(slots, nothing, nothing, nothing.astype(np.uint8))


@pytest.mark.parametrize(("bits", "size"), [(1, 16), (2, 32), (4, 64), (6, 96), (8, 128), (16, 256)])
def test_128_slots_of_up_to_six_bits_take_less_than_100_bytes(bits, size):
    compact = la.CompactSignatures.of(la.MinHash(slots=128).signatures([[1, 2], [3]]), bits=bits)
    assert compact.packed.shape == (2, size)
    assert compact.packed.nbytes == 2 * size
    assert (size < 100) == (bits <= 6)


slots = st.integers(0, 2**32 - 1)


@given(st.data(), st.integers(1, 16))
def test_a_slot_is_the_top_bits_of_its_mixed_value(data, bits):
    width = data.draw(st.integers(1, 9))
    rows = data.draw(st.lists(st.lists(slots, min_size=width, max_size=width), min_size=1, max_size=4))
    compact = la.CompactSignatures.of(made_of(rows), bits=bits)
    codes = [[murmur(slot) >> (32 - bits) for slot in row] for row in rows]
    for row, packed in zip(codes, compact.packed, strict=True):
        digits = "".join(f"{code:0{bits}b}" for code in row)
        assert "".join(f"{byte:08b}" for byte in packed.tolist()) == digits.ljust(8 * len(packed), "0")
    chance = 2.0**-bits
    for a, one in enumerate(codes):
        for b, other in enumerate(codes):
            agree = sum(x == y for x, y in zip(one, other, strict=True)) / width
            assert compact.similarity(a, b) == pytest.approx((agree - chance) / (1 - chance))


@pytest.mark.parametrize("orders", ["bucketed", "khash", "universal"])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("shared", [0, 25, 50, 100])
def test_estimates_are_right_on_average_and_as_far_off_as_is_said(orders, bits, shared):
    """Two sets of 100 over many seeds: the mean is the Jaccard similarity, and so is the spread foretold."""
    a = range(100)
    b = range(100 - shared, 200 - shared)
    similarity, estimates = shared / (200 - shared), []
    for seed in range(300):
        signed = la.MinHash(slots=64, seed=seed, orders=orders).signatures([a, b])
        compact = la.CompactSignatures.of(signed, bits=bits)
        estimates.append(compact.similarity(0, 1))
    error = compact.standard_error(similarity)
    assert abs(np.mean(estimates) - similarity) <= 4 * error / np.sqrt(300)
    assert np.std(estimates) <= 1.15 * error
    # Bucketed orders vary less than independent slots would, and one bit's chance agreements hide that.
    assert np.std(estimates) >= 0.6 * error


@pytest.mark.parametrize("size", [1, 3, 1000, 50_000])
def test_slots_of_sets_that_share_nothing_agree_with_the_chance_that_is_said(size):
    signed = la.MinHash(slots=20_000, seed=size).signatures([range(size), range(size, 2 * size)])
    for bits in (1, 3, 8):
        compact = la.CompactSignatures.of(signed, bits=bits)
        assert abs(compact.similarity(0, 1)) < 4 * compact.standard_error(0)


def test_rows_of_one_call_are_those_of_many():
    signed = la.MinHash(slots=37).signatures([range(n, n + 30) for n in range(0, 400, 5)])
    compact = la.CompactSignatures.of(signed, bits=3)
    a, b = np.meshgrid(np.arange(80), np.arange(80))
    together = compact.similarities(a.ravel(), b.ravel())
    assert together.tolist() == [compact.similarity(x, y) for x, y in zip(a.ravel(), b.ravel(), strict=True)]
    again = la.CompactSignatures(compact.packed.copy(), slots=37, bits=3)
    assert again.similarities(a.ravel(), b.ravel()).tolist() == together.tolist()


def test_pieces_change_nothing(monkeypatch):
    signed = la.MinHash(slots=37).signatures([range(n, n + 30) for n in range(50)])
    whole = la.CompactSignatures.of(signed, bits=5)
    similarities = whole.similarities(range(50), [0] * 50).tolist()
    monkeypatch.setattr("lookalike.families.compact._AT_ONCE", 1000)
    pieces = la.CompactSignatures.of(signed, bits=5)
    assert np.array_equal(pieces.packed, whole.packed)
    assert pieces.similarities(range(50), [0] * 50).tolist() == similarities


def test_no_rows_and_no_pairs_are_fine():
    compact = la.CompactSignatures.of(la.MinHash(slots=8).signatures([]), bits=2)
    assert len(compact) == 0
    assert compact.similarities(np.empty(0, np.int64), np.empty(0, np.int64)).tolist() == []


signed = la.MinHash(slots=16).signatures([[1], [2]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: la.CompactSignatures.of(signed, bits=0),
            "bits=0 is out of range: a whole number from 1 to 16",
        ),
        (lambda: la.CompactSignatures.of(signed, bits=17), "bits=17 is out of range"),
        (lambda: la.CompactSignatures.of(signed, bits="4"), "bits='4' is out of range"),
        (lambda: la.CompactSignatures.of([[1]], bits=4), "give what MinHash"),
        (lambda: la.CompactSignatures(signed.slots, slots=16, bits=4), "rows of 8 bytes"),
        (lambda: la.CompactSignatures(np.zeros((2, 7), np.uint8), slots=16, bits=4), "rows of 8 bytes"),
        (lambda: la.CompactSignatures(np.zeros((2, 8), np.uint8), slots=0, bits=4), "slots=0"),
        (lambda: la.CompactSignatures.of(signed).similarity(0, 2), "row numbers lie from 0 to 1"),
        (lambda: la.CompactSignatures.of(signed).similarities([0], [0, 1]), "make no pairs"),
        (lambda: la.CompactSignatures.of(signed).similarities([0.5], [0]), "a list of row numbers"),
        (lambda: la.CompactSignatures.of(signed).standard_error(1.5), "not a similarity"),
    ],
)
def test_what_cannot_be_is_refused(call, said):
    with pytest.raises(OptionError, match=said):
        call()
