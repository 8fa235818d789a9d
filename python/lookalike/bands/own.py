"""A signature matrix of one's own, cut into bands, and the candidates to look at.

The joins do the same on the way, in pieces and on disk. Here all is in memory: the matrix, a key a row of one
band at a time, and some 30 bytes a meeting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike import _core
from lookalike.bands.buckets import packed, rows_of, run_starts
from lookalike.engines.cores import cores
from lookalike.errors import OptionError, SourceError
from lookalike.theory.banding import Banding
from lookalike.theory.ranges import whole
from lookalike.types import F64, I64, U32, Bits, Bools, Signatures, Tabular

#: More meetings than this are an error that says how many there would be.
MOST = 100_000_000
#: Slots that are compared at a time.
_AT_ONCE = 1 << 24
#: Kernels make keys of slots of so many bytes.
_WORD = 4


class Candidates(Tabular):
    """Rows that agree in a whole band: `a`, `b`, in how many `bands`, and the share of slots that agree.

    Nobody has looked at the items, so none of these is a pair yet. The share, `estimate`, is what signatures
    say of their similarity.
    """

    _names = ("candidate", "candidates")


def candidates(signatures: Any, other: Any = None, *, bands: int, rows: int, most: int = MOST) -> Candidates:
    """Cut signatures into bands, and return the rows that agree in all slots of a band.

    Each band has buckets of its own, one for every combination of slots that there is: two rows share one if
    and only if they agree in the whole band.

    Parameters
    ----------
    signatures
        What a family's `signatures` returns, or any matrix of whole numbers or booleans, one row an item and
        one column a slot. Slots beyond `bands · rows` are left out. Of `Signatures`, rows of empty sets match
        nothing.
    other
        Signatures of a second collection: candidates then go from a row of the first to one of the second.
    bands, rows
        How many bands there are, and how many slots each has.
    most
        The most meetings, counted in every band. A bucket of n rows has n(n − 1)/2 of them, so bands of few
        slots, or crowds of rows that are alike, may have very many.

    Raises
    ------
    OptionError
        If the matrix has fewer slots, or more rows would meet than `most`.

    Examples
    --------
    >>> from lookalike import MinHash
    >>> signatures = MinHash(slots=100).signatures([range(0, 90), range(5, 95), range(500, 590)])
    >>> candidates(signatures, bands=20, rows=5)
    1 candidate
    a  b  bands  estimate
    0  1  10     0.8700
    >>> found = candidates([[2, 1, 2, 1], [2, 1, 4, 1], [1, 2, 2, 1]], bands=2, rows=2)
    >>> [(row["a"], row["b"], row["bands"]) for row in found]
    [(0, 1, 1), (0, 2, 1)]
    """
    banding = Banding(bands=bands, rows=rows)
    limit = whole(most)
    if limit is None or limit < 0:
        raise OptionError(f"most={most!r} is out of range: a whole number, 0 or more")
    first, filled = _slots(signatures)
    boundary = None
    if other is not None:
        second, filled_too = _slots(other)
        if first.shape[1] != second.shape[1]:
            raise OptionError(
                f"signatures of {first.shape[1]:,} slots and of {second.shape[1]:,} do not compare: make them"
                " as long"
            )
        boundary = len(first)
        both = np.result_type(first, second)
        if both.kind not in "iub":
            raise OptionError(
                f"signatures of {first.dtype} and of {second.dtype} do not compare: make them of one kind"
            )
        first = np.concatenate([first.astype(both, copy=False), second.astype(both, copy=False)])
        filled = np.concatenate([filled, filled_too])
    if banding.slots > first.shape[1]:
        raise OptionError(
            f"bands={banding.bands}, rows={banding.rows} take {banding.slots:,} slots, and the signatures"
            f" have {first.shape[1]:,}"
        )
    a, b, met = _meetings(first, np.flatnonzero(filled), banding, boundary, limit)
    columns = {
        "a": pa.array(a.astype(np.int64)),
        "b": pa.array(b.astype(np.int64) - (boundary or 0)),
        "bands": pa.array(met.astype(np.int64)),
        "estimate": pa.array(_agreement(first, a, b)),
    }
    return Candidates(pa.table(columns))


def _slots(signatures: Any) -> tuple[npt.NDArray[Any], Bools]:
    """The matrix of slots, and which rows have something to match."""
    if isinstance(signatures, Signatures):
        return signatures.slots, (signatures.flags & _core.FLAG_EMPTY) == 0
    if isinstance(signatures, Bits):
        single = np.unpackbits(signatures.to_bytes(), axis=1)[:, : signatures.width]
        return single, np.ones(len(single), np.bool_)
    try:
        matrix = np.asarray(signatures)
    except ValueError:  # rows of several lengths
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iub":
        raise SourceError(
            "signatures are a matrix of whole numbers or booleans, one row an item: give what a family's"
            " signatures returned, or such a matrix"
        )
    return matrix, np.ones(len(matrix), np.bool_)


def _meetings(
    slots: npt.NDArray[Any], chosen: I64, banding: Banding, boundary: int | None, limit: int
) -> tuple[U32, U32, I64]:
    """Every two of the chosen rows that agree in a band, sorted, and in how many bands they do."""
    met, still = [np.empty(0, np.uint64)], limit
    for band in range(banding.bands):
        part = _words(slots[:, band * banding.rows : (band + 1) * banding.rows])[chosen]
        order, starts = _buckets(part)
        a, b, there = _pairs(chosen[order], starts, boundary, still)
        if there > still:
            raise OptionError(
                f"bands={banding.bands}, rows={banding.rows} bring rows together over {limit:,} times,"
                f" {there:,} of them in band {band}: use more rows a band, or a most over {limit} if you want"
                " them all"
            )
        still -= there
        met.append(packed(a, b))
    every, times = np.unique(np.concatenate(met), return_counts=True)
    a, b = rows_of(every)
    return a, b, times


def _words(part: npt.NDArray[Any]) -> U32:
    """The slots of a band as words of 32 bits, as many a slot as it takes."""
    if part.dtype.itemsize <= _WORD:
        # One to one for numbers of any sign: the same bits for the same number.
        return np.ascontiguousarray(part.astype(np.int64).astype(np.uint32))
    return np.ascontiguousarray(part).view(np.uint32)


def _buckets(part: U32) -> tuple[I64, I64]:
    """Rows of a band in such an order that equal ones stand side by side, and where each bucket begins."""
    keys = _core.band_keys(part, bands=1, rows=part.shape[1])[0]
    order = np.argsort(keys, kind="stable")
    starts = run_starts(keys[order])
    ordered = part[order]
    if np.array_equal(np.repeat(ordered[starts[:-1]], np.diff(starts), axis=0), ordered):
        return order, starts
    # Two bands of other slots have one key, as about one pair in 2⁴⁸ has: tell them apart by the slots.
    _, label = np.unique(part, axis=0, return_inverse=True)
    label = label.reshape(-1)
    order = np.argsort(label, kind="stable")
    return order, run_starts(label[order].astype(np.uint64))


def _pairs(rows: I64, starts: I64, boundary: int | None, most: int) -> tuple[U32, U32, int]:
    """All pairs of rows in a bucket, and how many there are; none if there are more than `most`."""
    sizes = np.diff(starts)
    if boundary is None:
        there = int((sizes * (sizes - 1) // 2).sum())
    else:
        left = np.concatenate([[0], np.cumsum(rows < boundary)])[starts]
        ones = np.diff(left)
        there = int((ones * (sizes - ones)).sum())
        # Only these buckets have pairs across; a crowd of one side alone has none.
        sizes = np.where((ones > 0) & (ones < sizes), sizes, 0)
    if there > most or not there:
        nothing = np.empty(0, np.uint32)
        return nothing, nothing, there
    if boundary is None:
        kept = np.repeat(sizes > 1, np.diff(starts))
        runs = np.concatenate([[0], np.cumsum(sizes[sizes > 1])]).astype(np.int64)
        # The rows of a bucket ascend, so the first of a pair is the lower one.
        a, b = _core.pair_up(rows[kept].astype(np.uint32), runs, threads=cores())
        return a, b, there
    # Of every bucket each row of the first with each of the second.
    a_parts, b_parts = [], []
    for bucket in np.flatnonzero(sizes):
        members = rows[starts[bucket] : starts[bucket + 1]]
        first, second = members[members < boundary], members[members >= boundary]
        a_parts.append(np.repeat(first, len(second)))
        b_parts.append(np.tile(second, len(first)))
    a, b = (np.concatenate(parts).astype(np.uint32) for parts in (a_parts, b_parts))
    return a, b, there


def _agreement(slots: npt.NDArray[Any], a: U32, b: U32) -> F64:
    """The share of all slots in which rows agree."""
    agreeing = np.empty(len(a), np.float64)
    step = max(1, _AT_ONCE // slots.shape[1])
    for start in range(0, len(a), step):
        of = slice(start, start + step)
        agreeing[of] = np.count_nonzero(slots[a[of]] == slots[b[of]], axis=1)
    shares: F64 = agreeing / slots.shape[1]
    return shares
