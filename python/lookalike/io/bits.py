"""Bits in files and frames: a column of a table, the rows of a matrix, or hexadecimal lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import SourceError
from lookalike.io.bitmatrices import SUFFIXES, BitMatrices
from lookalike.io.columns import Wanted
from lookalike.io.faults import OnError
from lookalike.io.files import FileSource, open_wanted
from lookalike.io.format import Format
from lookalike.io.frames import FrameSource
from lookalike.io.inputs import READABLE, kind_of
from lookalike.io.packed import COLUMNS, holds_bits, is_hexadecimal, misfit, pack
from lookalike.io.setfiles import SetLines
from lookalike.io.source import Source
from lookalike.io.stream import COMPRESSIONS
from lookalike.types import I64

_LINES, _MATRICES = SetLines(), BitMatrices()
_READABLE = f"{', '.join(SUFFIXES)}, .hex, {READABLE}"


@dataclass
class Width:
    """How many bits the rows of a source have: what its first row has, unless it was counted before."""

    bits: int | None = None
    counted: bool = False


@dataclass(frozen=True, kw_only=True)
class BitColumns(Wanted):
    """Columns of which the first is bits; a batch has them as packed bytes, all rows of one width."""

    width: Width = field(default_factory=Width, compare=False)

    def settled(self, types: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Bits are bytes, whatever they were; an id keeps its type."""
        return [pa.large_binary(), *types[1:]]

    def take(
        self, position: int, array: pa.Array, flaws: dict[int, str], *, checked: bool = False
    ) -> pa.Array:
        """Bits packed; what is none, or of another width, is a flaw."""
        if position:
            return super().take(position, array, flaws, checked=checked)
        if is_hexadecimal(array.type):
            array = super().take(position, array, flaws)
        packed = pack(array)
        for row, why in packed.flaws.items():
            flaws.setdefault(row, f"{self.text!r} {why}")
        sound = np.flatnonzero(packed.widths)
        if len(sound):
            self._compare(sound, packed.widths[sound], array.type, flaws)
        return packed.rows

    def _compare(self, rows: I64, widths: I64, kind: pa.DataType, flaws: dict[int, str]) -> None:
        common = self.width.bits = self.width.bits or int(widths[0])
        whose = "most rows have" if self.width.counted else "the first row has"
        for at in np.flatnonzero(widths != common).tolist():
            why = misfit(int(widths[at]), common, kind, whose)
            flaws.setdefault(int(rows[at]), f"{self.text!r} {why}")

    def check(self, where: str, schema: pa.Schema) -> None:
        """Raise unless the first column may hold bits."""
        kind = schema.field(0).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (holds_bits(plain) or pa.types.is_null(plain)):
            raise SourceError(
                f"column {self.text!r} of {where} holds {kind}, no bits:"
                f" name a column of {COLUMNS}, with --text"
            )
        if len(schema) > 1:
            super().check(where, pa.schema([("text", pa.string()), *list(schema)[1:]]))


@dataclass(frozen=True, kw_only=True)
class _Counting(BitColumns):
    """Takes rows of all widths, and counts them."""

    counts: Counter[int] = field(default_factory=Counter, compare=False)

    def _compare(self, rows: I64, widths: I64, kind: pa.DataType, flaws: dict[int, str]) -> None:
        for width, times in zip(*np.unique(widths, return_counts=True), strict=True):
            self.counts[int(width)] += int(times)


def count_widths(source: FileSource, advance: Callable[[int], None]) -> None:
    """Make the width that most rows have the one of the source; of as frequent ones the greatest.

    It reads all of it. For those who leave out rows of other widths: the first row may be one of these.
    """
    counting = _Counting(text=source.wanted.text)
    with FileSource(source.files, counting, "skip") as files:
        for batch in files.scan():
            advance(batch.num_rows)
    assert isinstance(source.wanted, BitColumns)
    source.wanted.width.bits = max(counting.counts, key=lambda width: (counting.counts[width], width))
    source.wanted.width.counted = True


def has_columns(source: Source) -> bool:
    """Whether the bits are a column among others, rather than lines of a file or rows of a matrix."""
    if not isinstance(source, FileSource):
        return True
    return any(file.format not in (_LINES, _MATRICES) for file in source.files)


def open_bits(data: Any, *, column: str, id: str | None = None) -> Source:
    """Open whatever holds bits and has a name: paths of files as `open_bit_files` takes them, or a table.

    Parameters
    ----------
    column
        The column of the bits; matrices and lines of a text file have none.
    id
        The column of unique ids.
    """
    if not isinstance(data, (str, Path, list)):
        return FrameSource(data, BitColumns(text=column, id=id))
    return open_bit_files(data if isinstance(data, list) else [data], column=column, id=id)


def open_bit_files(
    paths: Sequence[str | Path],
    *,
    column: str,
    id: str | None = None,
    on_error: OnError = "raise",
    scratch: Path | None = None,
) -> FileSource:
    """Open csv, tsv, jsonl or parquet files with bits in a column, text files (.txt, .hex) of a hexadecimal
    string a line, and .npy or .bvecs matrices; or `-` for jsonl. `on_error` and `scratch` are
    as of `open_files`.
    """
    wanted = BitColumns(text=column, id=id)
    return open_wanted(paths, wanted, on_error, scratch, kind=_kind_of, readable=_READABLE)


def _kind_of(path: Path) -> tuple[Format, str | None] | None:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in SUFFIXES:
        return _MATRICES, None
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    inner = suffixes[:-1] if compression else suffixes
    return (_LINES, compression) if inner and inner[-1] in (".txt", ".hex") else kind_of(path)
