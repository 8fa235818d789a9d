"""The ledger of an unfinished run: what is done stays done, however the run ends.

    RUN/ledger.json       what was asked: job, parameters, versions, fingerprints of the inputs
    RUN/sign.stage        what the stage `sign` made; and so on, a file a stage
    RUN/.sign.stage.partial-…   a stage that was being written when the run was killed
    RUN/lock              held while a process works here

A stage's file takes its name in one rename, when it is whole and on disk. The file itself is the commit:
there is no list of what is done that could say something else. So a run may be killed between any two
instructions, and starting it again with `resume` repeats only what was not committed. That the answer is the
same rests on the stages: they must be deterministic, read nothing but the inputs and earlier stages, and be
asked for in the same order each time. A stage may ask for others while it is made; who finds it done does not
ask for those again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import pyarrow as pa

from lookalike.atomic import atomic_write, sync, unwritable
from lookalike.errors import LookalikeError, OutputError
from lookalike.runs.asked import LEDGER_NAME, asked_for, digest, is_unfinished_run, require_unchanged
from lookalike.runs.fingerprint import Fingerprint
from lookalike.runs.header import Header, damaged
from lookalike.runs.lock import LOCK_NAME, FolderLock
from lookalike.runs.space import RESUMABLE, require_space, resumable_when_full
from lookalike.runs.stored import StoredTable, as_stored

_SUFFIX = ".stage"
# Small letters only: there are disks that do not tell them from capitals.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")

#: What a stage makes: a table, or its schema and its batches one after the other.
Made: TypeAlias = "pa.Table | tuple[pa.Schema, Iterable[pa.RecordBatch]]"


class Ledger:
    """The folder of an unfinished run, held by this process until `close` or `discard`.

    Made by `Ledger.open`.

    Attributes
    ----------
    resumed
        Whether there was an unfinished run, which goes on here.
    redone
        Why, for each stage that was committed and could not be used.

    Examples
    --------
    >>> import tempfile
    >>> out = Path(tempfile.mkdtemp()) / "out.unfinished"
    >>> asked = {"job": "demo", "parameters": {"rows": 3}, "inputs": [], "algorithm": 1}
    >>> with Ledger.open(out, **asked) as ledger:
    ...     rows = ledger.step("rows", lambda: pa.table({"row": [0, 1, 2]}))
    >>> with Ledger.open(out, **asked, resume=True) as ledger:
    ...     again = ledger.step("rows", lambda: 1 / 0)
    >>> ledger.resumed, again.batch(0)["row"].to_pylist()
    (True, [0, 1, 2])
    """

    def __init__(self, folder: Path, lock: FolderLock, asked: Header, *, resumed: bool) -> None:
        self.folder = folder
        self.resumed = resumed
        self.redone: dict[str, str] = {}
        self._lock = lock
        self._asked = asked
        self._names: set[str] = set()
        # A digest of the stages asked for so far and their parameters: what the next one may rest on.
        self._trail = asked.checksum

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        job: str,
        parameters: Mapping[str, Any],
        inputs: Sequence[Fingerprint],
        algorithm: int,
        resume: bool = False,
        overwrite: bool = False,
    ) -> Ledger:
        """Begin a run in `folder`, or go on with the one that is there.

        Parameters
        ----------
        job
            What is done, such as `dedup`.
        parameters
            Whatever the result depends on, as JSON values; what it does not depend on (threads, memory) may
            differ when the run goes on, and has no place here.
        inputs
            Fingerprints of the files that are read.
        algorithm
            Version of the algorithms.
        resume
            Go on with an unfinished run. Where there is none a new one begins: a run may be killed before it
            has written anything.
        overwrite
            Begin anew where there is an unfinished run; without effect on one that is resumed.

        Raises
        ------
        ResumeError
            If the unfinished run had other parameters, inputs or versions.
        OutputError
            If there is an unfinished run and neither `resume` nor `overwrite`; if another process is at work
            in the folder; if it is not ours, or cannot be written.
        ArtefactError
            If the unfinished run's ledger.json is damaged.
        """
        folder = Path(os.path.realpath(folder))
        asked = asked_for(job=job, parameters=parameters, inputs=inputs, algorithm=algorithm)
        try:
            _require_ours(folder)
            folder.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(folder)
            try:
                resumed = resume and (folder / LEDGER_NAME).exists()
                if resumed:
                    asked = require_unchanged(folder, asked)
                    _sweep(folder)
                else:
                    _begin(folder, asked, overwrite=overwrite)
                return cls(folder, lock, asked, resumed=resumed)
            except BaseException:
                _give_up(folder, lock)
                raise
        except OSError as error:
            raise unwritable(folder, error) from error

    def step(
        self,
        name: str,
        make: Callable[[], Made],
        *,
        parameters: Mapping[str, Any] | None = None,
        needs_bytes: int = 0,
    ) -> StoredTable:
        """The table of a stage: as it was committed, or made and committed now.

        A committed file is read through and checked first. A damaged one is made again; so is one that was
        made with other `parameters`, or after other stages or stages of other parameters than this time, as
        it may rest on them.

        Parameters
        ----------
        name
            Of the stage, once a run: small letters, digits, and `.`, `_`, `-` between them.
        make
            Called only if there is something to do. Batches are written as they come, one in memory.
        parameters
            What this stage depends on beside the run's own parameters, as JSON values.
        needs_bytes
            Room the stage expects to fill, checked before it begins. A whole table's is known without.

        Raises
        ------
        OutputError
            If it cannot be written. On a full disk the message says how to go on.
        """
        header = self._header(name, "table", parameters)
        return self._committed(name, header) or self._make(name, header, make, needs_bytes)

    def value(
        self, name: str, make: Callable[[], Any], *, parameters: Mapping[str, Any] | None = None
    ) -> Any:
        """The value of a stage that makes something small, as JSON values; else like `step`.

        What comes back has been through JSON the first time too (tuples are lists), so that a resumed run
        sees what the first one saw.
        """
        header = self._header(name, "value", parameters)
        stored = self._committed(name, header)
        if stored is None:
            stored = self._make(name, header, lambda: _as_table(make()), 0)
        return json.loads(stored.batch(0)["json"][0].as_py())

    def done(self) -> list[str]:
        """The names of the committed stages."""
        return sorted(path.name.removesuffix(_SUFFIX) for path in self.folder.glob(f"[!.]*{_SUFFIX}"))

    def discard(self) -> None:
        """Remove the folder and everything in it: the run is finished, or given up."""
        try:
            # The ledger last: what a kill leaves behind is an unfinished run with fewer stages, no riddle.
            _empty(self.folder)
            (self.folder / LEDGER_NAME).unlink(missing_ok=True)
            self._lock.remove()
        except OSError as error:
            raise OutputError(
                f"cannot remove {self.folder}: {error.strerror}; nobody needs it any more: remove it yourself"
            ) from error
        # Another run may have begun here as soon as we let go.
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def close(self) -> None:
        """Let other processes into the folder, which stays as it is."""
        self._lock.release()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _header(self, name: str, form: str, parameters: Mapping[str, Any] | None) -> Header:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a stage: use small letters, digits, '.', '_' and '-'")
        if name in self._names:
            raise ValueError(f"there is a stage {name!r} in this run already: a name stands for one stage")
        self._names.add(name)
        stage = {"stage": name, "parameters": as_stored(parameters or {}), "after": self._trail}
        self._trail = digest(json.dumps([form, stage], sort_keys=True).encode())
        return Header(kind=form, algorithm=self._asked.algorithm, parameters=stage)

    def _committed(self, name: str, header: Header) -> StoredTable | None:
        path = self._path(name)
        if not path.exists():
            return None
        try:
            stored = StoredTable.open(path, header)
            if stored.verify():
                return stored
            why = str(damaged(str(path), "its checksum does not fit"))
        except LookalikeError as error:
            why = str(error)
        path.unlink()
        self.redone[name] = why
        return None

    def _make(self, name: str, header: Header, make: Callable[[], Made], needs_bytes: int) -> StoredTable:
        # What the stage asks for while it is made is part of it, and nothing that the next one rests on.
        trail = self._trail
        with resumable_when_full(self.folder):
            self._require_space(name, needs_bytes)
            made = make()
            if isinstance(made, pa.Table):
                self._require_space(name, made.nbytes)
                made = made.schema, made.to_batches()
            schema, batches = made
            stored = StoredTable.write(self._path(name), schema, batches, header)
        self._trail = trail
        return stored

    def _require_space(self, name: str, needed: int) -> None:
        require_space(self.folder, needed, f"stage {name}", advice=RESUMABLE)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"


def _begin(folder: Path, asked: Header, *, overwrite: bool) -> None:
    """Make the folder that of a new run."""
    if (folder / LEDGER_NAME).exists() and not overwrite:
        raise OutputError(
            f"{folder} holds an unfinished run: go on with --resume, or begin anew with --overwrite"
        )
    # Stages of an earlier run go before its ledger, so that they are never taken for those of this one.
    _empty(folder)
    sync(folder)
    atomic_write(folder / LEDGER_NAME, asked.to_json().encode())
    sync(folder.parent)


def _give_up(folder: Path, lock: FolderLock) -> None:
    """Let go of a folder that could not be opened, and of the folder too if no run has begun in it."""
    with contextlib.suppress(OSError):
        if not (folder / LEDGER_NAME).exists():
            lock.remove()
            folder.rmdir()
    lock.release()


def _as_table(value: Any) -> pa.Table:
    return pa.table({"json": pa.array([json.dumps(value, allow_nan=False)], pa.large_string())})


def _require_ours(folder: Path) -> None:
    """Refuse a folder whose content is not that of a run, before anything in it is touched."""
    if not folder.exists() or is_unfinished_run(folder):
        return
    if not folder.is_dir():
        raise OutputError(f"{folder} is a file, and an unfinished run is a folder: choose another name")
    # A run that was killed as it began has no ledger yet.
    strange = sorted(path.name for path in folder.iterdir() if path.name != LOCK_NAME and not _partial(path))
    if strange:
        raise OutputError(
            f"{folder} holds {strange[0]} and is not the folder of an unfinished run: choose another one, or "
            "empty it yourself"
        )


def _sweep(folder: Path) -> None:
    """Remove what was being written when the run was killed."""
    for path in folder.iterdir():
        if _partial(path):
            _remove(path)


def _empty(folder: Path) -> None:
    """Remove everything but the ledger and the lock."""
    for path in folder.iterdir():
        if path.name not in (LEDGER_NAME, LOCK_NAME):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _partial(path: Path) -> bool:
    return path.name.startswith(".") and ".partial-" in path.name
