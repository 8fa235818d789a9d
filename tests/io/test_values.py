"""Strings that stand for numbers, dates and booleans."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from lookalike.io import as_values

FIRST, SECOND = datetime(2026, 1, 31), datetime(2026, 2, 1, 12, 30)


@pytest.mark.parametrize(
    ("strings", "values"),
    [
        (["10", "9", None], [10, 9, None]),
        (["10", " 9.5 ", ""], [10.0, 9.5, None]),
        # To a float these are one number.
        (["9007199254740993", "9007199254740992"], [9007199254740993, 9007199254740992]),
        (["true", "", "False"], [True, None, False]),
        (["2026-01-31", "2026-02-01T12:30", " "], [FIRST, SECOND, None]),
        (["2026-01-31 00:00:00.000", "2026-02-01 12:30:00"], [FIRST, SECOND]),
        (
            ["2026-01-31T01:00:00+01:00", "2026-02-01T12:30:00Z"],
            [FIRST.replace(tzinfo=UTC), SECOND.replace(tzinfo=UTC)],
        ),
        (["", None], [None, None]),
    ],
)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_strings_of_one_kind_are_values(strings, values, kind):
    for column in (pa.chunked_array([pa.array(strings)]), pa.chunked_array([[text] for text in strings])):
        assert as_values(column.cast(kind)).to_pylist() == values


def test_times_may_be_told_to_the_nanosecond():
    values = as_values(pa.chunked_array([["2026-01-31T00:00:00.000000002", "2026-01-31T00:00:00.000000001"]]))
    assert values[0].value - values[1].value == 1


@pytest.mark.parametrize(
    "strings",
    [
        ["10", "n/a"],
        ["2026-01-31", "10"],
        ["2026-01-31", "2026-02-01T12:30:00Z"],
        ["31.1.2026"],
        ["yes", "no"],
    ],
)
def test_strings_of_which_some_are_of_another_kind_stay_strings(strings):
    column = pa.chunked_array([strings])
    assert as_values(column) is column


def test_what_is_no_text_stays_as_it_is():
    for column in (pa.chunked_array([[1, 2]]), pa.chunked_array([[FIRST]]), pa.chunked_array([[b"\xff"]])):
        assert as_values(column) is column
