"""Which row of a cluster is kept."""

import datetime
from decimal import Decimal
from math import nan

import numpy as np
import pyarrow as pa
import pytest

from lookalike.clusters import parse_keep, priorities
from lookalike.errors import OptionError, SourceError


@pytest.mark.parametrize(
    ("keep", "parsed"),
    [
        ("first", ("first", None)),
        ("longest", ("longest", None)),
        ("max:stars", ("max", "stars")),
        ("max:a:b", ("max", "a:b")),
    ],
)
def test_policies_are_read(keep, parsed):
    assert parse_keep(keep) == parsed


@pytest.mark.parametrize("keep", ["", "last", "max", "max:", "first:x", "longest:text", "min:stars", "First"])
def test_other_policies_are_refused(keep):
    with pytest.raises(OptionError, match="first, longest, or max:COLUMN"):
        parse_keep(keep)


DAY = datetime.date(2026, 1, 1)

#: Values of rows 0, 1, 2, …, and the rows in the order of preference.
VALUES = [
    ([5, 7, 6], [1, 2, 0]),
    # Ties go by id, which rows are numbered by.
    ([5, 7, 5, 7], [1, 3, 0, 2]),
    ([None, 1, None, 2], [3, 1, 0, 2]),
    # Neither NaN nor null says anything about a row.
    ([nan, 1.0, None, 2.0, nan], [3, 1, 0, 2, 4]),
    ([None, nan, -1.0], [2, 0, 1]),
    ([float("-inf"), nan, float("inf")], [2, 0, 1]),
    ([DAY, DAY + datetime.timedelta(1), None], [1, 0, 2]),
    ([2**63 - 1, -(2**63), 0], [0, 2, 1]),
    ([False, True, None, True, False], [1, 3, 0, 4, 2]),
    # Two prices that are the same number to a float.
    ([Decimal("9007199254740992.1"), None, Decimal("9007199254740992.2"), Decimal("-1.0")], [2, 0, 3, 1]),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("values", "preferred"), VALUES)
def test_the_greatest_value_is_preferred(values, preferred):
    places = priorities(np.arange(len(values)), values=pa.array(values))
    assert np.argsort(places).tolist() == preferred


def test_without_values_rows_go_by_arrival_or_by_number():
    assert priorities(np.arange(3), arrival=np.array([2, 0, 1])).tolist() == [2, 0, 1]
    assert priorities(np.arange(3)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("values", [["a", "b"], [[1], [2]], [b"a", b"b"]])
def test_a_column_that_has_no_most_is_refused(values):
    with pytest.raises(SourceError, match="numbers, dates or booleans"):
        priorities(np.arange(2), values=pa.array(values))
