"""run.json: what a run was asked, what it expected, what it did, and what it left in its folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookalike.atomic import atomic_write
from lookalike.errors import ArtefactError, SourceError
from lookalike.runs.folder import RECORD_NAME
from lookalike.runs.header import FORMAT_VERSION, damaged
from lookalike.runs.stopwatch import Stage

_DIGEST_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """Size and checksum of one file of a run folder."""

    bytes: int
    checksum: str


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The content of run.json.

    Parameters
    ----------
    job
        What was done, such as `dedup`.
    command
        The command as it was typed, which names what was read; empty of a run from Python.
    parameters
        What was asked for, as JSON values.
    algorithm
        Version of the algorithms that decided the result, as in the headers of the folder's files; None of a
        job that decides nothing.
    versions
        Of Lookalike and what it stands on; `versions_here()` gives the common ones.
    counts
        What was counted: documents read, empty, kept, pairs and so on.
    estimates
        What was expected before the run, under the names that `counts` uses for the actuals; so the two can
        be set side by side.
    stages
        Seconds, bytes and peak memory of each stage, in order.
    took
        Seconds from the start of the command, or of the call in Python, until this was written; None where
        an older version wrote it.
    asked
        Everything that the run was asked, with fingerprints of its inputs, by which `--resume` knows if a
        finished run is the one that is asked for; None of a run from Python or over standard input.
    files
        Size and checksum of each file in the folder, by its path in the folder.

    Examples
    --------
    >>> record = RunRecord(job="dedup", parameters={"threshold": 0.8}, counts={"documents": 3})
    >>> RunRecord.from_json(record.to_json()) == record
    True
    """

    job: str
    command: Sequence[str] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithm: int | None = None
    versions: Mapping[str, str] = field(default_factory=lambda: versions_here())
    counts: Mapping[str, Any] = field(default_factory=dict)
    estimates: Mapping[str, Any] = field(default_factory=dict)
    stages: Sequence[Stage] = ()
    took: float | None = None
    asked: Mapping[str, Any] | None = None
    files: Mapping[str, FileRecord] = field(default_factory=dict)

    def to_json(self) -> str:
        """Indented JSON, for people as much as for programs."""
        content = dataclasses.asdict(self)
        return (
            json.dumps(
                {"lookalike": FORMAT_VERSION, **content}, indent=2, ensure_ascii=False, allow_nan=False
            )
            + "\n"
        )

    @classmethod
    def from_json(cls, text: str | bytes, *, where: str = RECORD_NAME) -> RunRecord:
        """Read a record back; `where` names the file in errors."""
        try:
            stored = json.loads(text)
            version = stored.pop("lookalike")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(where, "it is not the record of a run") from error
        if version != FORMAT_VERSION:
            raise ArtefactError(
                f"{where} has file format {version}, and this version of Lookalike reads format "
                f"{FORMAT_VERSION}: run the job again, or read it with the version that wrote it"
            )
        try:
            stored["command"] = tuple(stored.get("command", ()))
            stored["stages"] = tuple(Stage(**stage) for stage in stored["stages"])
            stored["files"] = {name: FileRecord(**entry) for name, entry in stored["files"].items()}
            return cls(**stored)
        except (TypeError, KeyError, AttributeError) as error:
            raise damaged(where, "it is not the record of a run") from error

    def write(self, folder: Path, *, files: Mapping[str, FileRecord] | None = None) -> RunRecord:
        """Write run.json, the last file of its folder, with the checksums of all others in it.

        Those are taken now, unless they are given (`files_of`).
        """
        record = dataclasses.replace(self, files=files_of(folder) if files is None else files)
        # A file name that is not UTF-8 holds halves of surrogate pairs, which JSON writes as \\udcff, too.
        atomic_write(folder / RECORD_NAME, record.to_json().encode(errors="backslashreplace"))
        return record

    @classmethod
    def read(cls, folder: Path) -> RunRecord:
        """Read the record of a run folder."""
        path = folder / RECORD_NAME
        try:
            return cls.from_json(path.read_bytes(), where=str(path))
        except OSError as error:
            raise SourceError(
                f"{folder} is not a run folder ({RECORD_NAME}: {error.strerror}): name one"
            ) from error

    def verify(self, folder: Path) -> None:
        """Check that the folder holds the files of this record, byte for byte, and no others.

        Raises
        ------
        ArtefactError
            Naming the first file that is missing, changed or new.
        """
        found = files_of(folder)
        for name in sorted(self.files.keys() | found.keys()):
            if name not in found:
                raise ArtefactError(f"{folder / name} is missing: run the job again")
            if name not in self.files:
                raise ArtefactError(f"{folder / name} is not a file of this run: move it elsewhere")
            if self.files[name] != found[name]:
                raise damaged(str(folder / name), f"its checksum is not the one in {RECORD_NAME}")

    def verify_file(self, folder: Path, name: str) -> None:
        """Check that one file of the folder is as it was written, byte for byte.

        Raises
        ------
        ArtefactError
            If it is missing or changed.
        """
        path = folder / name
        if name not in self.files or not path.is_file():
            raise ArtefactError(f"{path} is missing: run the job again")
        if _file_record(path) != self.files[name]:
            raise damaged(str(path), f"its checksum is not the one in {RECORD_NAME}")


def versions_here() -> dict[str, str]:
    """The versions that results and speed may depend on."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": platform.python_version()}
    for package in ("lookalike", "numpy", "pyarrow"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions


def files_of(folder: Path) -> dict[str, FileRecord]:
    """Size and checksum of each file in a folder, by its path there; run.json aside."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / RECORD_NAME)
    # Digests are made without the interpreter's lock, and files are many.
    with ThreadPoolExecutor() as pool:
        records = pool.map(_file_record, files)
        return {path.relative_to(folder).as_posix(): one for path, one in zip(files, records, strict=True)}


def _file_record(path: Path) -> FileRecord:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES))
    return FileRecord(bytes=path.stat().st_size, checksum=digest.hexdigest())
