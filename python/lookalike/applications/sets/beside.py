"""One collection of sets, or two that are compared: read one after the other, and of kinds that can meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.sets.opening import OpenSets
from lookalike.applications.sets.reading import SetInput
from lookalike.measures.kinds import check_kinds, kinds_of
from lookalike.measures.tokens import tokens_of_lines
from lookalike.types import Kinds, string_buffers

#: Lines that are looked at first: most often these say which kinds there are.
_FIRST = 256


class Look:
    """What the tokens of a source are, looked at as its batches pass by."""

    def __init__(self, asked: SetInput, *, on: bool, weighted: bool = False) -> None:
        self._asked, self._on, self._weighted = asked, on, weighted
        self.kinds = Kinds()

    def at(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches; looked at if it is `on`."""
        if not self._on:
            yield from batches
            return
        of = self._of_lines if self._asked.form == "lines" else self._of_columns
        for batch in batches:
            self.kinds |= of(batch.column(0))
            yield batch

    def _of_columns(self, column: pa.Array) -> Kinds:
        tokens = column.flatten() if self._asked.form == "lists" else column
        return kinds_of(tokens, written=not pa.types.is_integer(tokens.type))

    def _of_lines(self, lines: pa.Array) -> Kinds:
        found = Kinds()
        if self.kinds.string is None or self.kinds.integer is None:
            found = self._of_tokens(lines.slice(0, _FIRST))
            if self.kinds.integer is None and found.integer is None:
                found |= self._of_tokens(lines.slice(_FIRST))
        data, _ = string_buffers(lines)
        if (self.kinds | found).negative is None and np.any((data[:-1] == ord("-")) & (data[1:] <= ord("9"))):
            found |= self._of_tokens(lines)
        return found

    def _of_tokens(self, lines: pa.Array) -> Kinds:
        how: dict[str, Any] = {"first": self._asked.id == "first", "weighted": self._weighted}
        return kinds_of(tokens_of_lines(lines, separator=self._asked.separator, **how), written=True)


def called(given: Sequence[Any]) -> list[str]:
    """What errors call two collections: files by their names, others by their places."""
    places = ["the first collection", "the second collection"]
    return [_paths(one) or place for one, place in zip(given, places, strict=False)]


def check_beside(given: Sequence[Any], kinds: Sequence[Kinds]) -> None:
    """Raise unless what two collections hold can be compared."""
    check_kinds(kinds, called(given))


def _paths(one: Any) -> str:
    asked = one.given if isinstance(one, OpenSets) else one
    paths = asked.paths if isinstance(asked, SetInput) else []
    if not paths:
        return ""
    return Path(paths[0]).name if len(paths) == 1 else f"{Path(paths[0]).name} and {len(paths) - 1} more"
