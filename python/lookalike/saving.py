"""A table as a file of its own: Parquet, csv, tsv or jsonl, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from lookalike.atomic import atomic_rename
from lookalike.errors import OutputError
from lookalike.wording import listed

#: Rows of a part, which is in memory at once.
_PART_ROWS = 1 << 18


def write_table(table: pa.Table, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a table to a file, in the format that its name ends in.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> write_table(pa.table({"a": [0], "b": [2]}), place).read_text()
    '"a","b"\\n0,2\\n'
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise OutputError(f"{path!r:.40} is no file to write: give a path")
    target = Path(path)
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise OutputError(
            f"{target.name} does not say what to write: let it end in {listed(list(_WRITERS), 'or')}"
        )
    if target.is_dir():
        raise OutputError(f"{target} is a folder, and the output is a file: name a file in it")
    if not target.parent.is_dir():
        raise OutputError(f"there is no folder {target.parent} to write {target.name} in: make it first")
    if target.exists() and not overwrite:
        raise OutputError(f"{target} exists: choose another name, or replace it with overwrite=True")
    with atomic_rename(target) as hidden:
        write(table, hidden)
    return target


def _parts(table: pa.Table) -> Iterator[pa.Table]:
    return (table.slice(at, _PART_ROWS) for at in range(0, table.num_rows, _PART_ROWS))


def _write_parquet(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for part in _parts(table):
            writer.write_table(part)


def _write_separated(separator: str) -> Callable[[pa.Table, Path], None]:
    def write(table: pa.Table, path: Path) -> None:
        import pyarrow.csv

        options = pyarrow.csv.WriteOptions(delimiter=separator)
        with pyarrow.csv.CSVWriter(path, table.schema, write_options=options) as writer:
            for part in _parts(table):
                writer.write_table(part)

    return write


def _write_lines(table: pa.Table, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for part in _parts(table):
            for row in part.to_pylist():
                file.write(json.dumps(row, ensure_ascii=False, default=_as_text) + "\n")


def _as_text(value: Any) -> str:
    """What JSON has no form for, such as a date."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_separated(","),
    ".tsv": _write_separated("\t"),
    ".jsonl": _write_lines,
}
