"""Parquet: read by Arrow's multithreaded scanner; where it objects, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.io.columns import Wanted, choose, missing_column, settle, with_texts
from lookalike.io.edits import FileEdits
from lookalike.io.faults import Faults
from lookalike.io.format import Format, InputFile, ReadPlan
from lookalike.io.layout import Mask

# Batches decoded ahead of the one in use: enough to keep all cores busy, few enough to bound memory.
_READAHEAD = 4


class Parquet(Format):
    """Parquet files of any compression; the suffix .gz or .zst is not for them."""

    name = "parquet"

    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """Types from the footer."""
        with _opened(file) as parquet:
            schema = parquet.schema_arrow
        for name in wanted.names:
            if name not in schema.names:
                raise missing_column(name, file.label, schema.names)
        return pa.schema([(name, schema.field(name).type) for name in wanted.names])

    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns, several batches at once; a broken row group loses its own rows only."""
        done = 0
        columns = list(dict.fromkeys(plan.wanted.names))
        batches = _scan(file, columns, _batch_rows(file, columns, plan.batch_bytes))
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

    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Write the kept rows with all columns, a row group at a time; groups left empty are left out."""
        import pyarrow.parquet as pq

        target.parent.mkdir(parents=True, exist_ok=True)
        with _opened(file) as parquet:
            schema, metadata = parquet.schema_arrow, parquet.metadata
            with pq.ParquetWriter(target, schema, compression=_compression(metadata)) as writer:
                start = 0
                for group in range(parquet.num_row_groups):
                    size = metadata.row_group(group).num_rows
                    mask = keep[start : start + size]
                    rows = start + np.flatnonzero(mask)
                    start += size
                    # A group of which nothing is kept may be one that cannot be read.
                    if mask.any():
                        table = choose(parquet.read_row_group(group), mask)
                        if edits is not None and edits.changed(rows).any():
                            table = with_texts(table, edits.column, edits, rows)
                        writer.write_table(table, row_group_size=table.num_rows)


def _opened(file: InputFile) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(file.path, page_checksum_verification=True)


def _scan(file: InputFile, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
    import pyarrow.dataset as ds

    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
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


def _settled(batch: pa.RecordBatch, first_row: int, plan: ReadPlan, faults: Faults) -> pa.RecordBatch:
    return settle(
        [batch.column(name) for name in plan.wanted.names],
        plan.schema,
        plan.wanted,
        faults,
        rows=first_row + np.arange(batch.num_rows),
        place=lambda at: f"row {first_row + at} (counted from 0)",
    )


def _batch_rows(file: InputFile, columns: list[str], batch_bytes: int) -> int:
    """Rows that fill a batch, going by the sizes in the footer."""
    with _opened(file) as parquet:
        metadata = parquet.metadata
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    size = sum(
        group.column(number).total_uncompressed_size
        for group in groups
        for number in range(metadata.num_columns)
        if group.column(number).path_in_schema.split(".")[0] in columns
    )
    return max(1, min(batch_bytes * int(metadata.num_rows) // max(int(size), 1), 1 << 20))


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
