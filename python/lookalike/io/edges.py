"""Tables that hold sets: an edge a row (user, item[, rating]), or a list a row.

They are read by the same formats as documents are, with the same account of what cannot be read; only what
is asked of the columns differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import OptionError, SourceError
from lookalike.io.columns import Wanted, is_list, is_text, numbers_of, plain_lists
from lookalike.io.faults import OnError
from lookalike.io.files import FileSource
from lookalike.io.frames import FrameSource
from lookalike.io.inputs import STANDARD_INPUT, find_files, standard_input_file
from lookalike.io.source import Source
from lookalike.io.spool import Spool


@dataclass(frozen=True, kw_only=True)
class EdgeColumns(Wanted):
    """The columns of an edge table: `text` is the item, then come its set and perhaps numbers of the edge.

    `weight` names the one of these that must be finite, and 0 or more unless it is `signed`; a rating is only
    compared.
    """

    weight: str | None = None
    signed: bool = True

    @property
    def required(self) -> int:
        """An edge has both its ends, and a rating if one is asked for."""
        return len(self.names)

    @property
    def whole(self) -> frozenset[str]:
        """Numbers of users and items are whole."""
        return frozenset(self.names[:2])

    def settled(self, types: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Ends keep their types, strings in one layout; ratings are numbers."""
        return [*map(_plain_end, types[:2]), *(pa.float64() for _ in types[2:])]

    def convert(self, name: str, array: pa.Array, flaws: dict[int, str]) -> pa.Array:
        """Ratings as numbers; a rating that is none, and an end that is an empty string, is a flaw."""
        # A column may serve twice, and then it is an end that must not be turned into a number.
        if name in self.names[:2]:
            if is_text(array.type):
                # Arrow cannot measure strings in views.
                array = array.cast(pa.large_string())
                for at in _where(_empty(array)):
                    flaws.setdefault(at, f"{name!r} is empty")
            return array
        numbers = numbers_of(name, array, flaws, finite=name == self.weight)
        if name == self.weight and not self.signed:
            for at in _where(pc.less(numbers, 0)):
                why = f"{name!r} is {numbers[at].as_py():g}: weights are 0 or more; only those of vectors,"
                flaws.setdefault(at, f"{why} which are compared by cosine, may be less")
        return numbers

    def check(self, where: str, schema: pa.Schema) -> None:
        """Raise unless the ends are numbers or strings, and the rating may be a number."""
        for name, kind in zip(self.names, schema.types, strict=True):
            plain = kind.value_type if pa.types.is_dictionary(kind) else kind
            if pa.types.is_null(plain) or is_text(plain) or pa.types.is_integer(plain):
                continue
            if name not in self.names[:2] and (pa.types.is_floating(plain) or pa.types.is_decimal(plain)):
                continue
            wants = "whole numbers or strings" if name in self.names[:2] else "numbers"
            raise SourceError(f"column {name!r} of {where} holds {kind}: name a column of {wants}")


@dataclass(frozen=True, kw_only=True)
class ListColumns(Wanted):
    """The columns of a table with a set a row: `text` is a list of items, then perhaps an id."""

    @property
    def whole(self) -> frozenset[str]:
        """Numbers of items are whole."""
        return frozenset(self.names)

    def settled(self, types: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Lists in one layout."""
        item = types[0].value_type if is_list(types[0]) else pa.string()
        return [pa.large_list(_plain_end(item)), *types[1:]]

    def convert(self, name: str, array: pa.Array, flaws: dict[int, str]) -> pa.Array:
        """A list with a null in it is a flaw."""
        if name == self.text and is_list(array.type):
            array = plain_lists(array)
            array = array.cast(pa.large_list(_plain_end(array.type.value_type)))
            nulls = array.flatten().is_null().to_numpy(zero_copy_only=False)
            if nulls.any():
                owners = np.repeat(np.arange(len(array)), _lengths(array))
                for at in np.unique(owners[nulls]).tolist():
                    flaws.setdefault(at, f"{name!r} holds a null")
        return array

    def check(self, where: str, schema: pa.Schema) -> None:
        """Raise unless the first column holds lists of numbers or strings."""
        kind = schema.field(0).type
        item = kind.value_type if is_list(kind) else None
        sound = item is not None and (is_text(item) or pa.types.is_integer(item) or pa.types.is_null(item))
        if not (sound or pa.types.is_null(kind)):
            raise SourceError(
                f"column {self.text!r} of {where} holds {kind}, not lists of whole numbers or strings: name "
                "another column, or for a table with an item a row also the column of sets, of='COLUMN'"
            )


def open_edges(
    data: Any,
    *,
    of: str,
    items: str,
    rating: str | None = None,
    weight: str | None = None,
    on_error: OnError = "raise",
    scratch: Path | None = None,
) -> Source:
    """Open a table of edges; a batch of a scan has the item, the set it is in, and the numbers asked for.

    Parameters
    ----------
    data
        Paths of csv, tsv, parquet or jsonl files, or a table in memory (Arrow, polars, pandas).
    of, items
        Columns: whose sets, and what is in them. Exchanged, the table is read in the other direction.
    rating, weight
        Columns of numbers; the rating comes first, and if it is the weight too, comes once.
    """
    if of == items:
        raise OptionError(f"sets of {of!r} cannot hold {items!r}: name two columns")
    if weight in (of, items):
        raise OptionError(f"weight={weight!r} is an end of the edges: name another column")
    numbers = dict.fromkeys(name for name in (rating, weight) if name is not None)
    columns = (of, *numbers)
    return _open(data, EdgeColumns(text=items, columns=columns, weight=weight), on_error, scratch)


def open_lists(
    data: Any,
    *,
    items: str,
    id: str | None = None,
    on_error: OnError = "raise",
    scratch: Path | None = None,
) -> Source:
    """Open a table with a set a row; a batch of a scan has the lists and the ids, if asked for."""
    return _open(data, ListColumns(text=items, id=id), on_error, scratch)


def _open(data: Any, wanted: Wanted, on_error: OnError, scratch: Path | None) -> Source:
    given = [data] if isinstance(data, (str, Path)) else data
    if not isinstance(given, (list, tuple)):
        return FrameSource(data, wanted, on_error)
    if not given:
        raise OptionError("no input was named: name files, folders, globs, or - for standard input")
    if [str(name) for name in given] == [STANDARD_INPUT]:
        spool = Spool(folder=scratch)
        return FileSource([standard_input_file(spool.path)], wanted, on_error, spool=spool)
    files, passed_over = find_files(given)
    for file in files:
        if file.format.name == "txt":
            raise SourceError(f"{file.label} has no columns: name csv, tsv, parquet or jsonl files")
    return FileSource(files, wanted, on_error, passed_over=passed_over)


def _plain_end(kind: pa.DataType) -> pa.DataType:
    """One layout for strings; null, where no value has been seen, is a string."""
    if pa.types.is_dictionary(kind):
        return _plain_end(kind.value_type)
    return pa.large_string() if is_text(kind) or pa.types.is_null(kind) else kind


def _lengths(lists: pa.Array) -> Any:
    return np.asarray(lists.value_lengths().fill_null(0))


def _empty(array: pa.Array) -> pa.Array:
    """Which strings are empty."""
    return pc.equal(pc.binary_length(array), 0)


def _where(mask: pa.Array) -> list[int]:
    found: list[int] = np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False)).tolist()
    return found
