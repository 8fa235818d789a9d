"""Rows that are larger than the whole memory budget: refused as soon as a table would hold one.

What is fetched must fit a quarter of the budget (`reach`). But not every road fetches its rows, and a row
that the budget cannot hold even by itself would be carried on by all of them, and multiplied by some.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from lookalike.engines.memory import Budget
from lookalike.engines.widths import row_bytes
from lookalike.errors import RowTooLargeError

#: The room for rows that are looked at at once is a quarter of the budget (`Engine.stage_bytes`).
OF_THE_BUDGET = 4


def refused(batches: Iterable[pa.RecordBatch], budget: Budget) -> Iterator[pa.RecordBatch]:
    """The batches, as long as every numbered row of them fits the budget."""
    for batch in batches:
        refuse(batch, budget)
        yield batch


def refuse(batch: pa.RecordBatch, budget: Budget) -> None:
    """Raise if a numbered row of the batch takes more than the whole budget.

    Raises
    ------
    RowTooLargeError
        Naming the largest.
    """
    # Hardly ever more than this comparison.
    if batch.nbytes <= budget.size or "row" not in batch.schema.names:
        return
    sizes = row_bytes(batch)
    largest = int(np.argmax(sizes))
    if sizes[largest] > budget.size:
        raise too_large([batch["row"][largest].as_py()], int(sizes[largest]), budget.size // OF_THE_BUDGET)


def too_large(rows: list[int], needed: int, room: int) -> RowTooLargeError:
    """The error for rows that take so many bytes, more than there is room for."""
    return RowTooLargeError(rows, needed=needed, room=room, enough=needed * OF_THE_BUDGET)
