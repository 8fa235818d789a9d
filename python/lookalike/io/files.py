"""A source of files: one order, one schema, and kept rows written file by file in the format they came in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from lookalike.errors import OptionError, SourceError
from lookalike.io.batching import BATCH_BYTES, regroup
from lookalike.io.columns import Wanted, common_types
from lookalike.io.edits import Edits
from lookalike.io.faults import Faults, OnError, UnreadableFileError
from lookalike.io.format import InputFile, ReadPlan
from lookalike.io.inputs import READABLE, STANDARD_INPUT, Kind, find_files, kind_of, standard_input_file
from lookalike.io.layout import Census, Layout, Mask, Rows
from lookalike.io.source import Source
from lookalike.io.spool import Spool
from lookalike.runs.side_by_side import in_turn


def open_files(
    inputs: Iterable[str | Path] | str | Path,
    *,
    text: str = "text",
    id: str | None = None,
    columns: Sequence[str] = (),
    on_error: OnError = "raise",
    scratch: Path | None = None,
) -> FileSource:
    """Open files, folders (searched recursively), globs, or `-` for jsonl on standard input.

    Parquet, jsonl, csv, tsv and txt are read, by the file's ending; all but parquet also as .gz or .zst.
    They may be mixed as long as each has the columns asked for.

    Parameters
    ----------
    text
        The column of the text. A .txt file is one document and has only that.
    id
        The column of unique ids; without one a row is called `path:row`, its row in the file counted from 0.
    columns
        Further columns that the job needs. Kept rows have all columns in any case.
    on_error
        `raise` at the first row that cannot be read, or `skip` and count them.
    scratch
        Where standard input is kept while it is in use; the system's temporary folder if not given.

    Raises
    ------
    SourceError
        If an input is missing, of no readable kind, or without one of the columns.
    """
    return open_wanted(inputs, Wanted(text=text, id=id, columns=tuple(columns)), on_error, scratch)


def open_wanted(
    inputs: Iterable[str | Path] | str | Path,
    wanted: Wanted,
    on_error: OnError = "raise",
    scratch: Path | None = None,
    *,
    kind: Kind = kind_of,
    readable: str = READABLE,
) -> FileSource:
    """Open files as `open_files` does, for columns of any kind; `kind` and `readable` as of `find_files`."""
    given = [inputs] if isinstance(inputs, (str, Path)) else list(inputs)
    if not given:
        raise OptionError("no input was named: name files, folders, globs, or - for standard input")
    if [str(name) for name in given] == [STANDARD_INPUT]:
        spool = Spool(folder=scratch)
        return FileSource([standard_input_file(spool.path)], wanted, on_error, spool=spool)
    files, passed_over = find_files(given, kind, readable)
    return FileSource(files, wanted, on_error, passed_over=passed_over)


#: What writing a file may take.
_A_WRITER = 128 << 20


class FileSource(Source):
    """Rows of files, in the order of (sorted path, row in file)."""

    def __init__(
        self,
        files: Sequence[InputFile],
        wanted: Wanted,
        on_error: OnError = "raise",
        *,
        passed_over: int = 0,
        spool: Spool | None = None,
    ) -> None:
        super().__init__(wanted, on_error)
        self._denied: list[tuple[str, str]] = []
        """What the system does not let us read, and why: dead links, and files of others."""
        self.files = [file for file in files if self._may_read(file)]
        if not self.files:
            faults = Faults(on_error)
            self._tell_denied(faults)
            raise self._nothing_to_read(faults.unreadable())
        self.spooled = spool is not None
        """Whether they came on standard input, and are gone with the process."""
        self.passed_over = passed_over
        """Files in searched folders that are of no readable kind."""
        if spool is not None:
            self._resources.callback(spool.close)
        self._stamps = [file.stamp() for file in self.files]
        self._unopened: dict[int, str] = {}
        self._own = self._probe_all()
        types = wanted.settled(common_types(self._own))
        self._schema = pa.schema(list(zip(wanted.labels, types, strict=True)))

    @property
    def format(self) -> str:
        """The formats read, joined by +."""
        return "+".join(sorted({file.format.name for file in self.files}))

    @property
    def labels(self) -> list[str]:
        """What the files are called; none if rows have ids."""
        return [] if self.wanted.id is not None else [file.label for file in self.files]

    @property
    def order(self) -> str:
        """What the order of rows is, in words."""
        return "files sorted by path, then rows as they lie in the file"

    @property
    def paths(self) -> list[Path]:
        """Where the files lie."""
        return [file.path for file in self.files]

    @property
    def bytes(self) -> int:
        """Size of the files on disk."""
        return sum(size for size, _ in self._stamps)

    def least_bytes(self) -> int:
        """How many bytes of text there are at least, as far as files say so themselves."""
        readable = (file for at, file in enumerate(self.files) if at not in self._unopened)
        return sum(file.format.least_bytes(file, self.wanted) for file in readable)

    def can_scan_on(self) -> bool:
        """Whether all files are of a format that is read as fast as a copy of its texts would be."""
        return not self.spooled and all(file.format.fast for file in self.files)

    def scan_from(self, row: int, batch_bytes: int = BATCH_BYTES) -> Iterator[pa.RecordBatch]:
        """What a scan delivers from a row number on; an error if a file is no longer what was scanned."""
        return regroup(self._read_on(row, batch_bytes), batch_bytes)

    def scan_begins(self, row: int) -> int:
        """The first row of the file that holds a row."""
        starts = self.layout.starts
        return int(starts[np.searchsorted(starts, row, side="right") - 1])

    def _read_on(self, row: int, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        starts = self.layout.starts
        wanted = [at for at in range(len(self.files)) if starts[at] < starts[at + 1] > row]
        for at, batches in self._files_read(wanted, partial(self._read_again, batch_bytes=batch_bytes)):
            done = int(starts[at])
            for batch in batches:
                passed = max(0, row - done)
                done += batch.num_rows
                if passed < batch.num_rows:
                    yield batch.slice(passed)

    def _read_again(self, at: int, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        """The rows of a file that was read before."""
        self._check_unchanged(at)
        plan = replace(self._plan(at, batch_bytes), checked=at not in self.layout.bad)
        rows = 0
        try:
            for batch in self._read_file(at, self._faults_in(at), plan):
                rows += batch.num_rows
                yield batch
        except SourceError:
            # It was whole when it was read first: damage is a change.
            self._check_unchanged(at)
            raise
        self._check_unchanged(at)
        if rows != int(self.layout.starts[at + 1] - self.layout.starts[at]):
            raise self._changed(at)

    def _files_read(
        self, wanted: Sequence[int], read: Callable[[int], Iterator[pa.RecordBatch]]
    ) -> Iterator[tuple[int, Iterable[pa.RecordBatch]]]:
        """The batches of some files, one after the other; small files are read side by side."""
        if self._are_small:
            read_whole = in_turn(wanted, lambda at: list(read(at)), self.threads, wait=False)
            yield from zip(wanted, read_whole, strict=True)
        else:
            yield from ((at, read(at)) for at in wanted)

    @cached_property
    def _are_small(self) -> bool:
        """Whether several files fit the room there is, decoded, and a thread can have one for itself."""
        if self.threads == 1 or self.room is None or not self.can_scan_on():
            return False
        # Three a thread are in hand: read, being read, and in use.
        most = self.room // (4 * self.threads)
        return all(file.format.least_bytes(file, self.wanted) <= most for file in self.files)

    def _faults_in(self, at: int) -> Faults:
        faults = Faults(self._on_error)
        faults.open(self.files[at].label)
        return faults

    def kept(self, mask: Mask, edits: Edits | None = None) -> pa.Table:
        """The text, id and extra columns of the kept rows; `write_kept` writes all columns."""
        self.layout.check(mask)
        kept = []
        done = 0
        for batch in self.scan():
            if edits is not None:
                texts = edits.apply(done + np.arange(batch.num_rows), batch.column(0))
                batch = pa.record_batch([texts, *batch.columns[1:]], schema=batch.schema)
            kept.append(batch.filter(pa.array(mask[done : done + batch.num_rows])))
            done += batch.num_rows
        return pa.Table.from_batches(kept, schema=self._schema)

    def write_kept(self, folder: Path, mask: Mask, edits: Edits | None = None) -> list[Path]:
        """Write a file for each input file, of the same name, format and compression, with the kept rows.

        Lines of jsonl and rows of csv are the same bytes as in the input, an edited text aside. A .txt file
        whose document is dropped is left out, and so is a file that could not be opened.
        """
        layout = self.layout

        def write(at: int) -> Path:
            self._check_unchanged(at)
            file = self.files[at]
            own = None if edits is None else edits.of_file(layout.numbers_of(at))
            try:
                file.format.write_kept(file, folder / file.name, layout.rows_of(at, mask), own)
            except (pa.ArrowException, OSError) as error:
                # The system's own errors have numbers: those are of the disk that is written to.
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                raise SourceError(
                    f"{file.label}: a column beside those that were read is damaged ({_in_a_line(error)}): "
                    "its kept rows cannot be written. Mend the file, or let only what to drop be listed "
                    "(drop_list=True)"
                ) from error
            return folder / file.name

        readable = [at for at in range(len(self.files)) if at not in self._unopened]
        # A file may take as much as a part of a large row group while it is written.
        at_once = self.threads if self.room is None or self.room >= _A_WRITER * self.threads else 1
        return [target for target in in_turn(readable, write, at_once) if target.exists()]

    def check_unchanged(self) -> None:
        """Whether all files are what they were when they were opened; an error if not."""
        for at in range(len(self.files)):
            self._check_unchanged(at)

    def _check_unchanged(self, at: int) -> None:
        label = self.files[at].label
        try:
            unchanged = self.files[at].stamp() == self._stamps[at]
        except OSError as error:
            raise SourceError(f"{label} is gone ({error.strerror}): run again on files at rest") from error
        if not unchanged:
            raise self._changed(at)

    def _changed(self, at: int) -> SourceError:
        label = self.files[at].label
        return SourceError(f"{label} was changed while it was being read: run again on files at rest")

    def _may_read(self, file: InputFile) -> bool:
        reason = file.denied()
        if reason is None:
            return True
        self._denied.append((file.label, f"it cannot be read ({reason})"))
        # An error, unless such files are skipped.
        self._tell_denied(Faults(self._on_error))
        return False

    def _tell_denied(self, faults: Faults) -> None:
        for label, reason in self._denied:
            faults.open(label)
            faults.file(reason)

    def _probe_all(self) -> list[pa.Schema]:
        schemas = []
        for at, file in enumerate(self.files):
            try:
                schema = file.format.probe(file, self.wanted)
            except (pa.ArrowException, OSError, UnreadableFileError) as error:
                self._unopened[at] = f"it cannot be read ({_in_a_line(error)})"
                faults = Faults(self._on_error)
                faults.open(file.label)
                faults.file(self._unopened[at])
                schema = pa.schema([(name, pa.null()) for name in self.wanted.names])
            self.wanted.check(file.label, schema)
            schemas.append(schema)
        return schemas

    def _read(self, faults: Faults, census: Census, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        if not faults.skip and self._are_small:
            # The first fault is an error, which comes when it is the file's turn.
            yield from self._read_small(census, batch_bytes)
            return
        self._tell_denied(faults)
        for at, file in enumerate(self.files):
            census.open_file()
            faults.open(file.label)
            if at in self._unopened:
                faults.file(self._unopened[at])
                continue
            for batch in self._read_file(at, faults, self._plan(at, batch_bytes)):
                census.add(batch)
                yield batch
            census.close_file(faults.bad_rows())

    def _read_small(self, census: Census, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        def read(at: int) -> Iterator[pa.RecordBatch]:
            return self._read_file(at, self._faults_in(at), self._plan(at, batch_bytes))

        for _, batches in self._files_read(range(len(self.files)), read):
            census.open_file()
            for batch in batches:
                census.add(batch)
                yield batch
            census.close_file(np.empty(0, np.int64))

    def _read_file(self, at: int, faults: Faults, plan: ReadPlan) -> Iterator[pa.RecordBatch]:
        file = self.files[at]
        batches = file.format.read(file, plan, faults)
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError, UnreadableFileError) as error:
                # It could be opened before, so it has changed or the disk fails.
                faults.file(f"it cannot be read ({_in_a_line(error)})")
                return
            if batch is None:
                return
            yield batch

    def _plan(self, at: int, batch_bytes: int) -> ReadPlan:
        # A column without a value at the file's beginning takes the type it has elsewhere.
        pairs = zip(self._own[at], self._schema.types, strict=True)
        own = [(field.name, kind if pa.types.is_null(field.type) else field.type) for field, kind in pairs]
        return ReadPlan(
            wanted=self.wanted,
            own=pa.schema(own),
            schema=self._schema,
            batch_bytes=batch_bytes,
            room=self.room,
        )

    def _places(self, rows: Rows) -> pa.Array:
        import pyarrow.compute as pc

        files, inside = self.layout.locate(rows)
        labels = pa.array([file.label for file in self.files])
        return pc.binary_join_element_wise(
            labels.take(pa.array(files)), pa.array(inside).cast(pa.string()), ":"
        )

    def _place(self, layout: Layout, row: int) -> str:
        files, inside = layout.locate(np.array([row]))
        return f"{self.files[int(files[0])].label}:{int(inside[0])}"


def _in_a_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        # What the system says of it; its own text repeats the name of the file.
        return str(error.strerror)
    return str(error).split("\n", maxsplit=1)[0].rstrip(".")
