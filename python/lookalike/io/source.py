"""A source: rows that can be scanned as Arrow batches, named by user ids, and written out again.

Inside Lookalike a row is a number, counted over the rows that a scan delivers; `ids` turns numbers into
what the user knows a row by.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.charts.numbers import several
from lookalike.errors import EmptySourceError
from lookalike.io.batching import BATCH_BYTES, regroup
from lookalike.io.columns import Wanted
from lookalike.io.edits import Edits
from lookalike.io.faults import Faults, OnError, Unreadable
from lookalike.io.ids import check_unique
from lookalike.io.layout import Census, Layout, Mask, Rows


class Source(ABC):
    """Rows of text with ids, wherever they come from. Close it when done, or use it as a context manager."""

    _schema: pa.Schema
    #: How many bytes may be in hand while rows are read or written; None for as many as is fast. Changes
    #: how files are decoded, never the rows.
    room: int | None = None
    #: How many threads may read or write files.
    threads: int = 1

    def __init__(self, wanted: Wanted, on_error: OnError) -> None:
        self.wanted = wanted
        self._on_error: OnError = on_error
        self._layout: Layout | None = None
        self._resources = contextlib.ExitStack()
        # An unknown value is the caller's mistake now, not at the first scan.
        Faults(on_error)

    @property
    def on_error(self) -> OnError:
        """What is done with rows that cannot be read."""
        return self._on_error

    def scan(self, batch_bytes: int = BATCH_BYTES) -> Iterator[pa.RecordBatch]:
        """Read the rows in order, in batches of at most `batch_bytes`.

        A batch has the columns `text` (large_string, valid UTF-8, no nulls), `id` if an id column was asked
        for, with its type kept, and the extra columns in the order asked for. A source can be scanned any
        number of times, and the rows do not depend on `batch_bytes`.

        Raises
        ------
        SourceError
            On what cannot be read, unless such rows are skipped; at the end of the first scan also if an id
            occurs twice or there was no row at all.
        """
        faults = Faults(self._on_error)
        first = self._layout is None
        census = Census(collect_ids=first and self.wanted.id is not None)
        yield from regroup(self._read(faults, census, batch_bytes), batch_bytes)
        if first:
            layout = census.layout(faults)
            if layout.read == 0:
                raise self._nothing_to_read(layout.unreadable)
            if layout.ids is not None:
                check_unique(layout.ids, place=lambda row: self._place(layout, row))
            self._layout = layout

    def can_scan_on(self) -> bool:
        """Whether to read rows again is about as fast as to read a copy of them."""
        return False

    def scan_from(self, row: int, batch_bytes: int = BATCH_BYTES) -> Iterator[pa.RecordBatch]:
        """What a scan delivers from a row number on; for sources that `can_scan_on`, once scanned.

        Raises
        ------
        SourceError
            If it is no longer what was scanned.
        """
        for batch in self.scan(batch_bytes):
            if row < batch.num_rows:
                yield batch.slice(row)
            row = max(0, row - batch.num_rows)

    def scan_begins(self, row: int) -> int:
        """The last row number up to `row` from which on `scan_from` reads nothing in vain."""
        return 0

    def read_as(self, wanted: Wanted) -> None:
        """Take the same columns in a stricter sense; for who knows more of them than who opened it.

        Before the first scan: all scans must deliver the same rows.
        """
        assert self._layout is None
        assert wanted.names == self.wanted.names
        self.wanted = wanted

    @property
    def skips(self) -> bool:
        """Whether rows that cannot be read are left out and counted."""
        return self._on_error == "skip"

    @property
    def schema(self) -> pa.Schema:
        """What the batches of a scan are like."""
        return self._schema

    @property
    def layout(self) -> Layout:
        """Which row numbers lie where. Before a scan has come to its end, this scans."""
        if self._layout is None:
            for _ in self.scan():
                pass
        assert self._layout is not None
        return self._layout

    @property
    def read(self) -> int:
        """How many rows a scan delivers: row numbers run from 0 to here."""
        return self.layout.read

    @property
    def rows(self) -> int:
        """How many rows there are, those that cannot be read included."""
        return self.read + self.unreadable.rows

    @property
    def unreadable(self) -> Unreadable:
        """What scans skip, with the first few places and reasons."""
        return self.layout.unreadable

    def ids(self, rows: Rows) -> pa.Array:
        """The user ids of row numbers: values of the id column, or without one the place of the row."""
        rows = np.asarray(rows, dtype=np.int64)
        if self.layout.ids is None:
            return self._places(rows)
        taken = self.layout.ids.take(pa.array(rows)).combine_chunks()
        return taken.chunk(0) if isinstance(taken, pa.ChunkedArray) else taken

    @abstractmethod
    def kept(self, mask: Mask, edits: Edits | None = None) -> Any:
        """The rows where `mask` is true, in the form the source was given where that is natural."""

    @abstractmethod
    def write_kept(self, folder: Path, mask: Mask, edits: Edits | None = None) -> list[Path]:
        """Write the rows where `mask` is true, with all columns, into `folder`; gives the files written."""

    #: Whether what it reads is in memory anyway.
    in_memory = False

    @property
    @abstractmethod
    def format(self) -> str:
        """What the rows come from, such as `jsonl` or `polars.DataFrame`."""

    @property
    def text_column(self) -> str:
        """The column of the text in what `write_kept` writes."""
        return self.wanted.text

    @property
    def labels(self) -> list[str]:
        """What rows without an id are called by before their number; none if that is by the number alone."""
        return []

    @property
    @abstractmethod
    def order(self) -> str:
        """What the order of rows is, in words."""

    @property
    @abstractmethod
    def bytes(self) -> int:
        """Size of the input as it lies there: of the files, or in memory."""

    def least_bytes(self) -> int:
        """How many bytes of text there are at least, as far as that is known without reading it."""
        return 0

    def close(self) -> None:
        """Give up temporary files, if there are any."""
        self._resources.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def _read(self, faults: Faults, census: Census, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        """Deliver all rows as settled batches of any size, file by file, counted by `census`."""

    @abstractmethod
    def _places(self, rows: Rows) -> pa.Array:
        """Ids for rows of a source without an id column."""

    @abstractmethod
    def _place(self, layout: Layout, row: int) -> str:
        """Where a row lies, for error messages."""

    def _nothing_to_read(self, unreadable: Unreadable) -> EmptySourceError:
        if unreadable.rows or unreadable.files:
            first = unreadable.places[0]
            return EmptySourceError(
                f"nothing could be read: {several(unreadable.rows, 'row')} and "
                f"{several(unreadable.files, 'file')} were skipped; the first was {first}"
            )
        return EmptySourceError("there is nothing to read: the input has no rows")
