"""Rows that are too large for the memory budget, called what users call them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from lookalike.errors import RowTooLargeError
from lookalike.types import I64


@contextmanager
def called(name: Callable[[int], object]) -> Iterator[None]:
    """Call rows that are too large inside the block by their names."""
    try:
        yield
    except RowTooLargeError as error:
        if error.names:
            raise
        raise error.called([str(name(row)) for row in error.rows]) from error


@contextmanager
def numbered_anew(numbers: I64) -> Iterator[None]:
    """Inside the block rows have new numbers; `numbers` are what they were before."""
    try:
        yield
    except RowTooLargeError as error:
        # A row may have been given two numbers, to be compared with all.
        raise error.numbered(list(dict.fromkeys(numbers[np.array(error.rows)].tolist()))) from error
