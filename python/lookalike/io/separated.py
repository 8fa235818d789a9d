"""csv and tsv: a header, then rows of fields, quoted by RFC 4180.

Every field is a string: 007 stays 007, and what is written out again is what was read, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from lookalike.errors import MissingColumnError
from lookalike.io.columns import Wanted, check_called_once, missing_column, not_utf8, settle
from lookalike.io.edits import FileEdits
from lookalike.io.faults import Faults, UnreadableFileError
from lookalike.io.format import Format, InputFile, ReadPlan
from lookalike.io.layout import Mask, Rows
from lookalike.io.quoting import RowSplitter
from lookalike.io.records import CHUNK_BYTES, BrokenStreamError, Chunk, is_utf8, read_chunks, write_records
from lookalike.wording import an, several

# Enough for any header; a chunk is never less than a row.
_PROBED_BYTES = 1 << 16

_BLOCK_BYTES = 1 << 20


class Separated(Format):
    """Fields between delimiters; empty lines are no rows."""

    def __init__(self, name: str, delimiter: str) -> None:
        self.name = name  # type: ignore[misc]
        self._delimiter = delimiter

    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """Names from the header; every column is of strings."""
        splitter = RowSplitter(self._delimiter)
        with file.open() as stream:
            try:
                chunk = next(read_chunks(stream, splitter, _PROBED_BYTES), None)
            except BrokenStreamError as error:
                raise UnreadableFileError(error.reason) from error
        if chunk is None:
            return pa.schema([(name, pa.null()) for name in wanted.names])
        header = self._header(chunk, splitter)
        for name in wanted.names:
            if name not in header:
                raise self._missing(name, file.label, header)
            check_called_once(name, file.label, header)
        return pa.schema([(name, pa.string()) for name in wanted.names])

    def _missing(self, name: str, label: str, header: list[str]) -> MissingColumnError:
        """The error for a missing column; if all columns are one, their separator is another."""
        other = next((mark for mark in ";\t,|" if len(header) == 1 and name in header[0].split(mark)), None)
        if other is None:
            return missing_column(name, label, header)
        return MissingColumnError(
            f"{label} has its columns separated by {other!r}, and {an(self.name)} has them by "
            f"{self._delimiter!r}: write it with those{', or call it .tsv' if other == chr(9) else ''}"
        )

    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns chunk by chunk."""
        splitter = RowSplitter(self._delimiter)
        parser = None
        with file.open() as stream:
            try:
                chunk_bytes = min(CHUNK_BYTES, plan.batch_bytes)
                for chunk in read_chunks(stream, splitter, chunk_bytes, header=True):
                    if parser is None:
                        header = self._header(chunk, splitter)
                        parser = _Parser(plan, header, self._delimiter, splitter)
                        chunk = chunk.without_first()
                    if len(chunk):
                        yield from parser.read(chunk, faults)
            except BrokenStreamError as error:
                faults.file(f"it cannot be read on ({error.reason})", f"line {error.line}")

    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Write the header and the kept rows byte for byte, but for edited texts."""
        splitter = RowSplitter(self._delimiter)
        number = 0
        if edits is not None:
            with file.open() as stream:
                header = self._header(next(read_chunks(stream, splitter, _PROBED_BYTES)), splitter)
            splitter, number = RowSplitter(self._delimiter), header.index(edits.column)

        def rewrite(chunk: Chunk, positions: Rows) -> list[bytes]:
            assert edits is not None
            rows = [chunk.record(int(at)) for at in positions]
            texts = pa.array([splitter.fields(row)[number] for row in rows], pa.large_binary())
            new = edits.apply(chunk.first_row + positions, texts.cast(pa.large_string())).to_pylist()
            return [
                splitter.with_field(row, number, text.encode()) for row, text in zip(rows, new, strict=True)
            ]

        write_records(file, target, keep, splitter, header=True, rewrite=rewrite, edits=edits)

    def _header(self, chunk: Chunk, splitter: RowSplitter) -> list[str]:
        record = chunk.record(0)
        reason = chunk.flaws.get(0) or _not_utf8(record)
        if reason is not None:
            raise UnreadableFileError(f"its header on line {chunk.line(0)} cannot be read: {reason}")
        return [field.decode("utf-8") for field in splitter.fields(record)]


class _Parser:
    """Parses chunks into settled batches: by Arrow if nothing is wrong, else row by row."""

    def __init__(self, plan: ReadPlan, header: list[str], delimiter: str, splitter: RowSplitter) -> None:
        import pyarrow.csv as pc

        self._plan = plan
        self._splitter = splitter
        self._width = len(header)
        self._wanted = [header.index(name) for name in plan.wanted.names]
        self._read_csv = pc.read_csv
        self._read_options = pc.ReadOptions
        # Columns go by number: names in a header may repeat where nobody asks for them.
        self._names = [str(number) for number in range(len(header))]
        self._delimiter = delimiter
        self._parse_options = pc.ParseOptions
        self._convert_options = pc.ConvertOptions(
            include_columns=[self._names[number] for number in sorted(set(self._wanted))],
            column_types={name: pa.large_string() for name in self._names},
            strings_can_be_null=False,
            check_utf8=False,
        )

    def read(self, chunk: Chunk, faults: Faults) -> Iterator[pa.RecordBatch]:
        table = self._whole(chunk)
        positions: Rows = np.arange(len(chunk))
        if table is None:
            table, positions = self._row_by_row(chunk, faults)
        done = 0
        for batch in table.to_batches():
            here = positions[done : done + batch.num_rows]
            done += batch.num_rows
            yield settle(
                [batch.column(self._names[number]) for number in self._wanted],
                self._plan.schema,
                self._plan.wanted,
                faults,
                rows=chunk.first_row + here,
                place=lambda at, here=here: f"line {chunk.line(int(here[at]))}",  # type: ignore[misc]
            )

    def _whole(self, chunk: Chunk) -> pa.Table | None:
        """The chunk as a table if nothing at all is wrong with it."""
        if chunk.flaws or not is_utf8(chunk.data):
            return None
        begin = int(chunk.starts[0])
        longest = int((chunk.ends - chunk.starts).max())
        try:
            table = self._read_csv(
                pa.BufferReader(pa.py_buffer(chunk.data).slice(begin)),
                read_options=self._read_options(
                    column_names=self._names, block_size=max(_BLOCK_BYTES, longest + 1)
                ),
                # Looking for line breaks in fields makes Arrow slower; without quotes there are none.
                parse_options=self._parse_options(
                    delimiter=self._delimiter, newlines_in_values=b'"' in chunk.data
                ),
                convert_options=self._convert_options,
            )
        except pa.ArrowInvalid:
            return None
        return table if table.num_rows == len(chunk) else None

    def _row_by_row(self, chunk: Chunk, faults: Faults) -> tuple[pa.Table, Rows]:
        columns: dict[int, list[str]] = {number: [] for number in self._wanted}
        positions = []
        for position in range(len(chunk)):
            record = chunk.record(position)
            fields = [] if position in chunk.flaws else self._splitter.fields(record)
            reason = chunk.flaws.get(position) or _not_utf8(record)
            if reason is None and len(fields) != self._width:
                reason = f"{several(len(fields), 'field')} where the header has {self._width}"
            if reason is not None:
                faults.row(chunk.first_row + position, f"line {chunk.line(position)}", reason)
                continue
            positions.append(position)
            for number, values in columns.items():
                values.append(fields[number].decode("utf-8"))
        arrays = {
            self._names[number]: pa.array(values, pa.large_string()) for number, values in columns.items()
        }
        return pa.table(arrays), np.array(positions, dtype=np.int64)


def _not_utf8(record: bytes) -> str | None:
    reason = not_utf8(record)
    return None if reason is None else f"not UTF-8: {reason} of the row"
