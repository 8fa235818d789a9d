"""An earlier run, as far as new documents are compared with it: the documents it kept, by place.

Places count the kept documents through the files of kept/, in the order of their names. Texts are read again
from there, and only files that hold a wanted one; names come from clusters.parquet. Every file is checked
against run.json before anything in it counts, so an edited or damaged one is an error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.documents.collection import BATCH_BYTES
from lookalike.applications.documents.keys import KEYS_NAME
from lookalike.applications.documents.options import DedupOptions
from lookalike.engines import Engine, Table, stored_table
from lookalike.errors import ArtefactError, OptionError, SourceError
from lookalike.io import open_files
from lookalike.io.batching import regroup
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import RECORD_NAME, RunRecord, StoredTable, is_unfinished_run
from lookalike.runs.stored import as_stored
from lookalike.theory import Banding
from lookalike.types import I64

CLUSTERS_NAME = "clusters.parquet"
#: Options that decide what a near-duplicate is: a run and what is appended to it must agree in them.
_BINDING = ("threshold", "shingle", "measure", "unit", "slots", "seed")

_SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, kw_only=True, eq=False)
class EarlierRun:
    """A run folder that new documents are compared with."""

    folder: Path
    record: RunRecord
    keys: StoredTable
    #: Of the content of its run.json.
    checksum: str

    @classmethod
    def open(cls, folder: str | Path, options: DedupOptions) -> EarlierRun:
        """Open a run folder.

        Raises
        ------
        SourceError
            If it is no folder of a finished run, or holds no kept documents.
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
        _check(folder, record, options)
        keys = StoredTable.open(folder / KEYS_NAME)
        keys.header.require(where=str(keys.path), kind="keys")
        content = (folder / RECORD_NAME).read_bytes()
        return cls(
            folder=folder,
            record=record,
            keys=keys,
            checksum=hashlib.blake2b(content, digest_size=16).hexdigest(),
        )

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
    def earlier(self) -> list[str]:
        """The runs that it was itself compared with."""
        return [run["folder"] for run in self.record.parameters.get("against", ())]

    @property
    def banding(self) -> Banding | None:
        """How its stored keys were cut; None if there are none that this version can use."""
        stored = self._stored["banding"]
        return None if stored is None or self.is_of_another_version else Banding(**stored)

    @property
    def is_of_another_version(self) -> bool:
        """Whether its keys were made by algorithms that would make others today."""
        return self.keys.header.algorithm != ALGORITHM_VERSION

    @property
    def keyed(self) -> Table:
        """Its stored keys, where they lie."""
        return stored_table(self.keys)

    @property
    def text_bytes(self) -> int:
        """About how much there is to read: the size of its kept files."""
        return sum(entry.bytes for name, entry in self.record.files.items() if name.startswith("kept/"))

    @property
    def paths(self) -> list[Path]:
        """Every file of it that an append may read."""
        names = [KEYS_NAME, CLUSTERS_NAME, *(f"kept/{name}" for name, _ in self._files)]
        return [self.folder / RECORD_NAME, *(self.folder / name for name in names)]

    @property
    def _stored(self) -> Mapping[str, Any]:
        return self.keys.header.parameters

    @property
    def _files(self) -> list[tuple[str, int]]:
        return [(name, rows) for name, rows in self._stored["files"]]

    def texts(self, engine: Engine, places: I64 | None, first: int) -> Table:
        """The texts at some places, which are sorted, or at all: `row`, numbered on from `first`, `text`."""
        return engine.scan(regroup(self._read(places, first), BATCH_BYTES), _SCHEMA)

    def files_of(self, places: I64) -> list[int]:
        """The bytes of each kept file that holds a document at some places, which are sorted."""
        return [self.record.files[f"kept/{name}"].bytes for name, _, _ in self._needed(places)]

    def _needed(self, places: I64 | None) -> list[tuple[str, int, int]]:
        """Files that hold some places, or all: name, the place of the first document, and how many."""
        starts = list(accumulate((rows for _, rows in self._files), initial=0))
        return [
            (name, start, rows)
            for (name, rows), start in zip(self._files, starts, strict=False)
            if places is None or np.searchsorted(places, start) < np.searchsorted(places, start + rows)
        ]

    def _read(self, places: I64 | None, first: int) -> Iterator[pa.RecordBatch]:
        needed = self._needed(places)
        if not needed:
            return
        with ThreadPoolExecutor(1) as pool:
            # Checksums are taken while the files are read; what was read counts once they fit.
            checks = [
                pool.submit(self.record.verify_file, self.folder, f"kept/{name}") for name, _, _ in needed
            ]
            try:
                yield from self._read_files(needed, places, first)
            except SourceError:
                # What cannot be read is probably not what was written, and that says more.
                for check in checks:
                    check.result()
                raise
            for check in checks:
                check.result()

    def _read_files(
        self, needed: list[tuple[str, int, int]], places: I64 | None, first: int
    ) -> Iterator[pa.RecordBatch]:
        """The texts of files, each with its name, the place of its first document, and how many it has."""
        # Sources go by the order of paths, in which the files are listed.
        begun = np.cumsum([0, *(rows for _, _, rows in needed)])
        shift = np.array([start for _, start, _ in needed]) - begun[:-1]
        paths = [self.folder / "kept" / name for name, _, _ in needed]
        with open_files(paths, text=str(self._stored["text"])) as source:
            done = 0
            for batch in source.scan(batch_bytes=BATCH_BYTES):
                arrived = np.arange(done, done + len(batch))
                done += len(batch)
                at = arrived + shift[np.searchsorted(begun, arrived, side="right") - 1]
                text = batch["text"]
                if places is not None:
                    found = np.searchsorted(places, at)
                    wanted = np.append(places, -1)[found] == at
                    at, text = found[wanted], text.filter(pa.array(wanted))
                yield pa.record_batch([pa.array(at + first), text], schema=_SCHEMA)
        if done != begun[-1]:
            raise ArtefactError(
                f"{self.folder / 'kept'} gives {done:,} documents where the run wrote {int(begun[-1]):,}: "
                "run the job again"
            )

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
        for batch in self._clusters(["id", "cluster"]):
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
        """Of what type its ids are."""
        import pyarrow.parquet as pq

        return pq.read_schema(self.folder / CLUSTERS_NAME).field("id").type

    @property
    def text_column(self) -> str | None:
        """The column that its texts were read from; None of files without columns."""
        columns = any(".txt" not in PurePosixPath(name).suffixes[-2:] for name, _ in self._files)
        return str(self._stored["text"]) if columns else None

    def also_named(self, ids: pa.Array) -> Any | None:
        """One of these ids that it has too, kept or dropped; None if there is none."""
        for batch in self._clusters(["id"]):
            own = batch["id"].cast(ids.type)
            common = own.filter(pc.is_in(own, value_set=ids))
            if len(common):
                return common[0].as_py()
        return None

    def first_that_is_no_number(self) -> str | None:
        """Of its ids, which are strings, one that is not a whole number as one writes it."""
        return next((found for batch in self._clusters(["id"]) if (found := no_number(batch["id"]))), None)

    def _clusters(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        self.record.verify_file(self.folder, CLUSTERS_NAME)
        with pq.ParquetFile(self.folder / CLUSTERS_NAME) as file:
            yield from file.iter_batches(columns=columns)


def open_runs(folders: str | Path | Sequence[str | Path], options: DedupOptions) -> tuple[EarlierRun, ...]:
    """Open the folders of earlier runs, in the order of their names: that of the arguments says nothing."""
    given = [folders] if isinstance(folders, str | Path) else list(folders)
    if given and options.unit != "document":
        raise OptionError(
            f"unit={options.unit!r} does not go with earlier runs, whose documents are compared whole: leave "
            "it at 'document', or deduplicate old and new together"
        )
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
    places = sorted({os.path.realpath(folder): Path(folder) for folder in given}.items())
    return tuple(EarlierRun.open(folder, options) for _, folder in places)


def _check(folder: Path, record: RunRecord, options: DedupOptions) -> None:
    if record.job != "dedup":
        raise SourceError(
            f"{folder} was written by {record.job}: new documents are compared with the folder of a dedup"
        )
    if record.parameters.get("unit") != "document":
        raise SourceError(
            f"{folder} was deduplicated by {record.parameters.get('unit')}, and new documents are compared "
            "with whole ones only: deduplicate old and new together"
        )
    asked = as_stored(options.to_dict())
    for name in _BINDING:
        then, now = record.parameters.get(name), asked[name]
        if then != now:
            raise OptionError(
                f"{folder} was made with {name}={then!r} and {name}={now!r} is asked for: new documents are "
                f"compared as the earlier ones were, so use {name}={then!r}, or run the earlier job again"
            )
    if "dropped.parquet" in record.files:
        raise SourceError(
            f"{folder} holds a drop list and not the documents it kept, which new ones would be compared "
            "with: run it again without --drop-list"
        )
    if KEYS_NAME not in record.files:
        raise SourceError(
            f"{folder} holds no {KEYS_NAME}, by which new documents find the earlier ones: it was written by "
            "an older version; run it again"
        )
    for name, entry in record.files.items():
        path = folder / name
        if not path.is_file():
            raise ArtefactError(f"{path} is missing: run the job again")
        if path.stat().st_size != entry.bytes:
            raise ArtefactError(
                f"{path} has {path.stat().st_size:,} bytes and the run wrote {entry.bytes:,}: what a run "
                "wrote must stay as it was; put it back, or run the job again"
            )


def no_number(ids: pa.Array) -> str | None:
    """The first of some strings that is not a whole number as one writes it, such as 7 but not 007.

    Examples
    --------
    >>> no_number(pa.array(["12", "-3", "0"])), no_number(pa.array(["12", "012", "x"]))
    (None, '012')
    """
    # As many digits as surely fit 64 bits.
    written = pc.match_substring_regex(ids.cast(pa.string()), r"^(0|-?[1-9][0-9]{0,17})$")
    others = ids.filter(pc.invert(pc.fill_null(written, False)))
    return str(others[0].as_py()) if len(others) else None


def _one(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return pa.array([], column.type) if not combined.num_chunks else pa.concat_arrays(combined.chunks)
    return combined
