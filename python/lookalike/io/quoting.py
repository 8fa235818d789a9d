"""Where the rows of csv begin and end, and their fields, by RFC 4180: a quoted field may hold line breaks.

There are two readings of the same rule. Clean chunks, which nearly all are, are split by counting quotes
with NumPy, after checking that every quote stands where the rule allows one. From the first that does not,
the rest of the file is split by a regular expression, row by row, which finds exactly what is wrong.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from lookalike.io.layout import Mask, Rows
from lookalike.io.records import Split

Bytes = npt.NDArray[np.uint8]

_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")

_MISPLACED = "a quote or a carriage return is out of place"


class RowSplitter:
    """Splits one file; it remembers whether the file has left the clean path."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = ord(delimiter)
        escaped = re.escape(delimiter)
        # Possessive quantifiers: a field that fails has no second reading worth trying.
        quoted = r'"[^"]*+(?:""[^"]*+)*+"'
        plain = rf'(?!")[^{escaped}\r\n]*+'
        field = rf"(?:{quoted}|{plain})"
        self._row = re.compile(rf"{field}(?:{escaped}{field})*+(?:\r?\n|\Z)".encode())
        self._field = re.compile(rf"({quoted}|{plain})(?:{escaped}|\Z)".encode())
        self._unclosed = re.compile(rf'(?:{field}{escaped})*+"[^"]*+(?:""[^"]*+)*+\Z'.encode())
        self._clean = True

    def __call__(self, data: bytes, *, final: bool) -> Split:
        """Split `data`, which begins with a row; `final` if no more will follow."""
        if self._clean:
            split = self._split_clean(data, final)
            if split is not None:
                return split
            self._clean = False
        return self._split_carefully(data, final)

    def fields(self, row: bytes) -> list[bytes]:
        """The fields of one sound row, unquoted."""
        found = [row[start:end] for start, end in self._spans(row)]
        return [field[1:-1].replace(b'""', b'"') if field[:1] == b'"' else field for field in found]

    def with_field(self, row: bytes, number: int, value: bytes) -> bytes:
        """A sound row with another value in one field, which is quoted if it was or has to be."""
        start, end = self._spans(row)[number]
        special = {_QUOTE, _NEWLINE, _RETURN, self._delimiter}
        if row[start : start + 1] == b'"' or not special.isdisjoint(value):
            value = b'"' + value.replace(b'"', b'""') + b'"'
        return row[:start] + value + row[end:]

    def _spans(self, row: bytes) -> list[tuple[int, int]]:
        """Where the fields of one sound row lie, with their quotes."""
        found = [match.span(1) for match in self._field.finditer(row)]
        # A match can be empty at the end of the row: real after a delimiter, a leftover otherwise.
        if len(found) > 1 and found[-1][0] == found[-1][1] and row[-1] != self._delimiter:
            found.pop()
        return found

    def _split_clean(self, data: bytes, final: bool) -> Split | None:
        view = np.frombuffer(data, dtype=np.uint8)
        quotes = np.flatnonzero(view == _QUOTE)
        newlines = np.flatnonzero(view == _NEWLINE)
        outside = np.searchsorted(quotes, newlines) % 2 == 0
        ends = newlines[outside] + 1
        consumed = int(ends[-1]) if len(ends) else 0
        if final and consumed < len(data):
            if len(quotes) % 2:
                return None
            ends, consumed = np.append(ends, len(data)), len(data)
        if not self._well_placed(view, quotes[quotes < consumed], consumed):
            return None
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64) if len(ends) else np.empty(0, np.int64)
        sound = ~_blank(view, starts, ends)
        lines = int(np.searchsorted(newlines, consumed))
        return Split(starts=starts[sound], ends=ends[sound], consumed=consumed, lines=lines, flaws={})

    def _well_placed(self, view: Bytes, quotes: Rows, end: int) -> bool:
        """Whether quotes open where a field begins and close where one ends, and no bare return lies outside.

        A doubled quote closes and opens again, so beside a quote a quote is always in place.
        """
        if len(quotes):
            opening, closing = quotes[0::2], quotes[1::2]
            before = view[np.maximum(opening - 1, 0)]
            after = view[np.minimum(closing + 1, end - 1)]
            opens = np.isin(before, [self._delimiter, _NEWLINE, _QUOTE]) & (opening > 0) | (opening == 0)
            closes = np.isin(after, [self._delimiter, _NEWLINE, _RETURN, _QUOTE])
            if not (opens.all() and closes.all()):
                return False
        returns = np.flatnonzero(view[:end] == _RETURN)
        bare = returns[view[np.minimum(returns + 1, end - 1)] != _NEWLINE]
        return not bool((np.searchsorted(quotes, bare) % 2 == 0).any())

    def _split_carefully(self, data: bytes, final: bool) -> Split:
        starts: list[int] = []
        ends: list[int] = []
        flaws: dict[int, str] = {}
        position = 0
        # A return at the very end may be half of a line break.
        limit = len(data) - (not final and data.endswith(b"\r"))
        while position < limit:
            match = self._row.match(data, position, limit)
            reason = None
            if match is not None:
                end = match.end()
                # Without its line break the row may go on in what is not read yet.
                if not final and data[end - 1 : end] != b"\n":
                    break
            else:
                unclosed = self._unclosed.match(data, position, limit) is not None
                end = data.find(b"\n", position) + 1 or limit
                if not final and (unclosed or data[end - 1 : end] != b"\n"):
                    break
                reason = "a quoted field is never closed" if unclosed else _MISPLACED
            if data[position:end].strip(b"\r\n"):
                if reason is not None:
                    flaws[len(starts)] = reason
                starts.append(position)
                ends.append(end)
            position = end
        return Split(
            starts=np.array(starts, dtype=np.int64),
            ends=np.array(ends, dtype=np.int64),
            consumed=position,
            lines=data.count(b"\n", 0, position),
            flaws=flaws,
        )


def _blank(view: Bytes, starts: Rows, ends: Rows) -> Mask:
    """Whether each line is empty but for its line break."""
    length = ends - starts
    first = view[starts]
    blank: Mask = ((length == 1) & (first == _NEWLINE)) | ((length == 2) & (first == _RETURN))
    return blank
