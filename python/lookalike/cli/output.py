"""The checks that come before hours of work, and what is said beside the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lookalike.charts import numbers
from lookalike.cli import first_sign
from lookalike.cli.ending import forget_unwritten
from lookalike.errors import OptionError, OutputError
from lookalike.io import FileSource, open_files
from lookalike.runs import (
    LEDGER_NAME,
    RECORD_NAME,
    RunFolder,
    RunRecord,
    is_run_folder,
    is_unfinished_run,
)
from lookalike.wording import agreeing


def note(message: str) -> None:
    """Tell the user something beside the result; if nobody listens any more, the run goes on."""
    first_sign.hide()
    try:
        print(f"Note: {message}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        forget_unwritten(sys.stderr)


def checked_folder(output: Path | None, *, overwrite: bool, resume: bool = False) -> RunFolder:
    """The folder a run will write, known to be free before anything is read."""
    if output is None:
        raise OptionError("say where the result goes: add -o FOLDER")
    if not (resume and not overwrite and is_run_folder(output)):
        return RunFolder.create(output, overwrite=overwrite)
    left_over = is_left_over(output)
    if not left_over and is_unfinished_run(unfinished_place(output)):
        raise OutputError(
            f"{output} holds a finished run, and the unfinished one beside it is to replace it: go on "
            "with --resume --overwrite, or choose another folder"
        )
    # Whoever finds out that it is the same run lets it be, and has nothing written.
    folder = RunFolder.create(output, overwrite=True)
    folder.finished = not left_over
    return folder


def is_left_over(output: Path) -> bool:
    """Whether the unfinished run beside a finished one is the same: killed as it removed what it had needed.

    By its time; whether it was asked for the same is for the ledger to say.
    """
    beside = unfinished_place(output)
    if not (is_run_folder(output) and is_unfinished_run(beside)):
        return False
    begun, finished = (path.stat().st_mtime for path in (beside / LEDGER_NAME, output / RECORD_NAME))
    return begun <= finished


def finished_already(output: Path) -> str:
    """That there is nothing to go on with, and what is there instead."""
    record = RunRecord.read(output)
    told = next((name for name in ("kept", "neighbours", "pairs") if name in record.counts), None)
    result = ""
    if told is not None:
        found = record.counts[told]
        result = f", {numbers.count(found)} {agreeing(found, told.removesuffix('s'), told)}"
    return f"the run in {output} is finished already ({record.job}{result}): there is nothing to go on with"


def unfinished_place(output: Path) -> Path:
    """Where what an unfinished run has done waits, beside the folder it is to write."""
    target = Path(os.path.realpath(output))
    return target.parent / f".{target.name}.unfinished"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What to read of the input, and what to do with rows that cannot be read."""

    text: str
    id: str | None
    on_error: str
    columns: tuple[str, ...] = ()


def work_place(output: Path | None, scratch: Path | None) -> Path | None:
    """The folder for what does not fit memory: the one that was named, or the nearest above the output."""
    if scratch is not None or output is None:
        return scratch
    return next(folder for folder in Path(os.path.realpath(output)).parents if folder.is_dir())


@contextmanager
def opened(
    inputs: Iterable[str], reading: Reading, *, output: Path | None, scratch: Path | None
) -> Iterator[FileSource]:
    """Open the input, which must not lie in the output; standard input is kept where other work waits."""
    source = open_files(list(inputs), **vars(reading), scratch=work_place(output, scratch))
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


def alone(sources: Sequence[object]) -> list[str]:
    """What somebody should hear whose documents are the lines of the only file."""
    if len(sources) != 1 or not isinstance(sources[0], FileSource):
        return []
    files = sources[0].files
    if [file.format.name for file in files] != ["txt"]:
        return []
    return [
        f"{files[0].label} is one document, with nothing to compare it with: a .txt file is one text. If it"
        " holds a document a line, give it as .jsonl or .csv; pairs and top read a set a line with --sets"
    ]


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
