"""Strings that stand for values of which one is the greatest: numbers, dates, booleans."""

from __future__ import annotations

import pyarrow as pa

from lookalike.io.columns import is_text


def as_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as values if it holds strings that are all such, of one kind, else the column itself.

    csv keeps everything as strings, so that 007 stays 007, and jsonl has no dates; where a value is meant,
    ask here. Dates and times are as ISO 8601 has them, with a zone in all of a column or in none. An empty
    string is no value.

    Examples
    --------
    >>> as_values(pa.chunked_array([["10", "9.5", ""]])).to_pylist()
    [10.0, 9.5, None]
    >>> str(as_values(pa.chunked_array([["2026-01-31", "2026-02-01T12:30"]]))[1])
    '2026-02-01 12:30:00'
    >>> as_values(pa.chunked_array([["10", "n/a"]])).to_pylist()
    ['10', 'n/a']
    """
    import pyarrow.compute as pc

    if not is_text(column.type):
        return column
    try:
        trimmed = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    except pa.ArrowInvalid:
        return column
    values = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
    for kind in _KINDS:
        try:
            return values.cast(kind)
        except pa.ArrowInvalid:
            pass
    return column


#: What strings may stand for, the first of which all of them do: whole numbers to the last digit, and times
#: to the microsecond or, if they tell it and lie within the years 1678 to 2261, to the nanosecond.
_KINDS = (
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    *(pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")),
)
