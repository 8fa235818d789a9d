"""Things in: parquet, jsonl, csv, text folders, frames and lists, as Arrow batches; and kept rows out again.

source.py      what every source offers: scan, ids, kept rows
files.py       files, folders, globs and standard input
frames.py      lists and whatever speaks Arrow
inputs.py      which files are meant
spool.py       standard input, readable twice
format.py      what a format offers: jsonlines.py, separated.py (and quoting.py), parquet.py, textfiles.py
records.py     text files in chunks of whole records
stream.py      compression
columns.py     what lies in a column becomes text; values.py: and text values that have an order
units.py       paragraphs and lines of texts
edits.py       kept documents with another text
setfiles.py    a set a line
bits.py        columns, lines and matrices (bitmatrices.py) of bits, all of which packed.py makes bytes
measurements.py  tables of measurements
edges.py       tables that hold sets: an edge a row, or a list a row
matrices.py    sparse matrices in files; vectors.py: vectors in files
faults.py      rows that cannot be read
layout.py      row numbers, files, rows in files
ids.py         ids are unique, and in which order
batching.py    batches of bounded size
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookalike.errors import OptionError
from lookalike.io.batching import BATCH_BYTES
from lookalike.io.columns import Wanted
from lookalike.io.faults import Fault, OnError, Unreadable
from lookalike.io.files import FileSource, open_files
from lookalike.io.frames import FrameSource
from lookalike.io.ids import as_ordered, ascend, check_unique, id_order
from lookalike.io.source import Source
from lookalike.io.values import as_values

__all__ = [
    "BATCH_BYTES",
    "Fault",
    "FileSource",
    "FrameSource",
    "OnError",
    "Source",
    "Unreadable",
    "Wanted",
    "as_ordered",
    "as_values",
    "ascend",
    "check_unique",
    "id_order",
    "open_files",
    "open_source",
]


def open_source(
    data: Any,
    *,
    text: str = "text",
    id: str | None = None,
    columns: Sequence[str] = (),
    on_error: OnError = "raise",
) -> Source:
    """Open whatever holds documents.

    A list, tuple or iterator of strings is documents, always. A single string or Path, or a list of Paths,
    names files (see `open_files`). Arrow arrays and tables, and everything that offers them through the
    Arrow PyCapsule protocol (polars, pandas, duckdb, Hugging Face datasets), are used where they lie.

    Parameters
    ----------
    text
        The column of the text; a list, an array or a Series is the text itself.
    id
        The column of unique ids; without one rows of frames and lists go by their number, counted from 0.
    columns
        Further columns that the job needs.
    on_error
        `raise` at the first row that cannot be read, or `skip` and count them.

    Examples
    --------
    >>> source = open_source(["a rose is a rose", "a tulip"])
    >>> [batch.num_rows for batch in source.scan()]
    [2]
    """
    if isinstance(data, Source):
        return data
    wanted = Wanted(text=text, id=id, columns=tuple(columns))
    if isinstance(data, (str, Path)):
        return open_files([data], text=text, id=id, columns=columns, on_error=on_error)
    if isinstance(data, (list, tuple)) and any(isinstance(item, Path) for item in data):
        if not all(isinstance(item, Path) for item in data):
            raise OptionError(
                "the list holds paths and strings: give paths alone for files, strings for documents"
            )
        return open_files(data, text=text, id=id, columns=columns, on_error=on_error)
    return FrameSource(data, wanted, on_error)
