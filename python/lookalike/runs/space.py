"""Room on a disk: asked for before it is needed, and a word to the user when it has run out."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from lookalike.atomic import FULL, unwritable
from lookalike.errors import OutputError

RESUMABLE = "what is committed is kept: make room and start again with --resume"


class DiskUsage(Protocol):
    """What `shutil.disk_usage` returns, as far as it matters here."""

    @property
    def free(self) -> int:
        """Bytes that can still be written."""


def require_space(
    folder: str | Path,
    needed_bytes: int,
    what: str,
    *,
    advice: str = "make room there or choose another folder",
    disk_usage: Callable[[Path], DiskUsage] = shutil.disk_usage,
) -> None:
    """Refuse to begin what the disk of `folder` has no room for.

    `folder` need not be there yet: then the disk is that of the nearest folder above it that is.

    Parameters
    ----------
    what
        What needs the room; the message begins with it.
    advice
        What the user can do; the message ends with it.
    disk_usage
        Another one than the system's is for tests.

    Raises
    ------
    OutputError
        If fewer than `needed_bytes` are free.
    """
    free = disk_usage(_nearest(Path(folder))).free
    if free < needed_bytes:
        raise OutputError(
            f"{what} needs about {in_words(needed_bytes)} in {folder} and {in_words(free)} are free: {advice}"
        )


@contextlib.contextmanager
def resumable_when_full(folder: Path) -> Iterator[None]:
    """Say of a disk that fills up inside the block that the run in `folder` can go on from there."""
    try:
        yield
    except (OSError, OutputError) as error:
        if not disk_was_full(error):
            raise
        # What has its own words for it names its own place, which may be on another disk.
        said = error if isinstance(error, OutputError) else _worded(folder, error)
        # Not from the system's error: whoever hears this outside has nothing to add to it.
        raise OutputError(f"{said}; {RESUMABLE}") from said


def disk_was_full(error: BaseException) -> bool:
    """Whether a full disk is behind `error`, which may have been given a message of its own on the way."""
    cause = error if isinstance(error, OSError) else error.__cause__
    return isinstance(cause, OSError) and cause.errno in FULL


def in_words(count: float) -> str:
    """A number of bytes for people, in thousands.

    Examples
    --------
    >>> in_words(999), in_words(1_500_000)
    ('999 bytes', '1.5 MB')
    """
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _worded(folder: Path, error: OSError) -> OutputError:
    said = unwritable(folder, error)
    said.__cause__ = error
    return said


def _nearest(folder: Path) -> Path:
    whole = Path(os.path.abspath(folder))
    return next(place for place in (whole, *whole.parents) if place.exists())
