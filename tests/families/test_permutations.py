"""MinHash by hand: the signatures that are known without a computer (SPEC M6), and orders written out."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.families import Permutations
from lookalike.families.permutations import NOTHING
from lookalike.measures.exact import jaccard

ROWS = ["1010", "1001", "0101", "0101", "0101", "1010", "1010"]
ORDERS = [(2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5)]


def written(signatures):
    """Signatures as one writes them: a line a slot, a digit a column."""
    return ["".join(map(str, slot)) for slot in signatures.T.tolist()]


def column(rows, number):
    return {row for row, entries in enumerate(rows) if entries[number - 1] == "1"}


def agreement(signatures, a, b):
    """The fraction of slots in which columns a and b, counted from 1, agree."""
    return np.mean(signatures[a - 1] == signatures[b - 1])


def test_seven_rows_under_three_orders_give_2121_2141_1212():
    assert written(Permutations(ORDERS).signatures(ROWS)) == ["2121", "2141", "1212"]


def test_as_row_numbers_they_are_1515_2313_6464_which_is_equivalent():
    ranks = Permutations(ORDERS).signatures(ROWS)
    # The row that has the least rank, counted from 1.
    numbers = np.array(
        [[order.index(rank) + 1 for order, rank in zip(ORDERS, ranks_of, strict=True)] for ranks_of in ranks]
    )
    assert written(numbers) == ["1515", "2313", "6464"]
    for a, b in permutations(range(1, 5), 2):
        assert agreement(numbers, a, b) == agreement(ranks, a, b)


@pytest.mark.parametrize(
    ("a", "b", "true", "estimated"), [(1, 3, 0.75, 2 / 3), (2, 4, 0.75, 1), (1, 2, 0, 0), (3, 4, 0, 0)]
)
def test_similarity_of_columns_and_of_their_signatures(a, b, true, estimated):
    assert jaccard(column(ROWS, a), column(ROWS, b)) == true
    assert agreement(Permutations(ORDERS).signatures(ROWS), a, b) == estimated


def test_other_rows_under_other_orders_give_1532_2213_3112():
    rows = ["0110", "0011", "1000", "0101", "0001", "1100", "0010"]
    orders = [(6, 3, 1, 7, 2, 5, 4), (7, 6, 5, 4, 3, 2, 1), (1, 2, 3, 4, 5, 6, 7)]
    assert written(Permutations(orders).signatures(rows)) == ["1532", "2213", "3112"]


def test_one_pass_with_two_hash_functions_gives_1_2_and_0_0():
    by_functions = Permutations.of_functions([lambda x: x % 5, lambda x: (2 * x + 1) % 5], rows=range(1, 6))
    first, second = {1, 3, 4}, {2, 3, 5}
    rows = [(row in first, row in second) for row in range(1, 6)]
    assert by_functions.signatures(rows).tolist() == [[1, 2], [0, 0]]


@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=5))
def test_over_all_orders_columns_agree_exactly_as_often_as_they_are_alike(rows):
    every = Permutations(list(permutations(range(len(rows)))))
    signatures = every.signatures(rows)
    for a in range(3):
        for b in range(a):
            one, other = ({i for i, row in enumerate(rows) if row[c]} for c in (a, b))
            if one | other:
                assert np.mean(signatures[a] == signatures[b]) == pytest.approx(
                    jaccard(one, other), abs=1e-12
                )


@given(st.data())
def test_signatures_are_minima_over_the_members(data):
    height = data.draw(st.integers(1, 8))
    orders = data.draw(st.lists(st.permutations(range(height)), min_size=1, max_size=4))
    rows = data.draw(st.lists(st.text("01", min_size=3, max_size=3), min_size=height, max_size=height))
    signatures = Permutations(orders).signatures(rows)
    for number in range(3):
        members = column(rows, number + 1)
        assert signatures[number].tolist() == [
            min((order[row] for row in members), default=NOTHING) for order in orders
        ]


def test_matrices_come_as_strings_lists_and_arrays():
    expected = Permutations(ORDERS).signatures(ROWS)
    lists = [[int(entry) for entry in row] for row in ROWS]
    for matrix in (lists, np.array(lists), np.array(lists, bool), [tuple(map(bool, row)) for row in lists]):
        assert np.array_equal(Permutations(ORDERS).signatures(matrix), expected)
    assert np.array_equal(Permutations(np.array(ORDERS)).signatures(ROWS), expected)


def test_orders_and_matrices_that_do_not_fit_are_refused():
    for ranks in ([], [(1, 2), (1, 2, 3)]):
        with pytest.raises(OptionError, match="at least one order, all of one length"):
            Permutations(ranks)
    with pytest.raises(OptionError, match="the matrix has 6 rows, but the orders rank 7"):
        Permutations(ORDERS).signatures(ROWS[1:])
    with pytest.raises(OptionError, match="differ in length"):
        Permutations([(1, 2)]).signatures(["10", "1"])


def test_other_orders_written_in_columns_and_read_right_to_left_give_the_same_signatures():
    columns = ["143", "324", "717", "636", "261", "572", "455"]
    orders = [tuple(int(row[column]) for row in columns) for column in range(3)]
    assert orders == [(1, 3, 7, 6, 2, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 6, 1, 2, 5)]
    assert written(Permutations(orders[::-1]).signatures(ROWS)) == ["2121", "2141", "1212"]
