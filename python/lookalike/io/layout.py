"""Which row numbers belong to which file, and which rows of a file have none because they cannot be read.

Row numbers count the rows a scan delivers, over all files. A row in a file counts every row there, readable
or not, so that it can be found again with other tools.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike.errors import InternalError
from lookalike.io.faults import Faults, Unreadable

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a finished scan knows about its source."""

    starts: Rows
    """First row number of each file, and one more: the number of rows."""
    bad: dict[int, Rows]
    """Per file that has any, the rows in it that could not be read, ascending."""
    unreadable: Unreadable
    ids: pa.ChunkedArray | None

    @property
    def read(self) -> int:
        """How many rows were read."""
        return int(self.starts[-1])

    def check(self, mask: Mask) -> None:
        """Raise unless `mask` has a boolean for every row number."""
        if len(mask) != self.read or mask.dtype != np.bool_:
            raise InternalError(
                f"a mask of {len(mask)} ({mask.dtype}) was given to choose from {self.read} rows: "
                "please report it"
            )

    def locate(self, rows: Rows) -> tuple[Rows, Rows]:
        """The file of each row number, and its row in that file."""
        files = np.searchsorted(self.starts, rows, side="right") - 1
        inside = rows - self.starts[files]
        for file, bad in self.bad.items():
            here = files == file
            # bad[k] - k readable rows precede the k-th unreadable one; all those at or before the row shift
            # it.
            inside[here] += np.searchsorted(bad - np.arange(len(bad)), inside[here], side="right")
        return files, inside

    def rows_of(self, file: int, kept: Mask) -> Mask:
        """The part of `kept` that belongs to `file`, over all rows in it; False where they are unreadable."""
        self.check(kept)
        mine = kept[self.starts[file] : self.starts[file + 1]]
        bad = self.bad.get(file)
        if bad is None:
            return mine
        everything = np.ones(len(mine) + len(bad), dtype=bool)
        everything[bad] = False
        everything[everything] = mine
        return everything

    def numbers_of(self, file: int) -> Rows:
        """The row number of every row in `file`; −1 where it is unreadable."""
        start, stop = self.starts[file], self.starts[file + 1]
        numbers = np.full(int(stop - start) + len(self.bad.get(file, ())), -1, np.int64)
        readable = np.ones(len(numbers), np.bool_)
        readable[self.bad.get(file, np.empty(0, np.int64))] = False
        numbers[readable] = np.arange(start, stop)
        return numbers


class Census:
    """Counts while a scan lasts, and makes its layout at the end."""

    def __init__(self, *, collect_ids: bool) -> None:
        self._collect_ids = collect_ids
        self._counts: list[int] = []
        self._bad: dict[int, Rows] = {}
        self._ids: list[pa.Array] = []

    def open_file(self) -> None:
        """Begin the next file."""
        self._counts.append(0)

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch that is delivered."""
        self._counts[-1] += batch.num_rows
        if self._collect_ids:
            self._ids.append(batch.column(1))

    def close_file(self, bad: Rows) -> None:
        """End the file, of which the rows `bad` could not be read."""
        if len(bad):
            self._bad[len(self._counts) - 1] = bad

    def layout(self, faults: Faults) -> Layout:
        """The layout of everything counted."""
        starts = np.concatenate([[0], np.cumsum(self._counts, dtype=np.int64)]).astype(np.int64)
        ids = pa.chunked_array(self._ids) if self._ids else None
        return Layout(starts=starts, bad=self._bad, unreadable=faults.unreadable(), ids=ids)
