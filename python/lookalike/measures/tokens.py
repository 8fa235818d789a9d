"""Tokens as they are written in files, hashed.

A token that is written like a whole number is that number (so sets of integers are compared exactly, and are
the same sets whether they come from a line, a csv file or a column of integers); any other is its characters.
Written like a number means from −2⁶³ to 2⁶³−1 without a plus sign or leading zeros: 007 is not 7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike import _core
from lookalike.errors import MalformedRowError, OptionError
from lookalike.types import F64, I64, U8, U64, Bools, Sets, string_buffers

#: ASCII white space; a token may hold any other character.
_WHITE = np.isin(np.arange(256), np.frombuffer(b" \t\r\n\v\f", np.uint8))
#: No number over this many digits fits 64 bits.
_MOST_DIGITS = 19


def hash_tokens(tokens: pa.Array, *, seed: int = 0, threads: int = 1) -> U64:
    """The hashed elements of tokens: integers, or strings of which some may be written like integers."""
    if pa.types.is_integer(tokens.type):
        values = tokens.cast(pa.uint64() if tokens.type == pa.uint64() else pa.int64()).to_numpy()
        return _core.mix_integers(values.view(np.uint64), seed=seed, threads=threads)
    if pa.types.is_null(tokens.type):
        return np.empty(0, np.uint64)
    return _hash_written(*string_buffers(tokens), seed=seed, threads=threads)


def sets_of_lists(lists: pa.LargeListArray, *, seed: int = 0, threads: int = 1) -> Sets:
    """The sets that lists of tokens hold; without nulls."""
    offsets = list_offsets(lists)
    tokens = lists.values.slice(offsets[0], offsets[-1] - offsets[0])
    return _sets(hash_tokens(tokens, seed=seed, threads=threads), offsets - offsets[0], threads)


def sets_of_lines(
    lines: pa.Array, *, separator: str | None = None, first: bool = False, seed: int = 0, threads: int = 1
) -> tuple[Sets, pa.Array]:
    """The sets that lines of tokens hold, and the first token of each line if it is a name and no member.

    Parameters
    ----------
    lines
        Large strings; white space at the end of a token or a line does not count.
    separator
        What stands between tokens; white space by default. With a separator tokens may hold spaces.
    first
        Take the first token of each line for its name; null if the line has none. Without it all are null.

    Examples
    --------
    >>> sets, _ = sets_of_lines(pa.array(["3 1 2 3", ""], pa.large_string()))
    >>> [len(row) for row in sets]
    [3, 0]
    """
    data, starts = string_buffers(lines)
    checked_separator(separator)
    text, offsets, counts = _tokens(data, starts, separator)
    ends = np.concatenate([[0], np.cumsum(counts)])
    names = pa.nulls(len(lines), pa.large_string())
    hashed = _hash_written(text, offsets, seed=seed, threads=threads)
    if first:
        named = counts > 0
        column = _strings(text, offsets)
        names = column.take(pa.array(ends[:-1], mask=~named))
        hashed = np.delete(hashed, ends[:-1][named])
        ends = np.concatenate([[0], np.cumsum(counts - named)])
    return _sets(hashed, ends, threads), names


def weights_of_lines(
    lines: pa.Array,
    *,
    separator: str | None = None,
    first: bool = False,
    signed: bool = True,
    seed: int = 0,
    name: Callable[[int], str] = "line {}".format,
) -> tuple[U64, I64, F64, pa.Array]:
    """The tokens of lines with their weights: elements, where each line begins, weights, and names.

    A token has its weight behind its last colon, `bread:2.5`; one without a colon weighs 1. `first` as of
    `sets_of_lines`: a name has no weight, and may hold colons. Tokens that occur twice are there twice.

    Raises
    ------
    MalformedRowError
        If what stands behind a colon is no number, or nothing before it, or a number under 0 where these are
        not `signed`; `name` says what a line is called.

    Examples
    --------
    >>> _, starts, weights, _ = weights_of_lines(pa.array(["bread:2.5 milk", ""], pa.large_string()))
    >>> starts.tolist(), weights.tolist()
    ([0, 2, 2], [2.5, 1.0])
    """
    items, ends, weights, names, flaws = _weighed_lines(lines, separator, first, signed)
    if flaws:
        line = min(flaws)
        raise MalformedRowError(f"{name(line)}: {flaws[line]}")
    return _hash_written(*string_buffers(items), seed=seed, threads=1), ends, weights, names


def flaws_of_lines(
    lines: pa.Array, *, separator: str | None = None, first: bool = False, signed: bool = True
) -> dict[int, str]:
    """Which lines `weights_of_lines` would not take, and why.

    Examples
    --------
    >>> flaws_of_lines(pa.array(["bread:2.5 milk", "milk:-1", "milk:two"], pa.large_string()), signed=False)
    ... # doctest: +NORMALIZE_WHITESPACE
    {1: "'milk:-1' weighs less than 0: only vectors, which are compared by cosine, may",
     2: "'milk:two' is no item:weight: write a finite number behind the last colon"}
    """
    return _weighed_lines(lines, separator, first, signed)[-1]


def _weighed_lines(
    lines: pa.Array, separator: str | None, first: bool, signed: bool
) -> tuple[pa.Array, I64, F64, pa.Array, dict[int, str]]:
    """Items, where each line begins, weights, names of lines, and what is wrong with which."""
    text, offsets, counts = _tokens(*string_buffers(lines), checked_separator(separator))
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    tokens, names = _strings(text, offsets), pa.nulls(len(lines), pa.large_string())
    owners = np.repeat(np.arange(len(lines)), counts)
    if first:
        named = counts > 0
        names = tokens.take(pa.array(ends[:-1], mask=~named))
        members = np.delete(np.arange(len(tokens)), ends[:-1][named])
        tokens, owners = tokens.take(pa.array(members)), owners[members]
        ends = np.concatenate([[0], np.cumsum(counts - named)]).astype(np.int64)
    items, weights, wrong = _weighed(tokens)
    why = dict.fromkeys(wrong.tolist(), "is no item:weight: write a finite number behind the last colon")
    if not signed:
        light = "weighs less than 0: only vectors, which are compared by cosine, may"
        why |= dict.fromkeys(np.setdiff1d(np.flatnonzero(weights < 0), wrong).tolist(), light)
    flaws: dict[int, str] = {}
    for token in sorted(why):
        flaws.setdefault(int(owners[token]), f"{tokens[token].as_py()!r:.60} {why[token]}")
    return items, ends, weights, names, flaws


def _weighed(tokens: pa.Array) -> tuple[pa.Array, F64, I64]:
    """Tokens without their weights, the weights, and which tokens are no `item:weight`."""
    data, offsets = string_buffers(tokens)
    starts, ends = offsets[:-1], offsets[1:]
    colons = np.flatnonzero(data == ord(":"))
    last = np.searchsorted(colons, ends) - 1
    at = colons[np.maximum(last, 0)] if len(colons) else np.full(len(starts), -1)
    has = (last >= 0) & (at >= starts)
    weights = np.ones(len(starts))
    if not has.any():
        return tokens, weights, np.empty(0, np.int64)
    cut = np.where(has, at, ends)
    behind = _pieces(data, np.where(has, cut + 1, ends), ends).filter(pa.array(has))
    written = pc.utf8_trim_whitespace(behind)
    wrong = has & (cut == starts)
    try:
        weights[has] = written.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        for place, value in zip(np.flatnonzero(has).tolist(), written.to_pylist(), strict=True):
            try:
                weights[place] = pa.scalar(value).cast(pa.float64()).as_py()
            except pa.ArrowInvalid:
                wrong[place] = True
    return _pieces(data, starts, cut), weights, np.flatnonzero(wrong | ~np.isfinite(weights))


def _pieces(data: U8, starts: I64, ends: I64) -> pa.Array:
    """Strings that lie in order among other bytes."""
    change = np.zeros(len(data) + 1, np.int64)
    np.add.at(change, starts, 1)
    np.add.at(change, ends, -1)
    inside = np.cumsum(change[:-1]) > 0
    return _strings(data[inside], np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int64))


def lists_of_lines(lines: pa.Array, *, separator: str | None = None) -> pa.LargeListArray:
    """The tokens of lines as they are written, a list of strings a line.

    Examples
    --------
    >>> lists_of_lines(pa.array(["bread milk", ""], pa.large_string())).to_pylist()
    [['bread', 'milk'], []]
    """
    text, offsets, counts = _tokens(*string_buffers(lines), checked_separator(separator))
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return pa.LargeListArray.from_arrays(pa.array(ends), _strings(text, offsets))


def tokens_of_lines(
    lines: pa.Array, *, separator: str | None = None, first: bool = False, weighted: bool = False
) -> pa.Array:
    """The members of the sets that lines hold, one after the other, as they are written.

    Examples
    --------
    >>> tokens_of_lines(pa.array(["ann bread:2.5", "bob 7"], pa.large_string()), first=True, weighted=True)
    ... # doctest: +NORMALIZE_WHITESPACE +ELLIPSIS
    <pyarrow.lib.LargeStringArray object at ...>
    [ "bread", "7" ]
    """
    if weighted:
        return _weighed_lines(lines, separator, first, True)[0]
    text, offsets, counts = _tokens(*string_buffers(lines), checked_separator(separator))
    tokens = _strings(text, offsets)
    if first:
        starts = np.cumsum(counts) - counts
        tokens = tokens.take(pa.array(np.delete(np.arange(len(tokens)), starts[counts > 0])))
    return tokens


def checked_separator(separator: str | None) -> str | None:
    """A separator that can be one; None stands for white space."""
    if separator is None:
        return None
    if not isinstance(separator, str) or len(separator.encode()) != 1 or separator in "\r\n":
        raise OptionError(
            f"separator {separator!r} is out of range: one ASCII character such as , or ; (white space if "
            "none is given)"
        )
    return separator


def list_offsets(lists: pa.Array) -> I64:
    """Where the lists of a large list array begin and end among its values."""
    return np.frombuffer(lists.buffers()[1], np.int64)[lists.offset : lists.offset + len(lists) + 1]


def _tokens(data: U8, starts: I64, separator: str | None) -> tuple[U8, I64, I64]:
    """The bytes of all tokens, where each begins among them, and how many each line has."""
    data, starts = data[starts[0] : starts[-1]], starts - starts[0]
    gap = _WHITE[data] if separator is None else _gaps(data, starts, ord(separator))
    inside = ~gap
    # A token begins where a gap ends, or a line does.
    begins = inside.copy()
    begins[1:] &= gap[:-1]
    lines = starts[:-1][starts[:-1] < starts[1:]]
    begins[lines] = inside[lines]
    at = np.flatnonzero(begins)
    before = np.concatenate([[0], np.cumsum(inside)])
    offsets = np.append(before[at], before[-1]).astype(np.int64)
    counts = np.diff(np.searchsorted(at, starts))
    return data[inside], offsets, counts


def _gaps(data: U8, starts: I64, separator: int) -> Bools:
    """Separators, and the white space around tokens; that within a token is part of it."""
    edge = data == separator
    white = _WHITE[data] & ~edge
    # White space is a gap if nothing but white space lies between it and a separator, or its line's begin or
    # end. Seen from each place: the nearest thing before it, and behind it, that is not white space.
    place = np.arange(len(data))
    before = np.maximum.accumulate(np.where(white, -1, place))
    after = np.minimum.accumulate(np.where(white, len(data), place)[::-1])[::-1]
    lengths = np.diff(starts)
    outside = before < np.repeat(starts[:-1], lengths)
    outside |= after >= np.repeat(starts[1:], lengths)
    outside |= edge[np.maximum(before, 0)] | edge[np.minimum(after, len(data) - 1)]
    gaps: Bools = edge | (white & outside)
    return gaps


def _hash_written(data: U8, offsets: I64, *, seed: int, threads: int) -> U64:
    values, whole = integers_of(data, offsets)
    mixed = _core.mix_integers(values.view(np.uint64), seed=seed, threads=threads)
    if whole.all():
        return mixed
    spelt = _core.hash_strings((data, offsets), seed=seed, threads=threads)
    return np.where(whole, mixed, spelt)


def integers_of(data: U8, offsets: I64) -> tuple[I64, Bools]:
    """The values of tokens that are written like whole numbers, and which these are."""
    if len(offsets) < 2 or offsets[0] == offsets[-1]:
        return np.zeros(len(offsets) - 1, np.int64), np.zeros(len(offsets) - 1, np.bool_)
    starts, ends = offsets[:-1], offsets[1:]
    filled = ends > starts
    begins = np.minimum(starts, len(data) - 1)
    negative = filled & (data[begins] == ord("-"))
    starts = starts + negative
    digits = ends - starts
    others = np.concatenate([[0], np.cumsum((data < ord("0")) | (data > ord("9")), dtype=np.int64)])
    whole = (digits >= 1) & (digits <= _MOST_DIGITS) & (others[ends] == others[starts])
    zero = data[np.minimum(starts, len(data) - 1)] == ord("0")
    whole &= ~zero | ((digits == 1) & ~negative)
    size = np.zeros(len(starts), np.uint64)
    for digit in range(int(digits[whole].max()) if whole.any() else 0):
        here = whole & (digits > digit)
        worth = data[np.minimum(starts + digit, len(data) - 1)].astype(np.uint64) - np.uint64(ord("0"))
        size = np.where(here, size * np.uint64(10) + worth, size)
    whole &= size <= np.where(negative, np.uint64(2**63), np.uint64(2**63 - 1))
    values = size.view(np.int64)
    return np.where(negative, -values, values), whole


def _strings(data: U8, offsets: I64) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _sets(hashed: U64, offsets: Any, threads: int) -> Sets:
    ragged = (np.ascontiguousarray(hashed), np.ascontiguousarray(offsets, np.int64))
    return Sets(*_core.canonical_sets(ragged, bag=False, threads=threads))
