"""Exact edit distances of two strings, or of a batch of them: how many edits make one of the other.

Letters are code points, as they are. Both obey the four axioms. With n and m letters, of which the longest
common subsequence has c, `indel` is n + m − 2c; `levenshtein` lies between half of it and all of it.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.types import string_buffers


def levenshtein(a: str | Sequence[str], b: str | Sequence[str]) -> Any:
    """Inserted, deleted and replaced letters; of two lists, string by string.

    Examples
    --------
    >>> levenshtein("Jeffrey", "Jeffery"), levenshtein(["abc", ""], ["abd", "abc"]).tolist()
    (2, [1, 3])
    """
    return _distances("levenshtein", a, b)


def indel(a: str | Sequence[str], b: str | Sequence[str]) -> Any:
    """Inserted and deleted letters: a replaced one counts as both.

    Examples
    --------
    >>> indel("abcde", "acfdeg"), indel(["abc", ""], ["abd", "abc"]).tolist()
    (3, [2, 3])
    """
    return _distances("indel", a, b)


def _distances(kind: str, a: str | Sequence[str], b: str | Sequence[str]) -> Any:
    if isinstance(a, str) and isinstance(b, str):
        return int(_distances(kind, [a], [b])[0])
    listed = all(isinstance(some, Sized) and not isinstance(some, str) for some in (a, b))
    if not listed or len(a) != len(b):
        raise OptionError("give two strings, or two lists of as many strings")
    count = len(a)
    try:
        strings = pa.array([*a, *b], pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as reason:
        raise OptionError(f"edit distances are between strings: {reason}") from None
    if strings.null_count:
        raise OptionError("a string is null: drop it, or make it an empty string")
    left = np.arange(count, dtype=np.uint32)
    # No two strings are farther apart than both are long; the kernel looks no farther than it is told.
    most = 2 * max(map(len, [*a, *b]), default=0)
    return _core.edit_distances(
        [string_buffers(strings)], left, left + np.uint32(count), kind=kind, most=most
    ).astype(np.int64)
