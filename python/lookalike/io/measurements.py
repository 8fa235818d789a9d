"""Tables of measurements: an item a row, a number in each of the columns that are named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lookalike.errors import OptionError, SourceError
from lookalike.io.columns import Wanted, is_text, numbers_of
from lookalike.io.faults import OnError
from lookalike.io.files import FileSource, open_wanted


@dataclass(frozen=True, kw_only=True)
class MeasurementColumns(Wanted):
    """Columns of finite numbers: `text` is the first of them, then comes the id, if any, and the others."""

    @property
    def required(self) -> int:
        """Every item has all of its measurements."""
        return len(self.names)

    def settled(self, types: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Measurements are floats; an id keeps its type."""
        return [
            kind if name == self.id else pa.float64() for name, kind in zip(self.names, types, strict=True)
        ]

    def convert(self, name: str, array: pa.Array, flaws: dict[int, str]) -> pa.Array:
        """Measurements as numbers; what is none, or not finite, is a flaw."""
        if name == self.id:
            return array
        return numbers_of(name, array, flaws, finite=True)

    def check(self, where: str, schema: pa.Schema) -> None:
        """Raise unless measurements may be numbers."""
        for name, kind in zip(self.names, schema.types, strict=True):
            plain = kind.value_type if pa.types.is_dictionary(kind) else kind
            number = pa.types.is_integer(plain) or pa.types.is_floating(plain) or pa.types.is_decimal(plain)
            if name != self.id and not (number or is_text(plain) or pa.types.is_null(plain)):
                raise SourceError(f"column {name!r} of {where} holds {kind}: name columns of numbers")


def open_measurements(
    inputs: Iterable[str | Path] | str | Path,
    *,
    columns: Sequence[str],
    id: str | None = None,
    on_error: OnError = "raise",
    scratch: Path | None = None,
) -> FileSource:
    """Open csv, tsv, jsonl or parquet files; a batch of a scan has the columns in their order, and the id.

    `scratch` is as of `open_files`.

    Raises
    ------
    OptionError
        If a column is named twice.
    SourceError
        If an input is missing, of no readable kind, or without one of the columns.
    """
    for at, name in enumerate(columns):
        if name in columns[:at] or name == id:
            raise OptionError(f"column {name!r} is named twice: name every measurement once, and not the id")
    wanted = MeasurementColumns(text=columns[0], id=id, columns=tuple(columns[1:]))
    source = open_wanted(inputs, wanted, on_error, scratch)
    for file in source.files:
        if file.format.name == "txt":
            source.close()
            raise SourceError(f"{file.label} has no columns: name csv, tsv, parquet or jsonl files")
    return source
