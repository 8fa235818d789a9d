"""Text files as records (lines of jsonl, rows of csv), in chunks that hold whole records.

The same split serves reading and writing, so row 17 of a scan is row 17 of what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import pyarrow as pa

from lookalike.io.edits import FileEdits
from lookalike.io.format import InputFile
from lookalike.io.layout import Mask, Rows
from lookalike.io.stream import BOM, write_stream

# Streams are read in steps of one size whatever the chunk's: what is lost where a compressed file breaks
# off must not depend on how large a caller wants its batches.
STEP = 1 << 18

CHUNK_BYTES = 16 << 20

#: Records are written by fewer bytes at a time: it is as fast, and a run with little memory has it to spare.
WRITTEN_BYTES = 2 << 20
#: By fewer still where texts are edited: to cut a text into units takes some thirty times its bytes.
EDITED_BYTES = 1 << 18

# A record beyond this is a sign of something else: a quote never closed, a file that is no text.
LONGEST_RECORD = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Split:
    """Where the records of some bytes lie; `ends` are past the line break."""

    starts: Rows
    ends: Rows
    consumed: int
    """Bytes that hold whole records; the rest belongs to the next."""
    lines: int
    """Lines in them."""
    flaws: dict[int, str]
    """Records already known to be broken, and why."""


class Splitter(Protocol):
    """Finds the records of a format."""

    def __call__(self, data: bytes, *, final: bool) -> Split:
        """Split `data`, which begins with a record; `final` if no more will follow."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Whole records of a file, in the bytes they were read in."""

    data: bytes
    starts: Rows
    ends: Rows
    first_row: int
    first_line: int
    flaws: dict[int, str]

    def __len__(self) -> int:
        return len(self.starts)

    def record(self, position: int) -> bytes:
        """One record without its line break."""
        return self.data[self.starts[position] : self.ends[position]].rstrip(b"\r\n")

    def line(self, position: int) -> int:
        """The line of the file on which a record begins, counted from 1."""
        return self.first_line + int(np.searchsorted(self._newlines, self.starts[position]))

    @cached_property
    def _newlines(self) -> Rows:
        # Counted only when a line number is asked for, and then once for all of them.
        return np.flatnonzero(np.frombuffer(self.data, dtype=np.uint8) == ord("\n"))

    def write(self, keep: Mask, out: IO[bytes], instead: Mapping[int, bytes] | None = None) -> None:
        """Write the records where `keep` is true, byte for byte but for those that others stand in for."""
        chosen = np.flatnonzero(keep)
        if instead:
            for at in chosen.tolist():
                whole = self.data[self.starts[at] : self.ends[at]]
                record = self.record(at)
                out.write(instead.get(at, record) + whole[len(record) :])
            return
        if not len(chosen):
            return
        # Neighbours are written as one run; blank lines between records end a run and are not written.
        breaks = np.flatnonzero(self.ends[chosen[:-1]] != self.starts[chosen[1:]]) + 1
        view = memoryview(self.data)
        for begin, end in pairwise([0, *breaks.tolist(), len(chosen)]):
            out.write(view[self.starts[chosen[begin]] : self.ends[chosen[end - 1]]])

    def without_first(self) -> Chunk:
        """The chunk without its first record, which does not count as a row: the header of a csv file."""
        flaws = {position - 1: reason for position, reason in self.flaws.items() if position}
        return Chunk(
            data=self.data,
            starts=self.starts[1:],
            ends=self.ends[1:],
            first_row=self.first_row + 1,
            first_line=self.first_line,
            flaws=flaws,
        )


class BrokenStreamError(Exception):
    """A file cannot be read past some line; records before it have been given."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def read_chunks(
    stream: Any, split: Splitter, chunk_bytes: int = CHUNK_BYTES, *, header: bool = False
) -> Iterator[Chunk]:
    """Read a stream as chunks of about `chunk_bytes`, at least a record each; a byte order mark is left out.

    With a `header` the first record is row -1, so that rows still count from 0.

    Raises
    ------
    BrokenStreamError
        Where the stream cannot be read on.
    """
    row, line, goal = -1 if header else 0, 1, max(chunk_bytes, len(BOM))
    parts: list[bytes] = []
    size = 0
    beginning = True
    while True:
        broken = None
        try:
            piece = stream.read(STEP)
        except OSError as error:
            piece, broken = b"", str(error)
        parts.append(piece)
        size += len(piece)
        if piece and size < goal:
            continue
        data = b"".join(parts)
        if beginning:
            data = data.removeprefix(BOM)
            beginning = False
        found = split(data, final=not piece and broken is None)
        if len(found.starts):
            yield Chunk(
                data=data[: found.consumed],
                starts=found.starts,
                ends=found.ends,
                first_row=row,
                first_line=line,
                flaws=found.flaws,
            )
        row += len(found.starts)
        line += found.lines
        if broken is not None:
            raise BrokenStreamError(line, broken)
        if not piece:
            return
        rest = data[found.consumed :]
        if len(rest) > LONGEST_RECORD:
            raise BrokenStreamError(line, f"a record is longer than {LONGEST_RECORD >> 20} MiB")
        parts, size = [rest], len(rest)
        # A record that fills the chunk makes the next one twice as large, so that its bytes are not joined
        # again and again.
        goal = max(chunk_bytes, 2 * size)


#: The records at some positions of a chunk, as they are written instead.
Rewrite = Callable[[Chunk, Rows], list[bytes]]


def write_records(
    file: InputFile,
    target: Path,
    keep: Mask,
    split: Splitter,
    *,
    header: bool = False,
    rewrite: Rewrite | None = None,
    edits: FileEdits | None = None,
) -> None:
    """Write the records where `keep` is true byte for byte, after the header record if there is one.

    Those that `edits` change are written as `rewrite` says.
    """
    with file.open() as stream, write_stream(target, file.compression) as out:
        if file.has_bom():
            out.write(BOM)
        done = 0
        at_once = WRITTEN_BYTES if edits is None else EDITED_BYTES
        for chunk in read_chunks(stream, split, at_once, header=header):
            if chunk.first_row < 0:
                chunk.write(np.arange(len(chunk)) == 0, out)
                chunk = chunk.without_first()
            here = keep[done : done + len(chunk)]
            instead: dict[int, bytes] = {}
            if edits is not None and rewrite is not None:
                changed = np.flatnonzero(here & edits.changed(done + np.arange(len(here))))
                if len(changed):
                    instead = dict(zip(changed.tolist(), rewrite(chunk, changed), strict=True))
            chunk.write(here, out, instead)
            done += len(chunk)
            # A file that breaks off is not read beyond its last whole record.
            if done >= len(keep):
                break


def split_lines(data: bytes, *, final: bool) -> Split:
    """Split into lines; lines of white space alone are no records."""
    view = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(view == ord("\n")) + 1
    lines = len(ends)
    consumed = int(ends[-1]) if lines else 0
    if final and consumed < len(data):
        ends = np.append(ends, len(data))
        consumed = len(data)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64) if len(ends) else np.empty(0, np.int64)
    blank = [
        at
        for at in np.flatnonzero(view[starts] <= ord(" "))
        if not data[starts[at] : ends[at]].strip(b" \t\r\n")
    ]
    return Split(
        starts=np.delete(starts, blank), ends=np.delete(ends, blank), consumed=consumed, lines=lines, flaws={}
    )


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8; Arrow answers several times as fast as decoding would."""
    offsets = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
