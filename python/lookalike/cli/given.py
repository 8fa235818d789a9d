"""What a command is given to read: documents or sets, of one collection or two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from lookalike.applications.sets import OpenSets, open_sets, read_sets
from lookalike.cli.output import Reading, check_outside, note_what_was_left_out, opened, work_place
from lookalike.errors import OptionError
from lookalike.io import FileSource
from lookalike.io.inputs import STANDARD_INPUT

#: Options that say how a text is read and cut; sets need neither.
ONLY_OF_TEXTS = ("text", "shingle")


def set_columns(*, sets: bool, **columns: Any) -> dict[str, Any] | None:
    """How sets are to be read, as `read_sets` calls it; None if the input holds documents."""
    if sets:
        return columns
    if any(value is not None for value in columns.values()):
        raise OptionError(
            "--set-of, --items, --rating, --least-rating, --weight and --separator go with --sets: add it"
        )
    return None


def require_read_once(given: Sequence[list[str] | None]) -> None:
    """Refuse standard input for two collections: the second would find it at its end."""
    if sum(paths == [STANDARD_INPUT] for paths in given) > 1:
        raise OptionError("- (standard input) can be read once only: name files for one of the collections")


@contextmanager
def opened_given(
    given: Sequence[list[str] | None],
    reading: Reading,
    columns: dict[str, Any] | None,
    *,
    output: Path | None,
    scratch: Path | None,
) -> Iterator[list[Any]]:
    """Open the collections that were named, which must not lie in the output.

    They are `FileSource`s of documents or, if there are `columns`, `OpenSets`.
    """
    require_read_once(given)
    with ExitStack() as stack:
        if columns is None:
            where = {"output": output, "scratch": scratch}
            yield [stack.enter_context(opened(paths, reading, **where)) for paths in given if paths]
            return
        how = {**columns, "id": reading.id, "on_error": reading.on_error}
        place = work_place(output, scratch)
        sources = [stack.enter_context(open_sets(read_sets(paths, **how), place)) for paths in given if paths]
        if output is not None:
            check_outside([(path, str(path)) for source in sources for path in source.paths], output)
        yield sources


@contextmanager
def opened_each(
    open: Callable[..., FileSource],
    given: Sequence[list[str]],
    *,
    output: Path | None,
    scratch: Path | None,
) -> Iterator[list[FileSource]]:
    """Open the files of each collection, which must not lie in the output."""
    require_read_once(given)
    with ExitStack() as stack:
        sources: list[FileSource] = []
        for paths in given:
            sources.append(open(paths, scratch=work_place(output, scratch)))
            stack.enter_context(sources[-1])
        if output is not None:
            check_outside([(path, str(path)) for source in sources for path in source.paths], output)
        yield sources


def note_what_was_left_out_of(given: Sequence[Any]) -> None:
    """Say which files were passed over, and which rows and files could not be read."""
    for one in given:
        source = one.source if isinstance(one, OpenSets) else one
        if isinstance(source, FileSource):
            note_what_was_left_out(source)
