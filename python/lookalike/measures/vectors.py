"""Vectors from whatever holds them, and how far apart two of them are.

    angle     degrees, by directions: a distance on rays, not on vectors (2x lies at 0° of x)
    cosine    of that angle; 1 − cosine is no distance (0°, 45°, 90°: .29 + .29 < 1)
    l2        √Σ(a−b)²
    l1        Σ|a−b|
    linf      max|a−b|

All are computed in 64 bits, in one fixed order, by our own kernels: the same bits on every machine. Of the
same vector twice every distance is 0 and the cosine 1, exactly; and the cosine of one and its multiple is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike import _core
from lookalike.engines.verbs import Held
from lookalike.errors import EmptySourceError, MalformedRowError, SourceError
from lookalike.types import F64, I64, Floats, Vectors
from lookalike.wording import several

#: What vectors can be compared by in a join.
MEASURES = ("angle", "cosine", "l2", "l1")
#: Measures that go by direction, which a vector of zeros has not.
DIRECTED = ("angle", "cosine")
#: Sums of differences of greater numbers need not be numbers of 64 bits.
_GREATEST = 1e280
#: An angle comes out of sums, a quotient and an arc tangent, and is known to so many degrees: what is no
#: further beyond the threshold reaches it, as 2x does that of 0° to x.
ROUNDING = 1e-12
_NOTHING = "there is nothing to read: the input has no vectors"
#: Sums and a root bring the cosine of one direction down to this.
_ONE = 1 - 1e-15


def as_vectors(items: Any, *, first_row: int = 0) -> Vectors:
    """Vectors from a matrix, a column of lists, or a sequence of sequences of numbers.

    float32 and float64 stay what they are; whole numbers of up to 16 bits become float32, all else float64.
    Rows are checked and named by number, from `first_row` on.

    Raises
    ------
    MalformedRowError
        If a row is null, of another width than the first, or holds a number that is not finite, or a whole
        one that a float would round.

    Examples
    --------
    >>> as_vectors([[1, 2, 3], [4, 5, 6]]).dimensions
    3
    """
    if isinstance(items, Vectors):
        # Anybody can make some, of whatever numbers.
        items = items.values
    if isinstance(items, np.ndarray):
        check_masked(items, first_row)
        matrix = items
    elif hasattr(items, "__arrow_c_stream__") or isinstance(items, pa.Array | pa.ChunkedArray):
        matrix = _from_arrow(items, first_row)
    else:
        matrix = _from_rows(items, first_row)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise SourceError(
            f"vectors are the rows of a matrix, 1 coordinate or more each; this has the shape {matrix.shape}"
        )
    values = _as_floats(matrix, first_row)
    _check_finite(values, first_row)
    return Vectors(values)


def check_directions(vectors: Vectors, *, first_row: int = 0) -> None:
    """Raise if a vector is all zeros and so points nowhere."""
    nowhere = np.flatnonzero(~vectors.values.any(axis=1))
    if len(nowhere):
        raise MalformedRowError(
            f"row {first_row + int(nowhere[0]):,} is all zeros and has no direction, so no angle"
            f" ({several(len(nowhere), 'such row')} here): drop them, or choose the measure l2 or l1"
        )


def check_comparable(vectors: Vectors, measure: str) -> None:
    """Raise if a measure is at a loss with a vector."""
    if measure in DIRECTED:
        check_directions(vectors)
    else:
        check_sizes(vectors)


def check_sizes(vectors: Vectors, *, first_row: int = 0) -> None:
    """Raise if a coordinate is so large that distances by l1 or l2 might be no numbers."""
    if vectors.values.dtype == np.float32:
        return
    for at in range(0, len(vectors), 1 << 16):
        piece = vectors.values[at : at + (1 << 16)]
        if max(piece.max(), -piece.min()) > _GREATEST:
            row, column = np.argwhere(np.abs(piece) > _GREATEST)[0]
            raise MalformedRowError(
                f"row {first_row + at + int(row):,} holds {piece[row, column]:g}: distances between numbers"
                f" over {_GREATEST:g} may end beyond 64-bit floats; multiply all by one small number"
            )


def distance(a: npt.ArrayLike, b: npt.ArrayLike, measure: str = "l2") -> float:
    """How far apart two vectors are; by `cosine`, how alike they are.

    Examples
    --------
    >>> distance([0, 3], [4, 0]), distance([0, 3], [4, 0], "l1"), distance([0, 3], [4, 0], "linf")
    (5.0, 7.0, 4.0)
    """
    pair = as_vectors([np.asarray(a, np.float64), np.asarray(b, np.float64)])
    if measure in DIRECTED:
        check_directions(pair)
    zero, one = np.zeros(1, np.uint32), np.ones(1, np.uint32)
    value = _core.compare_vectors([pair.values], zero, one, measure, threads=1)
    return float((rounded_cosines(value) if measure == "cosine" else value)[0])


def rounded_cosines(cosines: F64) -> F64:
    """Cosines, 1 where they are as near to it as rounding brings those of a vector and its multiple.

    Examples
    --------
    >>> rounded_cosines(np.array([1 - 2**-52, 1 - 1e-14])).tolist()
    [1.0, 0.99999999999999]
    """
    return np.where(cosines >= _ONE, 1.0, cosines)


@dataclass(frozen=True)
class Nearness:
    """A measure and its threshold: which values reach it."""

    measure: str
    threshold: float

    @property
    def rises(self) -> bool:
        """Whether greater values are nearer."""
        return self.measure == "cosine"

    @property
    def own(self) -> float:
        """The value of a vector and its copy."""
        return 1.0 if self.rises else 0.0

    def compare(self, pieces: Sequence[Floats], a: I64 | Any, b: I64 | Any, *, all: bool = False) -> F64:
        """The values of pairs of rows; if not `all` are asked for, those far beyond may be infinite."""
        least = -1.0
        if self.measure == "angle" and not all:
            least = math.cos(math.radians(self.threshold))
        values = _core.compare_vectors(
            list(pieces),
            a.astype(np.uint32),
            b.astype(np.uint32),
            self.measure,
            threads=1,
            cosine_at_least=least,
        )
        return rounded_cosines(values) if self.measure == "cosine" else values

    def reached(self, values: F64) -> npt.NDArray[np.bool_]:
        """Which values reach the threshold; an angle, as far as it can be told."""
        slack = ROUNDING if self.measure == "angle" else 0.0
        return values >= self.threshold if self.rises else values <= self.threshold + slack


@dataclass(frozen=True)
class Near:
    """A stage for `fetch`: candidates (`a`, `b`) → those that reach the threshold, with their `value`."""

    nearness: Nearness

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        values = self.nearness.compare(held.views(matrix_of), a, b)
        compared = pa.record_batch({"a": batch["a"], "b": batch["b"], "value": pa.array(values)})
        return compared.filter(pa.array(self.nearness.reached(values)))


@dataclass(frozen=True)
class Compared:
    """A stage for `fetch`: pairs (`a`, `b`) → with their `value`, whatever it is."""

    nearness: Nearness

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        values = self.nearness.compare(held.views(matrix_of), a, b, all=True)
        return pa.record_batch({"a": batch["a"], "b": batch["b"], "value": pa.array(values)})


@dataclass(frozen=True)
class Differences:
    """A stage for `fetch`: a few pairs (`a`, `b`) → the differences of their vectors, as `vector`."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        pieces = held.views(matrix_of)
        starts = np.cumsum([0, *map(len, pieces)])

        def vectors(rows: I64) -> F64:
            places = held.at(rows).astype(np.int64)
            piece = np.searchsorted(starts, places, side="right") - 1
            found = [pieces[i][place - starts[i]] for i, place in zip(piece, places, strict=True)]
            return np.array(found, np.float64).reshape(len(found), pieces[0].shape[1])

        apart = vectors(batch["a"].to_numpy()) - vectors(batch["b"].to_numpy())
        column = pa.FixedSizeListArray.from_arrays(pa.array(apart.reshape(-1)), pieces[0].shape[1])
        return pa.record_batch({"vector": column})


