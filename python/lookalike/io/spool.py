"""Standard input on disk, so that it can be read twice."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO

from lookalike.errors import OutputError


class Spool:
    """A temporary file with everything that a stream held.

    The file has no name: it is gone when it is closed, and also when the process is killed.
    """

    def __init__(self, stream: IO[bytes] | None = None, *, folder: Path | None = None) -> None:
        stream = sys.stdin.buffer if stream is None else stream
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            # It stays open as long as this object.
            self._file = tempfile.TemporaryFile(prefix="lookalike-", dir=folder)  # noqa: SIM115
            shutil.copyfileobj(stream, self._file, 1 << 20)
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
