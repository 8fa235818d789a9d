"""How many a share is: counted one by one, with exact fractions beside."""

from fractions import Fraction

import pytest

from lookalike.theory.shares import least_count, most_count


@pytest.mark.parametrize("of", [1, 2, 7, 29, 100, 1000, 3001])
def test_a_share_written_with_two_digits_is_what_it_says(of):
    for percent in range(1, 100):
        exactly = Fraction(percent, 100) * of
        assert least_count(percent / 100, of) == -(-exactly.numerator // exactly.denominator)
        assert most_count(percent / 100, of) == exactly.numerator // exactly.denominator


@pytest.mark.parametrize("of", [1, 3, 49, 12_345_678_901])
def test_the_share_of_a_count_is_that_count(of):
    for count in (0, 1, of // 3, of // 2, of - 1, of):
        assert most_count(count / of, of) == count
        assert least_count(count / of, of) == count


def test_the_least_share_there_is_is_one():
    assert (least_count(5e-324, 10), most_count(5e-324, 10)) == (1, 0)
