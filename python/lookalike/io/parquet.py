"""Parquet: read by Arrow's multithreaded scanner; where it objects, row group by row group.

The scanner holds row groups whole, several times over. Files with large ones, or for which there is little
room, are read page by page instead, a few megabytes of a group at a time and on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.io.columns import Wanted, check_called_once, choose, missing_column, settle, with_texts
from lookalike.io.edits import FileEdits
from lookalike.io.faults import Faults, UnreadableFileError
from lookalike.io.format import Format, InputFile, ReadPlan
from lookalike.io.layout import Mask
from lookalike.runs import is_utf8_name

# Batches decoded ahead of the one in use: enough to keep all cores busy, few enough to bound memory.
_READAHEAD = 4
# A row group that takes more than this is large, and what is kept of it becomes several; where groups are not
# read whole, they are in pieces of about so much.
_LARGE_GROUP, _PIECE = 64 << 20, 4 << 20
# What is kept of a large group becomes groups of about this size: a group is held while it is written.
_KEPT_GROUP = 32 << 20
# Row groups that a scanner holds at a time, decoded, as bytes and on their way: measured, with two threads.
_GROUPS_HELD = 8
# What is read from a file at a time where groups are large.
_BUFFER = 1 << 20


class Parquet(Format):
    """Parquet files of any compression; the suffix .gz or .zst is not for them."""

    name = "parquet"
    fast = True

    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """Types from the footer."""
        if not is_utf8_name(file.path):
            raise UnreadableFileError(
                "its name is not UTF-8, and Arrow opens no such Parquet file: rename it"
            )
        with _opened(file) as parquet:
            schema = parquet.schema_arrow
        for name in wanted.names:
            if name not in schema.names:
                raise missing_column(name, file.label, schema.names)
            check_called_once(name, file.label, schema.names)
        return pa.schema([(name, schema.field(name).type) for name in wanted.names])

    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns, several batches at once; a broken row group loses its own rows only."""
        done = 0
        columns = list(dict.fromkeys(plan.wanted.names))
        with _opened(file) as parquet:
            metadata = parquet.metadata
        large = _LARGE_GROUP if plan.room is None else min(_LARGE_GROUP, plan.room // _GROUPS_HELD)
        if _largest_group(metadata, columns) > large:
            yield from _read_large_groups(file, columns, plan, faults)
            return
        # One group alone is not decoded faster by a scanner, only all at once. But if its rows may be
        # skipped, damage to it must be known before the first.
        scan = _stream if metadata.num_row_groups == 1 and not faults.skip else _scan
        batches = scan(file, columns, _batch_rows(metadata, columns, plan.batch_bytes))
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError):
                break
            if batch is None:
                return
            yield _settled(batch, done, plan, faults)
            done += batch.num_rows
        yield from _read_groups(file, columns, done, plan, faults)

    def least_bytes(self, file: InputFile, wanted: Wanted) -> int:
        """What the footer says; where texts are stored once for several rows, less than there is."""
        try:
            with _opened(file) as parquet:
                metadata = parquet.metadata
        except (pa.ArrowException, OSError):
            return 0
        groups = range(metadata.num_row_groups)
        return sum(_group_bytes(metadata, group, [wanted.text]) for group in groups)

    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Write the kept rows with all columns, a row group at a time; groups left empty are left out.

        What is kept of a large group becomes several.
        """
        import pyarrow.parquet as pq

        target.parent.mkdir(parents=True, exist_ok=True)
        with _opened(file) as parquet:
            schema, metadata = parquet.schema_arrow, parquet.metadata
            with pq.ParquetWriter(target, schema, compression=_compression(metadata)) as writer:
                start = 0
                for group in range(parquet.num_row_groups):
                    size = metadata.row_group(group).num_rows
                    mask = keep[start : start + size]
                    # A group of which nothing is kept may be one that cannot be read.
                    if mask.any():
                        for table in _kept_of_group(parquet, group, start, mask, edits):
                            writer.write_table(table, row_group_size=table.num_rows)
                    start += size


def _opened(file: InputFile) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(file.path, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True)


def _kept_of_group(
    parquet: Any, group: int, start: int, mask: Mask, edits: FileEdits | None
) -> Iterator[pa.Table]:
    """What is kept of a row group that begins at row `start` of its file; of a large one in parts.

    It is read in pieces, so that only what is kept is held. The sizes of pieces and parts are the same
    whatever the room, and so is the file.
    """
    columns = list(parquet.schema_arrow.names)
    size = _group_bytes(parquet.metadata, group, columns)
    rows = _batch_rows(parquet.metadata, columns, _PIECE)
    waiting: list[pa.Table] = []
    at = 0
    for piece in map(_as_table, parquet.iter_batches(rows, row_groups=[group])):
        here = mask[at : at + piece.num_rows]
        table, rows_kept = choose(piece, here), start + at + np.flatnonzero(here)
        at += piece.num_rows
        if edits is not None and edits.changed(rows_kept).any():
            table = with_texts(table, edits.column, edits, rows_kept)
        waiting.append(table)
        if size > _LARGE_GROUP and sum(table.nbytes for table in waiting) > _KEPT_GROUP:
            yield pa.concat_tables(waiting)
            waiting = []
    if any(table.num_rows for table in waiting):
        yield pa.concat_tables(waiting)
    if size > _PIECE:
        # Else Arrow keeps what a group took, and takes more for the next.
        del waiting
        pa.default_memory_pool().release_unused()


def _as_table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def _stream(file: InputFile, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
    with _opened(file) as parquet:
        yield from parquet.iter_batches(batch_rows, columns=columns)


def _scan(file: InputFile, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
    import pyarrow.dataset as ds

    # Read ahead, a file would be in memory as a whole.
    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True, pre_buffer=False)
    dataset = ds.dataset(file.path, format=ds.ParquetFileFormat(default_fragment_scan_options=options))
    scanner = dataset.scanner(columns=columns, batch_size=batch_rows, batch_readahead=_READAHEAD)
    batches: Iterator[pa.RecordBatch] = scanner.to_batches()
    return batches


def _read_groups(
    file: InputFile, columns: list[str], done: int, plan: ReadPlan, faults: Faults
) -> Iterator[pa.RecordBatch]:
    """Read on after the first `done` rows, telling which rows cannot be read."""
    with _opened(file) as parquet:
        start = 0
        for group in range(parquet.num_row_groups):
            stop = start + parquet.metadata.row_group(group).num_rows
            at = max(start, done)
            if at < stop:
                try:
                    table = parquet.read_row_group(group, columns=columns).slice(at - start)
                except (pa.ArrowException, OSError) as error:
                    reason = f"row group {group} is damaged ({_first_line(error)})"
                    faults.rows(range(at, stop), f"rows {at} to {stop - 1}", reason)
                else:
                    for batch in table.to_batches():
                        yield _settled(batch, at, plan, faults)
                        at += batch.num_rows
            start = stop


def _read_large_groups(
    file: InputFile, columns: list[str], plan: ReadPlan, faults: Faults
) -> Iterator[pa.RecordBatch]:
    """Read in pieces, a group after the other; one that is damaged gives none of its rows."""
    with _opened(file) as parquet:
        rows = _batch_rows(parquet.metadata, columns, min(_PIECE, plan.batch_bytes))
        stop = 0
        for group in range(parquet.num_row_groups):
            start, stop = stop, stop + parquet.metadata.row_group(group).num_rows
            done = start
            try:
                if faults.skip:
                    # Its first rows cannot be taken back, so damage must be known before.
                    for _ in parquet.iter_batches(rows, row_groups=[group], columns=columns):
                        pass
                for batch in parquet.iter_batches(rows, row_groups=[group], columns=columns):
                    yield _settled(batch, done, plan, faults)
                    done += batch.num_rows
            except (pa.ArrowException, OSError) as error:
                reason = f"row group {group} is damaged ({_first_line(error)})"
                faults.rows(range(start, stop), f"rows {start} to {stop - 1}", reason)


def _settled(batch: pa.RecordBatch, first_row: int, plan: ReadPlan, faults: Faults) -> pa.RecordBatch:
    return settle(
        [batch.column(name) for name in plan.wanted.names],
        plan.schema,
        plan.wanted,
        faults,
        rows=first_row + np.arange(batch.num_rows),
        place=lambda at: f"row {first_row + at} (counted from 0)",
        checked=plan.checked,
    )


def _batch_rows(metadata: Any, columns: list[str], batch_bytes: int) -> int:
    """Rows that fill a batch nearly, going by the sizes in the footer: in memory rows take a bit more."""
    size = sum(_group_bytes(metadata, group, columns) for group in range(metadata.num_row_groups))
    return max(1, min(batch_bytes * 7 // 8 * int(metadata.num_rows) // max(size, 1), 1 << 20))


def _largest_group(metadata: Any, columns: list[str]) -> int:
    sizes = (_group_bytes(metadata, group, columns) for group in range(metadata.num_row_groups))
    return max(sizes, default=0)


def _group_bytes(metadata: Any, group: int, columns: list[str]) -> int:
    """What some columns of a row group take, before compression."""
    parts = map(metadata.row_group(group).column, range(metadata.num_columns))
    wanted = (part for part in parts if part.path_in_schema.split(".")[0] in columns)
    return int(sum(part.total_uncompressed_size for part in wanted))


def _compression(metadata: Any) -> dict[str, str] | str:
    """The compression of each column, as the first row group has it."""
    if not metadata.num_row_groups:
        return "snappy"
    group = metadata.row_group(0)
    columns = [group.column(number) for number in range(metadata.num_columns)]
    return {
        column.path_in_schema: "none" if column.compression == "UNCOMPRESSED" else column.compression.lower()
        for column in columns
    }


def _first_line(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0]
