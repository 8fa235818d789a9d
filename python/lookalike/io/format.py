"""What a file format must offer, and one file of it."""

from __future__ import annotations

import errno
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import pyarrow as pa

from lookalike.io.columns import Wanted
from lookalike.io.edits import FileEdits
from lookalike.io.faults import Faults
from lookalike.io.layout import Mask
from lookalike.io.stream import BOM, read_stream


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """One file to read: where it lies, what users call it, and what its kept rows are to be called."""

    path: Path
    label: str
    name: PurePosixPath
    format: Format
    compression: str | None = None

    def open(self) -> AbstractContextManager[Any]:
        """A stream of what the file holds, decompressed."""
        return read_stream(self.path, self.compression)

    def has_bom(self) -> bool:
        """Whether the file begins with a byte order mark."""
        with self.open() as stream:
            return bytes(stream.read(len(BOM))) == BOM

    def denied(self) -> str | None:
        """Why the file cannot be read, as far as the system says so unopened; None if it can."""
        try:
            if self.path.is_symlink() and not self.path.exists():
                return "a link to what is not there"
            # Not opened: a pipe without a writer would make us wait for one.
            if not stat.S_ISREG(self.path.stat().st_mode):
                return "a pipe or a device, and files are read more than once"
            return None if os.access(self.path, os.R_OK) else os.strerror(errno.EACCES)
        except OSError as error:
            return str(error.strerror)

    def stamp(self) -> tuple[int, int]:
        """What changes when the file is written to: its size and the time of the last change."""
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns


class Format(ABC):
    """Reads and writes files of one kind. It holds no state."""

    name: ClassVar[str]
    #: Whether to read a file again is about as fast as to read a copy of its texts.
    fast: ClassVar[bool] = False

    @abstractmethod
    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """The types of the wanted columns, in their order, from as little of the file as possible.

        Raises
        ------
        MissingColumnError
            If one is not there.
        SourceError
            If the file is not of this format after all.
        """

    @abstractmethod
    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns as settled batches, and tell `faults` what cannot be read."""

    def least_bytes(self, file: InputFile, wanted: Wanted) -> int:
        """How many bytes of text the file holds at least, as far as that is known without reading it."""
        return 0

    @abstractmethod
    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Write the rows of `file` where `keep` is true to `target`, in the same format and compression."""


@dataclass(frozen=True, kw_only=True)
class ReadPlan:
    """How a file is to be read: `own` are the types that lie in it, `schema` those to deliver.

    `checked` says that it was read before, and no row was bad; `room` how many bytes may be in hand, None
    for as many as is fast.
    """

    wanted: Wanted
    own: pa.Schema
    schema: pa.Schema
    batch_bytes: int
    checked: bool = False
    room: int | None = None
