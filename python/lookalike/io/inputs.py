"""From what a user types (files, folders, globs, -) to the files to read, in one order for all runs."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from lookalike.errors import EmptySourceError, OptionError, SourceError
from lookalike.io.format import Format, InputFile
from lookalike.io.jsonlines import JsonLines
from lookalike.io.parquet import Parquet
from lookalike.io.separated import Separated
from lookalike.io.stream import COMPRESSIONS
from lookalike.io.textfiles import TextFiles
from lookalike.runs import is_run_folder

STANDARD_INPUT = "-"

_JSONL, _PARQUET = JsonLines(), Parquet()
_FORMATS: dict[str, Format] = {
    ".parquet": _PARQUET,
    ".jsonl": _JSONL,
    ".ndjson": _JSONL,
    ".json": _JSONL,
    ".csv": Separated("csv", ","),
    ".tsv": Separated("tsv", "\t"),
    ".txt": TextFiles(),
}
#: Endings of matrices, of which others read vectors and bits.
_MATRICES = (".npy", ".fvecs", ".bvecs", ".ivecs")
#: What a file's name says of it: a format and a compression, or nothing.
Kind = Callable[[Path], tuple[Format, str | None] | None]

#: Which endings those are, in words.
READABLE = f"{', '.join(_FORMATS)}, the text formats also with {' or '.join(COMPRESSIONS)}"


def kind_of(path: Path) -> tuple[Format, str | None] | None:
    """The format and compression that a file's name tells; None for a name that tells none of ours."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if not suffixes:
        return None
    if suffixes[-1] in COMPRESSIONS and len(suffixes) == 2:
        form = _FORMATS.get(suffixes[0])
        # Parquet compresses inside; a compressed one could only be read after unpacking it whole.
        return None if form is None or form is _PARQUET else (form, COMPRESSIONS[suffixes[-1]])
    form = _FORMATS.get(suffixes[-1])
    return None if form is None else (form, None)


def find_files(
    inputs: Iterable[str | Path], kind: Kind = kind_of, readable: str = READABLE
) -> tuple[list[InputFile], int]:
    """The files that `inputs` name, sorted by path, each once; and how many in folders were passed over.

    A folder is searched recursively, and a glob may match folders. Files of a kind that cannot be read, and
    hidden ones, are passed over there; named by themselves, they are an error. `kind` says what can be read,
    and `readable` says so in words.
    """
    found: dict[str, tuple[Path, PurePosixPath]] = {}
    passed_over: set[str] = set()
    for given in inputs:
        here = 0
        for path, name in _expand(given, kind, readable):
            if kind(path) is None:
                passed_over.add(os.path.realpath(path))
                continue
            here += 1
            found.setdefault(os.path.realpath(path), (path, name))
        if not here:
            raise EmptySourceError(
                f"there is nothing to read in {given}: no file there ends in {readable}"
                if os.path.isdir(given)
                else f"no readable file matches {given}: check the pattern (files may end in {readable})"
            )
    entries = sorted(found.values(), key=lambda entry: entry[0].as_posix())
    names = _distinct_names(entries)
    files = [_input_file(path, name, kind) for (path, _), name in zip(entries, names, strict=True)]
    return files, len(passed_over)


def standard_input_file(spooled: Path, form: Format = _JSONL) -> InputFile:
    """Standard input, which is jsonl if nothing else is said, once it lies in the file `spooled`."""
    name = PurePosixPath(f"standard-input.{form.name}")
    return InputFile(path=spooled, label=STANDARD_INPUT, name=name, format=form)


def _input_file(path: Path, name: PurePosixPath, kind: Kind) -> InputFile:
    told = kind(path)
    assert told is not None
    # A name in some other encoding than UTF-8 must still be readable in an id.
    label = path.as_posix().encode("utf-8", errors="backslashreplace").decode("utf-8")
    return InputFile(path=path, label=label, name=name, format=told[0], compression=told[1])


def _expand(given: str | Path, kind: Kind, readable: str) -> Iterator[tuple[Path, PurePosixPath]]:
    """Paths, each with its name relative to the part of `given` that was written out."""
    path = Path(given)
    if str(given) == STANDARD_INPUT:
        raise OptionError("- (standard input) cannot be read together with files: name one or the other")
    if not str(given):
        # As a path it would be the folder we are in, which an unset variable of a script does not mean.
        raise OptionError("an input has no name: name files, folders, globs, or - for standard input")
    there = _is_there(path)
    if there and is_run_folder(path):
        raise SourceError(_run_for_input(path))
    if there and path.is_dir():
        yield from _walk(path, path)
    elif there:
        if kind(path) is None:
            raise _unreadable(given, path, readable)
        yield path, PurePosixPath(path.name)
    elif glob.has_magic(str(given)):
        base = _written_out(path)
        for match in sorted(glob.glob(str(given), recursive=True)):
            if os.path.isdir(match):
                # A pattern with ** matches folders as well as the files in them, which are then found twice.
                yield from _walk(Path(match), base)
            else:
                yield Path(match), PurePosixPath(Path(match).relative_to(base).as_posix())
    else:
        missing = SourceError(f"there is no file or folder {given}: check the name")
        # For those who call the library: a string alone is the name of a file.
        missing.add_note("Documents go in a list: [text]")
        raise missing


def _unreadable(given: str | Path, path: Path, readable: str) -> SourceError:
    if path.suffix.lower() not in _MATRICES:
        return SourceError(f"{given} is of no kind that can be read: files end in {readable}")
    wrong = SourceError(
        f"{given} holds vectors or bits, of which only pairs are looked for; what can be read here ends in"
        f" {readable}"
    )
    wrong.add_note(
        "Near vectors: similar_pairs(data, measure='angle', threshold='20deg'). Near bits: similar_bits(data)"
    )
    return wrong


def _run_for_input(path: Path) -> str:
    kept = path / "kept"
    what = f"what it kept is in {kept}" if kept.is_dir() else "it holds no documents"
    return f"{path} is the folder of an earlier run and no input: {what}"


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        # It lies in a folder that we may not look into, or its name is none the system can have.
        raise SourceError(
            f"cannot look for {path}: {error.strerror}; check the name, or its permissions"
        ) from error


def _walk(folder: Path, base: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    seen: set[str] = set()
    for parent, folders, names in os.walk(folder, followlinks=True, onerror=_unlisted):
        # Links are followed, and a link back up would otherwise never end.
        seen.add(os.path.realpath(parent))
        # The folder of an earlier run lies beside its input as often as not, and is no input itself.
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and os.path.realpath(os.path.join(parent, name)) not in seen
            and not is_run_folder(Path(parent, name))
        )
        for name in sorted(names):
            if not name.startswith("."):
                path = Path(parent, name)
                yield path, PurePosixPath(path.relative_to(base).as_posix())


def _unlisted(error: OSError) -> None:
    raise SourceError(
        f"cannot look into {error.filename}: {error.strerror}; mend its permissions, or name what else to "
        "read"
    )


def _written_out(pattern: Path) -> Path:
    """The part of a pattern before its first wildcard."""
    plain = []
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        plain.append(part)
    return Path(*plain)


def _distinct_names(entries: list[tuple[Path, PurePosixPath]]) -> list[PurePosixPath]:
    """Names for the kept files; if two are the same, all go by their path below the common folder."""
    names = [name for _, name in entries]
    if len(set(names)) == len(names):
        return names
    absolute = [os.path.abspath(path) for path, _ in entries]
    base = os.path.commonpath([os.path.dirname(path) for path in absolute])
    return [PurePosixPath(Path(path).relative_to(base).as_posix()) for path in absolute]
