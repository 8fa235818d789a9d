"""keys.table: what a later run needs to know of the documents that this one keeps.

A row a kept document (or unit, of a run by paragraphs or lines), in any order: its `place` among what was
kept, its `row` in clusters.parquet, its number as an `item` of the input if the run wrote a drop list, and,
where that is cheap, its bucket keys. A run that appends (`against.py`) then signs nothing again. Keys take 25
bytes a document and 8 a band, some 130 at the default options. They are stored where that is at most an
eighth of the text; for shorter texts signing again costs no more than reading keys would, and the file holds
8 bytes a document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.kept_texts import inputs_of
from lookalike.applications.documents.options import PairOptions
from lookalike.bands import key_names
from lookalike.engines import Table
from lookalike.io import FileSource, FrameSource, Source
from lookalike.joins import ALGORITHM_VERSION, Joined
from lookalike.runs import Header, StoredTable
from lookalike.shingles import Shingle
from lookalike.types import I64, U32, Bools

KEYS_NAME = "keys.table"
#: The place of what is not kept.
NOWHERE = np.uint32(2**32 - 1)
#: What an append needs of a document besides the keys of its bands.
KEYED_COLUMNS = ("content", "copy", "flags")

_BYTES_A_ROW = 25
_WORTH = 8
_ROWS = 1 << 16


def with_keys_worth_storing(joined: Joined, options: PairOptions, *, rows: int, text_bytes: int) -> Joined:
    """A join of so many rows, with its keys only if a run should leave them to later ones."""
    bands = joined.account.final_bands
    # Which words are rare is a matter of the collection: keys of one say nothing of another.
    if bands is not None and Shingle.parse(options.shingle).rare is None:
        stored = rows * (_BYTES_A_ROW + 8 * bands.count)
        if _WORTH * stored <= text_bytes:
            return joined
    return replace(joined, keyed=None)


class Arrived(Protocol):
    """Documents or units of them, numbered, and where each arrived."""

    @property
    def source(self) -> Source:
        """What they were read from."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def order(self) -> U32 | I64:
        """Where the row of each number arrived."""

    @property
    def starts(self) -> I64:
        """Where the first of each file arrived, and how many did."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptPlaces:
    """Where what was kept lies: files in the order of their names, each with how many rows it holds.

    `place_of[row]` counts the kept rows through the files, by rows of clusters.parquet; it is `NOWHERE` of
    those that are not kept. Where files hold those too, `item_of[row]` counts all. 4 bytes a row each.
    """

    files: tuple[tuple[str, int], ...]
    place_of: U32
    item_of: U32 | None

    @classmethod
    def of(cls, items: Arrived, kept: Bools, names: Sequence[str], *, all_there: bool = False) -> KeptPlaces:
        """Of what is `kept`, a mask in the order of arrival, in files called so; or `all_there` beside it."""
        by_name = sorted(zip(names, pairwise(items.starts.tolist()), strict=True))
        places = np.full(items.rows, NOWHERE, np.uint32)
        counted = np.empty(items.rows if all_there else 0, np.uint32)
        files, placed, passed = [], 0, 0
        for name, (start, stop) in by_name:
            here = kept[start:stop]
            count = int(np.count_nonzero(here))
            places[start:stop][here] = np.arange(placed, placed + count, dtype=np.uint32)
            if all_there:
                counted[start:stop] = np.arange(passed, passed + stop - start, dtype=np.uint32)
            held = stop - start if all_there else count
            files += [(name, held)] if held else []
            placed += count
            passed += stop - start
        order = items.order
        return cls(files=tuple(files), place_of=places[order], item_of=counted[order] if all_there else None)


def kept_names(source: Source) -> list[str]:
    """What the kept rows of each file of a source are called in kept/."""
    if isinstance(source, FileSource):
        return [file.name.as_posix() for file in source.files]
    return [FrameSource.KEPT_NAME]


def write_keys(
    folder: Path,
    items: Arrived,
    kept: Bools,
    joined: Joined,
    options: PairOptions,
    *,
    drop_list: bool = False,
) -> None:
    """Write keys.table into the folder of a run; with the keys of the join, if it has any.

    With a drop list there are no kept files, and the texts of later comparisons are those that were read.
    """
    source, keyed = items.source, joined.keyed
    inputs = inputs_of(source) if drop_list else None
    read = [] if inputs is None else [file.path for file in inputs.files]
    places = KeptPlaces.of(items, kept, read or kept_names(source), all_there=inputs is not None)
    # Of no rows at all there are no keys.
    bands = joined.account.final_bands if keyed is not None and keyed.rows else None
    parameters: dict[str, Any] = {
        "text": source.text_column,
        "labels": source.labels,
        "files": places.files,
        "inputs": None if inputs is None else inputs.to_dict(),
        "method": joined.account.method,
        "bands": None if bands is None else bands.to_dict(),
        "options": options.to_dict(),
    }
    header = Header(kind="keys", algorithm=ALGORITHM_VERSION, parameters=parameters)
    batches = _places(places) if keyed is None or bands is None else _with_keys(keyed, places, bands.count)
    first = next(batches)
    StoredTable.write(folder / KEYS_NAME, first.schema, chain([first], batches), header, compression="lz4")


def _places(places: KeptPlaces) -> Iterator[pa.RecordBatch]:
    rows_in_all = len(places.place_of)
    # One at least, so that there is a schema where nothing is kept.
    for start in range(0, max(1, rows_in_all), _ROWS):
        rows = np.arange(start, min(start + _ROWS, rows_in_all))
        yield _placed(places, rows[places.place_of[rows] != NOWHERE])


def _placed(places: KeptPlaces, rows: I64) -> pa.RecordBatch:
    columns = {"place": places.place_of[rows], "row": rows.astype(np.uint32)}
    if places.item_of is not None:
        columns["item"] = places.item_of[rows]
    return pa.record_batch({name: pa.array(column) for name, column in columns.items()})


def _with_keys(keyed: Table, places: KeptPlaces, bands: int) -> Iterator[pa.RecordBatch]:
    for batch in keyed.batches:
        rows = batch["row"].to_numpy()
        # Rows behind the last are of earlier runs, and stay where they are.
        own = np.flatnonzero(rows < len(places.place_of))
        kept = own[places.place_of[rows[own]] != NOWHERE]
        chosen = batch.select([*KEYED_COLUMNS, *key_names(bands)]).take(pa.array(kept))
        placed = _placed(places, rows[kept])
        yield pa.RecordBatch.from_arrays(
            [*placed.columns, *chosen.columns], names=[*placed.schema.names, *chosen.schema.names]
        )
