"""Bits from packed bytes, whole numbers and hexadecimal digits, and how alike two rows of them are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.errors import MalformedRowError, OptionError, SourceError
from lookalike.io.packed import COLUMNS, holds_bits, misfit, pack, rows_as_column
from lookalike.measures.vectors import check_masked
from lookalike.theory.ranges import whole
from lookalike.types import F64, I64, U8, U32, U64, Bits
from lookalike.wording import an, several

#: More would not be told apart by 32-bit positions.
_WIDEST = 1 << 31


def as_bits(items: Any, *, width: int | None = None) -> Bits:
    """Bits from whatever holds them.

    Parameters
    ----------
    items
        `Bits`; a matrix of packed bytes (uint8, a row an item, as NumPy's `packbits` makes it) or of
        booleans; an array of uint64, 64 bits each, or a matrix of them; a list or an array of hexadecimal
        strings, all of one length, `0x` before them or not, or of `bytes`; an Arrow, polars or pandas column
        of such strings, of uint64, of binaries, or of lists of uint8 or booleans. The number
        0x0123456789abcdef and the string "0123456789abcdef" are the same bits.
    width
        How many bits an item has, if the last byte or digit is not full; what is left over must be 0.

    Raises
    ------
    MalformedRowError
        If a row is of another width, null, or no hexadecimal number: it says which.
    SourceError
        If what is given holds no bits.

    Examples
    --------
    >>> bits = as_bits(["ff00", "0xFF01"])
    >>> bits.width, len(bits)
    (16, 2)
    >>> hamming_distances(bits, [0], [1])
    array([1])
    """
    check_masked(items)
    if isinstance(items, Bits):
        bits = items
    elif isinstance(items, np.ndarray) and items.dtype == np.uint8 and items.ndim == 2:
        bits = from_bytes(items)
    elif isinstance(items, np.ndarray) and items.dtype == np.uint64 and items.ndim == 1:
        bits = _from_numbers(items)
    else:
        bits = _from_column(_column(items))
    return bits if width is None else _narrowed(bits, width)


def one_item(item: Any) -> Any:
    """One item as a collection of it, as `as_bits` takes those."""
    if isinstance(item, bytes | bytearray):
        return np.frombuffer(bytes(item), np.uint8).reshape(1, -1)
    if isinstance(item, np.ndarray):
        if item.ndim == 0:
            return item.reshape(1)
        return item.reshape(1, -1) if item.ndim == 1 and item.dtype in (np.uint8, np.bool_) else item
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        if not 0 <= item < 2**64:
            raise OptionError(f"{item} is not a number of 64 bits: give longer items as hexadecimal strings")
        return np.array([item], np.uint64)
    return [item] if isinstance(item, str) else item


def hamming_distances(bits: Bits, a: Any, b: Any) -> I64:
    """In how many bits rows `a[i]` and `b[i]` differ."""
    shared, joint = _counts(bits, a, b)
    return joint.astype(np.int64) - shared


def tanimoto_similarities(bits: Bits, a: Any, b: Any) -> F64:
    """Of the bits set in rows `a[i]` or `b[i]` the share that is set in both; 0 where none is set.

    Known to chemists as the Tanimoto similarity, it is the Jaccard similarity of the sets of set bits.
    """
    shared, joint = _counts(bits, a, b)
    return shared.astype(np.float64) / np.maximum(joint, 1)


def _counts(bits: Bits, a: Any, b: Any) -> tuple[U32, U32]:
    return _core.compare_bits(bits.words, np.asarray(a, np.uint32), np.asarray(b, np.uint32))


def from_bytes(packed: U8) -> Bits:
    """Bits from a matrix of packed bytes, a row an item."""
    width = 8 * packed.shape[1]
    if not 0 < width < _WIDEST:
        raise SourceError(f"rows of {packed.shape[1]:,} bytes are no bits: give 1 byte or more, under 2²⁸")
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return Bits(padded.view("<u8").astype(np.uint64, copy=False), width)


def by_place(row: int) -> str:
    """What to call a row that has no other name."""
    return f"row {row} (counted from 0)"


def from_packed(rows: pa.LargeBinaryArray, width: int) -> Bits:
    """Bits from rows of packed bytes, `width` bits each."""
    if width >= _WIDEST:
        raise SourceError(f"rows of {width:,} bits are too wide: at most 2³¹ bits")
    size = -(-width // 8)
    offsets = np.frombuffer(rows.buffers()[1], np.int64)[rows.offset :][: len(rows) + 1]
    packed = np.frombuffer(rows.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    return Bits(from_bytes(packed.reshape(-1, size)).words, width)


def _from_numbers(numbers: U64) -> Bits:
    # The first hexadecimal digit is the highest, and the first byte of a word the lowest.
    return Bits(np.ascontiguousarray(numbers).byteswap().reshape(-1, 1), 64)


def _column(items: Any) -> pa.Array:
    """What was given as one Arrow array."""
    if isinstance(items, np.ndarray) and items.ndim == 1 and items.dtype.kind in "OTU":
        items = items.tolist()
    if isinstance(items, np.ndarray):
        return rows_as_column(items)
    if hasattr(items, "__arrow_c_stream__") and not isinstance(items, pa.Array | pa.ChunkedArray):
        items = pa.chunked_array(items)
    if isinstance(items, pa.ChunkedArray):
        return pa.concat_arrays(items.chunks) if items.num_chunks else pa.array([], items.type)
    if isinstance(items, pa.Array):
        return items
    if isinstance(items, str | bytes | dict) or not isinstance(items, Iterable):
        raise SourceError(f"{items!r:.40} holds no rows of bits: give a list of hexadecimal strings")
    rows = list(items)
    packed = bool(rows) and isinstance(rows[0], bytes)
    for at, row in enumerate(rows):
        if not isinstance(row, bytes if packed else str):
            kind, wanted = type(row).__name__, "bytes as the first row" if packed else "a hexadecimal string"
            raise MalformedRowError(
                f"{by_place(at)} is {an(kind)}, not {wanted}: give numbers as a NumPy array of uint64,"
                " flags and packed bytes as a matrix"
            )
    try:
        return pa.array(rows, pa.large_binary() if packed else pa.large_string())
    except UnicodeEncodeError as reason:
        raise SourceError(f"a row is no hexadecimal string: {reason}") from None


def _from_column(column: pa.Array) -> Bits:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not holds_bits(column.type):
        raise SourceError(f"a column of {column.type} holds no bits: give {COLUMNS}")
    if not len(column):
        raise SourceError("there are no rows, so nobody knows how many bits they have")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise MalformedRowError(f"{by_place(row)} is null: drop it, or give it bits")
    packed = pack(column)
    if packed.flaws:
        row = min(packed.flaws)
        raise MalformedRowError(f"{by_place(row)} {packed.flaws[row]}")
    width = int(packed.widths[0])
    odd = np.flatnonzero(packed.widths != width)
    if len(odd):
        why = misfit(int(packed.widths[odd[0]]), width, column.type)
        raise MalformedRowError(f"{by_place(int(odd[0]))} {why}")
    return from_packed(packed.rows, width)


def _narrowed(bits: Bits, asked: int) -> Bits:
    width = whole(asked)
    if width is None:
        raise OptionError(f"width={asked!r} is not a whole number of bits")
    if not bits.width - 8 < width <= bits.width:
        raise OptionError(f"width={width} does not fit: rows have {several(bits.width, 'bit')}")
    spare = np.unpackbits(bits.to_bytes()[:, -1:], axis=1)[:, width - 8 * ((width - 1) // 8) :].any(axis=1)
    if spare.any():
        raise MalformedRowError(f"{by_place(int(np.argmax(spare)))} has bits set beyond width={width}")
    return Bits(bits.words, width)
