"""User ids: unique, or an error that names the id and both places; and the order they are in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import DuplicateIdError


def check_unique(
    ids: pa.Array | pa.ChunkedArray, *, place: Callable[[int], str] = lambda row: f"row {row}"
) -> None:
    """Raise unless every id occurs once; `place` says where a row lies.

    Raises
    ------
    DuplicateIdError
        Naming the earliest id that occurs for a second time, and both places.
    """
    pair = first_duplicate(ids)
    if pair is not None:
        first, second = pair
        raise DuplicateIdError(
            f"id {ids[second].as_py()!r:.60} occurs twice, at {place(first)} and at {place(second)}: ids"
            " must be unique. Mend them, name another column with id='COLUMN', or leave it out and rows are"
            " named by place"
        )


def as_ordered(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Ids as they compare: text that holds nothing but whole numbers as one writes them is those numbers.

    So documents are in one order, and clusters are called by one member, whether their ids are numbers in a
    parquet file or come from a csv, which knows only text.

    Examples
    --------
    >>> as_ordered(pa.array(["9", "10"])).to_pylist(), as_ordered(pa.array(["9", "010"])).to_pylist()
    ([9, 10], ['9', '010'])
    """
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)):
        return ids
    # Hashes of 64 bits are whole numbers that not all fit the first type.
    for kind in (pa.int64(), pa.uint64()):
        try:
            numbers = ids.cast(kind)
        except pa.ArrowInvalid:
            continue
        # 007 is a number too, but another text than 7.
        return numbers if numbers.cast(ids.type).equals(ids) else ids
    return ids


def id_order(ids: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Rows in the order of their ids."""
    order: npt.NDArray[np.int64] = pc.sort_indices(as_ordered(ids)).to_numpy().astype(np.int64)
    return order


def ascend(ids: pa.Array | pa.ChunkedArray) -> bool:
    """Whether numbers or strings rise from each to the next, seen chunk by chunk; False of anything else."""
    if ids.null_count or not any(kind(ids.type) for kind in _COMPARED):
        return False
    before = None
    for chunk in ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids]:
        if not len(chunk):
            continue
        if before is not None and not pc.less(before, chunk[0]).as_py():
            return False
        if not pc.all(pc.less(chunk[:-1], chunk[1:])).as_py() and len(chunk) > 1:
            return False
        before = chunk[-1]
    return True


_COMPARED = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string)


def first_duplicate(ids: pa.Array | pa.ChunkedArray) -> tuple[int, int] | None:
    """Rows of the earliest repetition and of what it repeats; None if all ids differ."""
    # Ids mostly ascend already, and then one look at each is enough.
    if ascend(ids):
        return None
    codes = _codes(ids)
    if codes is None:
        return None
    order = np.argsort(codes, kind="stable")
    repeats = np.flatnonzero(codes[order][1:] == codes[order][:-1]) + 1
    if not len(repeats):
        return None
    # The sort is stable, so within equal codes rows ascend and a repeat follows the one it repeats.
    at = repeats[np.argmin(order[repeats])]
    return int(order[at - 1]), int(order[at])


def _codes(ids: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64] | None:
    """Integers that are equal where ids are; None if no two are."""
    if pa.types.is_integer(ids.type) and not ids.null_count:
        values: npt.NDArray[np.int64] = ids.to_numpy()
        return values
    encoded = ids.dictionary_encode() if not pa.types.is_dictionary(ids.type) else ids
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.chunk(0)
    if not pa.types.is_dictionary(ids.type) and len(encoded.dictionary) == len(encoded):
        return None
    codes: npt.NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False)
    return codes
