"""Rows of bits, packed: from hexadecimal digits, bytes, whole numbers and flags.

The first bit of a row is the highest of its first byte, as NumPy's `packbits` has it. The digits "012345678",
the number 0x0123456789abcdef, the bytes 01 23 45 67 89 ab cd ef and lists of these bytes begin alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import SourceError
from lookalike.types import I64, U8, string_buffers
from lookalike.wording import agreeing

#: The value of every character as a digit, and of those that are none.
_NO_DIGIT = 255
_DIGITS = np.full(256, _NO_DIGIT, np.uint8)
_DIGITS[[ord(c) for c in "0123456789abcdefABCDEF"]] = [*range(16), *range(10, 16)]

#: What columns may hold, in words.
COLUMNS = "hexadecimal strings, binaries, uint64, or lists of uint8 or of booleans"


class Packed(NamedTuple):
    """Rows as bytes, null where they were, and how many bits each has; `flaws` says why some have none.

    A flaw is what would stand behind the name of the row.
    """

    rows: pa.LargeBinaryArray
    widths: I64
    flaws: dict[int, str]


def holds_bits(kind: pa.DataType) -> bool:
    """Whether columns of a type are taken as bits."""
    return (
        is_hexadecimal(kind)
        or _is_binary(kind)
        or kind == pa.uint64()
        or (_is_list(kind) and kind.value_type in (pa.uint8(), pa.bool_()))
    )


def is_hexadecimal(kind: pa.DataType) -> bool:
    """Whether values are strings."""
    return str(kind) in ("string", "large_string", "string_view")


def pack(column: pa.Array) -> Packed:
    """Pack a column that `holds_bits`, its rows as wide as they come."""
    kind = column.type
    if is_hexadecimal(kind):
        packed = _pack_digits(column)
    elif _is_list(kind):
        packed = _pack_lists(column)
    elif kind == pa.uint64():
        # The first hexadecimal digit is the highest.
        numbers = column.fill_null(0).to_numpy().astype(">u8")
        packed = Packed(
            _binaries(numbers.view(np.uint8), np.full(len(numbers), 8)), np.full(len(numbers), 64), {}
        )
    else:
        rows = column.cast(pa.large_binary())
        packed = Packed(rows, 8 * pc.binary_length(rows).fill_null(0).to_numpy().astype(np.int64), {})
    missing = column.is_null().to_numpy(zero_copy_only=False)
    for row in np.flatnonzero((packed.widths == 0) & ~missing).tolist():
        noun = "hexadecimal digits" if is_hexadecimal(kind) else "bits"
        packed.flaws.setdefault(row, f"has no {noun}: leave out rows without bits")
    if not missing.any():
        return packed
    return packed._replace(
        rows=pc.if_else(pa.array(missing), pa.scalar(None, pa.large_binary()), packed.rows)
    )


def misfit(width: int, common: int, kind: pa.DataType, whose: str = "the first row has") -> str:
    """What is wrong with a row of another width than the one `whose` it is."""
    per, noun = (4, "hexadecimal digits") if is_hexadecimal(kind) and common % 4 == 0 else (1, "bits")
    has = agreeing(width // per, noun.removesuffix("s"), noun)
    return f"has {width // per} {has} where {whose} {common // per}: all rows need as many bits"


def rows_as_column(rows: npt.NDArray[Any]) -> pa.Array:
    """Rows of an array as a column: packed bytes, numbers of 64 bits, several to a row or one, or flags.

    Raises
    ------
    SourceError
        If it is of another type or shape.
    """
    if rows.dtype == np.uint8 and rows.ndim == 2:
        return _fixed(rows)
    if rows.dtype.newbyteorder("=") == np.uint64 and rows.ndim == 2:
        return _fixed(np.ascontiguousarray(rows).astype(">u8").view(np.uint8))
    if rows.dtype.newbyteorder("=") == np.uint64 and rows.ndim == 1:
        return pa.array(rows.astype(np.uint64))
    if rows.dtype == np.bool_ and rows.ndim == 2:
        _check_columns(rows)
        return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
    raise SourceError(
        f"an array of {rows.dtype} in {rows.ndim} dimensions holds no bits: give a matrix of packed"
        " bytes (uint8, a row an item) or of booleans, or an array of uint64"
    )


def _fixed(rows: U8) -> pa.Array:
    _check_columns(rows)
    buffers = [None, pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.Array.from_buffers(pa.binary(rows.shape[1]), len(rows), buffers)


def _check_columns(rows: npt.NDArray[Any]) -> None:
    if not rows.shape[1]:
        raise SourceError("rows of 0 bytes are no bits: give 1 byte or more")


def _is_binary(kind: pa.DataType) -> bool:
    return pa.types.is_fixed_size_binary(kind) or str(kind) in ("binary", "large_binary", "binary_view")


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _pack_digits(column: pa.Array) -> Packed:
    bare = pc.utf8_trim_whitespace(column.cast(pa.large_string()).fill_null(""))
    if pc.any(pc.match_substring_regex(bare, "^0[xX]")).as_py():
        bare = pc.replace_substring_regex(bare, "^0[xX]", "")
    values, offsets = string_buffers(bare)
    lengths = np.diff(offsets)
    digits = _DIGITS[values[offsets[0] : offsets[-1]]]
    starts = offsets[:-1] - offsets[0]
    flaws: dict[int, str] = {}
    wrong = np.flatnonzero(digits == _NO_DIGIT)
    rows, firsts = np.unique(np.searchsorted(starts + lengths, wrong, side="right"), return_index=True)
    for row, at in zip(rows.tolist(), (wrong[firsts] - starts[rows]).tolist(), strict=True):
        flaws[row] = f"is {column[row].as_py().strip()!r:.40}, not hexadecimal: look at digit {at + 1}"
    odd = lengths % 2
    if odd.any():
        # A digit of 0 fills the last byte of each such row.
        filled = np.zeros(len(digits) + int(odd.sum()), np.uint8)
        filled[np.arange(len(digits)) + np.repeat(np.cumsum(odd) - odd, lengths)] = digits
        digits = filled
    widths = 4 * lengths
    widths[rows] = 0
    joined: U8 = digits[::2] << np.uint8(4) | digits[1::2]
    return Packed(_binaries(joined, (lengths + odd) // 2), widths, flaws)


def _pack_lists(column: pa.Array) -> Packed:
    lengths = pc.list_value_length(column).fill_null(0).to_numpy().astype(np.int64)
    items = column.flatten()
    flaws: dict[int, str] = {}
    if items.null_count:
        at = np.flatnonzero(items.is_null().to_numpy(zero_copy_only=False))
        rows = np.searchsorted(np.cumsum(lengths), at, side="right")
        flaws = dict.fromkeys(rows.tolist(), "holds a null: give it all of its bits")
        items = items.fill_null(pa.scalar(0).cast(items.type))
    values = items.to_numpy(zero_copy_only=False)
    if items.type == pa.uint8():
        widths, sizes = 8 * lengths, lengths
    else:
        widths, sizes = lengths.copy(), -(-lengths // 8)
        spread = np.zeros(8 * int(sizes.sum()), np.bool_)
        before = 8 * (np.cumsum(sizes) - sizes) - (np.cumsum(lengths) - lengths)
        spread[np.arange(len(values)) + np.repeat(before, lengths)] = values
        values = np.packbits(spread)
    widths[list(flaws)] = 0
    return Packed(_binaries(values, sizes), widths, flaws)


def _binaries(values: U8, lengths: I64) -> pa.LargeBinaryArray:
    """Bytes one after the other, cut into rows of these lengths."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.large_binary(), len(lengths), buffers)
