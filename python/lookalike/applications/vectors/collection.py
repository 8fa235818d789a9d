"""Vectors, read and held: a table in id order, and what is needed to name them again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications import too_large
from lookalike.engines import Engine, Table
from lookalike.errors import EmptySourceError, MissingColumnError, OptionError, SourceError
from lookalike.io import check_unique, id_order
from lookalike.io.columns import missing_column
from lookalike.io.vectors import (
    SUFFIXES,
    are_number_lists,
    has_number_lists,
    is_list_of_floats,
    read_ids,
    read_vectors,
    vector_column,
)
from lookalike.measures.vectors import MEASURES, as_vectors, check_comparable
from lookalike.runs.watch import Watch
from lookalike.types import I64, Vectors
from lookalike.wording import several

#: Bytes of a batch, and the most rows of one: small enough that all threads have work.
_BATCH_BYTES, _BATCH_ROWS = 4 << 20, 8192


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorCollection:
    """The vectors of one source, numbered in the order of their ids; without ids, as they come."""

    table: Table
    dimensions: int
    names: pa.Array | None

    @property
    def rows(self) -> int:
        """How many vectors there are."""
        return self.table.rows

    def ids(self, rows: I64) -> pa.Array:
        """The user ids of row numbers."""
        return pa.array(rows) if self.names is None else self.names.take(pa.array(rows))


def holds_vectors(items: Any, measure: str, *, text: str | None = None) -> bool:
    """Whether these are vectors: by the measure and, as sets have cosines too, by what the rows are.

    A table, in a Parquet file too, holds vectors if its column `text` is lists of numbers, or if it has no
    such column but others that are.
    """
    if measure not in MEASURES:
        if isinstance(items, Vectors) or (isinstance(items, np.ndarray) and _is_matrix(items, "f")):
            raise OptionError(
                f"a matrix of floats holds vectors, which measure={measure!r} does not compare: choose "
                + ", ".join(MEASURES)
            )
        return False
    if measure != "cosine" or isinstance(items, Vectors) or _is_matrix(items) or _are_floats(items):
        return True
    if text is None:
        return False
    if isinstance(items, str | Path):
        return has_number_lists(items, text)
    table = _as_table(items)
    return table is not None and are_number_lists(table.schema, text)


def _is_matrix(items: Any, kinds: str = "fiu") -> bool:
    if isinstance(items, str | Path):
        return Path(items).suffix.lower() in SUFFIXES[:-1]
    return isinstance(items, np.ndarray) and items.ndim == 2 and items.dtype.kind in kinds


def _are_floats(items: Any) -> bool:
    """Whether this is a column, or a table with a column, of lists of floats."""
    if isinstance(items, pa.Array | pa.ChunkedArray):
        kinds = [items.type]
    elif (table := _as_table(items)) is not None:
        kinds = [field.type for field in table.schema]
    elif hasattr(items, "__arrow_c_stream__") and hasattr(items, "to_list"):
        # A column of another library.
        kinds = [pa.chunked_array(items).type]
    else:
        return isinstance(items, list | tuple) and len(items) > 0 and _is_row_of_floats(items[0])
    return any(is_list_of_floats(kind) for kind in kinds)


def _is_row_of_floats(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim == 1 and row.dtype.kind == "f"
    return isinstance(row, list | tuple) and len(row) > 0 and isinstance(row[0], float)


def collect_vectors(
    given: tuple[Any, ...],
    engine: Engine,
    watch: Watch,
    *,
    measure: str,
    column: str | None = None,
    id: str | None = None,
) -> tuple[VectorCollection, ...]:
    """Read one collection or two, of one width, and number them one behind the other."""
    if column is not None and not any(map(_has_columns, given)):
        raise OptionError(f"text={column!r} names a column, and what was given has none: leave it out")
    with watch.stage("read", unit="vectors") as advance:
        read = [
            _read(one, column, id, measure, called) for one, called in zip(given, _called(given), strict=True)
        ]
        advance(sum(len(vectors) for vectors, _ in read))
    widths = [vectors.dimensions for vectors, _ in read]
    if len(set(widths)) > 1:
        raise SourceError(
            f"vectors of {widths[0]:,} and of {several(widths[1], 'coordinate')} "
            "are at no distance from each other"
        )
    kind = np.result_type(*(vectors.values.dtype for vectors, _ in read))
    collections: list[VectorCollection] = []
    first_row = 0
    for vectors, names in read:
        vectors = Vectors(np.ascontiguousarray(vectors.values, kind))
        if names is not None:
            order = id_order(names)
            vectors, names = Vectors(vectors.values[order]), names.take(pa.array(order))
        with too_large.called(partial(_name_of, names, first_row)):
            table = engine.scan(_batches(vectors, first_row), _schema(vectors))
        collections.append(VectorCollection(table=table, dimensions=widths[0], names=names))
        first_row += len(vectors)
    return tuple(collections)


def _name_of(names: pa.Array | None, first_row: int, row: int) -> object:
    """What a vector is called, by the number of its row."""
    return f"row {row - first_row}" if names is None else names[row - first_row]


def _called(given: tuple[Any, ...]) -> list[str]:
    """What errors call the collections: files by their names, others by their places if there are two."""
    places = [""] if len(given) == 1 else ["the first collection", "the second collection"]
    return [
        str(one) if isinstance(one, str | Path) else place for one, place in zip(given, places, strict=True)
    ]


@contextmanager
def _naming(called: str) -> Iterator[None]:
    """Errors of rows say in which collection they are."""
    try:
        yield
    except SourceError as reason:
        if not called:
            raise
        raise type(reason)(f"{called}: {reason}") from None


def _read(
    given: Any, column: str | None, id: str | None, measure: str, called: str
) -> tuple[Vectors, pa.Array | None]:
    """The vectors, checked, and their ids."""
    names: pa.ChunkedArray | None = None
    if isinstance(given, list | tuple) and given and isinstance(given[0], str | Path):
        if len(given) > 1:
            raise SourceError(
                f"vectors are rows of numbers, or one file ({', '.join(SUFFIXES)}), not {len(given):,} names"
            )
        given = given[0]
        called = str(given)
    if isinstance(given, str | Path):
        names = None if id is None else read_ids(given, id)
        items: Any = read_vectors(given, column=column)
    elif (table := _as_table(given)) is not None:
        if id is not None and id not in table.column_names:
            raise missing_column(id, "the table", table.column_names)
        names = None if id is None else table[id]
        items = vector_column(table, column, "the table")
    elif id is not None:
        raise MissingColumnError(f"id={id!r} names a column, and what was given has none: leave it out")
    else:
        items = given
    with _naming(called):
        vectors = as_vectors(items)
        if not len(vectors):
            raise EmptySourceError("there is nothing to read: the input has no vectors")
        check_comparable(vectors, measure)
        return vectors, None if names is None else _checked(names, id)


def _checked(names: pa.ChunkedArray, column: str | None) -> pa.Array:
    """Ids, none of them null and each there once."""
    if names.null_count:
        raise SourceError(f"an id in {column!r} is null: every vector needs one")
    if "view" in str(names.type):
        # Arrow cannot sort these yet.
        names = names.cast(pa.large_string())
    check_unique(names)
    whole = names.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def _has_columns(given: Any) -> bool:
    if isinstance(given, list | tuple) and given and isinstance(given[0], str | Path):
        given = given[0]
    if isinstance(given, str | Path):
        # What cannot be read is for the reader to say.
        return Path(given).suffix.lower() not in SUFFIXES[:-1]
    return _as_table(given) is not None


def _as_table(given: Any) -> pa.Table | None:
    """A table of any library; None if it is none."""
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.Array | pa.ChunkedArray | np.ndarray) or not hasattr(given, "columns"):
        return None
    return pa.table(given) if hasattr(given, "__arrow_c_stream__") else None


def _schema(vectors: Vectors) -> pa.Schema:
    value = pa.from_numpy_dtype(vectors.values.dtype)
    return pa.schema([("row", pa.int64()), ("vector", pa.list_(value, vectors.dimensions))])


def _batches(vectors: Vectors, first_row: int) -> Iterator[pa.RecordBatch]:
    schema = _schema(vectors)
    step = min(_BATCH_ROWS, max(256, _BATCH_BYTES // max(1, vectors.values[:1].nbytes)))
    for at in range(0, len(vectors), step):
        piece = Vectors(vectors.values[at : at + step])
        rows = np.arange(first_row + at, first_row + at + len(piece), dtype=np.int64)
        yield pa.record_batch([pa.array(rows), piece.to_arrow().cast(schema.field(1).type)], schema=schema)
