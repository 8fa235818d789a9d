"""Bits from packed bytes, whole numbers and hexadecimal digits, and how alike two rows of them are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike import _core
from lookalike.errors import MalformedRowError, OptionError, SourceError
from lookalike.types import F64, I64, U8, U32, U64, Bits, string_buffers

#: More would not be told apart by 32-bit positions.
_WIDEST = 1 << 31
#: Rows whose digits are looked at together: a few megabytes.
_AT_ONCE = 1 << 16
#: The value of every character as a digit, and of those that are none.
_NO_DIGIT = 255
_DIGITS = np.full(256, _NO_DIGIT, np.uint8)
_DIGITS[[ord(c) for c in "0123456789abcdefABCDEF"]] = [*range(16), *range(10, 16)]


def as_bits(items: Any, *, width: int | None = None) -> Bits:
    """Bits from whatever holds them.

    Parameters
    ----------
    items
        `Bits`; a matrix of packed bytes (uint8, a row an item, as NumPy's `packbits` makes it); an array of
        uint64, 64 bits each; hexadecimal strings, all of one length, `0x` before them or not; an Arrow,
        polars or pandas column of such strings, of uint64, or of fixed-size binaries. The number
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
    if isinstance(items, Bits):
        bits = items
    elif isinstance(items, np.ndarray) and items.dtype == np.uint8 and items.ndim == 2:
        bits = from_bytes(items)
    elif isinstance(items, np.ndarray) and items.dtype == np.uint64 and items.ndim == 1:
        bits = _from_numbers(items)
    else:
        bits = _from_column(_column(items))
    return bits if width is None else _narrowed(bits, width)


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


def from_hex(strings: pa.Array, *, digits: int | None = None, name: Callable[[int], str] = by_place) -> Bits:
    """Bits from an Arrow array of hexadecimal strings.

    `digits` says how many each has, those of the first row if it is None; `name` what to call a row that is
    at fault.
    """
    _check_filled(strings, name)
    values, offsets = string_buffers(pc.utf8_trim_whitespace(strings.cast(pa.large_string())))
    starts, ends = offsets[:-1], offsets[1:]
    starts = starts + 2 * _marked(values, starts, ends)
    lengths = ends - starts
    if digits is None and not len(lengths):
        raise SourceError("there are no rows, so nobody knows how many bits they have")
    digits = int(lengths[0]) if digits is None else digits
    odd = np.flatnonzero(lengths != digits)
    if len(odd):
        raise MalformedRowError(
            f"{name(int(odd[0]))} has {lengths[odd[0]]} hexadecimal digits where the first row has {digits}:"
            " all rows need as many bits"
        )
    if not 0 < 4 * digits < _WIDEST:
        raise MalformedRowError(f"{name(0)} has no hexadecimal digits: leave out rows without bits")
    packed = np.empty((len(lengths), -(-digits // 2)), np.uint8)
    for first in range(0, len(lengths), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        digit = _DIGITS[values[starts[some, None] + np.arange(digits)]]
        if digit.max(initial=0) == _NO_DIGIT:
            row, at = (int(place) for place in np.argwhere(digit == _NO_DIGIT)[0])
            text = str(strings[first + row])
            raise MalformedRowError(
                f"{name(first + row)} is {text!r:.40}, not hexadecimal: look at digit {at + 1}"
            )
        packed[some] = digit[:, ::2] << 4
        packed[some, : digits // 2] |= digit[:, 1::2]
    return Bits(from_bytes(packed).words, 4 * digits)


def _check_filled(column: pa.Array, name: Callable[[int], str]) -> None:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise MalformedRowError(f"{name(row)} is null: drop it, or give it bits")


def _marked(values: U8, starts: I64, ends: I64) -> I64:
    """Whether strings begin with 0x."""
    marked = np.zeros(len(starts), np.int64)
    long = np.flatnonzero(ends - starts >= 2)
    marked[long] = (values[starts[long]] == ord("0")) & (values[starts[long] + 1] | 0x20 == ord("x"))
    return marked


def _from_numbers(numbers: U64) -> Bits:
    # The first hexadecimal digit is the highest, and the first byte of a word the lowest.
    return Bits(np.ascontiguousarray(numbers).byteswap().reshape(-1, 1), 64)


def _column(items: Any) -> pa.Array:
    """What was given as one Arrow array."""
    if isinstance(items, np.ndarray):
        raise SourceError(
            f"an array of {items.dtype} in {items.ndim} dimensions holds no bits: give a matrix of packed"
            " bytes (uint8, a row an item) or an array of uint64"
        )
    if hasattr(items, "__arrow_c_stream__") and not isinstance(items, pa.Array | pa.ChunkedArray):
        items = pa.chunked_array(items)
    if isinstance(items, pa.ChunkedArray):
        return pa.concat_arrays(items.chunks) if items.num_chunks else pa.array([], items.type)
    if isinstance(items, pa.Array):
        return items
    if isinstance(items, str | bytes | dict) or not isinstance(items, Iterable):
        raise SourceError(f"{items!r:.40} holds no rows of bits: give a list of hexadecimal strings")
    rows = list(items)
    for at, row in enumerate(rows):
        if not isinstance(row, str):
            raise MalformedRowError(
                f"{by_place(at)} is a {type(row).__name__}, not a hexadecimal string:"
                " give numbers as a NumPy array of uint64"
            )
    return pa.array(rows, pa.large_string())


def _from_column(column: pa.Array) -> Bits:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if str(kind) in ("string", "large_string", "string_view"):
        return from_hex(column)
    _check_filled(column, by_place)
    if kind == pa.uint64():
        return _from_numbers(column.to_numpy())
    if pa.types.is_fixed_size_binary(kind):
        values = np.frombuffer(column.buffers()[1], np.uint8)
        width = kind.byte_width
        return from_bytes(values[column.offset * width :][: len(column) * width].reshape(-1, width))
    raise SourceError(
        f"a column of {kind} holds no bits: give hexadecimal strings, uint64, or fixed-size binaries"
    )


def _narrowed(bits: Bits, width: int) -> Bits:
    if not bits.width - 8 < width <= bits.width:
        raise OptionError(f"width={width} does not fit: rows have {bits.width} bits")
    spare = np.unpackbits(bits.to_bytes()[:, -1:], axis=1)[:, width - 8 * ((width - 1) // 8) :].any(axis=1)
    if spare.any():
        raise MalformedRowError(f"{by_place(int(np.argmax(spare)))} has bits set beyond width={width}")
    return Bits(bits.words, width)
