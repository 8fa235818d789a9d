"""Transaction files: one set a line, its tokens between white space or a separator of the user's.

A line is a row like any other, known by file and row; a blank line is the empty set. What the tokens of a
line are is decided where they are hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from lookalike.errors import OptionError
from lookalike.io.columns import Wanted, missing_column, settle
from lookalike.io.edits import FileEdits
from lookalike.io.faults import Faults, OnError, UnreadableFileError
from lookalike.io.files import FileSource
from lookalike.io.format import Format, InputFile, ReadPlan
from lookalike.io.inputs import STANDARD_INPUT, find_files, standard_input_file
from lookalike.io.layout import Mask
from lookalike.io.records import CHUNK_BYTES, BrokenStreamError, Chunk, Split, read_chunks, write_records
from lookalike.io.spool import Spool
from lookalike.io.stream import COMPRESSIONS

#: Files that are no lines of tokens, whatever is in them.
_BINARY = (".parquet", ".npz", ".npy", ".arrow", ".zip", ".bz2", ".xz")
_READABLE = f"anything but {', '.join(_BINARY)}"
#: Endings of files that have columns.
_TABLES = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")


class SetLines(Format):
    """A set a line; blank lines are rows, since they are sets too."""

    name = "lines"

    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """Nothing to learn but whether the file can be opened: a line has no further columns."""
        for name in wanted.names[1:]:
            raise missing_column(name, file.label, [], within=" (a line is one set)")
        with file.open() as stream:
            try:
                next(read_chunks(stream, split_every_line, 1), None)
            except BrokenStreamError as error:
                raise UnreadableFileError(error.reason) from error
        return pa.schema([(wanted.text, pa.large_string())])

    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read the lines chunk by chunk."""
        with file.open() as stream:
            try:
                for chunk in read_chunks(stream, split_every_line, min(CHUNK_BYTES, plan.batch_bytes)):
                    yield settle(
                        [_lines(chunk)],
                        plan.schema,
                        plan.wanted,
                        faults,
                        rows=chunk.first_row + np.arange(len(chunk)),
                        place=lambda at, chunk=chunk: f"line {chunk.line(at)}",  # type: ignore[misc]
                    )
            except BrokenStreamError as error:
                faults.file(f"it cannot be read on ({error.reason})", f"line {error.line}")

    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Write the kept lines byte for byte; a line is a set, and nothing in it is edited."""
        write_records(file, target, keep, split_every_line)


def is_table_file(path: str | Path) -> bool:
    """Whether a file's name says that it holds a table, which is no set a line unless somebody says so."""
    return Path(str(path).removesuffix(".gz").removesuffix(".zst")).suffix.lower() in _TABLES


def split_every_line(data: bytes, *, final: bool) -> Split:
    """Split into lines, blank ones included."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
    lines = len(ends)
    if final and (int(ends[-1]) if lines else 0) < len(data):
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64) if len(ends) else np.empty(0, np.int64)
    consumed = int(ends[-1]) if len(ends) else 0
    return Split(starts=starts, ends=ends, consumed=consumed, lines=lines, flaws={})


def _lines(chunk: Chunk) -> pa.Array:
    """The lines of a chunk with their line breaks, where they lie; whether it is UTF-8 is settled later."""
    offsets = np.append(chunk.starts, chunk.ends[-1:]).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(chunk.data)]
    return pa.Array.from_buffers(pa.large_string(), len(chunk), buffers)


def open_set_lines(
    inputs: Iterable[str | Path] | str | Path,
    *,
    on_error: OnError = "raise",
    scratch: Path | None = None,
    wanted: Wanted | None = None,
) -> FileSource:
    """Open transaction files, whatever their names end in; plain, .gz or .zst; or `-`.

    A batch of a scan has one column, `text`: the lines as they are, or what `wanted` makes of them.

    Raises
    ------
    SourceError
        If an input is missing, or is clearly no text.
    """
    given = [inputs] if isinstance(inputs, (str, Path)) else list(inputs)
    if not given:
        raise OptionError("no input was named: name files, folders, globs, or - for standard input")
    form, wanted = SetLines(), wanted or Wanted()
    if [str(name) for name in given] == [STANDARD_INPUT]:
        spool = Spool(folder=scratch, holds="a set a line")
        return FileSource([standard_input_file(spool.path, form)], wanted, on_error, spool=spool)

    def kind(path: Path) -> tuple[Format, str | None] | None:
        suffix = path.suffix.lower()
        return None if suffix in _BINARY else (form, COMPRESSIONS.get(suffix))

    files, passed_over = find_files(given, kind, _READABLE)
    return FileSource(files, wanted, on_error, passed_over=passed_over)
