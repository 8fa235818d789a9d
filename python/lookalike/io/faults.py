"""What happens to a row that cannot be read: stop there, or count it, say where, and go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from lookalike.errors import MalformedRowError, OptionError, SourceError

OnError = Literal["raise", "skip"]

# Enough to see what is wrong with a file; a broken terabyte must not fill the report.
_PLACES_KEPT = 20


class UnreadableFileError(Exception):
    """A file turns out not to be what its name says; caught where files are opened."""


class Fault(NamedTuple):
    """One thing that could not be read: in which file, where in it, and why."""

    path: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, {self.place}: {self.reason}" if self.place else f"{self.path}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """What a scan had to skip.

    `rows` rows could not be read, and `files` files not at all or not to their end (how many rows those hold
    is not known); `places` tells the first few of both.
    """

    rows: int = 0
    files: int = 0
    places: tuple[Fault, ...] = ()


class Faults:
    """Follows one scan through its files and raises or counts what cannot be read."""

    def __init__(self, on_error: OnError = "raise") -> None:
        if on_error not in get_args(OnError):
            raise OptionError(f"on_error={on_error!r} is unknown: choose raise or skip")
        #: Whether to go on after what cannot be read.
        self.skip = on_error == "skip"
        self._path = ""
        self._bad: list[int] = []
        self._rows = 0
        self._files = 0
        self._places: list[Fault] = []

    def open(self, path: str) -> None:
        """Begin the file `path`."""
        self._path = path
        self._bad = []

    def row(self, row: int, place: str, reason: str) -> None:
        """Row number `row` of the open file cannot be read."""
        self.rows(range(row, row + 1), place, reason)

    def rows(self, rows: range, place: str, reason: str) -> None:
        """Several rows of the open file cannot be read, for one reason."""
        fault = Fault(self._path, place, reason)
        if not self.skip:
            raise MalformedRowError(f"{fault}. Mend it, or count and skip such rows with on_error='skip'")
        self._bad.extend(rows)
        self._rows += len(rows)
        self._note(fault)

    def file(self, reason: str, place: str = "") -> None:
        """The open file cannot be read, at all or from `place` on."""
        fault = Fault(self._path, place, reason)
        if not self.skip:
            raise SourceError(f"{fault}. Replace the file, or count and skip such files with on_error='skip'")
        self._files += 1
        self._note(fault)

    def bad_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the open file that could not be read, in order."""
        return np.sort(np.array(self._bad, dtype=np.int64))

    def unreadable(self) -> Unreadable:
        """The account so far."""
        return Unreadable(rows=self._rows, files=self._files, places=tuple(self._places))

    def _note(self, fault: Fault) -> None:
        if len(self._places) < _PLACES_KEPT:
            self._places.append(fault)
