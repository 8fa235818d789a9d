"""User ids: unique, or an error that names the id and both places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
            f"id {ids[second].as_py()!r} occurs twice, at {place(first)} and at {place(second)}: ids must be "
            "unique. Mend them, name another column with --id, or leave it out and rows are named by place"
        )


def first_duplicate(ids: pa.Array | pa.ChunkedArray) -> tuple[int, int] | None:
    """Rows of the earliest repetition and of what it repeats; None if all ids differ."""
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
        # Ids mostly ascend already, and then one pass is enough.
        return None if len(values) < 2 or bool(np.all(values[1:] > values[:-1])) else values
    encoded = ids.dictionary_encode() if not pa.types.is_dictionary(ids.type) else ids
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.chunk(0)
    if not pa.types.is_dictionary(ids.type) and len(encoded.dictionary) == len(encoded):
        return None
    codes: npt.NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False)
    return codes
