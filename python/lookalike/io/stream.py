"""Reading and writing files that may be compressed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
BOM = b"\xef\xbb\xbf"


@contextlib.contextmanager
def read_stream(path: Path, compression: str | None) -> Iterator[Any]:
    """Open `path` for reading what it holds, decompressed; `.read(n)` gives bytes."""
    with contextlib.ExitStack() as stack:
        if compression is None:
            yield stack.enter_context(open(path, "rb", buffering=0))
        else:
            raw = stack.enter_context(pa.OSFile(os.fsencode(path), "rb"))
            yield stack.enter_context(pa.CompressedInputStream(raw, compression))


@contextlib.contextmanager
def write_stream(path: Path, compression: str | None) -> Iterator[Any]:
    """Create `path` and its folders, to be written through `.write(bytes)` and compressed on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        if compression is None:
            yield stack.enter_context(open(path, "xb"))
        else:
            raw = stack.enter_context(pa.OSFile(os.fsencode(path), "wb"))
            yield stack.enter_context(pa.CompressedOutputStream(raw, compression))
