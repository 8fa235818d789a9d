"""Batches as one Arrow table for whoever asked: in memory while there is room, else mapped from a file.

The file lies where tables wait that do not fit memory, and has no name: it is gone when nobody holds the
table any more. A mapped table is like any other: what is looked at of it comes from the disk's cache, and
only converting it to NumPy or pandas brings all of it into memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa

from lookalike.engines.memory import Budget
from lookalike.engines.spill import unusable


def handed_over(batches: Iterable[pa.RecordBatch], schema: pa.Schema, budget: Budget) -> pa.Table:
    """The batches as a table."""
    held: list[pa.RecordBatch] = []
    coming = iter(batches)
    for batch in coming:
        taken = budget.take(batch)
        if taken is None:
            return _mapped(chain(_let_go(held), [batch], coming), schema, budget)
        held.append(taken)
    return pa.Table.from_batches(held, schema)


def _let_go(held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches from memory, each gone from there once it is written."""
    held.reverse()
    while held:
        yield held.pop()


def _mapped(batches: Iterator[pa.RecordBatch], schema: pa.Schema, budget: Budget) -> pa.Table:
    folder = Path(tempfile.gettempdir()) if budget.scratch is None else budget.scratch
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder)
    except OSError as error:
        raise unusable(folder, error) from error
    try:
        with pa.OSFile(name, "wb") as file, pa.ipc.new_file(file, schema) as writer:
            while (batch := next(batches, None)) is not None:
                try:
                    writer.write_batch(batch)
                except OSError as error:
                    raise unusable(folder, error) from error
        return pa.ipc.open_file(pa.memory_map(name)).read_all()
    finally:
        os.close(descriptor)
        # A mapping outlives its name.
        os.unlink(name)
