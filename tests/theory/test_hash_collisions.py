"""The chance of a false shared shingle, against every hash function there is."""

from itertools import product

import pytest

from lookalike.errors import OptionError
from lookalike.theory import false_shared_shingle


def exact(shingles_a: int, shingles_b: int, bits: int) -> float:
    """Over all functions from the shingles to n-bit hashes, the fraction that makes the two sets meet."""
    functions = list(product(range(2**bits), repeat=shingles_a + shingles_b))
    return sum(bool({*f[:shingles_a]} & {*f[shingles_a:]}) for f in functions) / len(functions)


@pytest.mark.parametrize(("a", "b", "bits"), [(1, 1, 3), (1, 4, 2), (3, 1, 2)])
def test_it_is_exact_when_a_set_has_one_shingle(a, b, bits):
    assert false_shared_shingle(a, b, bits) == pytest.approx(exact(a, b, bits))


@pytest.mark.parametrize(("a", "b", "bits"), [(2, 2, 1), (2, 3, 2), (2, 2, 3)])
def test_it_is_a_close_upper_bound_otherwise(a, b, bits):
    truth = exact(a, b, bits)
    assert truth < false_shared_shingle(a, b, bits) < 1.1 * truth


def test_four_bytes_are_enough_for_a_document_and_eight_for_any():
    assert false_shared_shingle(1000, 1000, 32) == pytest.approx(1 / 4295, rel=1e-3)
    assert false_shared_shingle(1000, 1000, 64) == pytest.approx(1e6 / 2**64)
    assert false_shared_shingle(10**9, 10**9, 32) == 1.0


def test_nothing_shares_nothing():
    assert str(false_shared_shingle(0, 1000, 32)) == "0.0"


@pytest.mark.parametrize("wrong", [(-1, 5, 32), (5, -1, 32), (5, 5, 0)])
def test_impossible_numbers_are_refused(wrong):
    with pytest.raises(OptionError, match="is out of range"):
        false_shared_shingle(*wrong)
