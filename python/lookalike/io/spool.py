"""Standard input on disk, so that it can be read twice."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO

from lookalike.errors import OutputError, SourceError

#: How files begin that are no lines, what they are, and what to do with them. Lines of tokens may begin with
#: the letters of some, but not go on with such bytes.
_DECOMPRESS = "pipe it decompressed, {} FILE | …, or name the file"
_NAME = "name the file instead"
_NO_LINES = (
    (re.compile(rb"\x1f\x8b"), "compressed with gzip", _DECOMPRESS.format("gunzip -c")),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "compressed with zstd", _DECOMPRESS.format("zstd -dc")),
    (re.compile(rb"BZh[1-9]1AY&SY"), "compressed with bzip2", "pipe it decompressed, bunzip2 -c FILE | …"),
    (re.compile(rb"\xfd7zXZ\x00"), "compressed with xz", "pipe it decompressed, xz -dc FILE | …"),
    (re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]"), "Parquet", _NAME),
    (re.compile(rb"\x93NUMPY"), "a NumPy matrix", _NAME),
    (re.compile(rb"PK\x03\x04"), "a zip archive", "pipe what is in it"),
)
_CHUNK = 1 << 20


class Spool:
    """A temporary file with everything that a stream held.

    The file has no name: it is gone when it is closed, and also when the process is killed. What the stream
    should hold is for the error if it is compressed, or another kind of file.
    """

    def __init__(
        self, stream: IO[bytes] | None = None, *, folder: Path | None = None, holds: str = "jsonl"
    ) -> None:
        stream = sys.stdin.buffer if stream is None else stream
        try:
            begin = stream.read(_CHUNK)
            _check_lines(begin, holds)
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            # It stays open as long as this object.
            self._file = tempfile.TemporaryFile(prefix="lookalike-", dir=folder)  # noqa: SIM115
            self._file.write(begin)
            shutil.copyfileobj(stream, self._file, _CHUNK)
            self._file.flush()
        except OSError as error:
            where = folder or tempfile.gettempdir()
            raise OutputError(
                f"cannot keep standard input in {where}: {error.strerror}; make room there, choose another "
                "folder (scratch='FOLDER'), or write the input to a file and name that"
            ) from error

    @property
    def path(self) -> Path:
        """A path under which this process can open the file any number of times."""
        return Path(f"/proc/self/fd/{self._file.fileno()}")

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


def _check_lines(begin: bytes, holds: str) -> None:
    for how, what, instead in _NO_LINES:
        if how.match(begin):
            raise SourceError(f"- (standard input) is {what}, and what is read there is {holds}: {instead}")