@dataclass(frozen=True)
class SameVector:
    """A stage for `fetch`: candidates → those whose vectors are the same, number by number."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        apart = _core.compare_vectors(list(held.views(matrix_of)), a, b, "linf", threads=1)
        return batch.filter(pa.array(apart == 0))


def matrix_of(batch: pa.RecordBatch) -> Floats:
    """The column `vector` as a matrix, nothing copied."""
    column = batch["vector"]
    width = column.type.list_size
    values: Floats = column.values.to_numpy()
    return values[column.offset * width : (column.offset + len(column)) * width].reshape(-1, width)


def _as_floats(matrix: npt.NDArray[Any], first_row: int) -> Floats:
    kind = matrix.dtype
    if kind.kind not in "fiub":
        raise SourceError(f"vectors hold numbers, not {kind}: give float32 or float64")
    if kind.kind in "iu" and kind.itemsize == 8:
        _check_exact(matrix, first_row)
    narrow = kind == np.float32 or (kind.itemsize <= 2 and kind.kind in "fiub")
    if narrow:
        return np.ascontiguousarray(matrix, np.float32)
    return np.ascontiguousarray(matrix, np.float64)


def _check_exact(matrix: npt.NDArray[Any], first_row: int) -> None:
    """Raise at a whole number of more than 53 bits that is another one as a float."""
    for at in range(0, len(matrix), 1 << 16):
        piece = matrix[at : at + (1 << 16)]
        large = np.argwhere(
            (piece > 2**53) | (piece < -(2**53)) if piece.dtype.kind == "i" else piece > 2**53
        )
        for row, column in large.tolist():
            number = int(piece[row, column])
            if int(float(number)) != number:
                raise MalformedRowError(
                    f"row {first_row + at + row:,} holds {number:,}, which 64-bit floats round to"
                    f" {int(float(number)):,}: vectors take whole numbers up to 2⁵³; ids and hashes are"
                    " compared as sets or bits"
                )


def _check_finite(values: Floats, first_row: int) -> None:
    # In pieces, so that the marks take no memory worth mentioning.
    for at in range(0, len(values), 1 << 16):
        bad = np.flatnonzero(~np.isfinite(values[at : at + (1 << 16)]).all(axis=1))
        if len(bad):
            row = at + int(bad[0])
            odd = values[row][~np.isfinite(values[row])][0]
            raise MalformedRowError(
                f"row {first_row + row:,} holds {odd}, which is at no distance from anything: drop the row,"
                " or fill in what is missing"
            )


def check_masked(items: Any, first_row: int = 0) -> None:
    """Raise at a value that a mask hides: what lies behind it was not meant to be seen."""
    if isinstance(items, np.ma.MaskedArray) and items.ndim:
        mask = np.ma.getmaskarray(items)
        hidden = np.flatnonzero(mask.any(axis=tuple(range(1, mask.ndim))))
        if len(hidden):
            raise MalformedRowError(
                f"row {first_row + int(hidden[0]):,} holds a masked value: fill it in, or drop the row"
            )


def _from_arrow(items: Any, first_row: int) -> npt.NDArray[Any]:
    column = items if isinstance(items, pa.Array | pa.ChunkedArray) else pa.chunked_array(items)
    if not len(column):
        raise EmptySourceError(_NOTHING)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts: list[npt.NDArray[Any]] = []
    # A chunk without rows, such as a filter leaves, has no width either.
    for chunk in filter(len, chunks):
        parts.append(_matrix_of_lists(chunk, first_row, parts[0].shape[1] if parts else None))
        first_row += len(chunk)
    return np.concatenate(parts)


def _matrix_of_lists(array: pa.Array, first_row: int, width: int | None) -> npt.NDArray[Any]:
    kind = array.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        raise SourceError(f"vectors are an Arrow column of lists of numbers, not {kind}")
    if array.null_count:
        row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise MalformedRowError(f"row {first_row + row:,} is null: drop it")
    if pa.types.is_fixed_size_list(kind):
        lengths = np.full(len(array), kind.list_size)
    else:
        lengths = np.diff(np.asarray(array.offsets))
    width = int(lengths[0]) if width is None else width
    tokens = "; if they are sets of tokens, have them read by read_sets (--sets)"
    _check_widths(lengths, width, first_row, more=tokens if pa.types.is_integer(kind.value_type) else "")
    values = array.flatten()
    if values.null_count:
        place = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        raise MalformedRowError(
            f"row {first_row + place // width:,} holds a null: fill it in, or drop the row"
        )
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(array), width)


def _from_rows(items: Any, first_row: int) -> npt.NDArray[Any]:
    if hasattr(items, "tocsr"):
        raise SourceError(
            "a sparse matrix is compared as weighted sets, by measure='weighted-cosine'; for other measures"
            " of vectors make it dense, by .toarray()"
        )
    if isinstance(items, str | bytes | Path) or not isinstance(items, Iterable):
        raise SourceError(f"{items!r:.40} holds no vectors: give the rows of a matrix")
    rows = [np.asarray(row) for row in items]
    if not rows:
        raise EmptySourceError(_NOTHING)
    if any(row.ndim != 1 for row in rows):
        raise SourceError("vectors are sequences of numbers, one a row")
    _check_widths(np.array([len(row) for row in rows]), len(rows[0]), first_row)
    return np.stack(rows)


def _check_widths(lengths: npt.NDArray[Any], width: int, first_row: int, *, more: str = "") -> None:
    odd = np.flatnonzero(lengths != width)
    if len(odd):
        raise MalformedRowError(
            f"row {first_row + int(odd[0]):,} has {several(lengths[odd[0]], 'coordinate')}, but the first row"
            f" has {width:,}: all vectors need the same number{more}"
        )
