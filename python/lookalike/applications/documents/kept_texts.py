"""The texts that an earlier run kept, read again: from its kept/, or from its input if it wrote a drop list.

Every file is checked while it is read, and what was read counts once it fits: files of kept/ by the checksums
in run.json, input files by the fingerprints that the run took of them.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.batching import batch_bytes_of
from lookalike.engines import Engine
from lookalike.errors import ArtefactError, SourceError
from lookalike.io import FileSource, OnError, Source, open_files
from lookalike.io.batching import regroup
from lookalike.io.units import Unit, split_units
from lookalike.runs import Fingerprint
from lookalike.types import I64

TEXT_SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The files that a run with a drop list read: later runs find the texts it kept there, and only there.

    Paths are absolute. Rows that cannot be read are treated as they were, so that rows are counted alike.
    """

    files: tuple[Fingerprint, ...]
    on_error: OnError

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"files": [file.to_dict() for file in self.files], "on_error": self.on_error}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Inputs:
        """Back from JSON values."""
        files = tuple(Fingerprint.from_dict(file) for file in stored["files"])
        return cls(files=files, on_error=stored["on_error"])


def inputs_of(source: Source) -> Inputs:
    """The files of a source as they are now; none of standard input and of what was in memory.

    Raises
    ------
    SourceError
        If one was changed since it was read.
    """
    if not isinstance(source, FileSource) or source.spooled:
        return Inputs(files=(), on_error="raise")
    source.check_unchanged()
    files = Fingerprint.of_all(os.path.abspath(path) for path in source.paths)
    return Inputs(files=tuple(files), on_error=source.on_error)


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptTexts:
    """Texts by place.

    Attributes
    ----------
    files
        Paths, sorted, each with how many documents or units it holds.
    text, on_error, unit
        The column of the text, what to do with rows that cannot be read, and what a text is.
    items
        Which document or unit, counted through the files, is at each place; None if each is at its number.
    check
        Raises an error if a file is not what it was.
    """

    files: Sequence[tuple[Path, int]]
    text: str
    on_error: OnError
    unit: Unit
    items: I64 | None
    check: Callable[[Path], None]

    def read(self, places: I64 | None, first: int, *, engine: Engine) -> Iterator[pa.RecordBatch]:
        """The texts at some places, which are sorted, or at all: `row`, numbered on from `first`, `text`."""
        return regroup(self._checked(self._items_at(places), first, engine), batch_bytes_of(engine))

    def holding(self, places: I64) -> list[Path]:
        """The files that hold a text at some places, which are sorted."""
        return [path for path, _, _ in self._needed(self._items_at(places))]

    def _items_at(self, places: I64 | None) -> I64 | None:
        if self.items is None:
            return places
        return self.items if places is None else self.items[places]

    def _needed(self, items: I64 | None) -> list[tuple[Path, int, int]]:
        """Files that hold some items, or all: path, the number of the first item, and how many."""
        starts = list(accumulate((count for _, count in self.files), initial=0))
        return [
            (path, start, count)
            for (path, count), start in zip(self.files, starts, strict=False)
            if items is None or np.searchsorted(items, start) < np.searchsorted(items, start + count)
        ]

    def _checked(self, items: I64 | None, first: int, engine: Engine) -> Iterator[pa.RecordBatch]:
        needed = self._needed(items)
        if not needed:
            return
        with ThreadPoolExecutor(1) as pool:
            checks = [pool.submit(self.check, path) for path, _, _ in needed]
            try:
                yield from self._read_files(needed, items, first, engine)
            except (SourceError, ArtefactError):
                # What cannot be read is probably not what was written, and that says more.
                for check in checks:
                    check.result()
                raise
            for check in checks:
                check.result()

    def _read_files(
        self, needed: list[tuple[Path, int, int]], items: I64 | None, first: int, engine: Engine
    ) -> Iterator[pa.RecordBatch]:
        # Sources go by the order of paths, in which the files are listed.
        begun = np.cumsum([0, *(count for _, _, count in needed)])
        shift = np.array([start for _, start, _ in needed]) - begun[:-1]
        paths = [path for path, _, _ in needed]
        with open_files(paths, text=self.text, on_error=self.on_error) as source:
            source.room = engine.stage_bytes
            done = 0
            for batch in source.scan(batch_bytes_of(engine)):
                text = batch["text"]
                if self.unit != "document":
                    text = split_units(text, self.unit).contents()
                arrived = np.arange(done, done + len(text))
                done += len(text)
                # More than the run counted is an error, once all is read.
                file = np.minimum(np.searchsorted(begun, arrived, side="right"), len(shift)) - 1
                at = arrived + shift[file]
                if items is not None:
                    found = np.searchsorted(items, at)
                    wanted = np.append(items, -1)[found] == at
                    at, text = found[wanted], text.filter(pa.array(wanted))
                yield pa.record_batch([pa.array(at + first), text], schema=TEXT_SCHEMA)
        if done != begun[-1]:
            what = "documents" if self.unit == "document" else f"{self.unit}s"
            raise ArtefactError(
                f"{paths[0].parent} gives {done:,} {what} where the run counted {int(begun[-1]):,}: "
                "run the earlier job again"
            )


def check_input(then: Fingerprint) -> None:
    """Whether an input file is what an earlier run read.

    Raises
    ------
    SourceError
        If it is gone or another.
    """
    now = Fingerprint.of(then.path, whole=then.whole is not None)
    said = dataclasses.replace(now, path=then.path).differs(then)
    if said is not None:
        raise SourceError(said)
