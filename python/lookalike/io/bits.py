"""Hexadecimal strings in files and frames: a column of a table, or a line of a text file each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.io.columns import Wanted, is_text
from lookalike.io.faults import OnError
from lookalike.io.files import FileSource, open_wanted
from lookalike.io.frames import FrameSource
from lookalike.io.setfiles import open_set_lines
from lookalike.io.source import Source

#: Text files of a string a line; what is in other files is a column of a table.
_LINES = (".txt", ".hex")


@dataclass(frozen=True, kw_only=True)
class HexColumns(Wanted):
    """Columns of which `text` is hexadecimal: what is not, or not as wide as the first, cannot be read.

    For those who skip such rows; others are told by `measures.bits` at which digit the first one breaks.
    """

    #: How many digits the first string has that is hexadecimal, once it was seen; the same in every scan.
    digits: list[int] = field(default_factory=list, compare=False)

    def convert(self, name: str, array: pa.Array, flaws: dict[int, str]) -> pa.Array:
        """Strings as they are; those that are no bits of the common width are flaws."""
        if name != self.text or not is_text(array.type):
            return array
        trimmed = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
        sound = pc.match_substring_regex(trimmed, "^(0[xX])?[0-9a-fA-F]+$").fill_null(False)
        bare = pc.replace_substring_regex(trimmed, "^0[xX]", "")
        lengths = pc.binary_length(bare).fill_null(0).to_numpy(zero_copy_only=False)
        hexadecimal = sound.to_numpy(zero_copy_only=False)
        if not self.digits:
            self.digits.extend(lengths[hexadecimal][:1].tolist())
        digits = self.digits[0] if self.digits else 0
        for at in np.flatnonzero(~hexadecimal | (lengths != digits)).tolist():
            if trimmed[at].is_valid:
                said = f"{trimmed[at].as_py()!r:.40}, not hexadecimal"
                if hexadecimal[at]:
                    said = f"of {lengths[at]} hexadecimal digits, the first of {digits}"
                flaws.setdefault(at, f"{name!r} is {said}")
        return array


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
    return open_hex_files(data if isinstance(data, list) else [data], column=column, id=id)


def open_hex_files(
    paths: Sequence[str | Path], *, column: str, id: str | None = None, on_error: OnError = "raise"
) -> FileSource:
    """Open files of hexadecimal strings, or `-` for jsonl; `on_error` as of `open_files`."""
    kind = HexColumns if on_error == "skip" else Wanted
    if id is None and all(_holds_lines(Path(path)) for path in paths):
        return open_set_lines(paths, on_error=on_error, wanted=kind())
    return open_wanted(paths, kind(text=column, id=id), on_error)


def _holds_lines(path: Path) -> bool:
    return any(suffix.lower() in _LINES for suffix in path.suffixes[-2:])
