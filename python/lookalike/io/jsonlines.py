"""jsonl: one JSON object a line.

Chunks of lines go through Arrow's multithreaded parser, with a schema of just the columns asked for. Where it
objects, the chunk is halved until the lines at fault stand alone; so it is one parser that decides what is
readable, whatever the size of the chunk, and a line is judged by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.io.columns import Wanted, missing_column, not_utf8, settle
from lookalike.io.edits import FileEdits, json_with_text
from lookalike.io.faults import Faults, UnreadableFileError
from lookalike.io.format import Format, InputFile, ReadPlan
from lookalike.io.layout import Mask, Rows
from lookalike.io.records import (
    CHUNK_BYTES,
    BrokenStreamError,
    Chunk,
    is_utf8,
    read_chunks,
    split_lines,
    write_records,
)

# What is looked at to learn the columns and their types.
_PROBED_BYTES = 1 << 20

_BLOCK_BYTES = 4 << 20

_WHITE = b" \t\r\n"


class JsonLines(Format):
    """One JSON object a line; blank lines are no rows."""

    name = "jsonl"

    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """Names and types from the first megabyte; a null type where it holds no value of a column."""
        with file.open() as stream:
            try:
                chunk = next(read_chunks(stream, split_lines, _PROBED_BYTES), None)
            except BrokenStreamError as error:
                raise UnreadableFileError(error.reason) from error
        if chunk is None:
            return pa.schema([(name, pa.null()) for name in wanted.names])
        if chunk.record(0).lstrip(_WHITE).startswith(b"["):
            raise UnreadableFileError("it is one JSON array: write one object a line, as jq -c '.[]' does")
        return _probe(file.label, chunk, wanted)

    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns chunk by chunk."""
        parser = _Parser(plan)
        with file.open() as stream:
            try:
                for chunk in read_chunks(stream, split_lines, min(CHUNK_BYTES, plan.batch_bytes)):
                    yield from parser.read(chunk, faults)
            except BrokenStreamError as error:
                faults.file(f"it cannot be read on ({error.reason})", f"line {error.line}")

    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Write the kept lines byte for byte, but for edited texts."""

        def rewrite(chunk: Chunk, positions: Rows) -> list[bytes]:
            assert edits is not None
            lines = [chunk.record(int(at)).decode("utf-8") for at in positions]
            texts = pa.array(
                [json.loads(line, strict=False)[edits.column] for line in lines], pa.large_string()
            )
            new = edits.apply(chunk.first_row + positions, texts).to_pylist()
            return [
                json_with_text(line, edits.column, text).encode()
                for line, text in zip(lines, new, strict=True)
            ]

        write_records(file, target, keep, split_lines, rewrite=rewrite, edits=edits)


def _probe(label: str, chunk: Chunk, wanted: Wanted) -> pa.Schema:
    """Look at rows until every wanted column has shown a value, and the text one that is text."""
    columns: dict[str, None] = {}
    values: dict[str, Any] = {}
    for position in range(len(chunk)):
        try:
            row = json.loads(chunk.record(position))
        except (ValueError, RecursionError):
            # Reading will say what is wrong with it, or skip it.
            continue
        if isinstance(row, dict):
            columns.update(dict.fromkeys(row))
            new = {key: value for key, value in row.items() if value not in (None, []) and key not in values}
            values.update(new)
            # One odd row must not make the text a column of numbers.
            if isinstance(row.get(wanted.text), str):
                values[wanted.text] = row[wanted.text]
        if values.keys() >= set(wanted.names) and isinstance(values[wanted.text], str):
            break
    if columns:
        for name in wanted.names:
            if name not in columns:
                raise missing_column(name, label, columns, within=_within(len(chunk)))
    return pa.schema(
        [(name, _type_of(values.get(name), whole=name in wanted.whole)) for name in wanted.names]
    )


def _within(rows: int) -> str:
    return " in its first row" if rows == 1 else f" in its first {rows:,} rows"


def _type_of(value: Any, *, whole: bool) -> pa.DataType:
    """The column type a first value stands for; integers are kept as such where they are `whole`."""
    match value:
        case bool():
            return pa.bool_()
        case str():
            return pa.string()
        case int() if whole:
            return pa.uint64() if value >= 2**63 else pa.int64()
        case int() | float():
            return pa.float64()
        case list():
            return pa.list_(_type_of(next((item for item in value if item is not None), None), whole=whole))
        case dict():
            return pa.struct([])
    return pa.null()


class _Parser:
    """Parses chunks into settled batches."""

    def __init__(self, plan: ReadPlan) -> None:
        import pyarrow.json as pj

        self._plan = plan
        types = dict(zip(plan.wanted.names, plan.own.types, strict=True))
        first = plan.wanted.settled(plan.own.types)[0]
        # What becomes bytes is a string in JSON.
        first = pa.large_string() if pa.types.is_large_binary(first) else first
        # Arrow's parser makes small lists only.
        types[plan.wanted.text] = pa.list_(first.value_type) if pa.types.is_large_list(first) else first
        self._read_json = pj.read_json
        self._read_options = pj.ReadOptions
        self._parse_options = pj.ParseOptions(
            explicit_schema=pa.schema(types.items()), unexpected_field_behavior="ignore"
        )

    def read(self, chunk: Chunk, faults: Faults) -> Iterator[pa.RecordBatch]:
        flaws: dict[int, str] = {}
        everything = np.arange(len(chunk))
        whole = self._whole(chunk)
        if whole is not None:
            tables = [(whole, everything)]
        else:
            sound = np.array([at for at in everything if not self._flawed(chunk, int(at), flaws)], np.int64)
            sound = self._without_suspects(chunk, sound, flaws)
            tables = list(self._halves(chunk, sound, flaws)) if len(sound) else []
        for position in sorted(flaws):
            faults.row(chunk.first_row + position, f"line {chunk.line(position)}", flaws[position])
        for table, positions in tables:
            yield from self._settled(chunk, table, positions, faults)

    def _whole(self, chunk: Chunk) -> pa.Table | None:
        """The chunk as a table if nothing at all is wrong with it."""
        if not is_utf8(chunk.data) or not _objects(chunk):
            return None
        try:
            table = self._parse(chunk.data)
        except pa.ArrowInvalid:
            return None
        return table if table.num_rows == len(chunk) else None

    def _flawed(self, chunk: Chunk, position: int, flaws: dict[int, str]) -> bool:
        """Whether a line is wrong already by its looks: not UTF-8, or not from { to }."""
        record = chunk.record(position)
        reason = not_utf8(record)
        if reason is not None:
            flaws[position] = f"not UTF-8: {reason} of the line"
        else:
            stripped = record.strip(_WHITE)
            if not (stripped.startswith(b"{") and stripped.endswith(b"}")):
                flaws[position] = _objection(stripped, "not a whole JSON object")
        return position in flaws

    def _without_suspects(self, chunk: Chunk, positions: Rows, flaws: dict[int, str]) -> Rows:
        """Try alone what Python's parser rejects, so that many broken lines do not mean endless halving.

        Python only says whom to ask about; a line is given up when Arrow rejects it too.
        """
        for at in positions:
            try:
                json.loads(chunk.record(int(at)))
            except (ValueError, RecursionError):
                list(self._halves(chunk, np.array([at]), flaws))
        return np.array([at for at in positions if int(at) not in flaws], dtype=np.int64)

    def _halves(
        self, chunk: Chunk, positions: Rows, flaws: dict[int, str]
    ) -> Iterator[tuple[pa.Table, Rows]]:
        """Parse the lines at `positions`, in halves where the parser objects, down to single lines."""
        lines = [chunk.record(int(at)) for at in positions]
        try:
            table = self._parse(b"\n".join(lines) + b"\n")
            if table.num_rows == len(positions):
                yield table, positions
                return
            reason = f"{table.num_rows} JSON objects on one line"
        except pa.ArrowInvalid as error:
            reason = _in_our_words(str(error))
        if len(positions) == 1:
            flaws[int(positions[0])] = _objection(lines[0], reason)
            return
        middle = len(positions) // 2
        yield from self._halves(chunk, positions[:middle], flaws)
        yield from self._halves(chunk, positions[middle:], flaws)

    def _parse(self, data: bytes) -> pa.Table:
        try:
            return self._read_json(
                pa.BufferReader(data),
                read_options=self._read_options(block_size=_BLOCK_BYTES),
                parse_options=self._parse_options,
            )
        except pa.ArrowInvalid as error:
            if "block size" not in str(error):
                raise
        # A line longer than a block; then the chunk is one block.
        return self._read_json(
            pa.BufferReader(data),
            read_options=self._read_options(block_size=len(data) + 1),
            parse_options=self._parse_options,
        )

    def _settled(
        self, chunk: Chunk, table: pa.Table, positions: Rows, faults: Faults
    ) -> Iterator[pa.RecordBatch]:
        names = self._plan.wanted.names
        done = 0
        for batch in table.to_batches():
            here = positions[done : done + batch.num_rows]
            done += batch.num_rows
            yield settle(
                [batch.column(name) for name in names],
                self._plan.schema,
                self._plan.wanted,
                faults,
                rows=chunk.first_row + here,
                place=lambda at, here=here: f"line {chunk.line(int(here[at]))}",  # type: ignore[misc]
            )


def _objects(chunk: Chunk) -> bool:
    """Whether every line begins with { and ends with }.

    Then no object can span two lines (between } and { JSON wants a comma, and a line break inside a string is
    an error), so as many objects as lines means one on each.
    """
    view = np.frombuffer(chunk.data, dtype=np.uint8)
    last = chunk.ends - 1
    last = last - (view[last] == ord("\n"))
    last = last - (view[last] == ord("\r"))
    odd = np.flatnonzero((view[chunk.starts] != ord("{")) | (view[last] != ord("}")))
    return all(
        record.startswith(b"{") and record.endswith(b"}")
        for record in (chunk.record(int(at)).strip(_WHITE) for at in odd)
    )


def _objection(line: bytes, reason: str) -> str:
    """Why a line is no row. Python's parser names the character, where it objects as well."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        # Some of its messages end in "at" already.
        return f"broken JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except (ValueError, RecursionError):
        return f"broken JSON: {reason}"
    return reason if isinstance(value, dict) else "valid JSON but not an object"


def _in_our_words(message: str) -> str:
    """Arrow's message without what only makes sense inside Arrow."""
    changed = re.search(r"Column\(/(.*)\) changed from (\w+) to (\w+)", message)
    if changed:
        name, expected, found = changed.groups()
        return f"{name!r} is of kind {found} here and {expected} is expected"
    unfit = re.search(r"Failed to convert JSON to (\w+), couldn't parse:(.*)", message)
    if unfit:
        kind, value = unfit.groups()
        return f"{value} is no {kind}, as the numbers before it are"
    message = message.removeprefix("JSON parse error: ")
    return re.sub(r"[. ]*( in row \d+)?$", "", message)
