"""Batches on disk: what does not fit the memory budget waits in a file until it is asked for.

A spill file has no name: it is gone when its last batch is, however the process ends. Every batch carries a
checksum, so what comes back is what was written, or an error.
"""

from __future__ import annotations

import errno
import os
import tempfile
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Self, TypeAlias, overload

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.widths import Widths, kept_widths
from lookalike.errors import ArtefactError, ScratchError
from lookalike.types import I64, U8, U32

#: What to do when the disk has no room for it.
ADVICE = "make room there, choose another folder (scratch='FOLDER'), or allow more memory (memory='8GB')"


class SpillFile:
    """A file of batches, written at its end and read anywhere; many threads may write and read."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = Path(tempfile.gettempdir()) if folder is None else folder
        #: How many bytes were written, or are being written.
        self.size = 0
        #: The process that may write: a forked one would write to the same places.
        self.owner = os.getpid()
        self._lock = threading.Lock()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._unusable(error) from error
        self._descriptor = file.fileno()
        weakref.finalize(self, file.close)

    def append(self, batch: pa.RecordBatch) -> Spilled:
        """Put a batch on disk."""
        message = batch.serialize()
        with self._lock:
            offset = self.size
            self.size += message.size
        try:
            view, at = memoryview(message), offset
            while len(view):
                written = os.pwrite(self._descriptor, view, at)
                view, at = view[written:], at + written
        except OSError as error:
            raise self._unusable(error) from error
        widths = kept_widths(batch)
        return Spilled(
            file=self,
            schema=batch.schema,
            offset=offset,
            stored=message.size,
            nbytes=batch.nbytes,
            checksum=_core.checksum(np.frombuffer(message, np.uint8)),
            num_rows=batch.num_rows,
            # Of rows whose widths are kept, since some may be fetched from among them, numbers are too.
            numbers=in_a_row(batch) if widths is None else _known_numbers(batch),
            widths=widths,
        )

    def read(self, offset: int, size: int) -> U8:
        """The bytes at an offset; fewer than asked for if there are no more."""
        stored = np.empty(size, np.uint8)
        view, at = stored.data, offset
        # The system hands out 2 GiB at a time.
        while len(view) and (got := os.preadv(self._descriptor, [view], at)):
            view, at = view[got:], at + got
        return stored[: at - offset]

    def changed(self) -> ArtefactError:
        """What to say of a batch that is not what it was."""
        return ArtefactError(
            f"what was set aside in {self._folder} came back changed: its disk or the memory is failing"
        )

    def _unusable(self, error: OSError) -> ScratchError:
        return unusable(self._folder, error)


def unusable(folder: Path, error: OSError) -> ScratchError:
    """What to say of a folder in which nothing can wait."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    what = "is full" if full else f"cannot be used ({error.strerror})"
    return ScratchError(f"{folder}, where work waits that does not fit memory, {what}: {ADVICE}")


def in_a_row(batch: pa.RecordBatch) -> range | None:
    """The numbers of rows that follow one another, as they mostly do where rows have numbers."""
    if "row" not in batch.schema.names or not pa.types.is_integer(batch.schema.field("row").type):
        return None
    numbers = batch["row"].to_numpy()
    if not len(numbers):
        return range(0)
    first, count = int(numbers[0]), len(numbers)
    # Where they do not, the last one mostly tells.
    if int(numbers[-1]) != first + count - 1 or not np.array_equal(numbers, np.arange(first, first + count)):
        return None
    return range(first, first + count)


def _known_numbers(batch: pa.RecordBatch) -> range | U32 | None:
    """The numbers of rows in as few bytes as they take; None of numbers that would take more."""
    following = in_a_row(batch)
    if following is not None or not pa.types.is_integer(batch.schema.field("row").type):
        return following
    numbers = batch["row"].to_numpy()
    if int(numbers.min()) < 0 or int(numbers.max()) >= 2**32:
        return None
    narrow: U32 = numbers.astype(np.uint32)
    return narrow


class OnDisk(ABC):
    """A batch on disk."""

    num_rows: int
    nbytes: int
    #: The numbers of its rows, if they are known without reading it.
    numbers: range | I64 | U32 | None
    #: About how many bytes each of its rows takes, if it has numbered rows that differ in it.
    widths: Widths | None

    @abstractmethod
    def load(self) -> pa.RecordBatch:
        """Bring it back."""

    @classmethod
    def load_all(cls, pieces: Iterable[Self]) -> Iterator[pa.RecordBatch]:
        """Bring back several of one kind, each when it is asked for."""
        return (piece.load() for piece in pieces)


@dataclass(frozen=True, eq=False, kw_only=True)
class Spilled(OnDisk):
    """A batch in a spill file."""

    file: SpillFile
    schema: pa.Schema
    offset: int
    #: How many bytes it takes on disk,
    stored: int
    #: and in memory.
    nbytes: int
    checksum: int
    num_rows: int
    numbers: range | U32 | None
    widths: Widths | None

    def load(self) -> pa.RecordBatch:
        """Bring it back."""
        stored = self.file.read(self.offset, self.stored)
        if len(stored) != self.stored or _core.checksum(stored) != self.checksum:
            raise self.file.changed()
        return pa.ipc.read_record_batch(pa.py_buffer(stored), self.schema)


Piece: TypeAlias = "pa.RecordBatch | OnDisk"


def loaded(piece: Piece) -> pa.RecordBatch:
    """A batch, wherever it is."""
    return piece.load() if isinstance(piece, OnDisk) else piece


def in_order(pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
    """Batches one after the other, wherever they are, each brought in when it is asked for."""
    for kind, alike in groupby(pieces, type):
        if issubclass(kind, OnDisk):
            yield from kind.load_all(alike)
        else:
            yield from alike


def row_numbers(piece: Piece) -> I64 | range:
    """The column `row` of a batch, wherever it is; as a range if they follow one another."""
    if isinstance(piece, OnDisk) and piece.numbers is not None:
        known = piece.numbers
        return known if isinstance(known, range) else known.astype(np.int64, copy=False)
    batch = loaded(piece)
    following = in_a_row(batch)
    if following is not None:
        return following
    numbers: I64 = batch["row"].to_numpy().astype(np.int64)
    return numbers


class Batches(Sequence[pa.RecordBatch]):
    """Batches in memory and on disk; one that is on disk is read whenever it is asked for."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = tuple(pieces)
        self.rows = sum(piece.num_rows for piece in self.pieces)
        #: Whether all of them are in memory.
        self.at_hand = not any(isinstance(piece, OnDisk) for piece in self.pieces)

    @cached_property
    def nbytes(self) -> int:
        """How many bytes they take. Told when asked for: Arrow needs long to say it of a wide batch."""
        return sum(piece.nbytes for piece in self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return in_order(self.pieces)

    @overload
    def __getitem__(self, place: int) -> pa.RecordBatch: ...
    @overload
    def __getitem__(self, place: slice) -> Batches: ...
    def __getitem__(self, place: int | slice) -> pa.RecordBatch | Batches:
        if isinstance(place, slice):
            return Batches(self.pieces[place])
        return loaded(self.pieces[place])
