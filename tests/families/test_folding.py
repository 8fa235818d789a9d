"""The Hamming pyramid folded by hand (SPEC M14)."""

import numpy as np
import pytest

from lookalike.errors import OptionError
from lookalike.families.teaching.folding import folded, levels, looked_at


def column(digits):
    return [[int(digit)] for digit in digits]


def written(matrix):
    return "".join(str(int(row)) for row in matrix[:, 0])


def test_a_column_of_eight_rows_is_folded_three_times():
    assert [written(level) for level in levels(column("00110010"))] == ["00110010", "0101", "11", "1"]


@pytest.mark.parametrize("rows", [1, 2, 64, 1024])
def test_all_levels_have_twice_as_many_rows_as_one_reading(rows):
    matrix = np.random.default_rng(rows).integers(0, 2, (rows, 5))
    assert sum(len(level) for level in levels(matrix)) == 2 * rows - 1
    assert len(levels(matrix)) == 1 + np.log2(rows)


def test_a_row_is_one_where_any_row_under_it_is():
    matrix = np.random.default_rng(0).random((32, 40)) < 0.1
    for number, level in enumerate(levels(matrix)):
        size = 2**number
        assert [
            [matrix[size * row : size * (row + 1), item].any() for item in range(40)]
            for row in range(len(level))
        ] == level.tolist()


def test_an_odd_last_row_stays_alone():
    assert written(folded(column("01001"))) == "101"


def test_columns_are_looked_at_where_a_fifth_to_four_fifths_are_ones():
    # Of ten rows 1, 2, 5, 8 and 9 are ones.
    matrix = np.array([[row < ones for ones in (1, 2, 5, 8, 9)] for row in range(10)])
    assert looked_at(matrix).tolist() == [1, 2, 3]


def test_columns_that_share_half_have_a_level_in_common():
    """Hence thresholds from .5 on: a random column as thin as that passes through the band level by level."""
    source = np.random.default_rng(7)
    missed = 0
    for _ in range(200):
        larger = source.permutation(1024)[: source.integers(20, 600)]
        matrix = np.zeros((1024, 2), bool)
        matrix[larger, 0] = True
        matrix[larger[: (len(larger) + 1) // 2], 1] = True
        missed += not any(len(looked_at(level)) == 2 for level in levels(matrix) if len(level) >= 8)
    # Sizes at the very edge may fall out by chance, as the pyramid has false negatives.
    assert missed < 10


@pytest.mark.parametrize("matrix", [[], [[]], [[0, 2]], [[1], [0, 1]], [0, 1], "01"])
def test_what_is_no_boolean_matrix_is_refused(matrix):
    with pytest.raises(OptionError, match="a boolean matrix is one row of 0 and 1 or more"):
        folded(matrix)
