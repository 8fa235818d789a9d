"""Vectors in files: .npy matrices, .fvecs, .bvecs and .ivecs, and lists in a column of Parquet.

Matrices are mapped, not read: only what is looked at comes into memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.lib.format import MAGIC_PREFIX

from lookalike.errors import MissingColumnError, SourceError
from lookalike.io.columns import missing_column
from lookalike.wording import several, visible

#: What the numbers of a .fvecs file and of its siblings are.
_VECS: dict[str, type[np.generic]] = {".fvecs": np.float32, ".bvecs": np.uint8, ".ivecs": np.int32}
#: Names of files that hold vectors.
SUFFIXES = (".npy", *_VECS, ".parquet")


def read_vectors(path: str | Path, *, column: str | None = None) -> npt.NDArray[Any] | pa.ChunkedArray:
    """The vectors of a file: a matrix, or a column of lists.

    Raises
    ------
    SourceError
        If there is no such file, or it is damaged, or holds no vectors.
    """
    place = vector_file(path)
    suffix = place.suffix.lower()
    if suffix == ".npy":
        return _npy(place)
    if suffix in _VECS:
        return _vecs(place, _VECS[suffix])
    if suffix == ".parquet":
        return vector_column(_parquet(place), column, str(place))
    raise SourceError(f"{place} is none of {', '.join(SUFFIXES)}: save the vectors as one of these")


def vector_file(path: str | Path) -> Path:
    """The file, known to be there."""
    place = Path(path)
    if not place.is_file():
        raise SourceError(f"there is no file {place}: vectors come from {', '.join(SUFFIXES)} files")
    return place


def read_ids(path: str | Path, column: str) -> pa.ChunkedArray:
    """The ids beside the vectors of a Parquet file."""
    place = Path(path)
    if place.suffix.lower() != ".parquet":
        raise SourceError(f"{place} holds numbers only: ids go with a .parquet file")
    table = _parquet(place)
    if column not in table.column_names:
        raise missing_column(column, str(place), table.column_names)
    return table[column]


def vector_column(table: pa.Table, column: str | None, where: str) -> pa.ChunkedArray:
    """The column of lists of numbers that is named, or the only one there is."""
    if column is not None and column in table.column_names:
        return table[column]
    lists = [field.name for field in table.schema if _holds_numbers(field.type)]
    if column is None and len(lists) == 1:
        return table[lists[0]]
    asked = f"no column {column!r}" if column is not None else "no column of vectors"
    if len(lists) > 1 and column is None:
        asked = f"several columns of vectors ({', '.join(lists)})"
    names = lists or table.column_names
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    choice = "name one of" if lists else "it has no lists of numbers, but"
    raise MissingColumnError(f"{where} has {asked}: {choice} {', '.join(map(visible, names[:10]))}{more}")


def has_number_lists(path: str | Path, column: str) -> bool:
    """Whether a Parquet file has lists of numbers in a column, or has no such column but others of them."""
    place = Path(path)
    if place.suffix.lower() != ".parquet" or not place.is_file():
        return False
    try:
        schema = pq.read_schema(place)
    except (pa.ArrowException, OSError):
        # Whoever reads the file says what is wrong with it.
        return False
    return are_number_lists(schema, column)


def are_number_lists(schema: pa.Schema, column: str) -> bool:
    """Whether a column of a table is lists of numbers; if it has no such column, whether any other is.

    They are no documents, and sets have to be asked for.
    """
    looked_at = [schema.field(column)] if column in schema.names else list(schema)
    return any(_holds_numbers(field.type) for field in looked_at)


def is_list_of_floats(kind: pa.DataType) -> bool:
    """Whether a column of this type may hold vectors, and hardly sets."""
    return _is_list(kind) and bool(pa.types.is_floating(kind.value_type))


def _holds_numbers(kind: pa.DataType) -> bool:
    return is_list_of_floats(kind) or (_is_list(kind) and bool(pa.types.is_integer(kind.value_type)))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _npy(place: Path) -> npt.NDArray[Any]:
    with place.open("rb") as file:
        if file.read(len(MAGIC_PREFIX)) != MAGIC_PREFIX:
            # NumPy would take it for pickled objects, or for several matrices.
            raise SourceError(f"{place} is no matrix of numbers that numpy.save wrote")
    try:
        loaded: npt.NDArray[Any] = np.load(place, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as reason:
        raise SourceError(f"{place} is no matrix of numbers that NumPy saved: {reason}") from None
    if loaded.ndim != 2:
        raise SourceError(f"{place} has the shape {loaded.shape}: vectors are the rows of a matrix")
    return loaded


def _vecs(place: Path, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Every vector is its length, a little-endian int32, and so many numbers."""
    size = place.stat().st_size
    if size < 4:
        raise SourceError(f"{place} has {size} bytes and so no vector")
    width = int(np.fromfile(place, "<i4", count=1)[0])
    item = np.dtype(kind).newbyteorder("<")
    row_bytes = 4 + width * item.itemsize
    if width < 1 or size % row_bytes:
        raise SourceError(
            f"{place} is damaged or of another format: {size:,} bytes are no whole number of vectors of"
            f" {several(width, 'coordinate')}"
        )
    rows = np.memmap(place, dtype=np.dtype([("width", "<i4"), ("values", item, (width,))]), mode="r")
    odd = np.flatnonzero(rows["width"] != width)
    if len(odd):
        raise SourceError(
            f"{place}: row {int(odd[0]):,} says it has {several(int(rows['width'][odd[0]]), 'coordinate')},"
            f" the first {width:,}"
        )
    return rows["values"]


def _parquet(place: Path) -> pa.Table:
    try:
        return pq.read_table(place)
    except (pa.ArrowException, OSError) as reason:
        raise SourceError(f"{place} cannot be read as Parquet: {reason}") from None
