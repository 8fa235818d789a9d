"""txt: each file is one document, and a folder of them a collection."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from lookalike.io.columns import Wanted, missing_column, settle
from lookalike.io.edits import FileEdits
from lookalike.io.faults import Faults
from lookalike.io.format import Format, InputFile, ReadPlan
from lookalike.io.layout import Mask
from lookalike.io.stream import BOM, write_stream


class TextFiles(Format):
    """A file is a row with one column, its text, whatever name the text column of other files has."""

    name = "txt"

    def probe(self, file: InputFile, wanted: Wanted) -> pa.Schema:
        """Nothing to learn; a text file has no further columns."""
        for name in wanted.names[1:]:
            raise missing_column(name, file.label, [], within=" (a .txt file is one document)")
        return pa.schema([(wanted.text, pa.binary())])

    def read(self, file: InputFile, plan: ReadPlan, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Read the file as one row."""
        try:
            with file.open() as stream:
                # Unbuffered files may give less than all in one read.
                content = b"".join(iter(lambda: bytes(stream.read(1 << 24)), b""))
        except OSError as error:
            faults.row(0, "row 0", f"it cannot be read ({error})")
            return
        yield settle(
            [pa.array([content.removeprefix(BOM)], pa.large_binary())],
            plan.schema,
            plan.wanted,
            faults,
            rows=np.zeros(1, dtype=np.int64),
            place=lambda _: "",
        )

    def least_bytes(self, file: InputFile, wanted: Wanted) -> int:
        """Its size, packed or not."""
        return file.path.stat().st_size

    def write_kept(self, file: InputFile, target: Path, keep: Mask, edits: FileEdits | None = None) -> None:
        """Copy the file if its document is kept; an edited one is written anew."""
        if not keep.any():
            return
        row = np.zeros(1, np.int64)
        if edits is None or not edits.changed(row).any():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.path, target)
            return
        with file.open() as stream:
            content = b"".join(iter(lambda: bytes(stream.read(1 << 24)), b""))
        mark = BOM if content.startswith(BOM) else b""
        text = pa.array([content.removeprefix(BOM)], pa.large_binary()).cast(pa.large_string())
        with write_stream(target, file.compression) as out:
            out.write(mark + edits.apply(row, text)[0].as_py().encode())
