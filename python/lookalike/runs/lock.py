"""One process at a time in a folder.

The lock is the system's (`flock`) on a file in the folder: it ends with the process that holds it, however
that ends, so a lock that was left behind is in nobody's way.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from lookalike.atomic import unwritable
from lookalike.errors import OutputError

LOCK_NAME = "lock"


class FolderLock:
    """A folder that is ours alone until `release`."""

    def __init__(self, folder: Path) -> None:
        """Take the lock of `folder`, which must be there.

        Raises
        ------
        OutputError
            If another process has it, or the lock's file cannot be written.
        """
        self._path = folder / LOCK_NAME
        try:
            self._descriptor = self._taken()
            os.ftruncate(self._descriptor, 0)
            # Only for the message that a second process shows: a full disk has its say where it matters.
            with contextlib.suppress(OSError):
                os.write(self._descriptor, str(os.getpid()).encode())
        except OSError as error:
            raise unwritable(folder, error) from error

    def _taken(self) -> int:
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Whoever held it may have removed the file in the meantime, and the lock would be on no name.
                if self._is_file_of(descriptor):
                    return descriptor
            except OSError as error:
                os.close(descriptor)
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    raise self._in_use() from error
                raise
            os.close(descriptor)

    def _is_file_of(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _in_use(self) -> OutputError:
        try:
            holder = int(self._path.read_bytes())
        except (OSError, ValueError):
            holder = None
        who = "another process" if holder is None else f"process {holder}"
        return OutputError(
            f"{self._path.parent} is in use by {who}: wait until that has ended, or choose another folder"
        )

    def release(self) -> None:
        """Let others in. A second time does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        """Remove the lock's file while it is still ours, then let go."""
        self._path.unlink(missing_ok=True)
        self.release()
