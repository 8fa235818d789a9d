"""The checks that come before hours of work, and what is said beside the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lookalike.applications.documents import PairOptions
from lookalike.charts import numbers
from lookalike.errors import OptionError, OutputError
from lookalike.io import FileSource, open_files
from lookalike.runs import RunFolder
from lookalike.theory import plan


def note(message: str) -> None:
    """Tell the user something beside the result."""
    print(f"Note: {message}", file=sys.stderr, flush=True)


def require_reachable(options: PairOptions) -> None:
    """Refuse a promise that no banding keeps, rather than say so after hours of reading."""
    plan(options.threshold, recall=options.recall, slots=options.slots)


def checked_folder(output: Path | None, *, overwrite: bool) -> RunFolder:
    """The folder a run will write, known to be free before anything is read."""
    if output is None:
        raise OptionError("say where the result goes: add -o FOLDER")
    return RunFolder.create(output, overwrite=overwrite)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What to read of the input, and what to do with rows that cannot be read."""

    text: str
    id: str | None
    on_error: str
    columns: tuple[str, ...] = ()


@contextmanager
def opened(inputs: Iterable[str], reading: Reading, *, output: Path | None) -> Iterator[FileSource]:
    """Open the input, which must not lie in the output."""
    source = open_files(list(inputs), **vars(reading))
    with source:
        if output is not None:
            _check_apart(source, output)
        yield source


def _check_apart(source: FileSource, output: Path) -> None:
    check_outside([(file.path, file.label) for file in source.files], output)


def check_outside(files: Iterable[tuple[Path, str]], output: Path) -> None:
    """What an earlier run wrote must not be taken for input, and then be replaced by the output."""
    folder = Path(os.path.realpath(output))
    for path, label in files:
        if folder in Path(os.path.realpath(path)).parents:
            raise OutputError(
                f"{label} would be read and lies in the output folder {output}: "
                "choose an output folder outside the input"
            )


def note_what_was_left_out(source: FileSource) -> None:
    """Say which files were passed over, and which rows and files could not be read."""
    if source.passed_over:
        note(
            f"{numbers.several(source.passed_over, 'file')} in the folders passed over: "
            "of no kind that can be read"
        )
    unreadable = source.unreadable
    if unreadable.rows or unreadable.files:
        skipped = [numbers.several(unreadable.rows, "row")] if unreadable.rows else []
        skipped += [numbers.several(unreadable.files, "file")] if unreadable.files else []
        note(f"{' and '.join(skipped)} could not be read, the first: {unreadable.places[0]}")
