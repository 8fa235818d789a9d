"""One file at a time, whole or not at all: a hidden sibling, fsync, rename."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from lookalike.errors import OutputError

# What a disk says when it is full, or when the user's share of it is.
FULL = {errno.ENOSPC, errno.EDQUOT}


def atomic_write(path: str | Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write one file so that a reader sees the old content or the new, never a part.

    `content` is the bytes, or a function that writes them to the open file it is given.
    """
    with atomic_rename(path) as hidden, open(hidden, "xb") as file:
        if callable(content):
            content(file)
        else:
            file.write(content)


@contextlib.contextmanager
def atomic_rename(path: str | Path) -> Iterator[Path]:
    """Give a hidden sibling's name to write to; the file takes the name `path` if the block ends well.

    For writers that want a name instead of an open file; `atomic_write` serves all others.
    """
    target = Path(path)
    hidden = hidden_sibling(target)
    try:
        try:
            yield hidden
            sync(hidden)
            os.replace(hidden, target)
            sync(target.parent)
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unwritable(target, error) from error


def hidden_sibling(target: Path) -> Path:
    """A name beside `target`, on the same file system, that no listing or search shows."""
    return target.parent / f".{target.name}.partial-{secrets.token_hex(4)}"


def is_utf8_name(path: Path) -> bool:
    """Whether a path can be written in UTF-8, as Arrow needs it; Linux lets a name be any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unwritable(target: Path, error: OSError) -> OutputError:
    """The error for an output that the system does not let us write."""
    if error.errno in FULL:
        return OutputError(
            f"the disk of {target} is full: make room there or choose another place for the output"
        )
    reason = error.strerror or str(error)
    if error.errno and "[errno" in reason:
        # Arrow's, whose text names our hidden files.
        reason = os.strerror(error.errno)
    return OutputError(
        f"cannot write {target}: {reason}; choose another place for the output or mend its permissions"
    )
