"""Hexadecimal strings in files and frames: a column of a table, or a line of a text file each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike.io.columns import Wanted
from lookalike.io.files import open_files
from lookalike.io.frames import FrameSource
from lookalike.io.setfiles import open_set_lines
from lookalike.io.source import Source

#: Text files of a string a line; what is in other files is a column of a table.
_LINES = (".txt", ".hex")


def open_hex(data: Any, *, column: str, id: str | None = None) -> Source:
    """Open whatever holds hexadecimal strings: paths of csv, jsonl, parquet or text files, or a table.

    Parameters
    ----------
    column
        The column of the strings; lines of a text file have none.
    id
        The column of unique ids.
    """
    if not isinstance(data, (str, Path, list)):
        return FrameSource(data, Wanted(text=column, id=id))
    paths = data if isinstance(data, list) else [data]
    if id is None and all(_holds_lines(Path(path)) for path in paths):
        return open_set_lines(paths)
    return open_files(paths, text=column, id=id)


def _holds_lines(path: Path) -> bool:
    return any(suffix.lower() in _LINES for suffix in path.suffixes[-2:])
