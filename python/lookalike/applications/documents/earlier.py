"""An earlier run, as far as new documents are compared with it: the documents it kept, by place.

Places count the kept documents (of a run by paragraphs or lines, the kept units) through the files of kept/,
in the order of their names. Texts are read again from there (`kept_texts.py`), and only files that hold a
wanted one; names come from clusters.parquet. Every file is checked against run.json before anything in it
counts, so an edited or damaged one is an error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.documents.kept_texts import TEXT_SCHEMA, Inputs, KeptTexts, check_input
from lookalike.applications.documents.keys import KEYS_NAME
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.result import DedupResult
from lookalike.engines import Engine, Table, stored_table
from lookalike.errors import ArtefactError, OptionError, SourceError
from lookalike.io.units import Unit
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import RECORD_NAME, Fingerprint, RunRecord, StoredTable, is_unfinished_run
from lookalike.runs.stored import as_stored
from lookalike.theory.added_bands import FinalBands
from lookalike.types import I64

_IN_MEMORY = "the earlier result"
CLUSTERS_NAME = "clusters.parquet"
DOCUMENTS_NAME = "documents.parquet"
#: Options that decide what a near-duplicate is: a run and what is appended to it must agree in them.
_BINDING = ("threshold", "shingle", "measure", "unit", "slots", "seed")


@dataclass(frozen=True, kw_only=True, eq=False)
class EarlierRun:
    """A run folder that new documents are compared with."""

    folder: Path
    record: RunRecord
    keys: StoredTable
    #: Of the content of its run.json.
    checksum: str
    #: Of a result in memory: the temporary folder it was written to, which is gone with this object.
    temporary: TemporaryDirectory[str] | None = None

    @classmethod
    def of(cls, result: DedupResult, options: DedupOptions) -> EarlierRun:
        """A result in memory, written to a temporary folder; raises what `open` does."""
        temporary = TemporaryDirectory(prefix="lookalike-")
        return cls.open(result.write(Path(temporary.name, "run")), options, temporary=temporary)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        options: DedupOptions,
        *,
        temporary: TemporaryDirectory[str] | None = None,
    ) -> EarlierRun:
        """Open a run folder.

        Raises
        ------
        SourceError
            If it is no folder of a finished run, or what it kept is nowhere to be read.
        OptionError
            If it was made with other options than these.
        ArtefactError
            If a file of it is missing or damaged.
        """
        folder = Path(folder)
        if not (folder / RECORD_NAME).exists() and is_unfinished_run(
            folder.parent / f".{folder.name}.unfinished"
        ):
            raise SourceError(f"the run in {folder} is not finished: go on with it by --resume first")
        record = RunRecord.read(folder)
        _check(folder, folder if temporary is None else _IN_MEMORY, record, options)
        keys = StoredTable.open(folder / KEYS_NAME)
        keys.header.require(where=str(keys.path), kind="keys")
        content = (folder / RECORD_NAME).read_bytes()
        run = cls(
            folder=folder,
            record=record,
            keys=keys,
            checksum=hashlib.blake2b(content, digest_size=16).hexdigest(),
            temporary=temporary,
        )
        if run.inputs is not None:
            _check_inputs(folder, run.inputs)
        return run

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.folder) if self.temporary is None else _IN_MEMORY

    @property
    def place(self) -> str:
        """What run.json calls it: the whole path."""
        return str(self.folder.resolve()) if self.temporary is None else "a result in Python"

    @property
    def rows(self) -> int:
        """How many documents it kept."""
        return self.keys.rows

    @property
    def method(self) -> str:
        """The road that it took."""
        return str(self._stored["method"])

    @property
    def labels(self) -> list[str]:
        """What its input files were called; none if its documents had ids."""
        return list(self._stored["labels"])

    @property
    def earlier(self) -> dict[str, str]:
        """The runs that it was itself compared with: their places, by the checksums of their run.json."""
        return {run["checksum"]: run["folder"] for run in self.record.parameters.get("against", ())}

    @property
    def next_number(self) -> int | None:
        """A number over those of all its documents, where these are called by numbers."""
        if not pa.types.is_integer(self.id_type):
            return None
        most = (pc.max(batch["id"]).as_py() for batch in self._rows_of(self._ids_name, ["id"]))
        return max((number for number in most if number is not None), default=-1) + 1

    @property
    def bands(self) -> FinalBands | None:
        """The bands of its stored keys; None if there are none that this version can use."""
        if self.is_of_another_version or (stored := self._stored.get("bands")) is None:
            return None
        return FinalBands.from_dict(stored)

    @property
    def is_of_another_version(self) -> bool:
        """Whether its keys were made by algorithms that would make others today."""
        return self.keys.header.algorithm != ALGORITHM_VERSION

    @property
    def keyed(self) -> Table:
        """Its stored keys, where they lie."""
        return stored_table(self.keys)

    @property
    def unit(self) -> Unit:
        """What it compared and kept: documents, or units of them."""
        unit: Unit = self.record.parameters["unit"]
        return unit

    @cached_property
    def inputs(self) -> Inputs | None:
        """The files that it read, if it wrote a drop list and its texts are there alone."""
        stored = self._stored.get("inputs")
        return None if stored is None else Inputs.from_dict(stored)

    @property
    def text_bytes(self) -> int:
        """About how much there is to read: the size of its kept files, or of its input."""
        return sum(self._size(path) for path, _ in self._files)

    @property
    def paths(self) -> list[Path]:
        """Every file that an append may read of it."""
        named = {RECORD_NAME, KEYS_NAME, CLUSTERS_NAME, self._ids_name}
        return [*(self.folder / name for name in sorted(named)), *(path for path, _ in self._files)]

    @property
    def _ids_name(self) -> str:
        """The file of all ids of its documents."""
        return CLUSTERS_NAME if self.unit == "document" else DOCUMENTS_NAME

    @property
    def _stored(self) -> Mapping[str, Any]:
        return self.keys.header.parameters

    @property
    def _files(self) -> list[tuple[Path, int]]:
        """Where its texts lie, and how many are in each file."""
        parent = self.folder / "kept" if self.inputs is None else Path()
        return [(parent / name, rows) for name, rows in self._stored["files"]]

    def texts(self, engine: Engine, places: I64 | None, first: int) -> Table:
        """The texts at some places, which are sorted, or at all: `row`, numbered on from `first`, `text`."""
        return engine.scan(self._kept.read(places, first, engine=engine), TEXT_SCHEMA)

    def files_of(self, places: I64) -> list[int]:
        """The bytes of each file that would be read for the texts at some places, which are sorted."""
        return [self._size(path) for path in self._kept.holding(places)]

    @cached_property
    def _kept(self) -> KeptTexts:
        inputs = self.inputs
        return KeptTexts(
            files=self._files,
            text=str(self._stored["text"]),
            on_error="raise" if inputs is None else inputs.on_error,
            unit=self.unit,
            items=None if inputs is None else self._items(),
            check=self._check_file,
        )

    def _items(self) -> I64:
        """Which document of the input is at each place: 8 bytes a place, on the driver."""
        items = np.empty(self.rows, np.int64)
        for batch in self.keys.batches():
            items[batch["place"].to_numpy()] = batch["item"].to_numpy()
        return items

    def _check_file(self, path: Path) -> None:
        if self.inputs is None:
            self.record.verify_file(self.folder, path.relative_to(self.folder).as_posix())
            return
        try:
            check_input(self._prints[str(path)])
        except SourceError as error:
            raise _not_as_read(self.folder, str(error)) from error

    def _size(self, path: Path) -> int:
        if self.inputs is None:
            return self.record.files[path.relative_to(self.folder).as_posix()].bytes
        return self._prints[str(path)].size

    @cached_property
    def _prints(self) -> dict[str, Fingerprint]:
        """The fingerprints of its input, by path."""
        return {} if self.inputs is None else {file.path: file for file in self.inputs.files}

    def names(self, places: I64) -> tuple[pa.Array, pa.Array]:
        """The ids of the documents at some places, sorted and distinct, and the ids of their clusters."""
        rows = np.full(len(places), -1, np.int64)
        for batch in self.keys.batches():
            at = np.searchsorted(places, batch["place"].to_numpy())
            here = np.append(places, -1)[at] == batch["place"].to_numpy()
            rows[at[here]] = batch["row"].to_numpy()[here]
        if len(rows) and rows.min() < 0:
            raise ArtefactError(f"{self.keys.path} does not name every kept document: run the job again")
        order = np.argsort(rows)
        found = []
        done = 0
        for batch in self._rows_of(CLUSTERS_NAME, ["id", "cluster"]):
            inside = rows[order][
                np.searchsorted(rows[order], done) : np.searchsorted(rows[order], done + len(batch))
            ]
            found.append(batch.take(pa.array(inside - done)))
            done += len(batch)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        table = pa.Table.from_batches(found).take(pa.array(back)).combine_chunks()
        return _one(table["id"]), _one(table["cluster"])

    @cached_property
    def id_type(self) -> pa.DataType:
        """Of what type the ids of its documents are."""
        import pyarrow.parquet as pq

        return pq.read_schema(self.folder / self._ids_name).field("id").type

    @property
    def text_column(self) -> str | None:
        """The column that its texts were read from; None of files without columns."""
        columns = any(".txt" not in path.suffixes[-2:] for path, _ in self._files)
        return str(self._stored["text"]) if columns else None

    def also_named(self, ids: pa.Array) -> Any | None:
        """One of these ids that a document of it has too, kept or dropped; None if there is none."""
        for batch in self._rows_of(self._ids_name, ["id"]):
            own = batch["id"].cast(ids.type)
            common = own.filter(pc.is_in(own, value_set=ids))
            if len(common):
                return common[0].as_py()
        return None

    def first_that_is_no_number(self) -> str | None:
        """Of the ids of its documents, which are strings, one that is not a whole number as one writes it."""
        batches = self._rows_of(self._ids_name, ["id"])
        # The empty string is such a one too.
        return next((found for batch in batches if (found := no_number(batch["id"])) is not None), None)

    def _rows_of(self, name: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        self.record.verify_file(self.folder, name)
        with pq.ParquetFile(self.folder / name) as file:
            yield from file.iter_batches(columns=columns)


#: An earlier run, or several: the folder that one wrote, or what it gave in Python.
Earlier: TypeAlias = "str | Path | DedupResult | Sequence[str | Path | DedupResult]"


def open_runs(earlier: Earlier, options: DedupOptions) -> tuple[EarlierRun, ...]:
    """Open earlier runs, folders in the order of their names: that of the arguments says nothing."""
    given = list(earlier) if isinstance(earlier, Sequence) and not isinstance(earlier, str) else [earlier]
    if given and options.method == "pyramid":
        raise OptionError(
            "method='pyramid' does not go with earlier runs: choose lsh, prefix or divide, or leave it at "
            "auto"
        )
    if given and options.common is not None:
        raise OptionError(
            f"common={options.common!r} does not go with earlier runs, where what is common would be counted "
            "anew each time: leave it out"
        )
    for one in given:
        if not isinstance(one, str | os.PathLike | DedupResult):
            raise OptionError(
                f"against={one!r:.40} is no earlier run: give the folder that it wrote, or what la.dedup gave"
            )
    results = {id(one): one for one in given if isinstance(one, DedupResult)}
    folders = {os.path.realpath(one): Path(one) for one in given if not isinstance(one, DedupResult)}
    opened = [EarlierRun.open(folder, options) for _, folder in sorted(folders.items())]
    in_memory = sorted((EarlierRun.of(one, options) for one in results.values()), key=attrgetter("checksum"))
    return (*opened, *in_memory)


def _check(folder: Path, name: Path | str, record: RunRecord, options: DedupOptions) -> None:
    if record.job != "dedup":
        raise SourceError(
            f"{name} was written by {record.job}: new documents are compared with the folder of a dedup"
        )
    asked = as_stored(options.to_dict())
    for option in _BINDING:
        then, now = record.parameters.get(option), asked[option]
        if then != now:
            raise OptionError(
                f"{name} was made with {option}={then!r} and {option}={now!r} is asked for: new documents "
                f"are compared as the earlier ones were, so use {option}={then!r}, or run the earlier job "
                "again"
            )
    if KEYS_NAME not in record.files:
        raise SourceError(
            f"{name} holds no {KEYS_NAME}, by which new documents find the earlier ones: it was written by "
            "an older version; run it again"
        )
    for file, entry in record.files.items():
        path = folder / file
        if not path.is_file():
            raise ArtefactError(f"{path} is missing: run the job again")
        if path.stat().st_size != entry.bytes:
            raise ArtefactError(
                f"{path} has {path.stat().st_size:,} bytes and the run wrote {entry.bytes:,}: what a run "
                "wrote must stay as it was; put it back, or run the job again"
            )


def _check_inputs(folder: Path, inputs: Inputs) -> None:
    """Whether the input of a run that wrote a drop list is there; its content is checked as it is read."""
    if not inputs.files:
        raise SourceError(
            f"{folder} holds a drop list, and what it kept came on standard input or from memory and is "
            "gone: run it again without --drop-list"
        )
    for file in inputs.files:
        try:
            size = os.stat(file.path).st_size
        except OSError as error:
            raise _not_as_read(folder, f"cannot read {file.path}: {error.strerror}") from error
        if size != file.size:
            raise _not_as_read(folder, f"{file.path} has {size:,} bytes now and had {file.size:,}")


def _not_as_read(folder: Path, why: str) -> SourceError:
    return SourceError(
        f"{folder} holds a drop list, so what it kept is read from its input ({why}): put that back, or run "
        "it again, without --drop-list if the input will not stay"
    )


def no_number(ids: pa.Array) -> str | None:
    """The first of some strings that is no whole number of 64 bits as one writes it, such as 7 but not 007.

    Examples
    --------
    >>> no_number(pa.array(["12", "-3", "0"])), no_number(pa.array(["12", "012", "x"]))
    (None, '012')
    >>> no_number(pa.array(["9223372036854775807", "-9223372036854775808", "9223372036854775808"]))
    '9223372036854775808'
    """
    # So many digits surely fit 64 bits. One more may, and compares as text of one length does.
    names = ids.cast(pa.large_string())
    short = pc.match_substring_regex(names, r"^(0|-?[1-9][0-9]{0,17})$")
    up = pc.and_(pc.match_substring_regex(names, r"^[1-9][0-9]{18}$"), pc.less_equal(names, str(2**63 - 1)))
    down = pc.and_(pc.match_substring_regex(names, r"^-[1-9][0-9]{18}$"), pc.less_equal(names, str(-(2**63))))
    written = pc.or_(short, pc.or_(up, down))
    others = names.filter(pc.invert(pc.fill_null(written, False)))
    return str(others[0].as_py()) if len(others) else None


def _one(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return pa.array([], column.type) if not combined.num_chunks else pa.concat_arrays(combined.chunks)
    return combined
