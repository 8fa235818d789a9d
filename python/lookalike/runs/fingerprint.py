"""Whether an input file is still the one a run began with.

A file is taken to be the same if its size, its first and last 64 KiB and its time of change are. If only the
time differs (a copy, a fresh checkout), a checksum of the whole content decides, where one was taken: if all
inputs of a run together have at most a gigabyte, which costs less than half a second. For more it would mean
reading everything twice, so there a differing time is taken to mean another file.
"""

from __future__ import annotations

import dataclasses
import os
import stat
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from lookalike.errors import SourceError
from lookalike.wording import several

END_BYTES = 1 << 16
WHOLE_BYTES = 10**9

_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """What is remembered of an input file.

    Parameters
    ----------
    path
        As it was given.
    size, changed
        Bytes, and the time of the last change in nanoseconds.
    ends
        Checksum of the first and the last 64 KiB.
    whole
        Checksum of the whole content, where it was taken.

    Examples
    --------
    >>> then = Fingerprint(path="a.jsonl", size=1180, changed=0, ends=7)
    >>> dataclasses.replace(then, size=1204).differs(then)
    'a.jsonl has 1,204 bytes now and had 1,180'
    >>> then.differs(then) is None
    True
    """

    path: str
    size: int
    changed: int
    ends: int
    whole: int | None = None

    @classmethod
    def of(cls, path: str | Path, *, whole: bool | None = None) -> Fingerprint:
        """Take the fingerprint of a file; of its `whole` content too, by default up to a gigabyte.

        Raises
        ------
        SourceError
            If there is no such file, or it is none that can be read a second time, such as a pipe.
        """
        try:
            # Before it is opened: a pipe without a writer would make us wait for one.
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                raise SourceError(
                    f"{path} is a pipe, a device or a folder, and a run over it could not be resumed: "
                    "name files, or store what it gives in one first"
                )
            with open(path, "rb") as file:
                return cls(
                    path=os.fspath(path),
                    size=status.st_size,
                    changed=status.st_mtime_ns,
                    ends=_checksum_of_ends(file, status.st_size),
                    whole=_checksum(file) if _wanted(whole, status.st_size) else None,
                )
        except FileNotFoundError as error:
            raise SourceError(f"there is no file {path}: check the name") from error
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error.strerror}") from error

    @classmethod
    def of_all(cls, paths: Iterable[str | Path]) -> list[Fingerprint]:
        """The fingerprints of all inputs of a run; whole contents only if they are small all together."""
        paths = list(paths)
        total = sum(os.stat(path).st_size for path in paths if os.path.isfile(path))
        return [cls.of(path, whole=total <= WHOLE_BYTES) for path in paths]

    def differs(self, other: Fingerprint) -> str | None:
        """Say how this file, as it is now, differs from what it was; None if it is the same file."""
        if self.size != other.size:
            return f"{self.path} has {several(self.size, 'byte')} now and had {other.size:,}"
        if self.ends != other.ends or (self.whole is not None and other.whole not in (None, self.whole)):
            return f"{self.path} has other content now, of the same {several(self.size, 'byte')}"
        if self.changed != other.changed and (self.whole is None or other.whole is None):
            return (
                f"{self.path} was changed at {_time(self.changed)}, and last at {_time(other.changed)} before"
            )
        return None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Fingerprint:
        """Back from JSON values."""
        return cls(**stored)


def input_changes(now: Sequence[Fingerprint], then: Sequence[Fingerprint]) -> list[str]:
    """A sentence for each input file that is new, gone, or another than it was; none if all are the same."""
    files_now, files_then = ({file.path: file for file in files} for files in (now, then))
    sentences = [f"{path} is new" for path in files_now if path not in files_then]
    sentences += [f"{path} is not among the inputs now" for path in files_then if path not in files_now]
    for path in files_then.keys() & files_now.keys():
        if said := files_now[path].differs(files_then[path]):
            sentences.append(said)
    if not sentences and [file.path for file in now] != [file.path for file in then]:
        sentences.append("the inputs are the same files, but in another order or not as often")
    return sorted(sentences)


def _wanted(whole: bool | None, size: int) -> bool:
    return size <= WHOLE_BYTES if whole is None else whole


def _checksum_of_ends(file: BinaryIO, size: int) -> int:
    checksum = zlib.crc32(file.read(END_BYTES))
    file.seek(max(0, size - END_BYTES))
    return zlib.crc32(file.read(END_BYTES), checksum)


def _checksum(file: BinaryIO) -> int:
    file.seek(0)
    checksum = 0
    while piece := file.read(_PIECE):
        checksum = zlib.crc32(piece, checksum)
    return checksum


def _time(nanoseconds: int) -> str:
    # With microseconds: two changes within a second are two.
    return datetime.fromtimestamp(nanoseconds / 1e9).isoformat(sep=" ")
