"""Matrices of bits in files: .npy of packed bytes, of uint64 or of booleans, and .bvecs of packed bytes.

They are read a batch at a time, so that no file needs to fit memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike.errors import SourceError
from lookalike.io.columns import Wanted, missing_column, settle
from lookalike.io.edits import FileEdits
from lookalike.io.faults import Faults, UnreadableFileError
from lookalike.io.format import Format, InputFile, ReadPlan
from lookalike.io.layout import Mask
from lookalike.io.packed import rows_as_column
from lookalike.wording import agreeing, an, several

#: Names of files that hold such matrices.
SUFFIXES = (".npy", ".bvecs")

#: What stands before the values of each row of a .bvecs file: how many there are.
_LENGTH = np.dtype("<i4")


class BitMatrices(Format):
    """A row of the matrix is a row; it has no columns beside."""

    name = "npy"

    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """What the header says."""
        for name in wanted.names[1:]:
            raise missing_column(
                name, file.label, [], within=f" ({an(file.path.suffix)} file holds bits only)"
            )
        return pa.schema([(wanted.text, _stored(file).kind(file.label))])

    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read so many rows at a time as fill a batch."""
        first = 0
        for rows in _stored(file).batches(plan.batch_bytes):
            yield settle(
                [rows_as_column(rows)],
                plan.schema,
                plan.wanted,
                faults,
                rows=first + np.arange(len(rows)),
                place=lambda at, first=first: f"row {first + at} (counted from 0)",  # type: ignore[misc]
            )
            first += len(rows)

    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Write the kept rows; nothing in them is edited."""
        target.parent.mkdir(parents=True, exist_ok=True)
        stored = _stored(file)
        kept = stored.mapped()[keep]
        if file.path.suffix.lower() == ".npy":
            np.save(target, kept)
        else:
            kept.tofile(target)


@dataclass(frozen=True)
class _Stored:
    """So many rows of a file, from a byte on: one after the other, or `by_column`."""

    path: Path
    row: np.dtype[Any]
    count: int
    begin: int = 0
    by_column: bool = False

    def kind(self, label: str) -> pa.DataType:
        """The type of the column they become."""
        try:
            return rows_as_column(self._bits(np.empty(0, self.row))).type
        except SourceError as reason:
            raise SourceError(f"{label}: {reason}") from None

    def batches(self, batch_bytes: int) -> Iterator[npt.NDArray[Any]]:
        """The rows in order, at most so many bytes at a time."""
        some = max(1, batch_bytes // self.row.itemsize)
        for at in range(0, self.count, some):
            expected = min(some, self.count - at)
            if self.by_column:
                rows = np.ascontiguousarray(self.mapped()[at : at + expected])
            else:
                place = self.begin + at * self.row.itemsize
                rows = np.fromfile(self.path, self.row, expected, offset=place)
            if len(rows) != expected:
                raise UnreadableFileError(f"it ends at row {at + len(rows)} of {self.count}")
            yield self._bits(rows, at)

    def mapped(self) -> npt.NDArray[Any]:
        """All rows, where they lie."""
        if not self.count:
            return np.empty(0, self.row)
        order: Any = "F" if self.by_column else "C"
        shape = (self.count, *self.row.shape)
        return np.memmap(self.path, self.row.base, "r", self.begin, shape, order)

    def _bits(self, rows: npt.NDArray[Any], first: int = 0) -> npt.NDArray[Any]:
        """The rows without what stands before them."""
        if self.row.names is None:
            return rows
        width = self.row["values"].shape[0]
        odd = np.flatnonzero(rows["width"] != width)
        if len(odd):
            says = int(rows["width"][odd[0]])
            raise UnreadableFileError(
                f"row {first + int(odd[0])} says it has {says} bytes, the first has {width}"
            )
        return np.ascontiguousarray(rows["values"])


def _stored(file: InputFile) -> _Stored:
    """Where the rows of a file lie, known to be as long as it says."""
    size = file.path.stat().st_size
    stored = _npy(file.path) if file.path.suffix.lower() == ".npy" else _bvecs(file.path, size)
    ends = stored.begin + stored.count * stored.row.itemsize
    if size < ends:
        whole = max(0, size - stored.begin) // max(1, stored.row.itemsize)
        raise UnreadableFileError(f"it is cut off: {whole} rows are whole, its header says {stored.count}")
    if size > ends:
        raise UnreadableFileError(
            f"{size - ends} bytes follow its last row: it is damaged, or holds several arrays"
        )
    return stored


def _npy(path: Path) -> _Stored:
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, by_column, kind = read(file)
            begin = file.tell()
    except ValueError as reason:
        raise UnreadableFileError(f"it is no array that NumPy saved: {reason}") from None
    plain = not kind.hasobject and kind.names is None and kind.subdtype is None
    if not shape or len(shape) > 2 or not plain or (len(shape) == 2 and not shape[1]):
        raise SourceError(
            f"{path} holds an array of {kind} of the shape {shape}: bits are the rows of a matrix, or uint64"
        )
    row = kind if len(shape) == 1 else np.dtype((kind, shape[1:]))
    return _Stored(path, row, shape[0], begin, by_column and len(shape) == 2)


def _bvecs(path: Path, size: int) -> _Stored:
    if not size:
        raise UnreadableFileError("it has no row")
    lengths = np.fromfile(path, _LENGTH, count=1)
    width = int(lengths[0]) if len(lengths) else 0
    row = np.dtype([("width", _LENGTH), ("values", np.uint8, (max(1, width),))])
    if width < 1 or size % row.itemsize:
        raise UnreadableFileError(
            f"{several(size, 'byte')} {agreeing(size, 'is', 'are')} no whole number of rows "
            f"of {several(width, 'byte')}"
        )
    return _Stored(path, row, size // row.itemsize)
