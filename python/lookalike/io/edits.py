"""Kept documents whose text is written otherwise than it was read; all else about them stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.io.layout import Mask, Rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Edits:
    """New texts for rows of a source.

    Attributes
    ----------
    column
        The text column.
    changed
        Which row numbers have a new text.
    text
        Row numbers and their texts as read → what is written instead.
    """

    column: str
    changed: Mask
    text: Callable[[Rows, pa.Array], pa.Array]

    def apply(self, rows: Rows, texts: pa.Array) -> pa.Array:
        """The texts of rows as they are written."""
        changed = self.changed[rows]
        if not changed.any():
            return texts
        texts = texts.cast(pa.large_string())
        new = self.text(rows[changed], texts.filter(pa.array(changed)))
        places = np.zeros(len(rows), np.int64)
        places[changed] = len(texts) + np.arange(len(new))
        places[~changed] = np.flatnonzero(~changed)
        return pa.concat_arrays([texts, new.cast(pa.large_string())]).take(pa.array(places))

    def of_file(self, numbers: Rows) -> FileEdits:
        """For a file whose rows have these numbers, −1 where they cannot be read."""
        return FileEdits(edits=self, numbers=numbers)


@dataclass(frozen=True, kw_only=True, eq=False)
class FileEdits:
    """New texts for rows of a file."""

    edits: Edits
    numbers: Rows

    @property
    def column(self) -> str:
        """The text column."""
        return self.edits.column

    def changed(self, rows: Rows) -> Mask:
        """Which rows of the file have a new text."""
        numbers = self.numbers[rows]
        mask: Mask = (numbers >= 0) & self.edits.changed[np.maximum(numbers, 0)]
        return mask

    def apply(self, rows: Rows, texts: pa.Array) -> pa.Array:
        """The texts of rows of the file as they are written."""
        return self.edits.apply(self.numbers[rows], texts)


def json_with_text(line: str, column: str, text: str) -> str:
    """A line of jsonl with another text in a column; every other character stays.

    Examples
    --------
    >>> json_with_text('{"n": 1.50, "text": "a", "x": {"text": 2}}', "text", "b")
    '{"n": 1.50, "text": "b", "x": {"text": 2}}'
    """
    decoder = json.JSONDecoder(strict=False)
    at = line.index("{") + 1
    spans = []
    while True:
        at = _skip(line, at)
        if line[at] != '"':
            break
        name, at = decoder.raw_decode(line, at)
        start = _skip(line, _skip(line, at) + 1)
        _, at = decoder.raw_decode(line, start)
        if name == column:
            spans.append((start, at))
        at = _skip(line, at)
        if line[at] != ",":
            break
        at += 1
    for start, end in reversed(spans):
        line = f"{line[:start]}{json.dumps(text, ensure_ascii=False)}{line[end:]}"
    return line


def _skip(line: str, at: int) -> int:
    """The next place that is not white space."""
    while line[at] in " \t\r\n":
        at += 1
    return at
