"""Parts of documents: paragraphs, between blank lines, and lines.

A document is the units it is cut into, end to end, each with the line breaks and blank lines behind it (the
first also with those before it). So units can be left out and the rest is as it was, byte for byte. What is
compared of a unit is its content: without those blank lines, and without white space at its end. An empty
document has no unit; one of white space alone has an empty one, or as many as it has lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from lookalike.types import I64, U8, Bools, string_buffers

Unit = Literal["document", "paragraph", "line"]

_WHITE = np.isin(np.arange(256), np.frombuffer(b" \t\r\n\v\f", np.uint8))


@dataclass(frozen=True, kw_only=True, eq=False)
class Units:
    """The units of some texts.

    Attributes
    ----------
    data
        The bytes of the texts, one after the other.
    edges
        Where each unit begins, and where the last ends.
    begins, ends
        The content of each unit.
    first
        The number of each text's first unit, and of all units.
    """

    data: U8
    edges: I64
    begins: I64
    ends: I64
    first: I64

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def counts(self) -> I64:
        """How many units each text has."""
        return np.diff(self.first)

    def contents(self) -> pa.Array:
        """What is compared: the content of every unit."""
        steps = np.zeros(len(self.data) + 1, np.int8)
        filled = self.ends > self.begins
        # Contents do not overlap, but one may begin where another ends.
        np.add.at(steps, self.begins[filled], 1)
        np.add.at(steps, self.ends[filled], -1)
        inside = np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)
        offsets = np.concatenate([[0], np.cumsum(self.ends - self.begins)])
        return _strings(self.data[inside], offsets)

    def texts(self, kept: Bools) -> pa.Array:
        """The texts without the units that are not kept."""
        lengths = np.diff(self.edges)
        inside = np.repeat(kept, lengths)
        sizes = np.concatenate([[0], np.cumsum(lengths * kept)])
        return _strings(self.data[inside], sizes[self.first])


def split_units(texts: pa.Array, unit: Unit) -> Units:
    """Cut texts into lines or paragraphs.

    Examples
    --------
    >>> units = split_units(pa.array(["One.\\nStill one.\\n\\nTwo.\\n", ""]), "paragraph")
    >>> units.contents().to_pylist(), units.counts.tolist()
    (['One.\\nStill one.', 'Two.'], [2, 0])
    """
    data, offsets = string_buffers(texts)
    data, offsets = data[offsets[0] : offsets[-1]], offsets - offsets[0]
    filled = offsets[:-1][offsets[1:] > offsets[:-1]]
    # A line begins where a text does, and behind a line break that is not the last of its text.
    breaks = np.flatnonzero(data == ord("\n")) + 1
    lines = np.union1d(filled, breaks[breaks < len(data)])
    solid = ~_WHITE[data]
    before = np.concatenate([[0], np.cumsum(solid)])
    stops = np.append(lines[1:], len(data)) if len(lines) else lines
    blank = before[stops] == before[lines]
    starts = np.arange(len(lines)) if unit == "line" else _paragraphs(lines, blank, filled)
    edges = np.append(lines[starts], len(data)).astype(np.int64)
    begins, ends = _contents(edges, starts, lines, blank, solid)
    first = np.searchsorted(edges[:-1], offsets).astype(np.int64)
    return Units(data=data, edges=edges, begins=begins, ends=ends, first=first)


def _paragraphs(lines: I64, blank: Bools, texts: I64) -> I64:
    """The lines with which paragraphs begin: the first of a text, and those behind blank ones."""
    if not len(lines):
        return np.empty(0, np.int64)
    first = np.searchsorted(lines, texts)
    opens = ~blank
    opens[1:] &= blank[:-1]
    # Blank lines at the head of a text belong to its first paragraph, which has begun already.
    written = np.concatenate([[0], np.cumsum(~blank)])[:-1]
    own = np.repeat(first, np.diff(np.append(first, len(lines))))
    opens &= written > written[own]
    opens[first] = True
    return np.flatnonzero(opens)


def _contents(edges: I64, starts: I64, lines: I64, blank: Bools, solid: Bools) -> tuple[I64, I64]:
    """Where the content of each unit begins and ends: from its first line that is not blank."""
    written = np.append(np.flatnonzero(~blank), len(lines))
    next_written = written[np.searchsorted(written, starts)]
    stops = np.append(starts[1:], len(lines))
    begins = np.append(lines, 0)[np.where(next_written < stops, next_written, starts)]
    last = np.maximum.accumulate(np.where(solid, np.arange(len(solid)), -1))
    ends = np.where(next_written < stops, last[edges[1:] - 1] + 1 if len(last) else 0, begins)
    return begins.astype(np.int64), ends.astype(np.int64)


def _strings(data: U8, offsets: I64) -> pa.Array:
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
