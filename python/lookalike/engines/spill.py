"""Batches on disk: what does not fit the memory budget waits in a file until it is asked for.

A spill file has no name: it is gone when its last batch is, however the process ends. Every batch carries a
checksum, so what comes back is what was written, or an error.
"""

from __future__ import annotations

import errno
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias, overload

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.errors import ArtefactError, OutputError
from lookalike.types import I64, U32


class SpillFile:
    """A file of batches of one schema, written at its end and read anywhere; many threads may read."""

    def __init__(self, schema: pa.Schema, folder: Path | None) -> None:
        self._schema = schema
        self._folder = Path(tempfile.gettempdir()) if folder is None else folder
        self._end = 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._unusable(error) from error

    def append(self, batch: pa.RecordBatch) -> Spilled:
        """Put a batch on disk."""
        message = batch.serialize()
        try:
            view, offset = memoryview(message), self._end
            while len(view):
                view = view[os.pwrite(self._file.fileno(), view, self._end) :]
                self._end = offset + message.size - len(view)
        except OSError as error:
            raise self._unusable(error) from error
        numbers = row_numbers(batch) if "row" in batch.schema.names else None
        return Spilled(self, offset, message.size, _checksum(message), batch.num_rows, _kept_small(numbers))

    def read(self, offset: int, size: int, checksum: int) -> pa.RecordBatch:
        """The batch that was put at an offset."""
        stored = pa.py_buffer(os.pread(self._file.fileno(), size, offset))
        if stored.size != size or _checksum(stored) != checksum:
            raise ArtefactError(
                f"what was set aside in {self._folder} came back changed: its disk or the memory is failing"
            )
        return pa.ipc.read_record_batch(stored, self._schema)

    def _unusable(self, error: OSError) -> OutputError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "is full" if full else f"cannot be used ({error.strerror})"
        return OutputError(
            f"{self._folder}, where work waits that does not fit memory, {what}: make room there, choose "
            "another folder with --scratch, or allow more with --memory"
        )


def _checksum(message: pa.Buffer) -> int:
    return _core.checksum(np.frombuffer(message, np.uint8))


class OnDisk(ABC):
    """A batch on disk."""

    num_rows: int
    nbytes: int
    #: The numbers of its rows, if they are known without reading it.
    numbers: range | U32 | None

    @abstractmethod
    def load(self) -> pa.RecordBatch:
        """Bring it back."""


@dataclass(frozen=True, eq=False)
class Spilled(OnDisk):
    """A batch in a spill file."""

    file: SpillFile
    offset: int
    nbytes: int
    checksum: int
    num_rows: int
    numbers: range | U32 | None

    def load(self) -> pa.RecordBatch:
        """Bring it back."""
        return self.file.read(self.offset, self.nbytes, self.checksum)


Piece: TypeAlias = "pa.RecordBatch | OnDisk"


def loaded(piece: Piece) -> pa.RecordBatch:
    """A batch, wherever it is."""
    return piece.load() if isinstance(piece, OnDisk) else piece


def row_numbers(piece: Piece) -> I64:
    """The column `row` of a batch, wherever it is."""
    if isinstance(piece, OnDisk) and piece.numbers is not None:
        return np.asarray(piece.numbers, np.int64)
    numbers: I64 = loaded(piece)["row"].to_numpy().astype(np.int64, copy=False)
    return numbers


def _kept_small(numbers: I64 | None) -> range | U32 | None:
    """Row numbers in few bytes: mostly they follow one another."""
    if numbers is None:
        return None
    if len(numbers) and bool(np.all(numbers == np.arange(numbers[0], numbers[0] + len(numbers)))):
        return range(int(numbers[0]), int(numbers[0]) + len(numbers))
    return numbers.astype(np.uint32)


class Batches(Sequence[pa.RecordBatch]):
    """Batches in memory and on disk; one that is on disk is read whenever it is asked for."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = tuple(pieces)
        self.rows = sum(piece.num_rows for piece in self.pieces)
        self.nbytes = sum(piece.nbytes for piece in self.pieces)
        #: Whether all of them are in memory.
        self.at_hand = not any(isinstance(piece, OnDisk) for piece in self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return map(loaded, self.pieces)

    @overload
    def __getitem__(self, place: int) -> pa.RecordBatch: ...
    @overload
    def __getitem__(self, place: slice) -> Batches: ...
    def __getitem__(self, place: int | slice) -> pa.RecordBatch | Batches:
        if isinstance(place, slice):
            return Batches(self.pieces[place])
        return loaded(self.pieces[place])
