"""A run folder appears whole or not at all.

A run writes into a hidden sibling of the folder it was asked for, on the same file system, and the sibling
takes the folder's name in one rename once everything is on disk. Whatever happens before that (an error,
Ctrl-C, a polite kill, a full disk) the sibling is removed and a folder that was there before is as it was.
An earlier run that is replaced stands aside under another hidden name for a moment; what a kill leaves there,
with nothing in its place, the next run puts back.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from lookalike.atomic import hidden_sibling, is_utf8_name, sync, unwritable
from lookalike.errors import OutputError, ScratchError
from lookalike.runs.space import disk_was_full, in_words, require_space

RECORD_NAME = "run.json"

# Signals that end a process without giving Python a chance to tidy up.
_POLITE_KILLS = (signal.SIGTERM, signal.SIGHUP)


class RunFolder:
    """The output folder of a run, while it is being written.

    Use it as a context manager: write files under `path`, and they appear under `target` when the block
    ends well.

    Examples
    --------
    >>> import tempfile
    >>> out = Path(tempfile.mkdtemp()) / "out"
    >>> with RunFolder.create(out) as folder:
    ...     _ = (folder.path / "notes.txt").write_text("done")
    >>> sorted(entry.name for entry in out.iterdir())
    ['notes.txt']
    """

    def __init__(self, target: Path, *, overwrite: bool = False) -> None:
        self.target = target
        self.path = hidden_sibling(target)
        #: What the run was asked, for run.json to remember; None of what could not be asked again.
        self.asked: Mapping[str, Any] | None = None
        #: Whether a finished run is there already, which may be the answer to what is asked.
        self.finished = False
        self._overwrite = overwrite
        self._cleanup = contextlib.ExitStack()
        #: Files that are on disk as they are: their number there, and when they were written to.
        self._on_disk: set[tuple[int, int]] = set()

    @classmethod
    def create(cls, path: str | Path, *, overwrite: bool = False, needs_bytes: int = 0) -> RunFolder:
        """Check that `path` can become a run folder; entering the result opens its hidden sibling.

        Parameters
        ----------
        overwrite
            Replace an earlier run folder. A folder without a run.json of ours is never replaced.
        needs_bytes
            Space the run expects to fill; less than that free is an error now rather than hours later.

        Raises
        ------
        OutputError
            If the output is in the way, cannot be written, or has too little space.
        """
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise OutputError(f"{path!r:.40} is no folder to write into: give a path")
        # Through a symlink the sibling must stand beside the real folder: a rename stays on one file system.
        target = Path(os.path.realpath(path))
        if not is_utf8_name(target):
            raise OutputError(
                f"the name of {os.fsencode(target)!r} is not UTF-8: choose another folder for the output"
            )
        try:
            _put_back(target)
            _check_target(target, overwrite=overwrite)
            require_space(
                target, needs_bytes, "the run", advice="make room there or choose another output folder"
            )
        except OSError as error:
            raise unwritable(target, error) from error
        return cls(target, overwrite=overwrite)

    def write_in(self, folder: Path) -> None:
        """Write in a folder beside the target instead, which is swept if this process is killed."""
        self.path = hidden_sibling(folder / self.target.name)

    def __enter__(self) -> RunFolder:
        with contextlib.ExitStack() as cleanup:
            cleanup.enter_context(_killed_means_exit())
            try:
                cleanup.callback(_remove_empty, _missing_parents(self.target))
                self.target.parent.mkdir(parents=True, exist_ok=True)
                cleanup.callback(_remove, self.path)
                self.path.mkdir()
            except OSError as error:
                raise unwritable(self.target, error) from error
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After a commit the hidden name is gone and its parents are not empty: nothing is left to remove.
        with self._cleanup:
            if error is None:
                self._commit()
            elif disk_was_full(error) and not isinstance(error, ScratchError):
                # The scratch folder may lie on another disk, and its error says which is full.
                raise self._full() from error

    def to_disk(self) -> None:
        """Bring what is written so far to disk; at the end of the block that is left to do for the rest.

        Of many files it takes as long as writing them: whoever measures that calls this in good time.

        Raises
        ------
        OutputError
            If the disk does not take them.
        """
        try:
            self._sync()
        except OSError as error:
            raise self._failed(error) from error

    def _sync(self) -> None:
        for parent, _, names in os.walk(self.path):
            files = [Path(parent, name) for name in names]
            stamps = {file: _stamp(file) for file in files}
            files = [file for file in files if stamps[file] not in self._on_disk]
            if len(files) <= _FEW_FILES:
                for file in files:
                    sync(file)
            else:
                # A disk brings together what is asked of it at once.
                with ThreadPoolExecutor(_FEW_FILES) as pool:
                    list(pool.map(sync, files))
            self._on_disk.update(stamps[file] for file in files)
            sync(Path(parent))

    def _commit(self) -> None:
        try:
            self._sync()
            # Another run may have finished under the same name in the meantime.
            _check_target(self.target, overwrite=self._overwrite)
            with _undisturbed():
                _swap_in(self.path, self.target)
            # Everything is in its place: a disk that cannot note the name now takes nothing back.
            with contextlib.suppress(OSError):
                sync(self.target.parent)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> OutputError:
        return self._full() if disk_was_full(error) else unwritable(self.target, error)

    def _full(self) -> OutputError:
        written = sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())
        free = shutil.disk_usage(self.path).free
        return OutputError(
            f"the disk of {self.target} is full: {in_words(written)} were written, and are removed again, as "
            f"{in_words(free)} were free and more was needed; make room there or choose another output folder"
        )


def is_run_folder(path: Path) -> bool:
    """Whether `path` is a folder that an earlier run of ours wrote."""
    try:
        record = json.loads((path / RECORD_NAME).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and "lookalike" in record


def _check_target(target: Path, *, overwrite: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file, and the output is a folder: choose another name")
    if next(target.iterdir(), None) is None:
        return
    if not overwrite:
        raise OutputError(
            f"{target} exists and is not empty: choose another folder, or replace it with overwrite=True"
        )
    if not is_run_folder(target):
        raise OutputError(
            f"{target} holds no {RECORD_NAME} of ours, so it is not replaced even with overwrite=True: "
            "choose another folder, or empty it yourself"
        )


def _missing_parents(target: Path) -> list[Path]:
    """The folders above `target` that are still to be made, deepest first."""
    return [parent for parent in target.parents if not parent.exists()]


def _remove(folder: Path) -> None:
    with _undisturbed():
        shutil.rmtree(folder, ignore_errors=True)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _swap_in(hidden: Path, target: Path) -> None:
    """Give `hidden` the name `target`; an earlier run folder is put back if that fails."""
    if not target.exists() or next(target.iterdir(), None) is None:
        os.rename(hidden, target)
        return
    aside = target.parent / f"{_aside_names(target)}{secrets.token_hex(4)}"
    os.rename(target, aside)
    try:
        os.rename(hidden, target)
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _aside_names(target: Path) -> str:
    """How the hidden names begin that an earlier run has while it is replaced."""
    return f".{target.name}.earlier-"


def _put_back(target: Path) -> None:
    """Give an earlier run its name again, if a kill came just as it was replaced."""
    if target.exists() or not target.parent.is_dir():
        return
    names = _aside_names(target)
    aside = [path for path in target.parent.iterdir() if path.name.startswith(names) and is_run_folder(path)]
    if len(aside) == 1:
        os.rename(aside[0], target)


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns


#: So many files are brought to disk one after the other, and of more so many at once.
_FEW_FILES = 32


@contextlib.contextmanager
def _killed_means_exit() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit inside the block, so that clean-up runs.

    Only where the default (sudden death) was in force, and only in the main thread, where Python allows it:
    a host program that has its own handler keeps it.
    """

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [number for number in _POLITE_KILLS if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C and polite kills wait for nothing: who presses twice does not want half a clean-up."""
    taken = {}
    if threading.current_thread() is threading.main_thread():
        taken = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, *_POLITE_KILLS)}
    try:
        yield
    finally:
        for number, handler in taken.items():
            # None stands for a handler of another language, which could not be put back.
            if handler is not None:
                signal.signal(number, handler)
